import { setTimeout as sleep } from "node:timers/promises";
import { lastLines } from "./involved-processes.ts";
import { patience } from "./patience.ts";

export type Waiting = { readonly limit?: number; readonly what?: () => string; readonly every?: number };

/** Polls until a condition holds; on timeout, the error says what was expected, and what the processes printed last. */
export async function until(
  holds: () => boolean | Promise<boolean>,
  { limit = patience, what = () => String(holds), every = 20 }: Waiting = {},
): Promise<void> {
  const end = performance.now() + limit;
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`timed out after ${limit} ms waiting for ${what()}\n${lastLines()}`);
    await sleep(every);
  }
}
