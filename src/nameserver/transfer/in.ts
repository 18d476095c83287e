import { parseRdata, rdataToWire } from "../../core/rdata/rdata.ts";
import { compareSerials, serialOf } from "../../core/records/serial.ts";
import { type AskOptions, askTcp, askUdp, type DnsRequest, nameOf, type Peer } from "../../lib/dns/ask.ts";
import { classes, opcodes, rcodes, types } from "../../lib/dns/codes.ts";
import type { Message, ResourceRecord } from "../../lib/dns/message.ts";
import { createTransferAssembly, type Received, type TransferAssembly, toLine } from "./assemble.ts";
import { noRoom, type TransferMemory } from "./memory.ts";

/** The result of asking a primary for a zone. `older`: the primary sent an older version than the stored one. */
export type Transferred = Received | { readonly kind: "older"; readonly serial: number };

/** The serial that the primary has; over TCP if UDP fails, and only over TLS with a primary that has it. */
export async function askSerial(zone: string, peer: Peer, options: AskOptions): Promise<number> {
  const asking = { opcode: opcodes.query, question: { name: zone, type: types.soa, class: classes.in } };
  const message = peer.tls
    ? await askOnceOverTcp(peer, asking, options)
    : await askUdp(peer, asking, options).catch(() => askOnceOverTcp(peer, asking, options));
  const [record] = message.answers.filter((each) => each.type === types.soa && each.name === zone);
  if (message.rcode !== rcodes.noError || record === undefined) {
    throw new Error(`${nameOf(peer)}: no SOA record of ${zone} (response code ${message.rcode})`);
  }
  return serialOf(toLine(record, zone)?.rdata ?? "");
}

async function askOnceOverTcp(peer: Peer, asking: DnsRequest, options: AskOptions): Promise<Message> {
  for await (const { message, covered } of askTcp(peer, asking, options)) {
    if (covered) return message;
  }
  throw new Error(`${nameOf(peer)}: the answer is not signed`);
}

export type TransferInOptions = AskOptions & {
  readonly mostRecords: number;
  /** Limits the text that is kept of the records. */
  readonly mostBytes: number;
  readonly memory: TransferMemory;
};

export type Current = { readonly serial: number; readonly soa: string };

/**
 * The zone as the primary has it: the changes since `current` if the primary offers them (RFC 1995), the whole zone
 * otherwise (RFC 5936).
 */
export async function transferIn(
  zone: string,
  peer: Peer,
  current: Current | undefined,
  options: TransferInOptions,
): Promise<Transferred> {
  if (current === undefined) return await read(zone, peer, undefined, options);
  try {
    return newerThan(current, await read(zone, peer, current, options));
  } catch (error) {
    if (options.signal.aborted) throw error;
    // A primary without IXFR may reject it in many ways, and one that has lost its history may stop in the middle.
    return newerThan(current, await read(zone, peer, undefined, options));
  }
}

/** Several servers may share an address: the one that reported the serial may not be the one that sends the zone. */
function newerThan(current: Current, received: Received): Transferred {
  if (received.kind !== "whole" || compareSerials(received.serial, current.serial) === 1) return received;
  return received.serial === current.serial ? { kind: "same" } : { kind: "older", serial: received.serial };
}

/** Messages without records, one after the other: some primaries send a single one. */
const mostEmpty = 2;

async function read(
  zone: string,
  peer: Peer,
  current: Current | undefined,
  options: TransferInOptions,
): Promise<Received> {
  const type = current === undefined ? types.axfr : types.ixfr;
  const authorities = current === undefined ? [] : [soaRecord(zone, current.soa)];
  const asking = { opcode: opcodes.query, question: { name: zone, type, class: classes.in }, authorities };
  const assembly = createTransferAssembly(zone, current?.serial);
  options.memory.hold(0);
  let empty = 0;
  for await (const { message, covered } of askTcp(peer, asking, options)) {
    if (message.rcode !== rcodes.noError) throw new Error(`${nameOf(peer)}: response code ${message.rcode}`);
    // Neither the limit of records nor that of bytes would end a stream of empty messages.
    empty = message.answers.length === 0 ? empty + 1 : 0;
    if (empty > mostEmpty)
      throw new Error(`${nameOf(peer)}: ${empty} messages of the transfer in a row have no records`);
    for (const record of message.answers) {
      assembly.add(record);
      // With compressed names, one message may expand to a hundred times its size.
      const excess = excessOf(assembly, options);
      if (excess) throw new Error(`${nameOf(peer)}: ${excess}`);
    }
    if (!options.memory.hold(assembly.bytes())) throw new Error(`${nameOf(peer)}: ${noRoom}`);
    const content = assembly.whole();
    if (content === undefined) continue;
    if (!covered) throw new Error(`${nameOf(peer)}: the last message is not signed`);
    return content;
  }
  throw new Error(`${nameOf(peer)}: the transfer ended early`);
}

function excessOf(
  { records, bytes }: TransferAssembly,
  { mostRecords, mostBytes }: TransferInOptions,
): string | undefined {
  if (records() > mostRecords) return `more than ${mostRecords} records`;
  return bytes() > mostBytes ? `more than ${mostBytes} bytes of records` : undefined;
}

function soaRecord(zone: string, text: string): ResourceRecord {
  const read = parseRdata("SOA", text, zone);
  if (!read.ok) throw new Error(`not an SOA record: ${text}`);
  return { name: zone, type: types.soa, class: classes.in, ttl: 0, data: rdataToWire(read.value) };
}
