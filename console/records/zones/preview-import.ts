import type { Rrset } from "../../../src/contract/rrsets.ts";
import { lowestTtl, mostRecords } from "../../../src/contract/rrsets-limits.ts";
import { parseRdata, readableValue } from "../../../src/core/rdata/rdata.ts";
import { isRecordType } from "../../../src/core/rdata/table.ts";
import { checkNewSets } from "../../../src/core/records/check-new-sets.ts";
import { checkOwners, checkZone } from "../../../src/core/records/check-zone.ts";
import { setKey } from "../../../src/core/records/rrset.ts";
import type { Fault } from "../../../src/core/result.ts";
import { finish } from "../../../src/core/steps.ts";
import { lowTtls } from "../../../src/core/zone-file/low-ttls.ts";
import { parseZoneFile } from "../../../src/core/zone-file/parse.ts";
import { printingZoneFile } from "../../../src/core/zone-file/print.ts";
import { type FileSet, placeInFile } from "../../../src/core/zone-file/sets.ts";
import { withoutSerial } from "../sets/put-sets.ts";
import { setInWords } from "../sets/set-content.ts";
import { shownFaults } from "../shown-faults.ts";

export type Preview = {
  /** What to send: the file, plus the SOA and NS records if the file leaves them out. */
  readonly text: string;
  readonly faults: readonly Fault[];
  /** Whether the file has SOA or NS records for the zone itself. */
  readonly hasOwn: boolean;
  readonly notes: readonly string[];
  readonly changes: readonly PreviewChange[];
  /** For a merge, what to write instead of the file. */
  readonly writes: readonly SetWrite[];
};

/** `seen` is undefined for a new set. */
type SetWrite = { readonly id: string; readonly seen: Rrset | undefined; readonly wanted: Rrset };

/** `replace`: the zone has only what is in the file. `merge`: sets that are not in the file stay. */
export type ImportWay = "replace" | "merge";

/**
 * Whose SOA and NS records the zone itself has afterwards. A file from another provider names that provider's servers.
 */
export type OwnRecords = "keep" | "file";

export type PreviewChange = {
  readonly kind: "create" | "replace" | "delete";
  readonly name: string;
  readonly type: string;
  readonly before: string;
  readonly after: string;
};

type SetContent = {
  readonly name: string;
  readonly type: string;
  readonly ttl: number | null;
  readonly texts: readonly string[];
  /** The texts with their comments. */
  readonly lines: readonly string[];
};

export type ImportedZone = {
  readonly name: string;
  /** Undefined for a new zone. */
  readonly ttl: number | undefined;
  /** The service's own nameservers. */
  readonly nameservers: readonly string[];
};

/** What an import would do, by the service's own rules. The serial is not compared, because the service sets it. */
export function previewImport(
  given: string,
  into: ImportedZone,
  present: readonly Rrset[],
  way: ImportWay = "replace",
  own: OwnRecords = "keep",
): Preview {
  const read = parseZoneFile(given, into.name);
  if (!read.ok) return { ...empty, text: given, faults: read.faults };
  const hasOwn = read.value.sets.some(isOwn);
  const isDropped = hasOwn && own === "keep";
  const file = isDropped ? { ...read.value, sets: read.value.sets.filter((set) => !isOwn(set)) } : read.value;
  const text = isDropped ? printed(file, into.name) : given;
  const preview = way === "merge" ? previewMerge(text, file, into, present) : previewReplace(text, file, into, present);
  return { ...preview, hasOwn };
}

const empty: Preview = { text: "", faults: [], hasOwn: false, notes: [], changes: [], writes: [] };

/** A file without `$TTL` must not get one: it would become the zone's default. */
function printed({ ttl, sets }: ZoneFile, name: string): string {
  const text = finish(printingZoneFile({ name, ttl: ttl ?? 0, sets }, "rrsets"));
  return ttl === undefined ? text.replace(/^\$TTL.*\n/m, "") : text;
}

type ZoneFile = Extract<ReturnType<typeof parseZoneFile>, { readonly ok: true }>["value"];

function previewReplace(given: string, first: ZoneFile, into: ImportedZone, present: readonly Rrset[]): Preview {
  const { name: zone, ttl } = into;
  const kept = present.filter((set) => isOwn(set) && !first.sets.some((each) => isOwn(each) && each.type === set.type));
  const text = withKept(given, kept, zone);
  const file = parseZoneFile(text, zone);
  if (!file.ok) return { ...empty, text, faults: file.faults };
  const [there, wanted] = [contentByKey(present, zone), contentByKey(file.value.sets, zone)];
  const faults = [
    ...lowTtls(first, lowestTtl),
    ...kept.filter(({ ttl: own }) => own !== null && own < lowestTtl).map(staysTooShort),
    ...present
      .filter(({ protection }) => protection.change)
      .map((set) => isProtected(set, "or merge the file instead")),
    // Line numbers refer to the given file, without the kept records that are sent before it.
    ...refusals(present, file.value.sets, first, zone),
  ];
  const notes = [...notesOf(first), ...serversLost(there, wanted, into)];
  if (kept.length > 0) notes.push(`The zone keeps its own ${kept.map(({ type }) => type).join(" and ")} records.`);
  if (ttl !== undefined && file.value.ttl !== undefined && file.value.ttl !== ttl)
    notes.push(`The zone’s default TTL changes from ${ttl} to ${file.value.ttl} seconds.`);
  if (present.some(({ labels }) => Object.keys(labels).length > 0))
    notes.push("Labels of record sets will be lost, because zone files cannot store them.");
  return { ...empty, text, faults, notes, changes: difference(there, wanted) };
}

