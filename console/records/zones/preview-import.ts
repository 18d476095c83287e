import type { Rrset } from "../../../src/contract/rrsets.ts";
import { lowestTtl } from "../../../src/contract/rrsets-limits.ts";
import { lostServers } from "../../../src/core/names/lost-servers.ts";
import { parseRdata } from "../../../src/core/rdata/rdata.ts";
import { isRecordType } from "../../../src/core/rdata/table.ts";
import { checkNewSets } from "../../../src/core/records/check-new-sets.ts";
import { checkZone } from "../../../src/core/records/check-zone.ts";
import { setKey } from "../../../src/core/records/rrset.ts";
import type { Fault } from "../../../src/core/result.ts";
import { lowTtls } from "../../../src/core/zone-file/low-ttls.ts";
import { parseZoneFile } from "../../../src/core/zone-file/parse.ts";
import { type FileSet, placeInFile } from "../../../src/core/zone-file/sets.ts";
import { withoutSerial } from "../sets/put-sets.ts";
import { shownFaults } from "../shown-faults.ts";

export type Preview = {
  /** What to send: the file, plus the SOA and NS records if the file leaves them out. */
  readonly text: string;
  readonly faults: readonly Fault[];
  readonly notes: readonly string[];
  readonly changes: readonly PreviewChange[];
};

export type PreviewChange = {
  readonly kind: "create" | "replace" | "delete";
  readonly name: string;
  readonly type: string;
  readonly before: string;
  readonly after: string;
};

type Said = {
  readonly name: string;
  readonly type: string;
  readonly ttl: number | null;
  readonly texts: readonly string[];
  /** The texts with their comments. */
  readonly lines: readonly string[];
};

export type ImportedZone = {
  readonly name: string;
  readonly ttl: number;
  /** The service's own name servers, which must stay. */
  readonly nameservers: readonly string[];
};

/** What an import would do, by the service's own rules. The serial is not compared, because the service sets it. */
export function previewImport(given: string, into: ImportedZone, present: readonly Rrset[]): Preview {
  const { name: zone, ttl, nameservers } = into;
  const first = parseZoneFile(given, zone);
  if (!first.ok) return { text: given, faults: first.faults, notes: [], changes: [] };
  const kept = present.filter(
    (set) => isOwn(set) && !first.value.sets.some(({ owner, type }) => owner === "@" && type === set.type),
  );
  const text = withKept(given, kept, zone);
  const file = parseZoneFile(text, zone);
  if (!file.ok) return { text, faults: file.faults, notes: [], changes: [] };
  const wanted = new Map(file.value.sets.map((set) => [setKey(set.owner, set.type), said(set)]));
  const stored = present.map((set) => ({ ...set, owner: set.name, records: readRecords(set, zone) }));
  const there = new Map(stored.map((set) => [`${set.name} ${set.type}`, said(set)]));
  const after = file.value.sets.map(coreSet);
  // The rules only cover the types we know.
  const before = stored.flatMap(({ type, ...set }) => (isRecordType(type) ? [{ ...set, type }] : []));
  const refused = [...checkZone(after), ...checkNewSets(before, after)];
  const faults = [
    ...lowTtls(first.value, lowestTtl),
    ...kept.filter(({ ttl: own }) => own !== null && own < lowestTtl).map(staysTooShort),
    ...lostServers(there.get("@ NS")?.texts ?? [], wanted.get("@ NS")?.texts ?? [], nameservers),
    // Line numbers refer to the given file, without the kept records that are sent before it.
    ...shownFaults(placeInFile(refused, first.value.sets)),
  ];
  const notes = first.value.notes.map(({ where, message }) => `${where}: ${message}`);
  if (kept.length > 0)
    notes.push(`The file has no ${kept.map(({ type }) => type).join(" and ")} for the zone; the current one is kept.`);
  if (file.value.ttl !== undefined && file.value.ttl !== ttl)
    notes.push(`The zone’s default TTL changes from ${ttl} to ${file.value.ttl} seconds.`);
  if (present.some(({ labels }) => Object.keys(labels).length > 0))
    notes.push("Labels of record sets will be lost, because zone files cannot store them.");
  return { text, faults, notes, changes: difference(there, wanted) };
}

