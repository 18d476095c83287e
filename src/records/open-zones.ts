import type { DatabaseSync } from "node:sqlite";
import type { Zone, ZoneKey } from "./store.ts";

type ZoneReads = {
  readonly zone: (account: number, id: string) => Zone | undefined;
  readonly zoneBy: (account: number, key: ZoneKey) => Zone | undefined;
};

/**
 * The zones that the running transaction has touched. A zone with many writes in one transaction is read once at its start
 * and written once at its end.
 */
export function createOpenZones(database: DatabaseSync, read: ZoneReads) {
  const update = database.prepare(
    "UPDATE zones SET settings = ?, serial = ?, modified = ?, record_count = ? WHERE number = ?",
  );
  const open = new Map<string, Zone>();
  /** Ids of the open zones by number and by name. */
  const ids = new Map<number | string, string>();
  const changed = new Set<string>();

  const enter = (zone: Zone): void => {
    open.set(zone.id, zone);
    ids.set(zone.number, zone.id).set(zone.name, zone.id);
  };
  const get = (account: number, id: string): Zone | undefined => {
    const known = open.get(id);
    if (known !== undefined) return known.account === account ? known : undefined;
    const zone = read.zone(account, id);
    if (zone !== undefined) enter(zone);
    return zone;
  };

  return {
    get,
    find: (account: number, key: ZoneKey): Zone | undefined => {
      const id = ids.get("name" in key ? key.name : key.number);
      if (id !== undefined) return get(account, id);
      const zone = read.zoneBy(account, key);
      if (zone !== undefined) enter(zone);
      return zone;
    },
    put: (zone: Zone): void => {
      enter(zone);
      changed.add(zone.id);
    },
    remove: ({ id, number, name }: Zone): void => {
      open.delete(id);
      ids.delete(number);
      ids.delete(name);
      changed.delete(id);
    },
    begun: (): void => {
      open.clear();
      ids.clear();
      changed.clear();
    },
    ending: (): void => {
      for (const id of changed) {
        const zone = open.get(id);
        if (zone === undefined) continue;
        const { settings, serial, modified, recordCount, number } = zone;
        update.run(JSON.stringify(settings), serial, modified, recordCount, number);
      }
    },
  };
}
