import type { Table } from "./run.ts";

export async function benchUpdater(): Promise<readonly Table[]> {
  return [];
}
