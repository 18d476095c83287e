import { setTimeout as sleep } from "node:timers/promises";

const step = 10;

/** So long, of the time in which this process runs: what a machine takes from it does not count. */
export async function awake(milliseconds: number): Promise<void> {
  for (let left = milliseconds; left > 0; left -= step) await sleep(step);
}
