import { headerLength, opcodes, rcodes, types } from "../../lib/dns/codes.ts";
import { bareOptLength } from "../../lib/dns/edns.ts";
import { decodeMessage, type Malformed } from "../../lib/dns/message.ts";
import { readQueryOptions } from "./edns-options.ts";

export type Transport = "udp" | "tcp";

/** The parts of a query that answering needs. The bytes are not copied: most of them go back unchanged. */
export type Query = {
  readonly kind: "query";
  readonly bytes: Buffer;
  readonly type: number;
  readonly class: number;
  /** Where the question ends. */
  readonly end: number;
  /** The name's key (`NameKey`), followed by the type as two more characters: equal for equal questions. */
  readonly key: string;
  /** The name was not in lower case. */
  readonly mixedCase: boolean;
  readonly edns: QueryEdns | undefined;
};

export type QueryEdns = {
  readonly udpSize: number;
  readonly version: number;
  readonly dnssecOk: boolean;
  /** Something else in the message is wrong: the refusal has an OPT record too (RFC 6891 section 7). */
  readonly isMalformed: boolean;
};

export type Unreadable =
  /** A response, or an incomplete header: no reply is sent. */
  { readonly kind: "silence" } | { readonly kind: "refusal"; readonly bytes: Buffer; readonly rcode: number };

/** Reads a query, copying only its question; unusual ones are left to `decodeMessage`. */
export function readQuery(bytes: Buffer): Query | Unreadable {
  if (bytes.length < headerLength || (byteAt(bytes, 2) & 0x80) !== 0) return silence;
  const opcode = (byteAt(bytes, 2) >> 3) & 0xf;
  if (opcode !== opcodes.query) return { kind: "refusal", bytes, rcode: rcodes.notImp };
  // RFC 9619: a query has one question.
  if (u16(bytes, 4) !== 1 || u16(bytes, 6) !== 0) return malformed(bytes);
  const name = scanName(bytes);
  if (name === undefined || name.end + 4 > bytes.length) return malformed(bytes);
  const end = name.end + 4;
  const edns = readEdns(bytes, end);
  if (edns === "malformed") return malformed(bytes);
  return {
    kind: "query",
    bytes,
    type: u16(bytes, name.end),
    class: u16(bytes, name.end + 2),
    end,
    key: name.mixedCase ? lowered(bytes, name.end) : bytes.toString("latin1", headerLength, name.end + 2),
    mixedCase: name.mixedCase,
    edns,
  };
}

const silence: Unreadable = { kind: "silence" };
const malformed = (bytes: Buffer): Unreadable => ({ kind: "refusal", bytes, rcode: rcodes.formErr });

const byteAt = (bytes: Buffer, at: number): number => bytes[at] ?? 0;
const u16 = (bytes: Buffer, at: number): number => (byteAt(bytes, at) << 8) | byteAt(bytes, at + 1);

const maximumName = 255;

/** The first name of a message has no earlier name to point to, so it cannot be compressed. */
function scanName(bytes: Buffer): { readonly end: number; readonly mixedCase: boolean } | undefined {
  let at = headerLength;
  let mixedCase = false;
  for (;;) {
    const length = bytes[at];
    if (length === undefined || length > 63) return undefined;
    at += 1;
    if (length === 0) return at - headerLength > maximumName ? undefined : { end: at, mixedCase };
    const next = at + length;
    if (next >= bytes.length) return undefined;
    for (; at < next; at++) {
      const byte = byteAt(bytes, at);
      if (byte >= 0x41 && byte <= 0x5a) mixedCase = true;
    }
  }
}

/** Length bytes are at most 63, below the letters, so folding every byte of the name changes only letters. */
function lowered(bytes: Buffer, end: number): string {
  const copy = Buffer.from(bytes.subarray(headerLength, end + 2));
  for (let at = 0; at < end - headerLength; at++) {
    const byte = byteAt(copy, at);
    if (byte >= 0x41 && byte <= 0x5a) copy[at] = byte + 32;
  }
  return copy.toString("latin1");
}

function readEdns(bytes: Buffer, end: number): QueryEdns | undefined | "malformed" {
  const restLength = bytes.length - end;
  const counts = (u16(bytes, 8) << 16) | u16(bytes, 10);
  if (counts === 0) return restLength === 0 ? undefined : "malformed";
  if (counts === 1 && restLength >= bareOptLength && isOpt(bytes, end, restLength - bareOptLength)) {
    return {
      isMalformed: restLength > bareOptLength && readQueryOptions(bytes, end + bareOptLength) === "malformed",
      udpSize: u16(bytes, end + 3),
      version: byteAt(bytes, end + 6),
      dnssecOk: (byteAt(bytes, end + 7) & 0x80) !== 0,
    };
  }
  if (u16(bytes, 8) > 1 || u16(bytes, 10) > mostAdditionals) return "malformed";
  const decoded = decodeMessage(bytes);
  if (!decoded.ok) return brokenOpt.has(decoded.because) ? { ...plainEdns, isMalformed: true } : "malformed";
  const { authorities, edns } = decoded.message;
  // Only IXFR uses the authority section (RFC 1995 section 3).
  const isMalformed = authorities.length > 0 && u16(bytes, end - 4) !== types.ixfr;
  return edns ? { ...edns, isMalformed } : isMalformed ? "malformed" : undefined;
}

/** The requester has EDNS all the same, and is told so. */
const brokenOpt: ReadonlySet<Malformed> = new Set(["two-opts", "bad-opt"]);
const plainEdns = { udpSize: 512, version: 0, dnssecOk: false };

/** An OPT, a signature, and room for future records. */
const mostAdditionals = 8;

const isOpt = (bytes: Buffer, at: number, length: number): boolean =>
  byteAt(bytes, at) === 0 && u16(bytes, at + 1) === types.opt && u16(bytes, at + 9) === length;
