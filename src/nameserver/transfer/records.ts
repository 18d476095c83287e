import type { Label } from "../../core/names/label.ts";
import { absoluteName, apex, labelsOf } from "../../core/names/name.ts";
import { parseRdata, rdataToWire } from "../../core/rdata/rdata.ts";
import { typeCode } from "../../core/rdata/table.ts";
import type { Change } from "../../core/records/changes.ts";
import { rrsig, ttlOfSignature } from "../../core/records/packed-sets.ts";
import { type RRset, setKey } from "../../core/records/rrset.ts";
import { withSerial } from "../../core/records/serial.ts";
import { type NamedSet, setAt, setsOfView, type ViewSet, wireOf, type ZoneView } from "../../core/records/zone-view.ts";
import type { Steps } from "../../core/steps.ts";
import type { TransferRecord } from "./pack.ts";

/** The SOA, all other records, the SOA again (RFC 5936 section 2.2). Read it to the end before the zone can change. */
export const wholeZone = (view: ZoneView): Iterable<TransferRecord> => chained(setsOfView(view), soaOf(view));

/** A zone as it was at one moment. */
export type ZoneSnapshot = { readonly soa: ViewSet | undefined; readonly records: Iterable<TransferRecord> };

/** Undefined when the zone has changed between two steps. */
export function* snapshotSteps(view: ZoneView): Steps<ZoneSnapshot | undefined> {
  const soa = setAt(view.apex, "SOA");
  const sets: NamedSet[] = [];
  for (const each of setsOfView(view)) {
    sets.push(each);
    if (sets.length % setsInStep !== 0) continue;
    yield;
    // Every change replaces the SOA set.
    if (soa?.gone) return undefined;
  }
  const end = soaOf(view);
  return { soa, records: { [Symbol.iterator]: () => chained(sets, end) } };
}

const setsInStep = 64;

export function soaOf(view: ZoneView): TransferRecord {
  const set = setAt(view.apex, "SOA");
  const [record] = set ? recordsOf(view.labels, set) : [];
  if (record === undefined) throw new Error(`the zone ${view.name} has no SOA record`);
  return record;
}

/**
 * The difference between serial `from` and the current zone, with all versions condensed into one (RFC 1995 section 5).
 * `changes` are all changes since then, oldest first. Undefined when the whole zone is shorter.
 */
export function zoneDifference(
  view: ZoneView,
  from: number,
  changes: readonly Change[],
): readonly TransferRecord[] | undefined {
  const removed: TransferRecord[] = [];
  const added: TransferRecord[] = [];
  const soa = soaOf(view);
  let oldSoa = soaAt(view, from, undefined);
  for (const { before, after } of condensed(changes)) {
    if ((before ?? after)?.type === "SOA") {
      oldSoa = soaAt(view, from, before ?? undefined);
      continue;
    }
    const [old, now] = [linesOf(before, view.ttl), linesOf(after, view.ttl)];
    for (const [line, of] of old) if (!now.has(line)) removed.push(toRecord(view, of));
    for (const [line, of] of now) if (!old.has(line)) added.push(toRecord(view, of));
  }
  if (removed.length + added.length > view.size) return undefined;
  return [soa, oldSoa, ...removed, soa, ...added, soa];
}

/** A set before the first of its changes and after the last. */
type Span = { readonly before: RRset | null; readonly after: RRset | null };

function condensed(changes: readonly Change[]): Iterable<Span> {
  const spans = new Map<string, Span>();
  for (const { owner, type, before, after } of changes) {
    const key = setKey(owner, type);
    spans.set(key, { before: spans.has(key) ? (spans.get(key)?.before ?? null) : before, after });
  }
  return spans.values();
}

type Line = { readonly owner: string; readonly type: RRset["type"]; readonly ttl: number; readonly rdata: string };

/** The parts of a set that are visible in DNS: comments and labels are not. */
function linesOf(set: RRset | null, zoneTtl: number): ReadonlyMap<string, Line> {
  if (set === null) return new Map();
  const { owner, type } = set;
  const ttl = set.ttl ?? zoneTtl;
  const ttlOf = (rdata: string) => (type === rrsig ? (ttlOfSignature(rdata) ?? ttl) : ttl);
  const lines = set.records.map(({ rdata }) => ({ owner, type, ttl: ttlOf(rdata), rdata }));
  return new Map(lines.map((line) => [`${line.ttl} ${line.rdata}`, line]));
}

function toRecord(view: ZoneView, { owner, type, ttl, rdata }: Line): TransferRecord {
  const read = parseRdata(type, rdata, "");
  if (!read.ok) throw new Error(`the value of a ${type} record cannot be read: ${rdata}`);
  return { name: labelsOf(absoluteName(owner, view.name)), type: typeCode(type), ttl, data: rdataToWire(read.value) };
}

function soaAt(view: ZoneView, serial: number, set: RRset | undefined): TransferRecord {
  const now = setAt(view.apex, "SOA");
  const rdata = withSerial(set?.records[0]?.rdata ?? now?.values[0] ?? "", serial);
  return toRecord(view, { owner: apex, type: "SOA", ttl: (set ? set.ttl : now?.ttl) ?? view.ttl, rdata });
}

function* chained(sets: Iterable<NamedSet>, end: TransferRecord): Generator<TransferRecord> {
  for (const { name, set } of sets) {
    // `yield*` for each set would double the time.
    const type = typeCode(set.type);
    for (const data of wireOf(set)) yield { name, type, ttl: set.ttl, data };
  }
  yield end;
}

function recordsOf(name: readonly Label[], set: ViewSet): readonly TransferRecord[] {
  const type = typeCode(set.type);
  return wireOf(set).map((data) => ({ name, type, ttl: set.ttl, data }));
}
