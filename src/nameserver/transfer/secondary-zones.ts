import { isDeepStrictEqual } from "node:util";
import { unmapped } from "../../core/addresses/peer-address.ts";
import type { Instant } from "../../core/instant.ts";
import { nameOf } from "../../lib/dns/ask.ts";
import { partOfFiles } from "../../lib/limits/open-files.ts";
import type { Logger } from "../../process/log.ts";
import { countTransfer, type DnsCounters } from "../metrics/metrics.ts";
import { createSharedMemory, noRoom } from "./memory.ts";
import type { Asker } from "./respond.ts";
import { type RefreshOutcome, type RefreshPorts, refreshZone, type SecondaryZone } from "./secondary-refresh.ts";
import { createSlots, type Place, type SlotLimits } from "./slots.ts";

/** Zones whose records come from other servers: refreshed when their SOA says so, and at every NOTIFY from a primary. */
export type Secondaries = {
  readonly notified: (zone: string, asker: Asker) => Promise<"taken" | "refused" | "not-ours">;
  /** A zone was created, deleted, or has other primaries. */
  readonly look: (zone: string) => void;
  /** Call this when `refreshes` has become true: it asks the primaries of all zones. */
  readonly takeOver: () => void;
  readonly close: () => Promise<void>;
};

export type SecondaryPorts = RefreshPorts & { readonly list: () => Promise<readonly string[]> };

export type SecondariesOptions = {
  readonly ports: SecondaryPorts;
  readonly log: Logger;
  readonly now: () => Instant;
  readonly random: () => number;
  readonly atOnce?: SlotLimits;
  /** False while another node asks the primaries: then this one does so only for a NOTIFY that it received. */
  readonly refreshes: () => boolean;
  readonly counters?: DnsCounters;
};

/**
 * Milliseconds: a second and a day. A refresh time of 0 in the SOA would query the primary all the time, and `setTimeout` cannot wait
 * for a very long one.
 */
const shortest = 1_000;
const longest = 86_400_000;
/** Seconds, for a zone that has not been transferred yet and so has no SOA with a retry time. */
const firstRetry = 10;
const lookupLimits: SlotLimits = { all: 8, account: 8, primary: 8 };
/** A slow primary holds its slot for minutes: even four accounts with only slow primaries leave slots for others. */
function transferLimits(): SlotLimits {
  const all = partOfFiles(8, 160);
  return { all, account: Math.ceil(all / 5), primary: Math.ceil(all / 20) };
}
/** The most that all running transfers may hold; `mostBytes` in `secondary-refresh.ts` is the limit for one. */
const mostBytesTogether = 256 * 1024 * 1024;