/** Sets in the file replace those of the same name and type, whose labels stay; all others stay as they are. */
function previewMerge(given: string, file: ZoneFile, into: ImportedZone, present: readonly Rrset[]): Preview {
  const { name: zone, ttl } = into;
  // The zone keeps its default, so sets that rely on that of the file need their own TTL.
  const ownTtl = file.ttl === undefined || file.ttl === ttl ? null : file.ttl;
  const sets = file.sets.map((set) => ({ ...set, ttl: set.ttl ?? ownTtl }));
  const inFile = new Set(sets.map((set) => `${set.owner}/${set.type}`));
  const others = present.filter(({ id }) => !inFile.has(id));
  const byId = new Map(present.map((set) => [set.id, set]));
  const [there, wanted] = [
    contentByKey(present, zone),
    new Map([...contentByKey(others, zone), ...contentByKey(sets, zone)]),
  ];
  const changes = difference(there, wanted);
  const changed = new Set(changes.map(({ name, type }) => `${name}/${type}`));
  const writes = sets
    .filter(({ owner, type }) => changed.has(`${owner}/${type}`))
    .map((set) => mergedSet(set, byId.get(`${set.owner}/${set.type}`)));
  const faults = [
    ...lowTtls(file, lowestTtl),
    ...writes.flatMap(({ seen }) =>
      seen?.protection.change ? [isProtected(seen, "or leave it out of the file")] : [],
    ),
    ...writes.flatMap(({ wanted: set }) => (set.records.length > mostRecords ? [hasTooMany(set)] : [])),
    ...refusals(present, [...fromWire(others, zone), ...sets], file, zone),
  ];
  const notes = [...notesOf(file), ...serversLost(there, wanted, into)];
  if (ownTtl !== null && file.sets.some((set) => set.ttl === null))
    notes.push(`The zone’s default TTL stays ${ttl} seconds. Records without their own TTL get the file's, ${ownTtl}.`);
  return { ...empty, text: given, faults, notes, changes, writes };
}

function mergedSet({ owner, type, ttl, records }: FileSet, seen: Rrset | undefined): SetWrite {
  const id = `${owner}/${type}`;
  const values = records.map(({ value, comment }) => ({ value, comment }));
  const blank = { id, name: owner, type, labels: {}, protection: { change: false }, zone: seen?.zone ?? 0 };
  return { id, seen, wanted: { ...blank, ...seen, ttl, records: values } };
}

const isProtected = (set: Rrset, otherwise: string): Fault => ({
  code: "set-locked",
  where: setInWords(set),
  message: "the set is protected",
  todo: `open it and turn the protection off, ${otherwise}`,
});

const hasTooMany = (set: Rrset): Fault => ({
  code: "too-many-records",
  where: setInWords(set),
  message: `it would have ${set.records.length} records; at most ${mostRecords} can be merged`,
  todo: "spread them over several names",
});

const notesOf = ({ notes }: ZoneFile): readonly string[] => notes.map(({ where, message }) => `${where}: ${message}`);

type ContentByKey = ReadonlyMap<string, SetContent>;

const contentByKey = (sets: readonly (Rrset | FileSet)[], zone: string): ContentByKey =>
  new Map(
    sets.map((set) => {
      const stored = "owner" in set ? set : { ...set, owner: set.name, records: readRecords(set, zone) };
      return [setKey(stored.owner, stored.type as FileSet["type"]), contentOf(stored)];
    }),
  );

function serversLost(there: ContentByKey, wanted: ContentByKey, { nameservers }: ImportedZone): readonly string[] {
  const has = (sets: ContentByKey, server: string) => sets.get("@ NS")?.texts.includes(server) ?? false;
  const lost = nameservers.filter((server) => has(there, server) && !has(wanted, server));
  return lost.length === 0
    ? []
    : [`The zone will no longer name this service’s ${lost.join(" and ")} as its nameserver.`];
}

type RuledSet = Pick<FileSet, "owner" | "type" | "ttl"> & { readonly records: readonly RecordContent[] };

