import { randomInt } from "node:crypto";
import { classes, headerLength, rcodes, types } from "../../lib/dns/codes.ts";
import { extendedErrors } from "../wire/edns-options.ts";
import { type Query, readQuery, type Transport } from "../wire/read-query.ts";
import { createReplyAtHand, type ReplyAtHand } from "./at-hand.ts";
import { Enclosers } from "./enclosers.ts";
import type { LoadedZone, LoadedZones } from "./loaded-zones.ts";
import { NameCache } from "./name-cache.ts";
import { isRootKey, keyAbove, labelsOfKey, type NameKey } from "./name-key.ts";
import { cacheKindOf, createPrepare, isFor, isNoName, isWorthCaching, type Prepared, stillHolds } from "./prepare.ts";
import { asStale, refuseUnread, replyWith, replyWithCode } from "./reply.ts";

/**
 * Bytes in, bytes out; undefined when no reply is to be sent. A promise only when a zone has to be loaded first, and
 * then only with `any` as the allowed work.
 */
export type Respond = (query: Buffer, transport: Transport, allowedWork?: AllowedWork) => DnsReply | Promise<DnsReply>;

/**
 * What may be done for a reply. `no-wait`: a query that would have to wait gets none, and no zone is loaded for it.
 * `cached-only`: nor does one whose answer is not cached.
 */
export type AllowedWork = "any" | "no-wait" | "cached-only";

export type DnsReply = Buffer | undefined;

/** Like `Respond`, for replies that depend on the client. */
export type RespondTo = (
  query: Buffer,
  transport: Transport,
  from: string,
  allowedWork?: AllowedWork,
) => DnsReply | Promise<DnsReply>;

/** The messages of a zone transfer over TCP; undefined when the query does not ask for one. */
export type Stream = (query: Buffer, from: string) => AsyncIterable<Buffer> | undefined;

export type ResponderOptions = {
  readonly zones: LoadedZones;
  /** Called when a zone could not be loaded; the client gets SERVFAIL. */
  readonly onTrouble: (error: unknown) => void;
  /** How many answers the cache keeps before it drops old ones. */
  readonly cacheSize?: number;
};

export type Responder = Respond & {
  /** The same reply as `Respond` over UDP, if it is at hand. */
  readonly atHand: ReplyAtHand;
};

/** Gives authoritative answers only. It holds no socket, so that every thread can have one. */
export function createResponder(options: ResponderOptions): Responder {
  const { zones, onTrouble } = options;
  const prepare = createPrepare();
  const { cacheSize = 20_000 } = options;
  const cached = new NameCache<Prepared>(2 * cacheSize, randomInt(2 ** 32));
  const enclosers = new Enclosers(zones, { size: 1_000, seed: randomInt(2 ** 32) });

  const answerFrom = (zone: LoadedZone | undefined, query: Query, transport: Transport) => {
    if (zone === undefined) return replyWithCode(query, rcodes.refused, extendedErrors.notAuthoritative);
    const { key, type } = query;
    const dnssecOk = wantsSignatures(query);
    const prepared = prepare(zone, { key, name: labelsOfKey(key), type, dnssecOk, transport });
    if (prepared === undefined) return replyWithCode(query, rcodes.servFail, extendedErrors.invalidData);
    if (isWorthCaching(prepared)) cached.set(key.slice(0, -2), prepared, cacheKindOf(type, dnssecOk));
    else if (isNoName(prepared)) enclosers.note(zone, key.slice(0, -2), prepared, transport);
    const reply = replyWith(prepared, query, transport);
    return zone.state === "old" ? asStale(reply, query, transport) : reply;
  };

  const failed = (error: unknown, query: Query): Buffer => {
    onTrouble(error);
    return replyWithCode(query, rcodes.servFail, extendedErrors.notReady);
  };

  const respond: Respond = (bytes, transport, allowedWork = "any") => {
    const query = readQuery(bytes);
    if (query.kind === "silence") return undefined;
    if (query.kind === "refusal") return refuseUnread(query.bytes, query.rcode);
    const rcode = refusalOf(query);
    if (rcode !== undefined) return replyWithCode(query, rcode, errorOf[rcode]);
    const dnssecOk = wantsSignatures(query);
    const nameEnd = query.end - 4;
    const prepared = cached.get(bytes, headerLength, nameEnd, cacheKindOf(query.type, dnssecOk));
    if (prepared !== undefined && isFor(prepared, transport) && stillHolds(prepared))
      return replyWith(prepared, query, transport);
    const noName = enclosers.noName(bytes, nameEnd, dnssecOk, transport);
    if (noName !== undefined) return replyWith(noName, query, transport);
    if (allowedWork === "cached-only") return undefined;
    const name = query.key.slice(0, -2);
    // The zone that holds a DS set may be further up than the nearest known one.
    if (allowedWork !== "any" && (query.type === types.ds || !zones.isKnown(name))) return undefined;
    try {
      const zone = zoneFor(zones, name, query.type);
      if (!(zone instanceof Promise)) return answerFrom(zone, query, transport);
      return zone.then((loadedZone) => answerFrom(loadedZone, query, transport)).catch((error) => failed(error, query));
    } catch (error) {
      return failed(error, query);
    }
  };
  return Object.assign(respond, { atHand: createReplyAtHand(cached, enclosers) });
}

const wantsSignatures = ({ edns }: Query): boolean => edns?.dnssecOk === true;

const errorOf: Readonly<Record<number, number>> = {
  [rcodes.refused]: extendedErrors.prohibited,
  [rcodes.notImp]: extendedErrors.notSupported,
};

/** The response code of a query that is refused before any zone is looked up. */
function refusalOf(query: Query): number | undefined {
  if (query.edns !== undefined && query.edns.version !== 0) return rcodes.badVers;
  if (query.edns?.isMalformed) return rcodes.formErr;
  if (query.class !== classes.in) return rcodes.refused;
  switch (query.type) {
    case types.ixfr:
    case types.axfr:
      return rcodes.refused;
    case types.maila:
    case types.mailb:
      return rcodes.notImp;
    case types.opt:
    case types.tsig:
    case types.tkey:
    // RFC 9824 section 3.2: it only appears in NSEC records.
    case types.nxname:
      return rcodes.formErr;
    default:
      return undefined;
  }
}

/**
 * A DS set is on the parent's side of a zone cut: the parent answers for it if it is served here (RFC 4035 section
 * 3.1.4.1).
 */
function zoneFor(zones: LoadedZones, name: NameKey, type: number): ReturnType<LoadedZones["find"]> {
  if (type !== types.ds || isRootKey(name)) return zones.find(name);
  const parent = zones.find(keyAbove(name));
  if (parent instanceof Promise) return parent.then((parentZone) => parentZone ?? zones.find(name));
  return parent ?? zones.find(name);
}