export function changesInWords(changes: readonly PreviewChange[]): string {
  const count = (wanted: PreviewChange["kind"]) => changes.filter(({ kind }) => kind === wanted).length;
  return `${count("create")} new, ${count("replace")} changed, ${count("delete")} deleted`;
}

const isOwn = ({ name, type }: Rrset): boolean => name === "@" && (type === "SOA" || type === "NS");

/** A record without a TTL inherits that of the record before it. In this order, the file and the kept records do not mix. */
function withKept(given: string, kept: readonly Rrset[], zone: string): string {
  const lines = (sets: readonly Rrset[]) => sets.flatMap((set) => linesOf(set, zone)).join("");
  const [before, after] = [kept.filter(({ ttl }) => ttl === null), kept.filter(({ ttl }) => ttl !== null)];
  return lines(before) + given + (after.length > 0 ? `\n$ORIGIN ${zone}.\n${lines(after)}` : "");
}

const staysTooShort = ({ name, type, ttl }: Rrset): Fault => ({
  code: "bad-ttl",
  where: `${name} ${type}`,
  message: `the zone's current ${type}, which is kept, has a TTL of ${ttl}, too short for an import`,
  todo: `first give it a TTL of at least ${lowestTtl}`,
});

const linesOf = ({ type, ttl, records }: Rrset, zone: string): readonly string[] =>
  records.map(({ value, comment }) => `${zone}. ${ttl ?? ""} IN ${type} ${withComment(value, comment)}\n`);

/** A record with its comment, as in a zone file. */
function withComment(text: string, comment: string): string {
  const remark = comment.replaceAll(/[\0\r\n]/g, " ").trim();
  return remark === "" ? text : `${text} ; ${remark}`;
}

function difference(there: ReadonlyMap<string, Said>, wanted: ReadonlyMap<string, Said>): readonly PreviewChange[] {
  const changes: PreviewChange[] = [];
  for (const [key, { name, type, lines }] of there) {
    if (!wanted.has(key)) changes.push({ kind: "delete", name, type, before: lines.join(", "), after: "" });
  }
  for (const [key, set] of wanted) {
    const old = there.get(key);
    const [before, after] = [old ? inOneLine(old) : "", inOneLine(set)];
    if (before !== after)
      changes.push({ kind: old ? "replace" : "create", name: set.name, type: set.type, before, after });
  }
  return changes;
}

const inOneLine = ({ ttl, lines }: Said): string => [...lines, ...(ttl === null ? [] : [`TTL ${ttl}`])].join(", ");

type SaidRecord = { readonly rdata: string; readonly comment: string };

const readRecords = ({ type, records }: Rrset, zone: string): readonly SaidRecord[] =>
  records.map(({ value, comment }) => {
    const rdata = isRecordType(type) ? parseRdata(type, value, zone) : undefined;
    return { rdata: rdata?.ok ? rdata.value.text : value, comment };
  });

type SaidSet = Pick<Said, "type" | "ttl"> & { readonly owner: string; readonly records: readonly SaidRecord[] };

function said({ owner: name, type, ttl, records }: SaidSet): Said {
  const parts = records.map(({ rdata, comment }) => ({ text: withoutSerial(type, rdata), comment }));
  return {
    ...{ name, type, ttl },
    texts: parts.map(({ text }) => text).toSorted(),
    lines: parts.map(({ text, comment }) => withComment(text, comment)).toSorted(),
  };
}

const coreSet = ({ owner, type, ttl, records }: FileSet) => ({
  owner,
  type,
  ttl,
  records: records.map((record) => ({ ...record, id: "", name: owner, created: 0, modified: 0 })),
});
