import { useIsMutating } from "@tanstack/react-query";
import { useLongWait } from "./waiting.tsx";

/** Says of anything that was sent that its answer takes long, in front of all that is on the page. */
export function SlowWrite() {
  return (
    useLongWait(useIsMutating() > 0) && (
      <p className="note slow" role="status">
        The service has not answered yet. It may be busy or restarting; the answer is waited for a little longer.
      </p>
    )
  );
}
