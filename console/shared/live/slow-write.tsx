import { useIsMutating } from "@tanstack/react-query";
import { useLongWait } from "./waiting.tsx";

/** Says, above everything else on the page, that the response to a write is taking long. */
export function SlowWrite() {
  return (
    useLongWait(useIsMutating() > 0) && (
      <p className="note slow" role="status">
        The service has not responded yet. It may be busy or restarting; still waiting.
      </p>
    )
  );
}
