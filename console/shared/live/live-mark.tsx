import type { LiveState } from "./live.ts";

/** Shows whether the page receives changes from the service as they happen. */
export function LiveMark({ state }: { readonly state: LiveState }) {
  return (
    <span role="status" className={state === "live" ? "good nowrap" : "quiet nowrap"} style={{ fontSize: "0.8125rem" }}>
      <span className="dot" aria-hidden /> {state === "live" ? "live" : "connecting…"}
    </span>
  );
}
