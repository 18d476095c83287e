import type { Instant } from "../../core/instant.ts";
import { type Holder, KeyedSemaphore } from "../../lib/limits/semaphore.ts";
import { truncate } from "../answer/reply.ts";
import type { DnsReply, Responder, RespondTo } from "../answer/respond.ts";
import { countLimited, countReply, createDnsCounters, type DnsCounters } from "../metrics/metrics.ts";
import { optionsIn, replyOptions, type ServerIdentity, sizeLimitOf, withOptions } from "../wire/edns-options.ts";
import { Backlog, type BacklogTools } from "./backlog.ts";
import type { Client } from "./client.ts";
import {
  createQueryLimit,
  defaultQueryLimit,
  type LimitedClient,
  type QueryLimit,
  type QueryRateLimit,
  type ReplyVerdict,
  replyKindOf,
} from "./rate-limit.ts";

export type UdpOptions = {
  readonly respond: RespondTo;
  /** Asked first by sockets that read queries in place. */
  readonly atHand?: Responder["atHand"];
  readonly rateLimit: QueryRateLimit;
  /** Of the hashes of networks: the same wherever the memory of a limit is shared. */
  readonly seed: number;
  readonly queryLimit?: QueryLimit;
  readonly counters?: DnsCounters;
  /** Without it, the replies have no cookies and no name of the server. */
  readonly identity?: ServerIdentity | undefined;
};

/** Answers what arrives at one socket, within the limits. */
export type DatagramAnswers<C extends Client> = {
  /** False if the query is not to be processed at all. */
  readonly admit: (client: LimitedClient, now: Instant) => boolean;
  /** What happens to a reply that was at hand. */
  readonly judge: (reply: Buffer, client: LimitedClient, now: Instant) => ReplyVerdict;
  /** Only after `admit`. The query and its client are kept until the reply is sent. */
  readonly answer: (query: Buffer, client: C) => void;
  readonly close: () => void;
};

/** `send` sends one reply; what cannot be sent is lost, and its client retries. */
export type DatagramPort<C extends Client> = BacklogTools & { readonly send: (reply: Buffer, client: C) => void };

/**
 * The most queries that wait for a zone to load or for a write to arrive: in total, and per client network. Beyond
 * that, a query is answered only if it need not wait; otherwise it gets no reply and its client retries.
 */
const mostWaiting = { all: 1_000, network: 100 };

export function answerDatagrams<C extends Client>(options: UdpOptions, port: DatagramPort<C>): DatagramAnswers<C> {
  const { respond, rateLimit, identity, counters = createDnsCounters() } = options;
  const { queryLimit = createQueryLimit(defaultQueryLimit) } = options;
  const judge = createJudge(rateLimit, counters);
  const backlog = new Backlog(port);
  const waiting = new KeyedSemaphore(mostWaiting.all);
  const holdersOf = ({ network }: C): readonly Holder[] => [{ name: `${network}`, most: mostWaiting.network }];
  // Cheaper than looking up the network: while so few wait, no network can have used up its share.
  const mayWait = (client: C) => waiting.open < mostWaiting.network || waiting.isFreeFor(holdersOf(client));
  const send = (reply: DnsReply, query: Buffer, client: C) => {
    if (reply === undefined) return;
    const queryOptions = identity && optionsIn(query);
    const now = Date.now();
    const options = queryOptions && replyOptions(queryOptions, client.address, identity, now);
    // The address of a client with a cookie is not forged: it cannot aim a flood at others (RFC 7873 section 5.4).
    const verdict = judge(reply, client, now, options?.isKnownClient);
    if (verdict === "drop") return;
    const whole = verdict === "truncate" ? truncate(reply, query) : reply;
    port.send(options ? fitted(whole, query, options.bytes) : whole, client);
  };

  const wait = async (reply: Promise<DnsReply>, query: Buffer, client: C) => {
    const permit = waiting.tryAcquire(holdersOf(client));
    try {
      send(await reply, query, client);
    } catch {
      // Without a reply the client retries.
    } finally {
      if (permit.kind === "permit") permit.release();
    }
  };

  const give = (reply: ReturnType<RespondTo>, query: Buffer, client: C) => {
    if (reply instanceof Promise) void wait(reply, query, client);
    else send(reply, query, client);
  };
  const answerNow = (query: Buffer, client: C) =>
    give(respond(query, "udp", client.text, mayWait(client) ? "any" : "no-wait"), query, client);

  return {
    admit: (client, now) => {
      const isAdmitted = queryLimit(client, now);
      if (isAdmitted) backlog.arrived();
      else countLimited(counters, "drop");
      return isAdmitted;
    },
    judge,
    answer: (query, client) => {
      if (!backlog.mayBeLong()) return answerNow(query, client);
      const cached = respond(query, "udp", client.text, "cached-only");
      if (cached !== undefined) give(cached, query, client);
      else backlog.defer({ answer: () => answerNow(query, client), drop: () => countLimited(counters, "drop") });
    },
    close: () => backlog.close(),
  };
}

/** Counts a reply, and says what happens to it. */
const createJudge =
  (rateLimit: QueryRateLimit, counters: DnsCounters) =>
  (reply: Buffer, client: LimitedClient, now: Instant, isKnown = false): ReplyVerdict => {
    countReply(counters.udp, reply);
    const verdict = isKnown ? "send" : rateLimit(client, replyKindOf(reply), now);
    if (verdict !== "send") countLimited(counters, verdict);
    return verdict;
  };

/** A reply that has no room for the options is truncated: the client retries over TCP. */
function fitted(reply: Buffer, query: Buffer, options: Buffer): Buffer {
  const longer = withOptions(reply, options);
  return longer.length <= sizeLimitOf(query) ? longer : withOptions(truncate(reply, query), options);
}
