import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/**
 * V8 collects garbage when it needs room, and an idle program never does. `moor update` after a minute of watching: 62
 * MB resident; 65 MB without this, and 75 MB if the compilers run too, which `bin/moor.ts` turns off.
 */
export function collectAfterStart(): void {
  setTimeout(() => {
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc") as (how: { readonly type: "major"; readonly flavor: "last-resort" }) => void;
    collect({ type: "major", flavor: "last-resort" });
  }, 5_000).unref();
}

/** Turns the compilers back on that `bin/moor.ts` turned off: there is work now, and it must be fast. */
export function letCompilersRun(): void {
  for (const compiler of ["opt", "maglev", "sparkplug"]) setFlagsFromString(`--${compiler}`);
}
