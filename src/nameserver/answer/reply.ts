import { flags, headerLength, maximumMessage, types } from "../../lib/dns/codes.ts";
import { bareOptLength, ednsUdpSize, udpSizeLimit } from "../../lib/dns/edns.ts";
import { extendedError, extendedErrors, optOf, withOptions } from "../wire/edns-options.ts";
import type { Query, Transport } from "../wire/read-query.ts";
import { placeAuthority, placeNsec3 } from "./negative-authority.ts";
import type { NegativeAnswer, Prepared, WrittenAnswer } from "./prepare.ts";

/**
 * A prepared answer for one client: within its size limit, with its id, its case and, if it uses EDNS, an OPT record.
 */
export function replyWith(prepared: Prepared, query: Query, transport: Transport): Buffer {
  const room = sizeLimit(query, transport) - (query.edns ? bareOptLength : 0);
  if (prepared.kind === "negative") return replyNegative(prepared, query, room);
  const { bytes, withoutExtras, additionals, questionEnd } = prepared;
  if (bytes.length <= room && withoutExtras <= room) return finish(bytes, bytes.length, query);
  if (withoutExtras <= room) {
    const reply = finish(bytes, withoutExtras, query);
    reply.writeUInt16BE(additionals + (query.edns ? 1 : 0), 10);
    return reply;
  }
  const reply = finish(bytes, questionEnd, query);
  reply.writeUInt16BE(reply.readUInt16BE(2) | flags.truncated, 2);
  reply.fill(0, 6, 10);
  reply.writeUInt16BE(query.edns ? 1 : 0, 10);
  return reply;
}

/** The question, unchanged, followed by the authority section that it shares with other negative answers. */
export function replyNegative(negative: NegativeParts, query: Query, room: number): Buffer {
  const whole = query.end + negative.authority.bytes.length + (negative.covering?.bytes.length ?? 0);
  const reply = Buffer.allocUnsafe(whole + bareOptLength);
  return reply.subarray(0, fillNegative(negative, query, room, reply));
}

type NegativeParts = Omit<NegativeAnswer, "dependsOn">;

/** The parts of a query that its reply repeats. */
type Asked = Pick<Query, "bytes" | "end" | "edns">;

/** Writes the reply, and returns its length. */
export function fillNegative(
  { authority, covering, flagsAndRcode }: NegativeParts,
  { bytes, end, edns }: Asked,
  room: number,
  reply: Buffer,
): number {
  const whole = end + authority.bytes.length + (covering?.bytes.length ?? 0);
  const fits = whole <= room && !authority.isOnlyForUdp;
  const length = fits ? whole : end;
  bytes.copy(reply, 0, 0, end);
  const queryFlags = (bytes[2] ?? 0) & (flags.recursionDesired >> 8);
  reply[2] = (flagsAndRcode >> 8) | queryFlags | (fits ? 0 : flags.truncated >> 8);
  reply[3] = flagsAndRcode & 0xff;
  reply[8] = 0;
  reply[9] = fits ? authority.records + (covering?.records ?? 0) : 0;
  reply[10] = 0;
  reply[11] = edns ? 1 : 0;
  if (fits) placeAuthority(authority, reply, end);
  // A question ends with its type and class.
  if (fits && covering) placeNsec3(covering, reply, end + authority.bytes.length, end - 4 - authority.nameLength);
  if (!edns) return length;
  reply.set(edns.dnssecOk ? bareOptWithDo : bareOpt, length);
  return length + bareOptLength;
}

/** The same for an answer with records; 0 if it has to be shortened. */
export function fillWritten(
  { bytes: answer, withoutExtras, questionEnd }: WrittenAnswer,
  { bytes, end, edns }: Asked,
  room: number,
  reply: Buffer,
): number {
  const { length } = answer;
  if (length > room || withoutExtras > room) return 0;
  answer.copy(reply, questionEnd, questionEnd, length);
  // The question is repeated in its case.
  for (let i = headerLength; i < end; i++) reply[i] = bytes[i] ?? 0;
  for (let i = 3; i < headerLength; i++) reply[i] = answer[i] ?? 0;
  reply[0] = bytes[0] ?? 0;
  reply[1] = bytes[1] ?? 0;
  reply[2] = ((answer[2] ?? 0) & 0xfe) | ((bytes[2] ?? 0) & 1);
  if (!edns) return length;
  addOpt(reply, length, edns.dnssecOk);
  return length + bareOptLength;
}

