import { apex } from "../names/name.ts";
import { readableRdata } from "../rdata/rdata.ts";
import { typeName } from "../rdata/table.ts";
import type { RRset, ZoneRecord } from "../records/rrset.ts";
import { joinInParts, type Steps } from "../steps.ts";
import { onOneLine } from "../visible-text.ts";
import { setMarkLines, type ZoneMarks, zoneMarkLines } from "./marks.ts";

/** A zone with its sets; of their records, only the parts that appear in a file. */
export type PrintableZone = ZoneMarks & {
  readonly name: string;
  readonly ttl: number;
  readonly sets: readonly PrintableSet[];
};

export type PrintableSet = Pick<RRset, "owner" | "type" | "ttl" | "labels" | "locked"> & {
  readonly records: readonly Pick<ZoneRecord, "rdata" | "comment">[];
};

/** How each API formats zone files; every parser understands both. `marked`: like `rrsets`, with marks. */
export type ZoneFileLayout = "v1" | "rrsets" | "marked";

/** Lines of a part of a file. */
const perPart = 1_000;

/**
 * Prints canonical values, because a value as sent to an API may mean something else in a file. The same zone gives the
 * same text.
 */
export function* printingZoneFile(zone: PrintableZone, layout: ZoneFileLayout): Steps<string> {
  return (yield* printingParts(zone, layout)).join("");
}

/** A zone file in parts, because it may be long. */
export function* printingParts(zone: PrintableZone, layout: ZoneFileLayout): Steps<readonly string[]> {
  const types = new Map<string, PrintableSet[]>();
  for (const set of zone.sets) {
    const own = types.get(set.type);
    if (own === undefined) types.set(set.type, [set]);
    else own.push(set);
    yield;
  }
  const groups = [...types.values()].sort(([a], [b]) => compare(rankOf(a?.type ?? ""), rankOf(b?.type ?? "")));
  const lines = layout === "v1" ? headV1(zone) : headRrsets(zone, layout === "marked");
  for (const group of groups) {
    if (layout === "v1") lines.push(`; ${typeName(group[0]?.type ?? "")} Records`);
    // Sets from a database are already in this order, so sorting is fast.
    for (const set of group.sort((a, b) => compare(ownerRank(a.owner), ownerRank(b.owner)))) {
      if (layout === "v1") printV1(set, lines);
      else printRrsets(set, lines, layout === "marked");
      yield;
    }
  }
  return yield* joinInParts(lines, perPart, (some) => `${some.join("\n")}\n`);
}

const headV1 = ({ name, ttl }: PrintableZone): string[] => [`$ORIGIN ${name}.`, `$TTL ${ttl}`];
const headRrsets = ({ name, ttl, ...marks }: PrintableZone, withMarks: boolean): string[] => [
  `$ORIGIN\t${name}.`,
  `$TTL\t${ttl}`,
  ...(withMarks ? zoneMarkLines(marks) : []),
  "",
];

/** A record without a TTL has two tabs in a row. */
function printV1({ owner, type, ttl, records }: PrintableSet, lines: string[]): void {
  for (const record of records) lines.push(`${owner}\t${ttl ?? ""}\tIN\t${printData(type, record)}`);
}

function printRrsets(set: PrintableSet, lines: string[], withMarks: boolean): void {
  const { owner, type, ttl: own, records } = set;
  if (withMarks) lines.push(...setMarkLines(set));
  const ttl = own === null ? "" : `${own}\t`;
  for (const record of records) lines.push(`${owner}\tIN\t${ttl}${printData(type, record)}`);
  if (type === "SOA") lines.push("");
}

const printData = (type: RRset["type"], { rdata, comment }: PrintableSet["records"][number]): string =>
  `${typeName(type)}\t${readableRdata(type, rdata)}${printComment(comment)}`;

/** What follows a line break would be read as a record. */
function printComment(comment: string): string {
  const line = onOneLine(comment);
  return line === "" ? "" : ` ; ${line}`;
}

/** SOA, NS, then by type; the zone's own name first. */
const rankOf = (type: string): string => (type === "SOA" ? "0" : type === "NS" ? "1" : typeName(type));
const ownerRank = (owner: string): string => (owner === apex ? "" : owner);
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
