import { isDeepStrictEqual } from "node:util";
import { unmapped } from "../../core/addresses/peer-address.ts";
import type { Instant } from "../../core/instant.ts";
import { nameOf } from "../../lib/dns/ask.ts";
import { partOfFiles } from "../../lib/limits/connection-limit.ts";
import type { Logger } from "../../process/log.ts";
import { countTransfer, type DnsCounters } from "../metrics/metrics.ts";
import type { TransferClient } from "./dispatch.ts";
import { createSharedMemory, noRoom } from "./memory.ts";
import { type RefreshOutcome, type RefreshPorts, refreshZone, type SecondaryZone } from "./secondary-refresh.ts";
import { type QueuePlace, type ZoneLimits, ZoneQueue } from "./zone-queue.ts";

export type SecondaryPorts = RefreshPorts & { readonly list: () => Promise<readonly string[]> };

export type SecondariesOptions = {
  readonly ports: SecondaryPorts;
  readonly log: Logger;
  readonly now: () => Instant;
  readonly random: () => number;
  readonly atOnce?: ZoneLimits;
  /** False while another node asks the primaries: then this one does so only for a NOTIFY that it received. */
  readonly refreshes: () => boolean;
  readonly counters?: DnsCounters;
};

/**
 * Milliseconds: a second and a day. A refresh time of 0 in the SOA would query the primary all the time, and
 * `setTimeout` cannot wait for a very long one.
 */
const shortest = 1_000;
const longest = 86_400_000;
/** Seconds, for a zone that has not been transferred yet and so has no SOA with a retry time. */
const firstRetry = 10;
const lookupLimits: ZoneLimits = { all: 8, account: 8, primary: 8 };
/**
 * A slow primary keeps its permit for minutes: even four accounts with only slow primaries leave permits for others.
 */
function transferLimits(): ZoneLimits {
  const all = partOfFiles(8, 160);
  return { all, account: Math.ceil(all / 5), primary: Math.ceil(all / 20) };
}
/** The most that all running transfers may hold; `mostBytes` in `secondary-refresh.ts` is the limit for one. */
const mostBytesTogether = 256 * 1024 * 1024;

/**
 * Zones whose records come from other servers: refreshed when their SOA says so, and at every NOTIFY from a primary.
 */
export class Secondaries {
  readonly #options: SecondariesOptions;
  readonly #stop = new AbortController();
  readonly #zones = new Map<string, Followed>();
  readonly #notified = new Set<string>();
  readonly #running = new Map<string, Running>();
  readonly #memory = createSharedMemory(mostBytesTogether);
  // Zones that wait for a slow server must not delay the lookup of other zones' servers.
  readonly #lookups: ZoneQueue;
  readonly #transfers: ZoneQueue;

  constructor(options: SecondariesOptions) {
    this.#options = options;
    const runQueued = (name: string, place: QueuePlace) => this.#runQueued(name, place);
    this.#lookups = new ZoneQueue(lookupLimits, runQueued);
    this.#transfers = new ZoneQueue(options.atOnce ?? transferLimits(), runQueued);
  }

  readonly notified = async (name: string, client: TransferClient) => {
    const zone = await this.#options.ports.secondaryZone(name);
    if (zone === undefined) return "not-ours";
    const from = unmapped(client.from);
    if (!zone.primaries.some(({ host, key }) => host === from || (key && key.name === client.key))) return "refused";
    this.#notified.add(name);
    this.#ask(name);
    return "taken";
  };

  /** A zone was created, deleted, or has other primaries. */
  readonly checkSoon = (name: string): void => {
    this.#ask(name);
    // The turn that was just asked for looks again, and reports what is wrong.
    void this.#endIfUnwanted(name).catch(() => undefined);
  };

