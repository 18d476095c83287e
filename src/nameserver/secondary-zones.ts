import type { Instant } from "../core/instant.ts";
import { unmapped } from "../core/peer-address.ts";
import type { Logger } from "../process/log.ts";
import { countTransfer, type DnsCounters } from "./counters.ts";
import { type RefreshOutcome, type RefreshPorts, refreshZone, type SecondaryZone } from "./secondary-refresh.ts";
import { nameOf } from "./transfer-ask.ts";
import type { Asker } from "./transfer-respond.ts";

/** Zones whose records come from other servers: asked for when their SOA says so, and whenever a primary tells of a change. */
export type Secondaries = {
  readonly notified: (zone: string, asker: Asker) => Promise<"taken" | "refused" | "not-ours">;
  /** A zone came, went, or has other primaries. */
  readonly look: (zone: string) => void;
  /** To be said when `refreshes` has come to say yes: the primaries of all zones are asked. */
  readonly takeOver: () => void;
  readonly close: () => Promise<void>;
};

export type SecondaryPorts = RefreshPorts & {
  readonly list: () => Promise<readonly string[]>;
  /** Too long without its primaries: it must not be answered from any more (RFC 1034 section 4.3.5). */
  readonly expired: (zone: string) => void;
};

export type SecondariesOptions = {
  readonly ports: SecondaryPorts;
  readonly log: Logger;
  readonly now: () => Instant;
  readonly random: () => number;
  /** Zones asked for at one time, of all primaries and of one: one that says nothing must not hold up the others' zones. */
  readonly atOnce?: { readonly all: number; readonly each: number };
  /**
   * False while another node asks the primaries: then this one does so only for a notice that came to it, and otherwise looks
   * whether what the other has stored is still good.
   */
  readonly refreshes: () => boolean;
  readonly counters?: DnsCounters;
};

/** Milliseconds. An SOA that says less than a second would never leave its primary alone; a timer holds no more than days. */
const shortest = 1_000;
const longest = 86_400_000;
/** Seconds, for a zone that has not been had yet and so has no SOA that would say it. */
const firstRetry = 10;

