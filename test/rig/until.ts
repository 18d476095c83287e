import { setTimeout as sleep } from "node:timers/promises";
import { patience } from "./patience.ts";

export type Waiting = { readonly limit?: number; readonly what?: () => string; readonly every?: number };

/** Waits for something that comes by itself; says what was waited for when it does not come. */
export async function until(
  holds: () => boolean | Promise<boolean>,
  { limit = patience, what = () => String(holds), every = 20 }: Waiting = {},
): Promise<void> {
  const end = performance.now() + limit;
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`waited ${limit} ms in vain for ${what()}`);
    await sleep(every);
  }
}
