import { randomInt } from "node:crypto";
import { nameToWire } from "../core/names/wire.ts";
import type { ListenAddress } from "../lib/http/listen.ts";
import type { Logger } from "../process/log.ts";
import { type CatchUp, createCatchUp } from "./answer/catch-up.ts";
import { followZones } from "./answer/followed-zones.ts";
import { defaultLoadLimits, type LoadedZones } from "./answer/loaded-zones.ts";
import { createResponder, type RespondTo } from "./answer/respond.ts";
import type { ZoneSource } from "./answer/zone-source.ts";
import { createRateLimit, defaultRateLimit } from "./listen/rate-limit.ts";
import { createTcpLimit, listenTcp, type TcpOptions } from "./listen/tcp.ts";
import type { ServerTls } from "./listen/tls.ts";
import { bucketMemory } from "./listen/token-buckets.ts";
import { type Listening, listenUdp, type UdpOptions } from "./listen/udp.ts";
import { startWorkers } from "./listen/workers.ts";
import { createDnsCounters, type DnsCounters } from "./metrics/metrics.ts";
import { RequestDispatcher, type TransferPorts } from "./transfer/dispatch.ts";
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
  /**
   * Threads that answer over UDP instead of this one, which still handles TCP and everything that is not a plain query.
   */
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
  const nameserver = new RunningNameserver(options);
  try {
    await nameserver.listen();
    return nameserver;
  } catch (error) {
    await nameserver.close();
    throw error;
  }
}

class RunningNameserver implements Nameserver {
  readonly addresses: ListenAddress[] = [];
  readonly tlsAddresses: ListenAddress[] = [];
  readonly counters: DnsCounters[];
  readonly #options: NameserverOptions;
  readonly #onTrouble: (error: unknown) => void;
  /** Shared by all threads. */
  readonly #rateLimit = {
    seed: randomInt(2 ** 32),
    memory: new SharedArrayBuffer(bucketMemory(defaultRateLimit.slots)),
  };
  readonly #udp: UdpOptions;
  readonly #tcp: TcpOptions;
  readonly #closers: (() => Promise<void> | void)[];

  constructor(options: NameserverOptions) {
    const { source, log, identity, workers = 0, counters = createDnsCounters() } = options;
    this.#options = options;
    this.counters = [counters];
    this.#onTrouble = logSometimes(log);
    const { zones, unfollow } = followZones(source, { seed: randomInt(2 ** 32), onTrouble: this.#onTrouble });
    const catchUp = waitForWrites(source);
    const { respond: respondNow, stream } = this.#dispatcherOf(zones, counters);
    const respond: RespondTo = (query, transport, from, allowedWork = "any") => {
      const arrival = catchUp.wait();
      if (arrival === undefined) return respondNow(query, transport, from, allowedWork);
      return allowedWork === "any" ? arrival.then(() => respondNow(query, transport, from)) : undefined;
    };
    const rateLimit = createRateLimit({ ...defaultRateLimit, ...this.#rateLimit });
    this.#udp = { respond, identity, rateLimit, counters, reusePort: workers > 0 };
    this.#tcp = { respond, identity, stream, limit: createTcpLimit(), counters, log };
    this.#closers = [unfollow, catchUp.end];
  }

  async listen(): Promise<void> {
    const { listen, overTls, workers = 0 } = this.#options;
    const bound: Bound[] = [];
    for (const at of listen) {
      const both = await listenBoth(at, this.#tcp, this.#udp);
      bound.push(both);
      this.addresses.push(both.tcp.address);
      this.#closers.push(both.tcp.close, both.udp.close);
    }
    for (const at of overTls?.listen ?? []) {
      const listening = await listenTcp(at, { ...this.#tcp, tls: overTls?.tls });
      this.#closers.push(listening.close);
      this.tlsAddresses.push(listening.address);
    }
    if (workers === 0 || bound.length === 0) return;
    await this.#startWorkers(workers);
    // The workers have the ports now; this thread bound them only to make sure that they were free.
    for (const both of bound) await both.udp.close();
  }

  readonly close = async (): Promise<void> => {
    for (const each of this.#closers.toReversed()) await each();
  };

  #dispatcherOf(zones: LoadedZones, counters: DnsCounters): Pick<TcpOptions, "respond" | "stream"> {
    const { transfers: ports } = this.#options;
    const onTrouble = this.#onTrouble;
    const answer = createResponder({ zones, onTrouble });
    return ports
      ? new RequestDispatcher({ respond: answer, zones, ports, now: Date.now, onTrouble, counters })
      : { respond: (query, transport, _, allowedWork) => answer(query, transport, allowedWork) };
  }

  async #startWorkers(count: number): Promise<void> {
    const { transfers, identity, source, log } = this.#options;
    const restrictedZone = transfers?.restrictedZone === undefined ? undefined : nameToWire(transfers.restrictedZone);
    const { close } = await startWorkers({
      count,
      source,
      respond: this.#tcp.respond,
      start: { listen: this.addresses, restrictedZone, identity, rateLimit: this.#rateLimit },
      newCounters: () => {
        const made = createDnsCounters();
        this.counters.push(made);
        return made.memory;
      },
      onTrouble: this.#onTrouble,
      log,
    });
    this.#closers.push(close);
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
    if (event.kind === "written") written = event.announcement;
    if (event.kind === "reported") reported(event.announcement);
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
