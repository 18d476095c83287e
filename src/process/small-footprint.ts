import { setFlagsFromString } from "node:v8";

/**
 * For a program that waits nearly all of its time: V8's optimising compilers cost 8 MB of resident memory and never pay off
 * there. Only of use before anything else is loaded, and it holds for the whole process, so only bin may call it.
 */
export function keepFootprintSmall(): void {
  setFlagsFromString("--no-opt");
  setFlagsFromString("--no-maglev");
}