/** Only the question and a response code. `error` is an extended error, which says why (RFC 8914). */
export function replyWithCode(query: Query, rcode: number, error?: number): Buffer {
  const { bytes, end } = query;
  const reply = finish(bytes, end, query);
  writeFlags(reply, bytes, rcode);
  reply.writeUInt16BE(1, 4);
  reply.fill(0, 6, 10);
  reply.writeUInt16BE(query.edns ? 1 : 0, 10);
  if (query.edns) reply[end + 5] = rcode >>> 4;
  return error === undefined ? reply : withOptions(reply, extendedError(error));
}

/** A reply that may be out of date (RFC 8914 section 4.4). Without room for it, the reply does not say so. */
export function asStale(reply: Buffer, query: Query, transport: Transport): Buffer {
  const marked = withOptions(reply, extendedError(extendedErrors.staleAnswer));
  return marked.length <= sizeLimit(query, transport) ? marked : reply;
}

/** For a query that could not be read: only a header. */
export function refuseUnread(bytes: Buffer, rcode: number): Buffer {
  const reply = Buffer.alloc(headerLength);
  reply.set(bytes.subarray(0, 2));
  writeFlags(reply, bytes, rcode);
  return reply;
}

/** A truncated reply, so that the client retries over TCP. */
export function truncate(reply: Buffer, query: Buffer): Buffer {
  const opt = optAtEnd(reply);
  const short = Buffer.concat([reply.subarray(0, Math.min(endOfQuestion(query), reply.length)), opt]);
  short.writeUInt16BE(short.readUInt16BE(2) | flags.truncated, 2);
  short.fill(0, 6, headerLength);
  if (opt.length > 0) short[headerLength - 1] = 1;
  return short;
}

/** RFC 6891 section 7: without an OPT record, the reply would say that this server does not support EDNS. */
function optAtEnd(reply: Buffer): Buffer {
  return reply.subarray(optOf(reply) ?? reply.length);
}

const sizeLimit = ({ edns }: Query, transport: Transport): number =>
  transport === "tcp" ? maximumMessage : udpSizeLimit(edns);

function finish(source: Buffer, length: number, query: Query): Buffer {
  const { bytes, edns } = query;
  const reply = Buffer.allocUnsafe(length + (edns ? bareOptLength : 0));
  reply.set(length === source.length ? source : source.subarray(0, length));
  reply[0] = bytes[0] ?? 0;
  reply[1] = bytes[1] ?? 0;
  reply[2] = ((reply[2] ?? 0) & 0xfe) | ((bytes[2] ?? 0) & 1);
  if (query.mixedCase) bytes.copy(reply, headerLength, headerLength, query.end);
  if (edns) addOpt(reply, length, edns.dnssecOk);
  return reply;
}

function addOpt(reply: Buffer, at: number, dnssecOk: boolean): void {
  reply.set(dnssecOk ? bareOptWithDo : bareOpt, at);
  const additionals = (((reply[10] ?? 0) << 8) | (reply[11] ?? 0)) + 1;
  reply[10] = additionals >> 8;
  reply[11] = additionals & 0xff;
}

export const bareOpt = Buffer.of(0, 0, types.opt, ednsUdpSize >> 8, ednsUdpSize & 0xff, 0, 0, 0, 0, 0, 0);
/** The DO bit is copied from the query (RFC 3225 section 3). */
const bareOptWithDo = Buffer.of(0, 0, types.opt, ednsUdpSize >> 8, ednsUdpSize & 0xff, 0, 0, 0x80, 0, 0, 0);

/** Only the opcode and the RD bit are copied from the query. */
function writeFlags(reply: Buffer, query: Buffer, rcode: number): void {
  const queryFlags = query.readUInt16BE(2);
  reply.writeUInt16BE(flags.response | (queryFlags & (0x7800 | flags.recursionDesired)) | (rcode & 0xf), 2);
}

function endOfQuestion(query: Buffer): number {
  let at = headerLength;
  for (let length = query[at] ?? 0; length !== 0; length = query[at] ?? 0) at += 1 + length;
  return at + 5;
}
