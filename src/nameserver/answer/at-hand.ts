import { headerLength, types } from "../../lib/dns/codes.ts";
import { bareOptLength, udpSizeLimit } from "../../lib/dns/edns.ts";
import type { Enclosers } from "./enclosers.ts";
import type { NameCache } from "./name-cache.ts";
import { cacheKindOf, type Prepared, stillHolds } from "./prepare.ts";
import { fillNegative, fillWritten } from "./reply.ts";

/**
 * Writes the reply to a query over UDP, and returns its length; 0 if it is not at hand, or the query is unusual in any
 * way: then `Respond` decides. The query is the first `length` bytes of its buffer.
 */
export type ReplyAtHand = (query: Buffer, length: number, reply: Buffer) => number;

/** What most queries are answered with: no memory is taken for each, except for a label that does not exist. */
export function createReplyAtHand(cached: NameCache<Prepared>, enclosers: Enclosers): ReplyAtHand {
  // One object for all queries.
  const edns = { udpSize: 0, version: 0, dnssecOk: false, isMalformed: false };
  const asked: { bytes: Buffer; end: number; edns: typeof edns | undefined } = { bytes: noBytes, end: 0, edns };
  return (query, length, reply) => {
    const end = endOfPlainQuestion(query, length);
    if (end === 0) return 0;
    const isEdns = query[11] === 1;
    if (isEdns) {
      if (!isBareOpt(query, end)) return 0;
      edns.udpSize = u16(query, end + 3);
      edns.dnssecOk = ((query[end + 7] ?? 0) & 0x80) !== 0;
    }
    if (end + (isEdns ? bareOptLength : 0) !== length) return 0;
    asked.bytes = query;
    asked.end = end;
    asked.edns = isEdns ? edns : undefined;
    const room = udpSizeLimit(asked.edns) - (isEdns ? bareOptLength : 0);
    const dnssecOk = isEdns && edns.dnssecOk;
    const type = u16(query, end - 4);
    const prepared = cached.get(query, headerLength, end - 4, cacheKindOf(type, dnssecOk));
    if (prepared !== undefined) {
      if (!stillHolds(prepared)) return 0;
      return prepared.kind === "negative"
        ? fillNegative(prepared, asked, room, reply)
        : fillWritten(prepared, asked, room, reply);
    }
    if (type > lastOrdinary || type === types.opt) return 0;
    const noName = enclosers.noName(query, end - 4, dnssecOk, "udp");
    return noName === undefined ? 0 : fillNegative(noName, asked, room, reply);
  };
}

const noBytes = Buffer.alloc(0);

/** The codes above it include those that only have a meaning in questions. */
const lastOrdinary = 127;

const longestName = 255;

/** Where the question of an ordinary query ends; 0 for others. */
function endOfPlainQuestion(query: Buffer, length: number): number {
  const isPlain =
    length > headerLength &&
    ((query[2] ?? 0) & 0xf8) === 0 &&
    // One question, no answers, no authorities, at most one additional record.
    query.readUInt32BE(4) === 0x1_0000 &&
    u16(query, 8) === 0 &&
    u16(query, 10) <= 1;
  if (!isPlain) return 0;
  const most = Math.min(length - 5, headerLength + longestName - 1);
  let at = headerLength;
  for (let label = query[at] ?? 0; label !== 0; label = query[at] ?? 0) {
    at += 1 + label;
    if (label > 63 || at > most) return 0;
  }
  const end = at + 5;
  // The class is IN.
  return end <= length && u16(query, end - 2) === 1 ? end : 0;
}

/** An OPT record of version 0 without options. What follows it in the buffer is not part of the query. */
const isBareOpt = (query: Buffer, at: number): boolean =>
  query[at] === 0 && u16(query, at + 1) === types.opt && query[at + 6] === 0 && u16(query, at + 9) === 0;

const u16 = (bytes: Buffer, at: number): number => ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0);
