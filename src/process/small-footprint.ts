import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/**
 * For a program that mostly waits: V8's compilers, its room for young objects and what only the start needed would stay
 * resident for months and never pay off. Only of use before anything else is loaded, and it holds for the whole process, so
 * only bin may call it.
 */
export function keepFootprintSmall(): void {
  for (const flag of whileWaiting) setFlagsFromString(flag);
  // V8 collects when it needs room, which an idle program never does: what the start left behind would stay.
  setTimeout(collectAll, startIsOver).unref();
}

/** There is work after all, and it is to be quick: from now on the compilers may do theirs. */
export function letCompilersRun(): void {
  for (const flag of atWork) setFlagsFromString(flag);
}

/** Bytecode that was not run since the last collection is dropped at the next; it is made again when it is needed. */
const whileWaiting = [
  ...["--no-opt", "--no-maglev", "--no-sparkplug"],
  ...["--semi-space-growth-factor=1", "--bytecode-old-age=1"],
];
const atWork = ["--opt", "--maglev", "--sparkplug", "--bytecode-old-age=6"];
/** Milliseconds. */
const startIsOver = 5_000;
const between = 500;

function collectAll(): void {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as (how: { readonly type: "major"; readonly flavor: "last-resort" }) => void;
  // What the first finds unused, the next ones drop.
  for (const nth of [0, 1, 2]) {
    setTimeout(() => collect({ type: "major", flavor: "last-resort" }), nth * between).unref();
  }
}