export function startSecondaries(options: SecondariesOptions): Secondaries {
  const { ports, log, now, random, atOnce = transferLimits(), refreshes, counters } = options;
  const stop = new AbortController();
  const zones = new Map<string, Followed>();
  const notifiedZones = new Set<string>();
  const running = new Map<string, Running>();
  const memory = createSharedMemory(mostBytesTogether);

  const ask = (name: string) => {
    const { timer, place } = zones.get(name) ?? {};
    clearTimeout(timer);
    if (place) transfers.add(name, place);
    else lookups.add(name, notKnown);
  };
  const askIn = (name: string, seconds: number) => {
    const followed = zones.get(name);
    if (followed === undefined || stop.signal.aborted) return;
    clearTimeout(followed.timer);
    const wait = Math.min(Math.max(seconds * 1_000, shortest), longest);
    // Spread out, because all zones start at the same time.
    followed.timer = setTimeout(() => ask(name), wait * (0.9 + 0.1 * random()));
  };

  const takeTurn = async (name: string, place: Place): Promise<void> => {
    try {
      const zone = await ports.look(name);
      if (zone === undefined || !(notifiedZones.has(name) || refreshes())) return forget(name);
      const own = placeOf(zone);
      if (place.account === own.account && place.primary === own.primary) await refresh(name, zone);
      else waitForTurn(name, own);
    } catch (error) {
      if (!stop.signal.aborted) log.error({ err: error, zone: name }, "a secondary zone could not be refreshed");
      askIn(name, firstRetry);
    }
  };
  // Zones that wait for a slow server must not delay the lookup of other zones' servers.
  const lookups = createSlots(lookupLimits, takeTurn);
  const transfers = createSlots(atOnce, takeTurn);

  const follow = (name: string): Followed => {
    const followed = zones.get(name) ?? { ...notAskedYet };
    zones.set(name, followed);
    return followed;
  };
  const forget = (name: string) => {
    clearTimeout(zones.get(name)?.timer);
    zones.delete(name);
    notifiedZones.delete(name);
  };
  /** Its account or primary was not known when it was queued, or has changed since. */
  const waitForTurn = (name: string, place: Place) => {
    follow(name).place = place;
    transfers.add(name, place);
  };
  /** Undefined if it was ended because it is no longer wanted. */
  const refreshInMemory = async (zone: SecondaryZone): Promise<RefreshOutcome | undefined> => {
    const [giveWay, unwanted] = [new AbortController(), new AbortController()];
    const own = memory.open(zone.account, () => giveWay.abort(new Error(noRoom)));
    running.set(zone.name, {
      zone,
      end: () => unwanted.abort(new Error("the primary servers of the zone have changed")),
    });
    try {
      const signal = AbortSignal.any([stop.signal, giveWay.signal, unwanted.signal]);
      const outcome = await refreshZone(zone, ports, { signal, now, memory: own });
      return unwanted.signal.aborted ? undefined : outcome;
    } finally {
      running.delete(zone.name);
      own.close();
    }
  };
  /** Ends the transfer of a zone that was deleted or has other primaries: a slow primary would keep it going for minutes. */
  const endIfUnwanted = async (name: string): Promise<void> => {
    const transfer = running.get(name);
    if (transfer === undefined) return;
    const zone = await ports.look(name);
    if (zone === undefined || !haveSamePrimaries(zone, transfer.zone)) transfer.end();
  };
  const refresh = async (name: string, zone: SecondaryZone) => {
    notifiedZones.delete(name);
    const followed = follow(name);
    const outcome = await refreshInMemory(zone);
    if (stop.signal.aborted || outcome === undefined) return;
    if (counters) countIn(counters, outcome, zone);
    if (outcome.kind === "failed") {
      const { because } = outcome;
      if (followed.failing !== because)
        log.warn({ zone: name, because }, "the zone could not be transferred from any primary server");
      followed.failing = because;
      const hasExpired = isExpired(zone, now());
      if (hasExpired && !followed.expired) log.error({ zone: name }, "the zone has expired; its queries get SERVFAIL");
      followed.expired = hasExpired;
      return askIn(name, zone.timers?.retry ?? firstRetry);
    }
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
    zones.set(name, Object.assign(followed, { failing: undefined, expired: false, behind }));
    askIn(name, outcome.refresh);
  };

  const all = async () => {
    for (const name of await ports.list()) ask(name);
  };
  const takeOver = () =>
    void all().catch((error: unknown) => log.error({ err: error }, "the secondary zones could not be listed"));

  return {
    notified: async (name, asker) => {
      const zone = await ports.look(name);
      if (zone === undefined) return "not-ours";
      const from = unmapped(asker.from);
      if (!zone.primaries.some(({ host, key }) => host === from || (key && key.name === asker.key))) return "refused";
      notifiedZones.add(name);
      ask(name);
      return "taken";
    },
    look: (name) => {
      ask(name);
      // The turn that was just asked for looks again, and reports what is wrong.
      void endIfUnwanted(name).catch(() => undefined);
    },
    takeOver,
    close: async () => {
      stop.abort();
      for (const { timer } of zones.values()) clearTimeout(timer);
      await Promise.all([lookups.close(), transfers.close()]);
    },
  };
}

/** A failed transfer counts as incremental if there was a version to start from. */
function countIn(counters: DnsCounters, { kind }: RefreshOutcome, { current }: SecondaryZone): void {
  if (kind === "failed") countTransfer(counters, "in", current === undefined ? "axfr" : "ixfr", "failed");
  else countTransfer(counters, "in", kind === "whole" ? "axfr" : kind === "steps" ? "ixfr" : "check", "done");
}

const notKnown: Place = { account: 0, primary: "" };
/** The first primary stands for all: it is asked first. */
const placeOf = ({ account, primaries: [first] }: SecondaryZone): Place => ({
  account,
  primary: first ? nameOf(first) : "none",
});

type Running = { readonly zone: SecondaryZone; readonly end: () => void };

const haveSamePrimaries = (a: SecondaryZone, b: SecondaryZone): boolean =>
  a.account === b.account && isDeepStrictEqual(a.primaries.map(nameOf), b.primaries.map(nameOf));

type Followed = {
  timer: NodeJS.Timeout | undefined;
  /** Undefined until the zone has been looked up. */
  place: Place | undefined;
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
