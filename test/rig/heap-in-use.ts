import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/**
 * Bytes of the heap, without what is no longer used of the latest. Sweeping all of it would take a third of a second in
 * a process that has run many tests.
 */
export function heapInUse(): number {
  setFlagsFromString("--expose-gc");
  runInNewContext("gc")({ type: "minor" });
  return process.memoryUsage().heapUsed;
}