export function startSecondaries(options: SecondariesOptions): Secondaries {
  const { ports, log, now, random, atOnce = { all: 64, each: 8 }, refreshes, counters } = options;
  const stop = new AbortController();
  const zones = new Map<string, Followed>();
  const waiting = new Set<string>();
  const noticed = new Set<string>();
  /** How many zones each primary is being asked for. */
  const askedOf = new Map<string, number>();
  const running = new Map<string, Promise<void>>();

  const isFull = (primary = "") => (askedOf.get(primary) ?? 0) >= atOnce.each;
  const pump = () => {
    for (const name of waiting) {
      if (stop.signal.aborted || running.size >= atOnce.all) return;
      if (running.has(name) || isFull(zones.get(name)?.primary)) continue;
      waiting.delete(name);
      running.set(name, run(name));
    }
  };
  const ask = (name: string) => {
    clearTimeout(zones.get(name)?.timer);
    waiting.add(name);
    pump();
  };
  const askIn = (name: string, seconds: number) => {
    const followed = zones.get(name);
    if (followed === undefined || stop.signal.aborted) return;
    clearTimeout(followed.timer);
    const wait = Math.min(Math.max(seconds * 1_000, shortest), longest);
    // Not all at once, though all were loaded at once.
    followed.timer = setTimeout(() => ask(name), wait * (0.9 + 0.1 * random()));
  };

  const run = async (name: string): Promise<void> => {
    try {
      const zone = await ports.look(name);
      if (zone === undefined) {
        clearTimeout(zones.get(name)?.timer);
        zones.delete(name);
      } else if (noticed.has(name) || refreshes()) {
        await refreshInTurn(name, zone);
      } else {
        watch(name, zone);
      }
    } catch (error) {
      if (!stop.signal.aborted) log.error({ err: error, zone: name }, "a secondary zone could not be looked at");
      askIn(name, firstRetry);
    } finally {
      running.delete(name);
      pump();
    }
  };

  const follow = (name: string): Followed => {
    const followed = zones.get(name) ?? { ...notAskedYet };
    zones.set(name, followed);
    return followed;
  };
  const expire = (name: string, followed: Followed, zone: SecondaryZone) => {
    if (followed.expired) return;
    followed.expired = true;
    if (zone.timers) log.error({ zone: name }, "the zone is too old to be answered from");
    ports.expired(name);
  };
  const watch = (name: string, zone: SecondaryZone) => {
    const followed = follow(name);
    const left = secondsLeft(zone, now());
    if (left <= 0) expire(name, followed, zone);
    else followed.expired = false;
    askIn(name, left > 0 ? left : (zone.timers?.retry ?? firstRetry));
  };
  const refreshInTurn = async (name: string, zone: SecondaryZone) => {
    const [first] = zone.primaries;
    const primary = first ? nameOf(first) : "none";
    follow(name).primary = primary;
    if (isFull(primary)) {
      waiting.add(name);
      return;
    }
    noticed.delete(name);
    askedOf.set(primary, (askedOf.get(primary) ?? 0) + 1);
    try {
      await refresh(name, zone);
    } finally {
      askedOf.set(primary, (askedOf.get(primary) ?? 1) - 1);
    }
  };
  const refresh = async (name: string, zone: SecondaryZone) => {
    const followed = follow(name);
    const outcome = await refreshZone(zone, ports, { signal: stop.signal, now });
    if (stop.signal.aborted) return;
    if (counters) countIn(counters, outcome, zone);
    if (outcome.kind === "failed") {
      const { because } = outcome;
      if (followed.failing !== because) log.warn({ zone: name, because }, "no primary server gives the zone");
      followed.failing = because;
      const left = secondsLeft(zone, now());
      if (left <= 0) expire(name, followed, zone);
      return askIn(
        name,
        left > 0 ? Math.min(left, zone.timers?.retry ?? firstRetry) : (zone.timers?.retry ?? firstRetry),
      );
    }
    const behind = outcome.kind === "behind";
    if (behind && !followed.behind) {
      const { serial, because } = outcome;
      log.warn({ zone: name, serial, because }, "no primary server has the zone as new as it is here; it is kept");
    }
    if (outcome.kind === "whole" || outcome.kind === "steps" || (followed.failing !== undefined && !behind))
      log.info({ zone: name, serial: outcome.serial }, "zone transferred");
    zones.set(name, Object.assign(followed, { failing: undefined, expired: false, behind }));
    askIn(name, outcome.refresh);
  };

  const all = async () => {
    for (const name of await ports.list()) ask(name);
  };
  const takeOver = () =>
    void all().catch((error: unknown) => log.error({ err: error }, "the secondary zones could not be listed"));
  if (!refreshes()) takeOver();

  return {
    notified: async (name, asker) => {
      const zone = await ports.look(name);
      if (zone === undefined) return "not-ours";
      const from = unmapped(asker.from);
      if (!zone.primaries.some(({ host, key }) => host === from || (key && key.name === asker.key))) return "refused";
      noticed.add(name);
      ask(name);
      return "taken";
    },
    look: ask,
    takeOver,
    close: async () => {
      stop.abort();
      for (const { timer } of zones.values()) clearTimeout(timer);
      await Promise.all(running.values());
    },
  };
}

/** What did not come would have been a difference, had there been something to differ from. */
function countIn(counters: DnsCounters, { kind }: RefreshOutcome, { current }: SecondaryZone): void {
  if (kind === "failed") countTransfer(counters, "in", current === undefined ? "axfr" : "ixfr", "failed");
  else countTransfer(counters, "in", kind === "whole" ? "axfr" : kind === "steps" ? "ixfr" : "check", "done");
}

type Followed = {
  timer: NodeJS.Timeout | undefined;
  /** The first of them, as far as is known. */
  primary: string | undefined;
  /** Why it was not had when it was last asked for. */
  failing: string | undefined;
  expired: boolean;
  behind: boolean;
};

const notAskedYet: Readonly<Followed> = {
  ...{ timer: undefined, primary: undefined, failing: undefined, expired: false, behind: false },
};

function secondsLeft({ checked, timers }: SecondaryZone, now: Instant): number {
  return checked === undefined || timers === undefined ? 0 : timers.expire - (now - checked) / 1_000;
}
