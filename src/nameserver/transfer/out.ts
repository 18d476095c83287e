import type { Change } from "../../core/records/changes.ts";
import { compareSerials } from "../../core/records/serial.ts";
import type { ZoneView } from "../../core/records/zone-view.ts";
import { flags, opcodes, rcodes, types } from "../../lib/dns/codes.ts";
import { type Edns, ednsUdpSize, udpSizeLimit } from "../../lib/dns/edns.ts";
import { emptyMessage, encodeMessage, type Message, soaSerialOf } from "../../lib/dns/message.ts";
import type { LoadedZones } from "../answer/loaded-zones.ts";
import { keyOfName } from "../answer/name-key.ts";
import { bareOpt } from "../answer/reply.ts";
import type { Transport } from "../wire/read-query.ts";
import type { CachedTransfers } from "./cached-transfers.ts";
import { type PackOptions, packRecords, type TransferRecord } from "./pack.ts";
import { soaOf, wholeZone, zoneDifference } from "./records.ts";

/**
 * All changes from one serial of a zone to another, oldest first. Undefined when they are no longer known, or do not
 * show everything that changed: then the whole zone is sent.
 */
export type ChangesBetween = (zone: string, from: number, to: number) => Promise<readonly Change[] | undefined>;

export type TransferRequest = {
  readonly message: Message;
  readonly transport: Transport;
  /** Bytes to leave free in each message for a signature. */
  readonly room: number;
};

export type TransferOutOptions = {
  readonly zones: LoadedZones;
  readonly changesBetween: ChangesBetween;
  readonly packed: CachedTransfers;
  /** Called after each message, so that other queries are answered in between. */
  readonly pause: () => Promise<void>;
};

/** The messages of an answer to AXFR (RFC 5936) or IXFR (RFC 1995), for a client that may transfer the zone. */
export async function* transferOut(
  request: TransferRequest,
  { zones, changesBetween, packed, pause }: TransferOutOptions,
): AsyncGenerator<Buffer> {
  const { message, transport } = request;
  const [question] = message.questions;
  if (question === undefined) return;
  const incremental = question.type === types.ixfr;
  if (transport === "udp" && !incremental) return yield codeReply(message, rcodes.formErr);
  const since = incremental ? serialIn(message) : undefined;
  if (incremental && since === undefined) return yield codeReply(message, rcodes.formErr);
  const zone = await zones.find(keyOfName(question.name), "transfer");
  if (zone?.view.name !== question.name) return yield codeReply(message, rcodes.notAuth);
  const { view } = zone;
  const changes = since === undefined ? undefined : await changesSince(view, since, changesBetween);
  // No `await` between here and the difference: the zone must not change meanwhile.
  const records = changes === "none" ? [soaOf(view)] : changes && zoneDifference(view, since ?? 0, changes);
  if (transport === "udp") return yield* packForUdp(records, view, request);
  const options = packing(view, request);
  for (const each of records ? packRecords(records, options) : await packed.messages(view, options)) {
    yield each;
    await pause();
  }
}

/** Only the question and a response code. */
export const codeReply = (message: Message, rcode: number): Buffer => encodeMessage(replyTo(message, rcode));

function replyTo({ id, opcode, recursionDesired, questions, edns }: Message, rcode: number): Message {
  const authoritative = rcode === rcodes.noError && opcode !== opcodes.update;
  const about = { id, opcode, rcode, authoritative, recursionDesired, questions };
  return { ...emptyMessage, ...about, response: true, edns: edns && ownEdns };
}

const ownEdns: Edns = { udpSize: ednsUdpSize, version: 0, dnssecOk: false, options: [] };

type Records = Iterable<TransferRecord>;
type Changes = readonly Change[] | undefined;

/**
 * `none` when the client is up to date (RFC 1995 section 2). The changes are read again if the zone has changed
 * meanwhile.
 */
async function changesSince(view: ZoneView, since: number, between: ChangesBetween): Promise<Changes | "none"> {
  for (let tries = 3; tries > 0; tries--) {
    const { serial } = view;
    if (compareSerials(since, serial) !== -1) return "none";
    const changes = await between(view.name, since, serial);
    if (view.serial === serial) return changes;
  }
  return undefined;
}

const packing = (view: ZoneView, { message, room }: TransferRequest): PackOptions => ({
  head: encodeMessage({ ...replyTo(message, rcodes.noError), edns: undefined }),
  zoneLabels: view.labels.length,
  tail: message.edns ? bareOpt : Buffer.of(),
  room,
});

/**
 * If the answer does not fit in a datagram, only the SOA is sent: the client then retries over TCP (RFC 1995 section
 * 2).
 */
function* packForUdp(records: Records | undefined, view: ZoneView, request: TransferRequest): Generator<Buffer> {
  const { message, room } = request;
  const pack = (some: Records) => packRecords(some, packing(view, request));
  const limit = udpSizeLimit(message.edns) - room;
  const [first, second] = pack(records ?? wholeZone(view));
  if (first !== undefined && second === undefined && first.length <= limit) return yield first;
  for (const only of pack([soaOf(view)])) {
    only.writeUInt16BE(only.readUInt16BE(2) | flags.truncated, 2);
    yield only;
  }
}

/** The client's serial is in the SOA of the authority section. */
function serialIn({ authorities }: Message): number | undefined {
  const [soa] = authorities;
  return soa && soaSerialOf(soa);
}
