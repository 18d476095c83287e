import { randomInt } from "node:crypto";
import { nameToWire } from "../core/names/wire.ts";
import type { ListenAddress } from "../lib/http/listen.ts";
import type { Logger } from "../process/log.ts";
import { type CatchUp, createCatchUp } from "./answer/catch-up.ts";
import { followZones } from "./answer/followed-zones.ts";
import { defaultLoadLimits } from "./answer/loaded-zones.ts";
import { createResponder, type RespondTo } from "./answer/respond.ts";
import type { ZoneSource } from "./answer/zone-source.ts";
import { createRateLimit, defaultRateLimit, rateLimitMemory } from "./listen/rate-limit.ts";
import { listenTcp, openTcpPlaces, type TcpOptions } from "./listen/tcp.ts";
import type { ServerTls } from "./listen/tls.ts";
import { type Listening, listenUdp, type UdpOptions } from "./listen/udp.ts";
import { startWorkers } from "./listen/workers.ts";
import { createDnsCounters, type DnsCounters } from "./metrics/metrics.ts";
import { createExchange, type TransferPorts } from "./transfer/respond.ts";
import type { ServerIdentity } from "./wire/edns-options.ts";

export type NameserverOptions = {
  /** Each is bound over UDP and TCP. Port 0 picks a free port, the same for both. */
  readonly listen: readonly ListenAddress[];
  /** Also over TLS, on these addresses. */
  readonly overTls?: { readonly listen: readonly ListenAddress[]; readonly tls: ServerTls } | undefined;
  readonly source: ZoneSource;
  readonly log: Logger;
  /** Without these, only plain queries are answered. */
  readonly transfers?: TransferPorts;
  /** Threads that answer over UDP instead of this one, which still handles TCP and everything that is not a plain query. */
  readonly workers?: number;
  /** The counters of this thread. */
  readonly counters?: DnsCounters;
  /** Without it, the replies have no cookies and no name of the server. */
  readonly identity?: ServerIdentity | undefined;
};

export type Nameserver = {
  readonly addresses: readonly ListenAddress[];
  readonly tlsAddresses: readonly ListenAddress[];
  /** One per thread, including threads that have ended. */
  readonly counters: readonly DnsCounters[];
  readonly close: () => Promise<void>;
};

/** Listens on all addresses or on none; the error names the address that failed and says what to do. */
export async function startNameserver(options: NameserverOptions): Promise<Nameserver> {
  const { listen, source, log, identity, workers = 0, counters = createDnsCounters() } = options;
  const threads = [counters];
  const onTrouble = logSometimes(log);
  const { zones, unfollow } = followZones(source, { seed: randomInt(2 ** 32), onTrouble });
  const answer = createResponder({ zones, onTrouble });
  const { transfers: ports } = options;
  const { respond: respondNow, stream }: Pick<TcpOptions, "respond" | "stream"> = ports
    ? createExchange({ respond: answer, zones, ports, now: Date.now, onTrouble, counters })
    : { respond: (query, transport, _, mayWait) => answer(query, transport, mayWait) };
  const waiting = waitForWrites(source);
  const respond: RespondTo = (query, transport, from, mayWait = true) => {
    const news = waiting.wait();
    if (news === undefined) return respondNow(query, transport, from, mayWait);
    return mayWait ? news.then(() => respondNow(query, transport, from)) : undefined;
  };
  const memory = new SharedArrayBuffer(rateLimitMemory(defaultRateLimit.slots));
  const limits = { seed: randomInt(2 ** 32), memory };
  const rateLimit = createRateLimit({ ...defaultRateLimit, ...limits });
  const udp: UdpOptions = { respond, identity, rateLimit, counters, reusePort: workers > 0 };
  const tcp: TcpOptions = { respond, identity, stream, places: openTcpPlaces(), counters, log };
  const closers: (() => Promise<void> | void)[] = [unfollow, waiting.end];
  const close = async () => {
    for (const each of closers.toReversed()) await each();
  };
  try {
    const bound: Bound[] = [];
    for (const at of listen) {
      const both = await listenBoth(at, tcp, udp);
      bound.push(both);
      closers.push(both.tcp.close, both.udp.close);
    }
    const addresses = bound.map((both) => both.tcp.address);
    const tlsAddresses: ListenAddress[] = [];
    for (const at of options.overTls?.listen ?? []) {
      const listening = await listenTcp(at, { ...tcp, tls: options.overTls?.tls });
      closers.push(listening.close);
      tlsAddresses.push(listening.address);
    }
    if (workers > 0 && bound.length > 0) {
      const hidden = ports?.hidden === undefined ? undefined : nameToWire(ports.hidden);
      const start = { listen: addresses, hidden, identity, rateLimit: limits };
      const newCounters = () => {
        const made = createDnsCounters();
        threads.push(made);
        return made.memory;
      };
      const { close: end } = await startWorkers({
        count: workers,
        source,
        respond,
        start,
        newCounters,
        onTrouble,
        log,
      });
      closers.push(end);
      // The workers have the ports now; this thread bound them only to make sure that they were free.
      for (const both of bound) await both.udp.close();
    }
    return { addresses, tlsAddresses, counters: threads, close };
  } catch (error) {
    await close();
    throw error;
  }
}

type Bound = { readonly tcp: Listening; readonly udp: Listening };

/** With port 0, a port that is free for TCP may be taken for UDP: then another one is tried. */
async function listenBoth(at: ListenAddress, tcpOptions: TcpOptions, udpOptions: UdpOptions): Promise<Bound> {
  for (let left = 10; ; left--) {
    const tcp = await listenTcp(at, tcpOptions);
    try {
      const udp = await listenUdp({ ...at, port: tcp.address.port }, udpOptions);
      return { tcp, udp };
    } catch (error) {
      await tcp.close();
      if (at.port !== 0 || left === 0) throw error;
    }
  }
}

/** Changes are read from the database after the write, so an answer could be sent before they arrive. */
function waitForWrites(source: ZoneSource): Pick<CatchUp, "wait"> & { readonly end: () => void } {
  let written = 0;
  const { reported, wait } = createCatchUp({ latest: () => written, start: 0, limit: defaultLoadLimits.wait });
  const end = source.follow((event) => {
    if (event.kind === "written") written = event.number;
    if (event.kind === "reported") reported(event.number);
  });
  return { wait, end };
}

/** When the source is down every query fails, so this is logged at most every ten seconds. */
function logSometimes(log: Logger): (error: unknown) => void {
  let loggedAt = Number.NEGATIVE_INFINITY;
  return (error) => {
    if (performance.now() - loggedAt < 10_000) return;
    loggedAt = performance.now();
    log.error(
      { err: error },
      "a zone could not be loaded; its queries get the last known answer, or SERVFAIL if there is none",
    );
  };
}
