import { headerLength, types } from "../../lib/dns/codes.ts";
import { bareOptLength, udpSizeLimit } from "../../lib/dns/edns.ts";
import { answerCookie, isCookieLength } from "./cookies.ts";

/** What this server tells clients that ask for it. */
export type ServerIdentity = {
  /** 16 bytes, the same on all nodes, so that a client may reach any of them. */
  readonly cookieSecret: Uint8Array;
  /** The name of this server (RFC 5001). */
  readonly nsid?: Uint8Array | undefined;
};

const optionCodes = { nsid: 3, cookie: 10, extendedError: 15 } as const;

/** Extended errors (RFC 8914 section 4). */
export const extendedErrors = {
  staleAnswer: 3,
  notReady: 14,
  prohibited: 18,
  notAuthoritative: 20,
  notSupported: 21,
  invalidData: 24,
} as const;

/** The options of a query that change its reply. */
export type QueryOptions = { readonly cookie: Uint8Array | undefined; readonly wantsNsid: boolean };

/** A message with more is malformed: reading thousands would take longer than the answer. */
const mostOptions = 100;

/** Reads options from `at` to the end; "malformed" if they are not complete, or there are too many. */
export function readQueryOptions(bytes: Buffer, start: number): QueryOptions | "malformed" {
  let [cookie, wantsNsid]: [Uint8Array | undefined, boolean] = [undefined, false];
  let at = start;
  for (let count = 0; at < bytes.length; count++) {
    if (count === mostOptions || at + 4 > bytes.length) return "malformed";
    const [code, length] = [bytes.readUInt16BE(at), bytes.readUInt16BE(at + 2)];
    const end = at + 4 + length;
    if (end > bytes.length) return "malformed";
    if (code === optionCodes.nsid) wantsNsid = true;
    if (code === optionCodes.cookie) {
      // RFC 7873 section 5.2.2. Of several, the first counts (section 5.2).
      if (!isCookieLength(length)) return "malformed";
      cookie ??= bytes.subarray(at + 4, end);
    }
    at = end;
  }
  return { cookie, wantsNsid };
}

/**
 * The options of a query whose OPT record is its last and follows the question, as in all plain queries. Undefined for
 * most queries, which have none: that takes a few comparisons.
 */
export function optionsIn(query: Buffer): QueryOptions | undefined {
  const length = query.length;
  if (length < headerLength || query[11] !== 1 || query[10] !== 0) return undefined;
  if (query[length - 1] === 0 && query[length - 2] === 0 && isOpt(query, length - bareOptLength)) return undefined;
  const opt = optAt(query);
  if (!isOpt(query, opt) || query.readUInt16BE(opt + 9) !== length - opt - bareOptLength) return undefined;
  const options = readQueryOptions(query, opt + bareOptLength);
  return options === "malformed" ? undefined : options;
}

/** The size of a datagram that the sender of a query with options accepts. */
export const sizeLimitOf = (query: Buffer): number => udpSizeLimit({ udpSize: query.readUInt16BE(optAt(query) + 3) });

function optAt(query: Buffer): number {
  let at = headerLength;
  for (let label = query[at] ?? 0; label > 0 && label < 64; label = query[at] ?? 0) at += 1 + label;
  return at + 5;
}

const isOpt = (bytes: Buffer, at: number): boolean =>
  at >= headerLength &&
  at + bareOptLength <= bytes.length &&
  bytes[at] === 0 &&
  bytes[at + 1] === 0 &&
  bytes[at + 2] === types.opt;

/** The bytes that this server adds to the OPT record of a reply, and whether the client proved its address. */
export function replyOptions(
  { cookie, wantsNsid }: QueryOptions,
  client: Uint8Array,
  { cookieSecret, nsid }: ServerIdentity,
  now: number,
): { readonly bytes: Buffer; readonly isKnownClient: boolean } {
  const parts: Uint8Array[] = [];
  const answered = cookie && answerCookie(cookie, client, cookieSecret, Math.floor(now / 1000));
  if (answered) parts.push(head(optionCodes.cookie, answered.reply.length), answered.reply);
  if (wantsNsid && nsid !== undefined) parts.push(head(optionCodes.nsid, nsid.length), nsid);
  return { bytes: Buffer.concat(parts), isKnownClient: answered?.isKnownClient === true };
}

const head = (code: number, length: number): Uint8Array =>
  Uint8Array.of(code >> 8, code & 0xff, length >> 8, length & 0xff);

export const extendedError = (code: number): Buffer =>
  Buffer.of(0, optionCodes.extendedError, 0, 2, code >> 8, code & 0xff);

/**
 * Where the OPT record of a reply of this server begins: it is the last record, without options or with one extended
 * error.
 */
export function optOf(reply: Buffer): number | undefined {
  const bare = reply.length - bareOptLength;
  if (reply.length < headerLength || (reply[10] === 0 && reply[11] === 0)) return undefined;
  if (isOpt(reply, bare) && reply.readUInt16BE(reply.length - 2) === 0) return bare;
  const one = bare - errorLength;
  const hasError = isOpt(reply, one) && reply.readUInt16BE(one + 9) === errorLength;
  return hasError && reply.readUInt16BE(one + bareOptLength) === optionCodes.extendedError ? one : undefined;
}

const errorLength = 6;

/** Adds options to the OPT record. A reply without one stays as it is. */
export function withOptions(reply: Buffer, options: Buffer): Buffer {
  const opt = options.length === 0 ? undefined : optOf(reply);
  if (opt === undefined) return reply;
  const longer = Buffer.concat([reply, options]);
  longer.writeUInt16BE(longer.length - opt - bareOptLength, opt + 9);
  return longer;
}
