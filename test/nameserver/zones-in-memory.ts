import { type Change, diffSets } from "../../src/core/records/changes.ts";
import type { RRset } from "../../src/core/records/rrset.ts";
import type { ZoneContent } from "../../src/core/records/zone-view.ts";
import type { ZoneEvent, ZoneSource } from "../../src/nameserver/answer/zone-source.ts";

/** Zones that a test adds, changes and removes; reads are counted. */
export type ZonesInMemory = ZoneSource & {
  readonly put: (zone: ZoneContent) => void;
  readonly remove: (name: string) => void;
  /** Replaces the sets of a zone under its next serial. */
  readonly write: (name: string, sets: readonly RRset[]) => void;
  readonly tell: (event: ZoneEvent) => void;
  readonly asked: { closest: number; load: number };
};

export function zonesInMemory(...initial: readonly ZoneContent[]): ZonesInMemory {
  const zones = new Map(initial.map((zone) => [zone.name, zone]));
  const listeners = new Set<(event: ZoneEvent) => void>();
  const asked = { closest: 0, load: 0 };
  const tell = (event: ZoneEvent) => {
    for (const listener of listeners) listener(event);
  };
  let writes = 0;
  const changed = (zone: ZoneContent, changes: readonly Change[]) => {
    writes += 1;
    tell({ kind: "written", announcement: writes });
    tell({ kind: "changed", zone: zone.name, serial: zone.serial, changes });
    tell({ kind: "reported", announcement: writes });
  };
  return {
    asked,
    tell,
    names: async function* () {
      yield [...zones.keys()];
    },
    closest: async (names) => {
      asked.closest += 1;
      return names.find((name) => zones.has(name));
    },
    load: async (name) => {
      asked.load += 1;
      return zones.get(name);
    },
    follow: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    put: (zone) => {
      zones.set(zone.name, zone);
      changed(zone, diffSets([], zone.sets));
    },
    remove: (name) => {
      const zone = zones.get(name);
      zones.delete(name);
      if (zone) changed({ ...zone, serial: zone.serial + 1 }, diffSets(zone.sets, []));
    },
    write: (name, sets) => {
      const zone = zones.get(name);
      if (zone === undefined) throw new Error(`no zone ${name}`);
      const after = { ...zone, sets, serial: zone.serial + 1 };
      zones.set(name, after);
      changed(after, diffSets(zone.sets, sets));
    },
  };
}
