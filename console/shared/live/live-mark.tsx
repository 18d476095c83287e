import type { LiveState } from "./live.ts";

/** Shows whether the page receives changes from the service as they happen. */
export function LiveMark({ state }: { readonly state: LiveState }) {
  return (
    <span role="status" className={state === "live" ? "live good nowrap" : "live quiet nowrap"}>
      <span className="dot" aria-hidden /> {state === "live" ? "live" : "connecting…"}
    </span>
  );
}
