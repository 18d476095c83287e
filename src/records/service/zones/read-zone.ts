import { asChange, setOf } from "../../../core/dnssec/made-changes.ts";
import type { MadeSet } from "../../../core/dnssec/signed-name.ts";
import { apex } from "../../../core/names/name.ts";
import type { Change } from "../../../core/records/changes.ts";
import { isPackedType, type PackedType, packValues, rrsig } from "../../../core/records/packed-sets.ts";
import { type RRset, setKey } from "../../../core/records/rrset.ts";
import type { ShownSet } from "../../../core/records/zone-view.ts";
import type { LoggedRow, Zone } from "../../model.ts";
import type { RecordStore } from "../../store/port.ts";
import { atZoneSerial } from "../../store/rows.ts";

/** Read in one go, so it must not take more than a few milliseconds. */
const pageSize = 500;
/** Names with signatures take longer. */
const signedPageSize = 100;

/** A zone with more records is large: it is read in parts, and an account gets one answer about a large zone at a time. */
export const largeZone = 1_000;

const soaKey = setKey(apex, "SOA");

type ZoneReads = Pick<RecordStore, "sets" | "setsAfter" | "lastChange" | "logOf" | "signedNames">;

/**
 * All sets of a zone in one consistent state. A large zone is read in parts, with `pause` between them; writes in the meantime are
 * applied from the change log. Empty if the zone was deleted in the meantime.
 */
export const readZone = (store: ZoneReads, zone: Zone, pause: () => Promise<void>): Promise<readonly RRset[]> =>
  readSets(store, zone, pause, { keep: (set) => set });

/** The same with what DNSSEC adds, but only what DNS shows: the rest would take most of the memory while a large zone is read. */
export const readShownZone = (store: ZoneReads, zone: Zone, pause: () => Promise<void>): Promise<readonly ShownSet[]> =>
  readSets(store, zone, pause, { keep: shown, ...(zone.settings.dnssec && { keepMade: shownTogether }) });

const shown = ({ owner, type, ttl, records }: RRset): ShownSet => ({
  ...{ owner, type, ttl },
  records: records.map(({ rdata }) => ({ rdata })),
});

/** Signatures, NSEC and NSEC3 sets of one name. */
const shownTogether = (owner: string, sets: readonly MadeToPack[]): ShownSet => ({
  ...{ owner, type: rrsig, ttl: null, records: [] },
  packed: packValues(sets),
});

type MadeToPack = MadeSet & { readonly type: PackedType };
const isToPack = (set: MadeSet): set is MadeToPack => isPackedType(set.type);

type Reading<T> = {
  readonly keep: (set: RRset) => T;
  /** If the zone is signed. */
  readonly keepMade?: (owner: string, sets: readonly MadeToPack[]) => T;
};

async function readSets<T>(
  store: ZoneReads,
  zone: Zone,
  pause: () => Promise<void>,
  { keep, keepMade }: Reading<T>,
): Promise<readonly T[]> {
  const isSigned = keepMade !== undefined;
  if (zone.recordCount <= largeZone && !isSigned) return (await store.sets(zone, {})).map(keep);
  const start = await store.lastChange();
  const sets = new Map<string, T>();
  const packed: T[] = [];
  let soa: RRset | undefined;
  const put = (key: string, set: RRset): void => {
    if (key === soaKey) soa = set;
    sets.set(key, keep(set));
  };
  for (let last: RRset | undefined; ; ) {
    await pause();
    const page = await store.setsAfter(zone, last, pageSize);
    for (const set of page) put(setKey(set.owner, set.type), set);
    last = page.at(-1);
    if (page.length < pageSize) break;
  }
  for (let last: string | undefined; keepMade; ) {
    await pause();
    const names = await store.signedNames(zone, last, signedPageSize);
    for (const { made } of names) {
      for (const set of made) if (!isToPack(set)) put(setKey(set.owner, set.type), setOf(set));
      for (const [owner, own] of Map.groupBy(made.filter(isToPack), (set) => set.owner))
        packed.push(keepMade(owner, own));
    }
    last = names.at(-1)?.owner;
    if (names.length < signedPageSize) break;
  }
  const missed = await changesSince(store, zone, start, pause);
  for (const change of missed.flatMap((row) => changesIn(row, isSigned))) {
    // So much was signed meanwhile that the log does not list it.
    if (change === "all") return await readSets(store, zone, pause, { keep, ...(keepMade && { keepMade }) });
    const { owner, type } = change;
    const key = setKey(owner, type);
    if (isSigned && isPackedType(type)) packed.push(keep(change.after ?? { owner, type, ttl: null, records: [] }));
    else if (change.after === null) sets.delete(key);
    else put(key, change.after);
  }
  const { serial = zone.serial, at: modified = zone.modified } = missed.at(-1) ?? {};
  const now = { ...zone, serial, modified };
  if (soa && sets.has(soaKey)) put(soaKey, atZoneSerial(soa, now));
  return [...sets.values(), ...packed];
}

function changesIn({ change }: LoggedRow, isSigned: boolean): readonly (Change | "all")[] {
  if (change.kind === "settings") return [];
  if (change.kind !== "signatures") return [change];
  return isSigned ? (change.sets?.map(asChange) ?? ["all"]) : [];
}

/** Oldest first, up to the last change at the time of the call. */
async function changesSince(
  store: ZoneReads,
  zone: Zone,
  start: number,
  pause: () => Promise<void>,
): Promise<readonly LoggedRow[]> {
  const found: LoggedRow[] = [];
  for (let before: number | undefined; ; ) {
    const rows = await store.logOf(zone, { limit: pageSize, ...(before !== undefined && { before }) });
    found.push(...rows.filter((row) => row.position > start));
    before = rows.at(-1)?.position;
    if (before === undefined || before <= start || rows.length < pageSize) return found.reverse();
    await pause();
  }
}
