import { apex } from "../names/name.ts";
import type { RRset, ZoneRecord } from "../records/rrset.ts";
import { onOneLine } from "../visible-text.ts";

/** The sets of a zone, as `RRset` has them; of their records only what a file can say is needed. */
export type PrintableZone = {
  readonly name: string;
  readonly ttl: number;
  readonly sets: readonly PrintableSet[];
};

export type PrintableSet = Pick<RRset, "owner" | "type" | "ttl"> & {
  readonly records: readonly Pick<ZoneRecord, "rdata" | "comment">[];
};

/** How each API writes zone files; any reader understands both. */
export type ZoneFileLayout = "v1" | "rrsets";

/** Values are canonical: what an API was sent may mean something else in a file. Same zone, same text. */
export function printZoneFile(zone: PrintableZone, layout: ZoneFileLayout): string {
  const sets = zone.sets.toSorted(bySetOrder);
  return layout === "v1" ? printV1(zone, sets) : printRrsets(zone, sets);
}

/** One group a type. A record without a TTL has two tabs in a row. */
function printV1(zone: PrintableZone, sets: readonly PrintableSet[]): string {
  const lines = [`$ORIGIN ${zone.name}.`, `$TTL ${zone.ttl}`];
  let group: string | undefined;
  for (const set of sets) {
    if (set.type !== group) lines.push(`; ${set.type} Records`);
    group = set.type;
    for (const record of set.records)
      lines.push(`${set.owner}\t${set.ttl ?? ""}\tIN\t${set.type}\t${record.rdata}${printComment(record.comment)}`);
  }
  return `${lines.join("\n")}\n`;
}

function printRrsets(zone: PrintableZone, sets: readonly PrintableSet[]): string {
  const lines = [`$ORIGIN\t${zone.name}.`, `$TTL\t${zone.ttl}`, ""];
  for (const set of sets) {
    const ttl = set.ttl === null ? "" : `${set.ttl}\t`;
    for (const record of set.records)
      lines.push(`${set.owner}\tIN\t${ttl}${set.type}\t${record.rdata}${printComment(record.comment)}`);
    if (set.type === "SOA") lines.push("");
  }
  return `${lines.join("\n")}\n`;
}

/** Comments were taken with line breaks once, and are so in databases. */
function printComment(comment: string): string {
  const line = onOneLine(comment);
  return line === "" ? "" : ` ; ${line}`;
}

/** SOA, NS, then by type; the zone's own name first. */
function bySetOrder(a: PrintableSet, b: PrintableSet): number {
  return compare(rankOf(a.type), rankOf(b.type)) || compare(ownerRank(a.owner), ownerRank(b.owner));
}

const rankOf = (type: string): string => (type === "SOA" ? "0" : type === "NS" ? "1" : type);
const ownerRank = (owner: string): string => (owner === apex ? "" : owner);
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
