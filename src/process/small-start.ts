import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

const compilers = ["opt", "maglev", "sparkplug"];
/** Milliseconds. */
const startIsOver = 5_000;

/**
 * For a service that mostly waits and must be quick when it does not: what runs at the start runs once, and compiling it
 * leaves 10 MB of V8's compilers resident. They are switched on when the start is over, and what the start left behind is
 * collected: V8 does that when it needs room, which an idle service never does.
 */
export function keepStartSmall(): void {
  for (const compiler of compilers) setFlagsFromString(`--no-${compiler}`);
  setFlagsFromString("--semi-space-growth-factor=1");
  setTimeout(endStart, startIsOver).unref();
}

function endStart(): void {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as (how: { readonly type: "major"; readonly flavor: "last-resort" }) => void;
  collect({ type: "major", flavor: "last-resort" });
  for (const compiler of compilers) setFlagsFromString(`--${compiler}`);
}
