import { randomInt } from "node:crypto";
import { createSocket, type RemoteInfo, type Socket } from "node:dgram";
import { lookup } from "node:dns";
import { isIPv6 } from "node:net";
import type { ListenAddress } from "../../lib/http/listen.ts";
import { type Holder, KeyedSemaphore } from "../../lib/limits/semaphore.ts";
import { truncate } from "../answer/reply.ts";
import type { DnsReply, RespondTo } from "../answer/respond.ts";
import { countLimited, countReply, createDnsCounters, type DnsCounters } from "../metrics/metrics.ts";
import { optionsIn, replyOptions, type ServerIdentity, sizeLimitOf, withOptions } from "../wire/edns-options.ts";
import { Backlog } from "./backlog.ts";
import { listenFailure } from "./failure.ts";
import { createQueryLimit, defaultQueryLimit, networkOf, type QueryLimit, type QueryRateLimit } from "./rate-limit.ts";

export type Listening = { readonly address: ListenAddress; readonly close: () => Promise<void> };

export type UdpOptions = {
  readonly respond: RespondTo;
  readonly rateLimit: QueryRateLimit;
  readonly queryLimit?: QueryLimit;
  readonly counters?: DnsCounters;
  /** Without it, the replies have no cookies and no name of the server. */
  readonly identity?: ServerIdentity | undefined;
  /** Lets several threads or processes share the port. */
  readonly reusePort?: boolean;
};

/**
 * About 10,000 queries. A smaller buffer would shorten the wait after a flood, but lose queries whenever this thread
 * gets no CPU for a tenth of a second, and a client waits longer to retry a lost query than for a full queue.
 */
const receiveBuffer = 4 * 1024 * 1024;

/**
 * The most queries that wait for a zone to load or for a write to arrive: in total, and per client network. Beyond
 * that, a query is answered only if it need not wait; otherwise it gets no reply and its client retries.
 */
const mostWaiting = { all: 1_000, network: 100 };

export async function listenUdp(at: ListenAddress, options: UdpOptions): Promise<Listening> {
  const { respond, rateLimit, identity, counters = createDnsCounters() } = options;
  const { queryLimit = createQueryLimit({ ...defaultQueryLimit, seed: randomInt(2 ** 32) }) } = options;
  const socket = openSocket(at, options.reusePort);
  const backlog = new Backlog();
  const waiting = new KeyedSemaphore(mostWaiting.all);
  const holdersOf = (client: string): readonly Holder[] => [{ name: networkOf(client), most: mostWaiting.network }];
  // Cheaper than looking up the network: while so few wait, no network can have used up its share.
  const mayWait = (client: string) => waiting.open < mostWaiting.network || waiting.isFreeFor(holdersOf(client));
  const send = (reply: DnsReply, query: Buffer, client: RemoteInfo) => {
    if (reply === undefined) return;
    countReply(counters.udp, reply);
    const queryOptions = identity && optionsIn(query);
    const options = queryOptions && replyOptions(queryOptions, client.address, identity, Date.now());
    // The address of a client with a cookie is not forged: it cannot aim a flood at others (RFC 7873 section 5.4).
    const verdict = options?.isKnownClient ? "send" : rateLimit(client.address, reply, Date.now());
    if (verdict !== "send") countLimited(counters, verdict);
    if (verdict === "drop") return;
    const whole = verdict === "truncate" ? truncate(reply, query) : reply;
    const sent = options ? fitted(whole, query, options.bytes) : whole;
    socket.send(sent, client.port, client.address);
  };

  const wait = async (reply: Promise<DnsReply>, query: Buffer, client: RemoteInfo) => {
    const permit = waiting.tryAcquire(holdersOf(client.address));
    try {
      send(await reply, query, client);
    } catch {
      // Without a reply the client retries.
    } finally {
      if (permit.kind === "permit") permit.release();
    }
  };

  const give = (reply: ReturnType<RespondTo>, query: Buffer, client: RemoteInfo) => {
    if (reply instanceof Promise) void wait(reply, query, client);
    else send(reply, query, client);
  };
  const answer = (query: Buffer, client: RemoteInfo) =>
    give(respond(query, "udp", client.address, mayWait(client.address) ? "any" : "no-wait"), query, client);

  socket.on("message", (query, client) => {
    // Port 0 cannot be sent to; only forged packets come from there.
    if (client.port === 0) return;
    if (!queryLimit(client.address, Date.now())) return countLimited(counters, "drop");
    backlog.arrived();
    if (!backlog.mayBeLong()) return answer(query, client);
    const cached = respond(query, "udp", client.address, "cached-only");
    if (cached !== undefined) give(cached, query, client);
    else backlog.defer({ answer: () => answer(query, client), drop: () => countLimited(counters, "drop") });
  });

  await bind(socket, at);
  // The error of a reply that could not be sent: the client retries.
  socket.on("error", () => undefined);
  setReceiveBuffer(socket);
  return { address: { host: at.host, port: socket.address().port }, close: closeOnce(socket, backlog) };
}

function closeOnce(socket: Socket, backlog: Backlog): () => Promise<void> {
  let closed: Promise<void> | undefined;
  return () => {
    backlog.close();
    closed ??= new Promise((resolve) => socket.close(() => resolve()));
    return closed;
  };
}

/** A reply that has no room for the options is truncated: the client retries over TCP. */
function fitted(reply: Buffer, query: Buffer, options: Buffer): Buffer {
  const longer = withOptions(reply, options);
  return longer.length <= sizeLimitOf(query) ? longer : withOptions(truncate(reply, query), options);
}

const openSocket = ({ host }: ListenAddress, reusePort = false): Socket =>
  createSocket({
    type: isIPv6(host) ? "udp6" : "udp4",
    ipv6Only: isIPv6(host) && host !== "::",
    reusePort,
    lookup: lookupOnce(),
  });

function bind(socket: Socket, { host, port }: ListenAddress): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once("error", (error) => reject(listenFailure(error, { host, port }, "UDP")));
    socket.bind(port, host, () => {
      socket.removeAllListeners("error");
      resolve();
    });
  });
}

/**
 * Only the listening address can be a hostname. Clients' addresses never are, and must not wait a tick for a lookup.
 */
function lookupOnce(): (host: string, family: unknown, give: LookupResult) => void {
  let bound = false;
  return (host, family, give) => {
    if (bound) give(null, host, 0);
    else lookup(host, { family: family === 6 ? 6 : 4 }, give);
    bound = true;
  };
}

type LookupResult = (error: NodeJS.ErrnoException | null, address: string, family: number) => void;

/** The kernel silently caps it at `net.core.rmem_max`. */
function setReceiveBuffer(socket: Socket): void {
  try {
    socket.setRecvBufferSize(receiveBuffer);
  } catch {
    // The default size stays.
  }
}
