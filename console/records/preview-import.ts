import type { Rrset } from "../../src/contract/rrsets.ts";
import { lowestTtl } from "../../src/contract/rrsets-limits.ts";
import { checkNewSets } from "../../src/core/check-new-sets.ts";
import { checkZone } from "../../src/core/check-zone.ts";
import { lostServers } from "../../src/core/lost-servers.ts";
import { parseRdata } from "../../src/core/rdata/rdata.ts";
import { isRecordType } from "../../src/core/rdata/table.ts";
import type { Fault } from "../../src/core/result.ts";
import { setKey } from "../../src/core/rrset.ts";
import { parseZoneFile } from "../../src/core/zone-file.ts";
import { lowTtls } from "../../src/core/zone-file-low-ttls.ts";
import { type FileSet, placeInFile } from "../../src/core/zone-file-sets.ts";
import { toldFaults } from "./told-faults.ts";

export type Preview = {
  /** What to send: the file, and before it what every zone has and the file leaves out. */
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
  /** Those of the service, which stay. */
  readonly nameservers: readonly string[];
};

/** What an import would do, by the rules that the service will go by. The serial is the service's own and not compared. */
export function previewImport(given: string, into: ImportedZone, present: readonly Rrset[]): Preview {
  const { name: zone, ttl, nameservers } = into;
  const first = parseZoneFile(given, zone);
  if (!first.ok) return { text: given, faults: first.faults, notes: [], changes: [] };
  const kept = present.filter(
    (set) => isOwn(set) && !first.value.sets.some(({ owner, type }) => owner === "@" && type === set.type),
  );
  const text = kept.flatMap((set) => linesOf(set, zone)).join("") + given;
  const file = parseZoneFile(text, zone);
  if (!file.ok) return { text, faults: file.faults, notes: [], changes: [] };
  const wanted = new Map(file.value.sets.map((set) => [setKey(set.owner, set.type), saidInFile(set)]));
  const there = new Map(present.map((set) => [`${set.name} ${set.type}`, saidByService(set, zone)]));
  const after = file.value.sets.map(coreSet);
  const before = present.flatMap((set) => storedSet(set, zone));
  const refused = [...checkZone(after), ...checkNewSets(before, after)];
  const faults = [
    ...lowTtls(first.value, lowestTtl),
    ...lostServers(there.get("@ NS")?.texts ?? [], wanted.get("@ NS")?.texts ?? [], nameservers),
    // At the lines that were given: what stays stands before them only where it is sent.
    ...toldFaults(placeInFile(refused, first.value.sets)),
  ];
  const notes = first.value.notes.map(({ where, message }) => `${where}: ${message}`);
  if (kept.length > 0)
    notes.push(`The file has no ${kept.map(({ type }) => type).join(" and ")} of the zone: the present one stays.`);
  if (file.value.ttl !== undefined && file.value.ttl !== ttl)
    notes.push(`The zone’s usual TTL becomes ${file.value.ttl} seconds (now ${ttl}).`);
  if (present.some(({ labels }) => Object.keys(labels).length > 0))
    notes.push("Labels of record sets are lost: files have none.");
  return { text, faults, notes, changes: difference(there, wanted) };
}

export function changesInWords(changes: readonly PreviewChange[]): string {
  const count = (wanted: PreviewChange["kind"]) => changes.filter(({ kind }) => kind === wanted).length;
  return `${count("create")} new, ${count("replace")} changed, ${count("delete")} deleted`;
}

const isOwn = ({ name, type }: Rrset): boolean => name === "@" && (type === "SOA" || type === "NS");

const linesOf = ({ type, ttl, records }: Rrset, zone: string): readonly string[] =>
  records.map(({ value, comment }) => `${zone}. ${ttl ?? ""} IN ${type} ${withComment(value, comment)}\n`);

/** As a line of a file has it. */
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

const withoutSerial = (type: string, text: string): string =>
  type === "SOA" ? text.split(" ").with(2, "…").join(" ") : text;

const saidInFile = ({ owner, type, ttl, records }: FileSet): Said => said(owner, type, ttl, records);

const saidByService = (set: Rrset, zone: string): Said => said(set.name, set.type, set.ttl, readRecords(set, zone));

type SaidRecord = { readonly rdata: string; readonly comment: string };

const readRecords = ({ type, records }: Rrset, zone: string): readonly SaidRecord[] =>
  records.map(({ value, comment }) => {
    const rdata = isRecordType(type) ? parseRdata(type, value, zone) : undefined;
    return { rdata: rdata?.ok ? rdata.value.text : value, comment };
  });

/** None of a type that these rules do not know. */
const storedSet = (set: Rrset, zone: string) =>
  isRecordType(set.type) ? [{ owner: set.name, type: set.type, records: readRecords(set, zone) }] : [];

function said(name: string, type: string, ttl: number | null, records: readonly SaidRecord[]): Said {
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
