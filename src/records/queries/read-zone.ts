import { setImmediate as nextTurn } from "node:timers/promises";
import { asChange, setOf } from "../../core/dnssec/generated-changes.ts";
import type { GeneratedSet } from "../../core/dnssec/signed-name.ts";
import { apex } from "../../core/names/name.ts";
import { type Change, invertChange } from "../../core/records/changes.ts";
import { isPackedType, type PackedType, packValues, rrsig } from "../../core/records/packed-sets.ts";
import { keyOf, type RRset, setKey } from "../../core/records/rrset.ts";
import type { ServedSet } from "../../core/records/zone-view.ts";
import { beginsSigning, isAboutSigning, isLarge, type LoggedRow, type Zone } from "../model.ts";
import type { RecordStore } from "../store/port.ts";
import { atZoneSerial } from "../store/rows.ts";

/** Sets per read, which must not block for more than a few milliseconds. */
const pageSize = 500;
/** Names with signatures take longer, and more memory while a page is read. */
const signedPageSize = 25;

type ZoneReads = Pick<RecordStore, "sets" | "setsAfter" | "lastChange" | "logOf">;
type ServedReads = ZoneReads & Pick<RecordStore, "signedNames" | "zoneHolding">;

/**
 * All sets of a zone in one consistent state. A large zone is read in parts, with `pause` between them; writes in the
 * meantime are applied from the change log. Empty if the zone was deleted in the meantime.
 */
export async function readZone(
  store: ZoneReads,
  zone: Zone,
  pause: () => Promise<void> = nextTurn,
): Promise<readonly RRset[]> {
  if (!isLarge(zone)) return await store.sets(zone, {});
  const sets = new Map<string, RRset>();
  const start = await store.lastChange();
  for await (const page of pagesOf(store, zone, pause)) for (const set of page) sets.set(keyOf(set), set);
  const missed = await changesSince(store, zone, start, pause);
  if (missed.some(endsZone)) return [];
  for (const { change } of missed) {
    if (change.kind === "settings" || isAboutSigning(change)) continue;
    if (change.after === null) sets.delete(keyOf(change));
    else sets.set(keyOf(change), change.after);
  }
  const soa = sets.get(soaKey);
  if (soa) sets.set(soaKey, atZoneSerial(soa, zoneAfter(zone, missed)));
  return [...sets.values()];
}

const soaKey = setKey(apex, "SOA");

/** The sets of a large zone are deleted later. */
const endsZone = ({ change }: LoggedRow): boolean => change.kind === "delete" && keyOf(change) === soaKey;

/** The zone with the serial and the time of the last missed change. */
function zoneAfter(zone: Zone, missed: readonly LoggedRow[]): Zone {
  const { serial = zone.serial, at: modified = zone.modified } = missed.at(-1) ?? {};
  return { ...zone, serial, modified };
}

async function* pagesOf(store: ZoneReads, zone: Zone, pause: () => Promise<void>): AsyncGenerator<readonly RRset[]> {
  for (let last: RRset | undefined; ; ) {
    await pause();
    const page = await store.setsAfter(zone, last, pageSize);
    yield page;
    last = page.at(-1);
    if (page.length < pageSize) return;
  }
}

/**
 * Like `readZone`, with what DNSSEC adds, but only what DNS serves: changes that are not signed yet are left out. Each
 * part is passed on as it is read: all parts together would take more memory than the zone in the nameserver. Later
 * sets replace earlier ones, and those without records remove them. `begin` gets the zone with the settings that it is
 * served with; it is called again if everything has to be read again. Returns that zone.
 */
export async function readServedZone(
  store: ServedReads,
  stored: Zone,
  pause: () => Promise<void>,
  begin: (zone: Zone) => (sets: readonly ServedSet[]) => void,
): Promise<Zone> {
  const start = await store.lastChange();
  const concernsSigning = stored.settings.dnssec !== undefined || stored.signedNamesNumber !== undefined;
  const zone = concernsSigning ? await servedZone(store, stored, start, pause) : stored;
  const take = begin(zone);
  const isSigned = zone.settings.dnssec !== undefined;
  if (!isLarge(zone) && !concernsSigning) {
    take((await store.sets(zone, {})).map(servedSet));
    return zone;
  }
  let soa: RRset | undefined;
  for await (const page of pagesOf(store, zone, pause)) {
    soa ??= page.find((set) => keyOf(set) === soaKey);
    take(page.map(servedSet));
  }
  for (let last: string | undefined; isSigned; ) {
    await pause();
    const names = await store.signedNames(zone, last, signedPageSize);
    take(names.flatMap(({ generated }) => servedTogether(generated)));
    last = names.at(-1)?.owner;
    if (names.length < signedPageSize) break;
  }
  const missed = await changesSince(store, zone, start, pause, concernsSigning);
  if (missed.some(endsZone)) {
    begin(zone)([]);
    return zone;
  }
  const signed = missed.findLast(({ change }) => change.kind === "signatures");
  const isServed = ({ position, change }: LoggedRow) => !("unsigned" in change) || position <= placeOf(signed);
  const changes = missed
    .filter((row) => row.position > start && isServed(row))
    .flatMap((row) => changesIn(row, concernsSigning));
  // So much was signed meanwhile that the log does not list it, or the zone is signed otherwise.
  if (changes.includes("all")) {
    return await readServedZone(store, await currentOf(store, stored), pause, begin);
  }
  const changed = changes.filter((change) => change !== "all");
  // What is not signed yet is undone.
  const undone = missed
    .filter((row) => !isServed(row))
    .toReversed()
    .flatMap(({ change }) => (change.kind === "settings" || isAboutSigning(change) ? [] : invertChange(change)));
  const all = [...changed, ...undone];
  take(all.map(({ owner, type, after }) => servedSet(after ?? { owner, type, ttl: null, records: [] })));
  const last = all.findLast((change) => keyOf(change) === soaKey);
  const current = last === undefined ? soa : (last.after ?? undefined);
  const after = zoneAfter(zone, isSigned && signed ? [signed] : missed.filter(isServed));
  if (current) take([servedSet(atZoneSerial(current, after))]);
  return zone;
}

