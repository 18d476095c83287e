import { setTimeout as sleep } from "node:timers/promises";
import { patience } from "./patience.ts";

export type Waiting = { readonly limit?: number; readonly what?: () => string; readonly every?: number };

/** Polls until a condition holds; on timeout, the error says what was expected. */
export async function until(
  holds: () => boolean | Promise<boolean>,
  { limit = patience, what = () => String(holds), every = 20 }: Waiting = {},
): Promise<void> {
  const end = performance.now() + limit;
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`timed out after ${limit} ms waiting for ${what()}`);
    await sleep(every);
  }
}