  /** Call this when `refreshes` has become true: it asks the primaries of all zones. */
  readonly takeOver = (): void =>
    void this.#askAll().catch((error: unknown) =>
      this.#options.log.error({ err: error }, "the secondary zones could not be listed"),
    );

  readonly close = async (): Promise<void> => {
    this.#stop.abort();
    for (const { timer } of this.#zones.values()) clearTimeout(timer);
    await Promise.all([this.#lookups.close(), this.#transfers.close()]);
  };

  async #askAll(): Promise<void> {
    for (const name of await this.#options.ports.list()) this.#ask(name);
  }

  #ask(name: string): void {
    const { timer, place } = this.#zones.get(name) ?? {};
    clearTimeout(timer);
    if (place) this.#transfers.add(name, place);
    else this.#lookups.add(name, notKnown);
  }

  #askIn(name: string, seconds: number): void {
    const followed = this.#zones.get(name);
    if (followed === undefined || this.#stop.signal.aborted) return;
    clearTimeout(followed.timer);
    const wait = Math.min(Math.max(seconds * 1_000, shortest), longest);
    // Spread out, because all zones start at the same time.
    followed.timer = setTimeout(() => this.#ask(name), wait * (0.9 + 0.1 * this.#options.random()));
  }

  async #runQueued(name: string, place: QueuePlace): Promise<void> {
    const { ports, log, refreshes } = this.#options;
    try {
      const zone = await ports.secondaryZone(name);
      if (zone === undefined || !(this.#notified.has(name) || refreshes())) return this.#forget(name);
      const own = placeOf(zone);
      if (place.account === own.account && place.primary === own.primary) await this.#refresh(name, zone);
      else this.#queueAgain(name, own);
    } catch (error) {
      if (!this.#stop.signal.aborted) log.error({ err: error, zone: name }, "a secondary zone could not be refreshed");
      this.#askIn(name, firstRetry);
    }
  }

  #follow(name: string): Followed {
    const followed = this.#zones.get(name) ?? { ...notAskedYet };
    this.#zones.set(name, followed);
    return followed;
  }

  #forget(name: string): void {
    clearTimeout(this.#zones.get(name)?.timer);
    this.#zones.delete(name);
    this.#notified.delete(name);
  }

  /** Its account or primary was not known when it was queued, or has changed since. */
  #queueAgain(name: string, place: QueuePlace): void {
    this.#follow(name).place = place;
    this.#transfers.add(name, place);
  }

  async #refresh(name: string, zone: SecondaryZone): Promise<void> {
    const { counters, log, now } = this.#options;
    this.#notified.delete(name);
    const followed = this.#follow(name);
    const outcome = await this.#refreshInMemory(zone);
    if (this.#stop.signal.aborted || outcome === undefined) return;
    if (counters) countIn(counters, outcome, zone);
    if (outcome.kind === "failed") {
      noteFailure(followed, { zone, because: outcome.because, hasExpired: isExpired(zone, now()) }, log);
      return this.#askIn(name, zone.timers?.retry ?? firstRetry);
    }
    noteSuccess(followed, name, outcome, log);
    this.#zones.set(name, followed);
    this.#askIn(name, outcome.refresh);
  }

  /** Undefined if it was ended because it is no longer wanted. */
  async #refreshInMemory(zone: SecondaryZone): Promise<RefreshOutcome | undefined> {
    const { ports, now } = this.#options;
    const [giveWay, unwanted] = [new AbortController(), new AbortController()];
    const own = this.#memory.open(zone.account, () => giveWay.abort(new Error(noRoom)));
    this.#running.set(zone.name, {
      zone,
      end: () => unwanted.abort(new Error("the primary servers of the zone have changed")),
    });
    try {
      const signal = AbortSignal.any([this.#stop.signal, giveWay.signal, unwanted.signal]);
      const outcome = await refreshZone(zone, ports, { signal, now, memory: own });
      return unwanted.signal.aborted ? undefined : outcome;
    } finally {
      this.#running.delete(zone.name);
      own.close();
    }
  }

  /**
   * Ends the transfer of a zone that was deleted or has other primaries: a slow primary would keep it going for
   * minutes.
   */
  async #endIfUnwanted(name: string): Promise<void> {
    const transfer = this.#running.get(name);
    if (transfer === undefined) return;
    const zone = await this.#options.ports.secondaryZone(name);
    if (zone === undefined || !haveSamePrimaries(zone, transfer.zone)) transfer.end();
  }
}

type Failure = { readonly zone: SecondaryZone; readonly because: string; readonly hasExpired: boolean };

/** Logs what is new about it. */
function noteFailure(followed: Followed, { zone, because, hasExpired }: Failure, log: Logger): void {
  if (followed.failing !== because)
    log.warn({ zone: zone.name, because }, "the zone could not be transferred from any primary server");
  if (hasExpired && !followed.expired) log.error({ zone: zone.name }, "the zone has expired; its queries get SERVFAIL");
  followed.failing = because;
  followed.expired = hasExpired;
}

type Success = Exclude<RefreshOutcome, { readonly kind: "failed" }>;

function noteSuccess(followed: Followed, name: string, outcome: Success, log: Logger): void {
  const behind = outcome.kind === "behind";
  if (behind && !followed.behind) {
    const { serial, because } = outcome;
    log.warn(
      { zone: name, serial, because },
      "the primary servers have an older serial than this server; the stored zone is kept",
    );
  }
  if (outcome.kind === "whole" || outcome.kind === "steps" || (followed.failing !== undefined && !behind))
    log.info({ zone: name, serial: outcome.serial }, "zone transferred");
  Object.assign(followed, { failing: undefined, expired: false, behind });
}

/** A failed transfer counts as incremental if there was a version to start from. */
function countIn(counters: DnsCounters, { kind }: RefreshOutcome, { current }: SecondaryZone): void {
  if (kind === "failed") countTransfer(counters, "in", current === undefined ? "axfr" : "ixfr", "failed");
  else countTransfer(counters, "in", kind === "whole" ? "axfr" : kind === "steps" ? "ixfr" : "check", "done");
}

const notKnown: QueuePlace = { account: 0, primary: "" };
/** The first primary stands for all: it is asked first. */
const placeOf = ({ account, primaries: [first] }: SecondaryZone): QueuePlace => ({
  account,
  primary: first ? nameOf(first) : "none",
});

type Running = { readonly zone: SecondaryZone; readonly end: () => void };

const haveSamePrimaries = (a: SecondaryZone, b: SecondaryZone): boolean =>
  a.account === b.account && isDeepStrictEqual(a.primaries.map(nameOf), b.primaries.map(nameOf));

type Followed = {
  timer: NodeJS.Timeout | undefined;
  /** Undefined until the zone has been looked up. */
  place: QueuePlace | undefined;
  /** Why the last transfer failed. */
  failing: string | undefined;
  expired: boolean;
  behind: boolean;
};

const notAskedYet: Readonly<Followed> = {
  timer: undefined,
  place: undefined,
  failing: undefined,
  expired: false,
  behind: false,
};

/** RFC 1034 section 4.3.5. A zone that was never transferred cannot expire. */
const isExpired = ({ checked, timers }: SecondaryZone, now: Instant): boolean =>
  checked !== undefined && timers !== undefined && now - checked >= timers.expire * 1_000;