/** Not another zone that was created under the same name meanwhile. */
async function currentOf(store: Pick<ServedReads, "zoneHolding">, stored: Zone): Promise<Zone> {
  const current = await store.zoneHolding(stored.name);
  return current?.number === stored.number ? current : stored;
}

/** The zone without changes that are not signed yet. */
async function servedZone(store: ServedReads, stored: Zone, start: number, pause: () => Promise<void>): Promise<Zone> {
  const zone = await currentOf(store, stored);
  const unsigned = (await changesSince(store, stored, start, pause, true)).filter(({ change }) => "unsigned" in change);
  const settings = unsigned.flatMap(({ change }) => (change.kind === "settings" ? change.before : []))[0];
  const [first] = unsigned;
  // Until a zone is signed for the first time, it has a serial before that of the first change.
  const serial = first === undefined ? zone.serial : (first.serial - 1) >>> 0;
  return { ...zone, serial, settings: settings ?? zone.settings };
}

/** Up to where a row with signatures has signed its zone. */
const placeOf = (signed: LoggedRow | undefined): number =>
  signed?.change.kind === "signatures" ? (signed.change.through ?? signed.position) : 0;

export const servedSet = ({ owner, type, ttl, records }: RRset): ServedSet => ({
  owner,
  type,
  ttl,
  records: records.map(({ rdata }) => ({ rdata })),
});

/** The signatures, NSEC and NSEC3 sets of each owner are packed together. */
function servedTogether(generated: readonly GeneratedSet[]): readonly ServedSet[] {
  const packed = Map.groupBy(generated.filter(isToPack), ({ owner }) => owner);
  return [
    ...generated.filter((set) => !isToPack(set)).map((set) => servedSet(setOf(set))),
    ...Array.from(
      packed,
      ([owner, sets]): ServedSet => ({ owner, type: rrsig, ttl: null, records: [], packed: packValues(sets) }),
    ),
  ];
}

type SetToPack = GeneratedSet & { readonly type: PackedType };
const isToPack = (set: GeneratedSet): set is SetToPack => isPackedType(set.type);

function changesIn({ change }: LoggedRow, isSigned: boolean): readonly (Change | "all")[] {
  if (change.kind === "settings" || change.kind === "signing") return [];
  if (change.kind !== "signatures") return [change];
  return isSigned ? (change.sets?.map(asChange) ?? ["all"]) : [];
}

/**
 * Oldest first, up to the last change at the time of the call. Of a signed zone, also those before `start` that were
 * not signed then, and the row that has signed it last.
 */
async function changesSince(
  store: ZoneReads,
  zone: Zone,
  start: number,
  pause: () => Promise<void>,
  isSigned = false,
): Promise<readonly LoggedRow[]> {
  const rows: LoggedRow[] = [];
  let signed: LoggedRow | undefined;
  let end = isSigned ? 0 : start;
  for (let before: number | undefined; ; ) {
    const page = await store.logOf(zone, { limit: pageSize, before });
    for (const row of page) {
      if (row.position <= end) break;
      rows.push(row);
      if (signed === undefined && row.change.kind === "signatures") {
        signed = row;
        end = Math.min(start, placeOf(row));
      } else if (zone.signedNamesNumber === undefined && beginsSigning(row)) end = start;
    }
    before = page.at(-1)?.position;
    if (before === undefined || before <= end || page.length < pageSize) break;
    await pause();
  }
  const isUnsigned = ({ position, change }: LoggedRow) => "unsigned" in change && position > placeOf(signed);
  const isNeeded = (row: LoggedRow) => row === signed || isUnsigned(row);
  return rows.filter((row) => row.position > start || (isSigned && isNeeded(row))).reverse();
}
