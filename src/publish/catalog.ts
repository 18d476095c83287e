import { apex, ownerOf } from "../core/names/name.ts";
import type { Change } from "../core/records/changes.ts";
import type { ZoneContent } from "../core/records/zone-view.ts";
import type { ZoneEvent } from "../nameserver/answer/zone-source.ts";
import { type CatalogChange, catalogContent, createCatalogLog, toSetChange } from "../nameserver/transfer/catalog.ts";
import type { Logger } from "../process/log.ts";
import type { LoggedChange } from "../records/model.ts";
import type { RecordStore } from "../records/store/port.ts";

/** The catalog of all zones in the store. Its serial is a place in the change log: it rises, also across restarts. */
export type StoreCatalog = {
  readonly name: string;
  readonly load: () => Promise<ZoneContent>;
  readonly eventsOf: (rows: readonly LoggedChange[]) => readonly ZoneEvent[];
  readonly changesBetween: (from: number, to: number) => readonly Change[] | undefined;
};

export function openCatalog(store: RecordStore, name: string, start: number): StoreCatalog {
  const log = createCatalogLog(serialAt(start));
  return {
    name,
    load: async () => {
      // Both are read in one go, so that no zone comes or goes between them.
      const [position, zones] = await Promise.all([store.lastChange(), store.everyZone(0, Number.MAX_SAFE_INTEGER)]);
      const listed = zones.filter((zone) => zone.name !== name);
      const members = listed.map((zone) => ({ id: zone.number, zone: zone.name }));
      return catalogContent(name, serialAt(position), members);
    },
    eventsOf: (rows) => {
      const comings = rows.flatMap((row) => comingOrGoing(row) ?? []);
      const last = rows.findLast((row) => comingOrGoing(row) !== undefined);
      if (last === undefined) return [];
      const changes = comings.map(toSetChange);
      const serial = serialAt(last.position);
      log.add(serial, changes);
      return [{ kind: "changed", zone: name, serial, changes }];
    },
    changesBetween: log.between,
  };
}

/** To be told of all zones: one in the catalog's place is not answered, one below it only to who may have the catalog. */
export function warnOfHidden(
  catalog: string | undefined,
  log: Pick<Logger, "warn">,
): (zones: Iterable<string>) => void {
  if (catalog === undefined) return () => undefined;
  const hidden = new Set<string>();
  return (zones) => {
    for (const zone of zones) {
      if (ownerOf(zone, catalog) === undefined || hidden.has(zone)) continue;
      hidden.add(zone);
      log.warn({ zone, catalog }, "the zone is hidden by the catalog zone: give that another name with --catalog");
    }
  };
}

/** An empty log has a serial too, and its first entry a newer one. */
const serialAt = (position: number): number => (position + 1) % 2 ** 32;

/** Zones come and go as their SOA set. */
function comingOrGoing({ change, zone, zoneName }: LoggedChange): CatalogChange | undefined {
  if (change.kind === "settings" || change.type !== "SOA" || change.owner !== apex) return undefined;
  const member = { id: zone, zone: zoneName };
  if (change.kind === "create") return { kind: "came", member };
  return change.kind === "delete" ? { kind: "went", member } : undefined;
}
