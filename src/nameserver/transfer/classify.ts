import { headerLength, opcodes, types } from "../../lib/dns/codes.ts";

/** What can be seen without parsing the whole packet: every query is checked this way first. */
export type RequestKind =
  /** A response, or an incomplete header: no reply is sent. */
  | "silence"
  /** An ordinary query, without TSIG. */
  | "plain"
  /** A request for a zone transfer, with TSIG or without. */
  | "transfer"
  /** With TSIG, or not a query. */
  | "other";

export function classify(bytes: Buffer): RequestKind {
  if (bytes.length < headerLength || ((bytes[2] ?? 0) & 0x80) !== 0) return "silence";
  if (((bytes[2] ?? 0) & 0x78) !== opcodes.query) return "other";
  const end = endOfName(bytes);
  if (end === undefined || end + 4 > bytes.length) return "plain";
  const type = ((bytes[end] ?? 0) << 8) | (bytes[end + 1] ?? 0);
  if (type === types.axfr || type === types.ixfr) return "transfer";
  const additionals = ((bytes[10] ?? 0) << 8) | (bytes[11] ?? 0);
  return additionals === 0 || (additionals === 1 && isOpt(bytes, end + 4)) ? "plain" : "other";
}

/** Whether the question is about this name or one below it. `name` is in wire format, in lower case. */
export function asksBelow(bytes: Buffer, name: Uint8Array): boolean {
  const end = endOfName(bytes);
  if (end === undefined) return false;
  const start = end - name.length;
  for (let i = name.length - 1; i >= 0; i--) {
    const byte = bytes[start + i] ?? 0;
    if ((byte >= 0x41 && byte <= 0x5a ? byte + 32 : byte) !== name[i]) return false;
  }
  for (let at = headerLength; at <= start; at += 1 + (bytes[at] ?? 0)) if (at === start) return true;
  return false;
}

function endOfName(bytes: Buffer): number | undefined {
  for (let at = headerLength; at < bytes.length; ) {
    const length = bytes[at] ?? 0;
    if (length === 0) return at + 1;
    if (length > 63) return undefined;
    at += 1 + length;
  }
  return undefined;
}

const isOpt = (bytes: Buffer, at: number): boolean =>
  bytes[at] === 0 && bytes[at + 1] === 0 && bytes[at + 2] === types.opt;
