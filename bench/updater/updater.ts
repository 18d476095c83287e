import type { Table } from "../table.ts";
import { benchCost } from "./cost.ts";
import { benchIdle } from "./idle.ts";
import { benchPeers } from "./peers.ts";
import { benchPushed } from "./pushed.ts";

/** Timed benchmarks run first and alone. The idle ones measure CPU time, and may run together. */
export async function benchUpdater(): Promise<readonly Table[]> {
  const cost = await benchCost();
  const pushed = await benchPushed();
  return [cost, pushed, ...(await Promise.all([benchIdle(), benchPeers()]))];
}
