import { setTimeout as sleep } from "node:timers/promises";

const step = 10;

/** Waits for this time, not counting time during which the machine pauses this process. */
export async function awake(milliseconds: number): Promise<void> {
  for (let left = milliseconds; left > 0; left -= step) await sleep(step);
}
