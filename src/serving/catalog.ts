import { apex, ownerOf } from "../core/names/name.ts";
import type { Change } from "../core/records/changes.ts";
import type { RRset } from "../core/records/rrset.ts";
import { compareSerials } from "../core/records/serial.ts";
import type { ServedSet, ZoneContent } from "../core/records/zone-view.ts";
import type { BeginZone, ZoneEvent } from "../nameserver/answer/zone-source.ts";
import type { Logger } from "../process/log.ts";
import type { LoggedRow } from "../records/model.ts";
import type { RecordStore } from "../records/store/port.ts";

export const defaultCatalog = "catalog.moor.invalid";

/**
 * The zone that lists all others, so that they appear on secondaries automatically (RFC 9432). Its serial is a position
 * in the change log, so that it increases even across restarts.
 */
export function openCatalog(store: RecordStore, name: string, start: number) {
  let log = createCatalogLog(serialAt(start));
  /** The catalog hides zones of its own name and below, so it does not list them. */
  const isListed = (zone: string) => ownerOf(zone, name) === undefined;
  return {
    name,
    /** In parts, with `pause` between them; then what was created and deleted meanwhile. */
    load: async (pause: () => Promise<void>, begin?: BeginZone): Promise<ZoneContent<ServedSet>> => {
      let position = await store.lastChange();
      const kept: ServedSet[] = [];
      const take = begin?.({ name, ttl: 0 }) ?? ((sets: readonly ServedSet[]) => void kept.push(...sets));
      for await (const zones of zonesIn(store, membersPerPart)) {
        take(
          zones.filter((zone) => isListed(zone.name)).map((zone) => memberSet({ id: zone.number, zone: zone.name })),
        );
        await pause();
      }
      for (;;) {
        const rows = await store.logAfter(position, membersPerPart);
        const changed = rows.filter(isCreatedOrDeleted).filter((row) => isListed(row.zoneName));
        take(changed.map((row) => setAfter(row.change.kind, { id: row.zone, zone: row.zoneName })));
        position = rows.at(-1)?.position ?? position;
        await pause();
        if (rows.length === membersPerPart) continue;
        const { sets, ...content } = catalogContent(name, serialAt(position), []);
        return { ...content, sets: [...sets, ...kept] };
      }
    },
    eventsOf: (rows: readonly LoggedRow[]): readonly ZoneEvent[] => {
      const changed = rows.filter(isCreatedOrDeleted).filter((row) => isListed(row.zoneName));
      const last = changed.at(-1);
      if (last === undefined) return [];
      const changes = changed.map((row) => memberChange(row.change.kind, { id: row.zone, zone: row.zoneName }));
      const serial = serialAt(last.position);
      log.add(serial, changes);
      return [{ kind: "changed", zone: name, serial, changes }];
    },
    changesBetween: (from: number, to: number): readonly Change[] | undefined => log.between(from, to),
    /**
     * The changes up to this position are not in the store any more: who has one of their serials gets the whole zone.
     */
    startAfter: (position: number): void => {
      log = createCatalogLog(serialAt(position + 1));
    },
  };
}

/** Members that are read and placed without a pause. */
const membersPerPart = 500;

/** All zones, in parts. */
export async function* zonesIn(
  store: Pick<RecordStore, "everyZone">,
  size = 10_000,
): AsyncGenerator<Awaited<ReturnType<RecordStore["everyZone"]>>> {
  for (let after = 0; ; ) {
    const zones = await store.everyZone(after, size);
    yield zones;
    const last = zones.at(-1);
    if (last === undefined || zones.length < size) return;
    after = last.number;
  }
}

/**
 * Call the result with all zones. A zone with the catalog's name is never served, and one below it only to clients that
 * may transfer the catalog.
 */
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
      log.warn(
        { zone, catalog },
        "this zone is inside the catalog zone, which hides it; give the catalog another name with --catalog",
      );
    }
  };
}

/** Plus one, so that an empty log has a serial too and its first entry a newer one. */
const serialAt = (position: number): number => (position + 1) % 2 ** 32;

/** `id` is never reused: a zone that is created again under its old name is a new member (section 5.6). */
type Member = { readonly id: number; readonly zone: string };

/** Secondaries are notified of changes immediately; the timers are for those that were down. */
const timers = "60 30 1209600 60";

export function catalogContent(name: string, serial: number, members: readonly Member[]): ZoneContent {
  const sets = [
    setOf("@", "SOA", `invalid. invalid. ${serial} ${timers}`),
    setOf("@", "NS", "invalid."),
    setOf("version", "TXT", '"2"'),
    ...members.map(memberSet),
  ];
  return { name, ttl: 0, serial, sets };
}

type CreatedOrDeleted = LoggedRow & { readonly change: { readonly kind: "create" | "delete" } };

/** A zone is created or deleted together with its SOA set. */
const isCreatedOrDeleted = (row: LoggedRow): row is CreatedOrDeleted =>
  (row.change.kind === "create" || row.change.kind === "delete") && isSoa(row.change);

export const isSoa = ({ owner, type }: { readonly owner: string; readonly type: string }): boolean =>
  owner === apex && type === "SOA";

export function memberChange(kind: "create" | "delete", member: Member): Change {
  const set = memberSet(member);
  const { owner, type } = set;
  return kind === "create"
    ? { kind, owner, type, before: null, after: set }
    : { kind, owner, type, before: set, after: null };
}

/** One without records removes the set. */
function setAfter(kind: "create" | "delete", member: Member): RRset {
  const set = memberSet(member);
  return kind === "create" ? set : { ...set, records: [] };
}

const memberSet = ({ id, zone }: Member): RRset => setOf(`z${id}.zones`, "PTR", `${zone}.`);

function setOf(owner: string, type: RRset["type"], rdata: string): RRset {
  const record = { id: "", name: owner, value: rdata, rdata, comment: "", created: 0, modified: 0 };
  return { owner, type, ttl: 0, records: [record] };
}

/**
 * The last `most` changes of the catalog since moor started; a secondary that is further behind gets the whole zone.
 */
export function createCatalogLog(start: number, most = 10_000) {
  let startSerial = start;
  let entries: { readonly serial: number; readonly change: Change }[] = [];
  return {
    add: (serial: number, changes: readonly Change[]): void => {
      for (const change of changes) entries.push({ serial, change });
      if (entries.length <= most) return;
      startSerial = entries[entries.length - most]?.serial ?? serial;
      entries = entries.slice(-most).filter((entry) => entry.serial !== startSerial);
    },
    between: (from: number, to: number): readonly Change[] | undefined => {
      if (compareSerials(from, startSerial) === -1) return undefined;
      return entries
        .filter((entry) => compareSerials(entry.serial, from) === 1 && compareSerials(entry.serial, to) !== 1)
        .map((entry) => entry.change);
    },
  };
}
