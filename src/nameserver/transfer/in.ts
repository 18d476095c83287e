import { ownerOf } from "../../core/names/name.ts";
import { parseRdata, rdataFromWire, rdataToWire } from "../../core/rdata/rdata.ts";
import { typeFromCode } from "../../core/rdata/table.ts";
import { compareSerials, serialOf } from "../../core/records/serial.ts";
import type { ZoneLine, ZoneStep } from "../../core/records/zone-lines.ts";
import { classes, opcodes, rcodes, types } from "../wire/codes.ts";
import type { Message, ResourceRecord } from "../wire/message.ts";
import { soaSerialOf, ttlOf } from "../wire/resource-record.ts";
import { type Asking, type AskOptions, askTcp, askUdp, nameOf, type Peer } from "./ask.ts";

/** What came of asking a primary for a zone. `older`: all of a version that is older than what is here. */
export type Transferred = Given | { readonly kind: "older"; readonly serial: number };

type Given =
  /** The primary has nothing newer. */
  | { readonly kind: "same" }
  | { readonly kind: "whole"; readonly serial: number; readonly lines: readonly ZoneLine[] }
  /** To be done one after another, removals first in each. */
  | { readonly kind: "steps"; readonly serial: number; readonly since: number; readonly steps: readonly ZoneStep[] };

/** The serial that the primary has: over TCP where datagrams do not get through. */
export async function askSerial(zone: string, peer: Peer, options: AskOptions): Promise<number> {
  const asking = { opcode: opcodes.query, question: { name: zone, type: types.soa, class: classes.in } };
  const message = await askUdp(peer, asking, options).catch(() => askOnceOverTcp(peer, asking, options));
  const [record] = message.answers.filter((each) => each.type === types.soa && each.name === zone);
  if (message.rcode !== rcodes.noError || record === undefined) {
    throw new Error(`${nameOf(peer)}: no SOA record of ${zone} (response code ${message.rcode})`);
  }
  return serialOf(toLine(record, zone)?.rdata ?? "");
}

async function askOnceOverTcp(peer: Peer, asking: Asking, options: AskOptions): Promise<Message> {
  for await (const { message, covered } of askTcp(peer, asking, options)) {
    if (covered) return message;
  }
  throw new Error(`${nameOf(peer)}: no answer that is signed`);
}

export type Current = { readonly serial: number; readonly soa: string };

/**
 * The zone as the primary has it: what has changed since `current` when the primary can tell (RFC 1995), all of it otherwise
 * (RFC 5936).
 */
export async function transferIn(
  zone: string,
  peer: Peer,
  current: Current | undefined,
  options: AskOptions & { readonly mostRecords: number },
): Promise<Transferred> {
  if (current === undefined) return await read(zone, peer, undefined, options);
  try {
    return newerThan(current, await read(zone, peer, current, options));
  } catch (error) {
    if (options.signal.aborted) throw error;
    // A primary that knows no IXFR says so in many ways, and one whose log is gone may end in the middle.
    return newerThan(current, await read(zone, peer, undefined, options));
  }
}

/** Of several servers behind one address, another may have told the serial than gives the zone. */
function newerThan(current: Current, given: Given): Transferred {
  if (given.kind !== "whole" || compareSerials(given.serial, current.serial) === 1) return given;
  return given.serial === current.serial ? { kind: "same" } : { kind: "older", serial: given.serial };
}

async function read(
  zone: string,
  peer: Peer,
  current: Current | undefined,
  options: AskOptions & { readonly mostRecords: number },
): Promise<Given> {
  const type = current === undefined ? types.axfr : types.ixfr;
  const authorities = current === undefined ? [] : [soaRecord(zone, current.soa)];
  const asking = { opcode: opcodes.query, question: { name: zone, type, class: classes.in }, authorities };
  const records: ResourceRecord[] = [];
  for await (const { message, covered } of askTcp(peer, asking, options)) {
    if (message.rcode !== rcodes.noError) throw new Error(`${nameOf(peer)}: response code ${message.rcode}`);
    records.push(...message.answers);
    if (records.length > options.mostRecords)
      throw new Error(`${nameOf(peer)}: more than ${options.mostRecords} records`);
    if (!isWhole(records, current?.serial)) continue;
    if (!covered) throw new Error(`${nameOf(peer)}: the last message is not signed`);
    return sortTransfer(records, zone, current?.serial);
  }
  throw new Error(`${nameOf(peer)}: the transfer ended early`);
}

