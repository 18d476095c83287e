import type { DatabaseSync } from "node:sqlite";
import type { Zone } from "./store.ts";

/**
 * The zones that the running transaction has touched. A zone with many writes in one transaction is read once at its start
 * and written once at its end.
 */
export function createOpenZones(database: DatabaseSync, read: (account: number, id: string) => Zone | undefined) {
  const update = database.prepare(
    "UPDATE zones SET settings = ?, serial = ?, modified = ?, record_count = ? WHERE number = ?",
  );
  const open = new Map<string, Zone>();
  const changed = new Set<string>();
  let removed = false;

  return {
    get: (account: number, id: string): Zone | undefined => {
      const known = open.get(id);
      if (known !== undefined) return known.account === account ? known : undefined;
      const zone = read(account, id);
      if (zone !== undefined) open.set(id, zone);
      return zone;
    },
    put: (zone: Zone): void => {
      open.set(zone.id, zone);
      changed.add(zone.id);
    },
    remove: (id: string): void => {
      open.delete(id);
      changed.delete(id);
      removed = true;
    },
    begun: (): void => {
      open.clear();
      changed.clear();
      removed = false;
    },
    /** True when there was something to write. */
    ending: (): boolean => {
      const any = changed.size > 0 || removed;
      for (const id of changed) {
        const zone = open.get(id);
        if (zone === undefined) continue;
        const { settings, serial, modified, recordCount, number } = zone;
        update.run(JSON.stringify(settings), serial, modified, recordCount, number);
      }
      return any;
    },
  };
}