/** The rules only cover the types we know. */
const fromWire = (sets: readonly Rrset[], zone: string): readonly RuledSet[] =>
  sets.flatMap((set) => {
    const { type, name: owner, ttl } = set;
    return isRecordType(type) ? [{ owner, type, ttl, records: readRecords(set, zone) }] : [];
  });

function refusals(
  present: readonly Rrset[],
  wanted: readonly RuledSet[],
  file: ZoneFile,
  zone: string,
): readonly Fault[] {
  // The service adds the SOA record of a new zone.
  const check = present.length === 0 ? checkOwners : checkZone;
  const refused = [...check(wanted.map(coreSet)), ...checkNewSets(fromWire(present, zone), wanted)];
  return shownFaults(placeInFile(refused, file.sets));
}

export function changesInWords(changes: readonly PreviewChange[]): string {
  const count = (wanted: PreviewChange["kind"]) => changes.filter(({ kind }) => kind === wanted).length;
  return `${count("create")} new, ${count("replace")} changed, ${count("delete")} deleted`;
}

const isOwn = (set: Rrset | FileSet): boolean =>
  ("owner" in set ? set.owner : set.name) === "@" && (set.type === "SOA" || set.type === "NS");

/**
 * A record without a TTL inherits that of the record before it. In this order, the file and the kept records do not
 * mix.
 */
function withKept(given: string, kept: readonly Rrset[], zone: string): string {
  const lines = (sets: readonly Rrset[]) => sets.flatMap((set) => linesOf(set, zone)).join("");
  const [before, after] = [kept.filter(({ ttl }) => ttl === null), kept.filter(({ ttl }) => ttl !== null)];
  return lines(before) + given + (after.length > 0 ? `\n$ORIGIN ${zone}.\n${lines(after)}` : "");
}

const staysTooShort = ({ name, type, ttl }: Rrset): Fault => ({
  code: "bad-ttl",
  where: `${name} ${type}`,
  message: `the zone's own ${type} is kept, but its TTL ${ttl} is too short for an import`,
  todo: `first give it a TTL of at least ${lowestTtl}`,
});

const linesOf = ({ type, ttl, records }: Rrset, zone: string): readonly string[] =>
  records.map(({ value, comment }) => `${zone}. ${ttl ?? ""} IN ${type} ${withComment(value, comment)}\n`);

/** A record with its comment, as in a zone file. */
function withComment(text: string, comment: string): string {
  const remark = comment.replaceAll(/[\0\r\n]/g, " ").trim();
  return remark === "" ? text : `${text} ; ${remark}`;
}

function difference(
  there: ReadonlyMap<string, SetContent>,
  wanted: ReadonlyMap<string, SetContent>,
): readonly PreviewChange[] {
  const changes: PreviewChange[] = [];
  for (const [key, { name, type, lines }] of there) {
    if (!wanted.has(key)) changes.push({ kind: "delete", name, type, before: lines.join(", "), after: "" });
  }
  for (const [key, set] of wanted) {
    const old = there.get(key);
    const hasTtl = old !== undefined && old.ttl !== set.ttl;
    const [before, after] = [old ? inOneLine(old, hasTtl) : "", inOneLine(set, hasTtl)];
    if (before !== after)
      changes.push({ kind: old ? "replace" : "create", name: set.name, type: set.type, before, after });
  }
  return changes;
}

/** `hasTtl`: names the TTL even if it is the zone's default, because the other side has another. */
const inOneLine = ({ ttl, lines }: SetContent, hasTtl: boolean): string =>
  [...lines, ...(ttl === null ? (hasTtl ? ["TTL default"] : []) : [`TTL ${ttl}`])].join(", ");

type RecordContent = { readonly rdata: string; readonly comment: string };

const readRecords = ({ type, records }: Rrset, zone: string): readonly RecordContent[] =>
  records.map(({ value, comment }) => {
    const rdata = isRecordType(type) ? parseRdata(type, value, zone) : undefined;
    return { rdata: rdata?.ok ? rdata.value.text : value, comment };
  });

type SetWithRecords = Pick<SetContent, "type" | "ttl"> & {
  readonly owner: string;
  readonly records: readonly RecordContent[];
};

function contentOf({ owner: name, type, ttl, records }: SetWithRecords): SetContent {
  const parts = records.map(({ rdata, comment }) => ({
    text: readableValue(type, withoutSerial(type, rdata)),
    comment,
  }));
  return {
    name,
    type,
    ttl,
    texts: parts.map(({ text }) => text).toSorted(),
    lines: parts.map(({ text, comment }) => withComment(text, comment)).toSorted(),
  };
}

const coreSet = ({ owner, type, ttl, records }: RuledSet) => ({
  owner,
  type,
  ttl,
  records: records.map((record) => ({
    value: record.rdata,
    ...record,
    id: "",
    name: owner,
    created: 0,
    modified: 0,
  })),
});
