import type { Table } from "./run.ts";
import { benchCost } from "./updater-cost.ts";

export async function benchUpdater(): Promise<readonly Table[]> {
  return [await benchCost()];
}
