import type { Table } from "../table.ts";
import { benchCost } from "./cost.ts";
import { benchIdle } from "./idle.ts";
import { benchPeers } from "./peers.ts";
import { benchPushed } from "./pushed.ts";

/** What is timed goes first and alone; the idle ones are counted in CPU, and may be idle together. */
export async function benchUpdater(): Promise<readonly Table[]> {
  const cost = await benchCost();
  const pushed = await benchPushed();
  return [cost, pushed, ...(await Promise.all([benchIdle(), benchPeers()]))];
}
