import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/**
 * V8 collects when it needs room, which an idle program never does. `moor update` after a minute of watching: 62 MB resident, without
 * this 65 MB, and with the compilers that bin turns off 75 MB.
 */
export function collectAfterStart(): void {
  setTimeout(() => {
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc") as (how: { readonly type: "major"; readonly flavor: "last-resort" }) => void;
    collect({ type: "major", flavor: "last-resort" });
  }, 5_000).unref();
}

/** There is work after all, and it is to be quick: from now on the compilers may do theirs. */
export function letCompilersRun(): void {
  for (const compiler of ["opt", "maglev", "sparkplug"]) setFlagsFromString(`--${compiler}`);
}
