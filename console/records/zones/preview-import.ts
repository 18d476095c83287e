import type { Rrset } from "../../../src/contract/rrsets.ts";
import { lowestTtl } from "../../../src/contract/rrsets-limits.ts";
import { parseRdata, readableValue } from "../../../src/core/rdata/rdata.ts";
import { isRecordType } from "../../../src/core/rdata/table.ts";
import { setKey } from "../../../src/core/records/rrset.ts";
import { faultInWords } from "../../../src/core/result.ts";
import { withHigherTtls } from "../../../src/core/zone-file/higher-ttls.ts";
import { parseZoneFile, type ZoneFile } from "../../../src/core/zone-file/parse.ts";
import { type FileSet, isOwnSet, type OwnSets } from "../../../src/core/zone-file/sets.ts";
import { withoutSerial } from "../sets/put-sets.ts";
import { shownFaults } from "../shown-faults.ts";

export type Preview = {
  /** Why the file cannot be read. What the service refuses, it says itself. */
  readonly faults: readonly string[];
  /** Whether the file has SOA or NS records for the zone itself. */
  readonly hasOwn: boolean;
  readonly notes: readonly string[];
  readonly changes: readonly PreviewChange[];
};

/** `replace`: the zone has only what is in the file. `merge`: sets that are not in the file stay. */
export type ImportWay = "replace" | "merge";

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

/**
 * What an import would do. The serial is not compared, because the service sets it. `own`: a file from another provider
 * names that provider's servers.
 */
export function previewImport(
  text: string,
  into: ImportedZone,
  present: readonly Rrset[],
  way: ImportWay = "replace",
  own: OwnSets = "zone",
): Preview {
  const read = parseZoneFile(text, into.name);
  if (!read.ok)
    return { ...empty, faults: shownFaults(read.faults).map((fault) => `${fault.where}: ${faultInWords(fault)}`) };
  const hasOwn = read.value.sets.some(isOwnSet);
  const brought = own === "zone" ? read.value.sets.filter((set) => !isOwnSet(set)) : read.value.sets;
  const { raised, ...higher } = withHigherTtls({ ttl: read.value.ttl, sets: brought }, lowestTtl, timed(present));
  const file = { ...higher, notes: [...notesOf(read.value), ...raised] };
  const preview = way === "merge" ? previewMerge(file, into, present) : previewReplace(file, into, present);
  return { ...preview, hasOwn };
}

const empty: Preview = { faults: [], hasOwn: false, notes: [], changes: [] };

type FileToImport = Pick<ZoneFile, "ttl" | "sets"> & { readonly notes: readonly string[] };

function previewReplace(file: FileToImport, into: ImportedZone, present: readonly Rrset[]): Preview {
  const { name: zone, ttl } = into;
  const isKept = (set: Rrset) => isOwn(set) && !file.sets.some((each) => isOwnSet(each) && each.type === set.type);
  const kept = present.filter(isKept);
  const [there, wanted] = [contentByKey(present, zone), contentByKey([...kept, ...file.sets], zone)];
  const notes = [...file.notes, ...serversLost(there, wanted, into)];
  if (kept.length > 0) notes.push(`The zone keeps its own ${kept.map(({ type }) => type).join(" and ")} records.`);
  if (ttl !== undefined && file.ttl !== undefined && file.ttl !== ttl)
    notes.push(`The zone’s default TTL changes from ${ttl} to ${file.ttl} seconds.`);
  if (present.some(({ labels }) => Object.keys(labels).length > 0))
    notes.push("Labels of record sets will be lost, unless the file names them.");
  return { ...empty, notes, changes: difference(there, wanted) };
}

/** Sets in the file replace those of the same name and type, whose labels stay; all others stay as they are. */
function previewMerge(file: FileToImport, into: ImportedZone, present: readonly Rrset[]): Preview {
  const { name: zone, ttl } = into;
  // The zone keeps its default, so sets that rely on that of the file need their own TTL.
  const ownTtl = file.ttl === undefined || file.ttl === ttl ? null : file.ttl;
  const sets = file.sets.map((set) => ({ ...set, ttl: set.ttl ?? ownTtl }));
  const there = contentByKey(present, zone);
  const wanted = new Map([...there, ...contentByKey(sets, zone)]);
  const notes = [...file.notes, ...serversLost(there, wanted, into)];
  if (ownTtl !== null && file.sets.some((set) => set.ttl === null))
    notes.push(`The zone’s default TTL stays ${ttl} seconds. Records without their own TTL get the file's, ${ownTtl}.`);
  return { ...empty, notes, changes: difference(there, wanted) };
}

const notesOf = ({ notes }: ZoneFile): readonly string[] => notes.map(({ where, message }) => `${where}: ${message}`);

const isOwn = ({ name, type }: Rrset): boolean => isOwnSet({ owner: name, type });

const timed = (sets: readonly Rrset[]) =>
  sets.flatMap(({ name: owner, type, ttl }) => (isRecordType(type) ? [{ owner, type, ttl }] : []));

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

export function changesInWords(changes: readonly PreviewChange[]): string {
  const count = (wanted: PreviewChange["kind"]) => changes.filter(({ kind }) => kind === wanted).length;
  return `${count("create")} new, ${count("replace")} changed, ${count("delete")} deleted`;
}

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
