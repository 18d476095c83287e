import { randomInt } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { nameToWire } from "../core/names/wire.ts";
import type { ListenAddress } from "../lib/http/listen.ts";
import type { Logger } from "../process/log.ts";
import { type CatchUp, createCatchUp } from "./answer/catch-up.ts";
import { followZones } from "./answer/followed-zones.ts";
import { defaultLoadLimits } from "./answer/load-limits.ts";
import { type LoadedZones } from "./answer/loaded-zones.ts";
import { createLruCache } from "./answer/lru-cache.ts";
import { createResponder, type RespondTo } from "./answer/respond.ts";
import { watchLoads } from "./answer/zone-loads.ts";
import { type ExpectedZone, NoContent, type ZoneSource } from "./answer/zone-source.ts";
import { createRateLimit, defaultRateLimit } from "./listen/rate-limit.ts";
import { createTcpLimit, listenTcp, type TcpOptions } from "./listen/tcp.ts";
import type { ServerTls } from "./listen/tls.ts";
import { bucketMemory } from "./listen/token-buckets.ts";
import { type Listening, listenUdp } from "./listen/udp.ts";
import { startWorkers } from "./listen/workers.ts";
import { countThread, createDnsCounters, type DnsCounters, type LoadCounts } from "./metrics/metrics.ts";
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
  /** They read and send several datagrams per system call, where that is possible. */
  readonly inBatches?: boolean | undefined;
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
  /** Loads of zones, by all threads. */
  readonly loads: Readonly<LoadCounts>;
  /**
   * Resolves when every thread has loaded the zones that are likely to be asked for: until then another node should
   * answer.
   */
  readonly loaded: Promise<void>;
  readonly close: () => Promise<void>;
};

/** Milliseconds that all zones wait for the large ones: then queries are answered, except for zones that still load. */
const longestSilence = 10_000;

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
  readonly loads: Readonly<LoadCounts>;
  loaded: Promise<void> = Promise.resolve();
  readonly #options: NameserverOptions;
  readonly #source: ZoneSource;
  readonly #zones: LoadedZones;
  readonly #closing = new AbortController();
  readonly #onTrouble: (error: unknown) => void;
  /** Shared by all threads. */
  readonly #rateLimit = {
    seed: randomInt(2 ** 32),
    memory: new SharedArrayBuffer(bucketMemory(defaultRateLimit.slots)),
  };
  readonly #udp: Parameters<typeof listenUdp>[1];
  readonly #tcp: TcpOptions;
  readonly #closers: (() => Promise<void> | void)[];

  constructor(options: NameserverOptions) {
    const { log, identity, workers = 0, counters = createDnsCounters() } = options;
    const { source, counts } = watchLoads(options.source, log);
    this.#options = options;
    this.#source = source;
    this.loads = counts;
    this.counters = [counters];
    this.#onTrouble = logSometimes(log);
    const { zones, unfollow } = followZones(source, { seed: randomInt(2 ** 32), onTrouble: this.#onTrouble });
    this.#zones = zones;
    const catchUp = waitForWrites(source);
    const { respond: respondNow, stream } = this.#dispatcherOf(zones, counters);
    const respond: RespondTo = (query, transport, from, allowedWork = "any") => {
      const arrival = catchUp.wait();
      if (arrival === undefined) return respondNow(query, transport, from, allowedWork);
      return allowedWork === "any" ? arrival.then(() => respondNow(query, transport, from)) : undefined;
    };
    const rateLimit = createRateLimit({ ...defaultRateLimit, memory: this.#rateLimit.memory });
    const { seed } = this.#rateLimit;
    this.#udp = { respond, identity, rateLimit, seed, counters, reusePort: workers > 0 };
    this.#tcp = { respond, identity, stream, limit: createTcpLimit(log), counters, log };
    this.#closers = [unfollow, catchUp.end, () => this.#closing.abort()];
  }

  async listen(): Promise<void> {
    const { listen, overTls, workers = 0 } = this.#options;
    const expected = listen.length + (overTls?.listen.length ?? 0) > 0 ? await this.#expectedZones() : [];
    const loaded = this.#zones.loadExpected(expected, this.#closing.signal);
    await Promise.race([loaded, sleep(longestSilence, undefined, { ref: false })]);
    this.loaded = loaded;
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
    if (bound.length === 0) return;
    if (workers === 0) return countThread(this.counters[0], "dgram");
    const listening = this.#startWorkers(workers, expected);
    // This thread answers until the workers have loaded the zones, and has made sure that the ports are free.
    this.loaded = Promise.all([loaded, listening]).then(async () => {
      for (const both of bound) await both.udp.close();
    });
    this.loaded.catch(() => undefined);
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

  async #expectedZones(): Promise<readonly ExpectedZone[]> {
    try {
      return (await this.#source.expected?.()) ?? [];
    } catch (error) {
      this.#onTrouble(error);
      return [];
    }
  }

  /** Resolves when all of them listen. */
  #startWorkers(count: number, expected: readonly ExpectedZone[]): Promise<void> {
    const { transfers, identity, log, inBatches = true } = this.#options;
    const { restrictedZone: restricted } = transfers ?? {};
    const { close, listening } = startWorkers({
      count,
      inBatches,
      source: this.#source,
      respond: this.#tcp.respond,
      start: {
        listen: this.addresses,
        restrictedZone: restricted === undefined ? undefined : nameToWire(restricted),
        identity,
        rateLimit: this.#rateLimit,
        expected: expected.filter(({ name }) => name !== restricted),
      },
      newCounters: () => {
        const made = createDnsCounters();
        this.counters.push(made);
        return made;
      },
      onTrouble: this.#onTrouble,
      log,
    });
    this.#closers.push(close);
    return listening;
  }
}

type Bound = { readonly tcp: Listening; readonly udp: Listening };

/** With port 0, a port that is free for TCP may be taken for UDP: then another one is tried. */
async function listenBoth(
  at: ListenAddress,
  tcpOptions: TcpOptions,
  udpOptions: Parameters<typeof listenUdp>[1],
): Promise<Bound> {
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

/** When the source is down every query fails: logged once a second at most, and the same error once a minute. */
function logSometimes(log: Logger): (error: unknown) => void {
  const logged = createLruCache<number>(1_000);
  let last = Number.NEGATIVE_INFINITY;
  return (error) => {
    // It is not there yet: secondary zones report why.
    if (error instanceof NoContent) return;
    const { message } = error as Error;
    const now = performance.now();
    if (now - last < 1_000 || now - (logged.get(message) ?? Number.NEGATIVE_INFINITY) < 60_000) return;
    logged.set(message, now);
    last = now;
    log.error(
      { err: error },
      "a zone could not be loaded; its queries get the last known answer, or SERVFAIL if there is none",
    );
  };
}
