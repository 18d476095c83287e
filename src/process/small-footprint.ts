import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/**
 * For a program that waits nearly all of its time: V8's compilers, its room for young objects and what only the start needed
 * cost 16 MB of resident memory and never pay off there. Only of use before anything else is loaded, and it holds for the
 * whole process, so only bin may call it.
 */
export function keepFootprintSmall(): void {
  for (const flag of savings) setFlagsFromString(flag);
  // V8 collects when it needs room, which an idle program never does: what the start left behind would stay for months.
  setTimeout(collectAll, startIsOver).unref();
}

const savings = ["--no-opt", "--no-maglev", "--no-sparkplug", "--optimize-for-size", "--semi-space-growth-factor=1"];
const startIsOver = 5_000;

function collectAll(): void {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as (how: { readonly type: "major"; readonly flavor: "last-resort" }) => void;
  collect({ type: "major", flavor: "last-resort" });
}