function soaRecord(zone: string, text: string): ResourceRecord {
  const read = parseRdata("SOA", text, zone);
  if (!read.ok) throw new Error(`not an SOA record: ${text}`);
  return { name: zone, type: types.soa, class: classes.in, ttl: 0, data: rdataToWire(read.value) };
}

const isSoa = (record: ResourceRecord | undefined): boolean => record?.type === types.soa;
const serialIn = (soa: ResourceRecord): number => soaSerialOf(soa) ?? Number.NaN;

/** The first SOA comes again at the end; in a difference it also stands before what was added last (RFC 1995 section 4). */
function isWhole(records: readonly ResourceRecord[], since: number | undefined): boolean {
  const [first, second] = records;
  const last = records.at(-1);
  if (first === undefined || last === undefined || !isSoa(first)) return true;
  if (records.length === 1) return since !== undefined && compareSerials(serialIn(first), since) !== 1;
  if (!isSoa(last) || serialIn(last) !== serialIn(first)) return false;
  if (since === undefined || !isSoa(second) || serialIn(second ?? first) === serialIn(first)) return true;
  const same = records.filter((record) => isSoa(record) && serialIn(record) === serialIn(first));
  return same.length === 3;
}

/** What the records of a whole answer mean to one who has version `since`. Throws when they mean nothing. */
export function sortTransfer(records: readonly ResourceRecord[], zone: string, since: number | undefined): Given {
  const [first, second] = records;
  if (first === undefined || !isSoa(first) || first.name !== zone)
    throw new Error("a transfer begins with the SOA record");
  const serial = serialIn(first);
  if (records.length === 1) return { kind: "same" };
  const incremental = since !== undefined && isSoa(second) && serialIn(second ?? first) !== serial;
  if (!incremental) return { kind: "whole", serial, lines: linesOf(records.slice(0, -1), zone) };
  return { kind: "steps", serial, since, steps: stepsOf(records.slice(1, -1), zone, { since, serial }) };
}

function stepsOf(
  records: readonly ResourceRecord[],
  zone: string,
  { since, serial }: { readonly since: number; readonly serial: number },
): readonly ZoneStep[] {
  const starts = records.flatMap((record, i) => (isSoa(record) ? [i] : []));
  const parts = starts.map((start, i) => records.slice(start, starts[i + 1]));
  const steps: ZoneStep[] = [];
  let at = since;
  for (let i = 0; i < parts.length; i += 2) {
    const [removed, added] = [parts[i], parts[i + 1]];
    if (removed?.[0] === undefined || added?.[0] === undefined || serialIn(removed[0]) !== at) {
      throw new Error("the versions of the difference do not follow one another");
    }
    at = serialIn(added[0]);
    steps.push({ removed: linesOf(removed, zone), added: linesOf(added, zone) });
  }
  if (at !== serial) throw new Error("the difference does not lead to the version it names");
  return steps;
}

const linesOf = (records: readonly ResourceRecord[], zone: string): readonly ZoneLine[] =>
  records.flatMap((record) => toLine(record, zone) ?? []);

/** Undefined for what is not inside the zone: it is left out (RFC 5936 section 3.4). */
function toLine(record: ResourceRecord, zone: string): ZoneLine | undefined {
  const owner = ownerOf(record.name, zone);
  const type = typeFromCode(record.type);
  if (owner === undefined || record.class !== classes.in) return undefined;
  const read = type && rdataFromWire(type, record.data);
  if (!type || !read?.ok) throw new Error(`a record of type ${record.type} at ${record.name} cannot be read`);
  return { owner, type, ttl: ttlOf(record), rdata: read.value.text };
}
