import type { Instant } from "../../core/instant.ts";
import { backOffDelay } from "../../core/updates/back-off.ts";
import type { TargetFault } from "../targets/target.ts";

/**
 * One per record service and credential. If the service fails for several names in a row, the circuit opens: after a
 * back-off, one name tries (the probe), and all others wait. The circuit closes with the next success.
 */
export type CircuitBreaker = {
  /** Until when no name may try, and why; undefined if the circuit is closed. In the past: one name may try. */
  waiting(): { readonly until: Instant; readonly fault: TargetFault } | undefined;
  /** A name tries. The others wait until it has ended. */
  probe(name: string): void;
  /**
   * The name failed because of the service. Returns the back-off of this name alone, undefined if the whole service
   * waits.
   */
  failed(name: string, fault: TargetFault): Own | undefined;
  /**
   * The try of this name has ended. If it was the probe and showed nothing about the service, another name may try now.
   */
  ended(name: string): void;
  /** Returns the names that failed because the service was down, and may try again now. */
  succeeded(name: string): readonly string[];
  /** Ends the back-off: one name may try. */
  retryNow(): void;
};

/** The longest back-off in milliseconds. */
export type Own = { readonly longest: number };

/** Whether a fault says something about the other names of the service too. */
export const isOfService = ({ kind, ofService, retryAfter, onlyName }: TargetFault): boolean =>
  ofService === true || (kind === "unauthorised" && !onlyName) || (retryAfter !== undefined && !onlyName);

/** The service works, but wants fewer requests. */
export const hasRetryTime = ({ throttled, retryAfter }: TargetFault): boolean =>
  throttled === true || retryAfter !== undefined;

type Outage = {
  readonly since: Instant;
  /** The names that failed since the last success. */
  readonly names: Set<string>;
  readonly failures: number;
  /** How many of them were a 429 without a Retry-After: only these make the next such wait longer. */
  readonly throttled: number;
  readonly isOpen: boolean;
  readonly fault: TargetFault;
  readonly failedAt: Instant;
  readonly until: Instant;
  readonly probe?: string;
};

type Failing = Omit<Outage, "fault" | "failedAt">;
const noFailures = { failures: 0, throttled: 0, isOpen: false, until: 0 } as const;

/** As many names as are written in parallel. */
const fewest = 4;
/** Milliseconds: longer than any write takes. */
const longestProbe = 100_000;
const usual = 300_000;

export function createCircuitBreaker(now: () => Instant, random: () => number): CircuitBreaker {
  let outage: Outage | undefined;
  /** Names that failed while the service worked for another one: their next failure says nothing about the service. */
  const suspects = new Set<string>();
  return {
    waiting: () => {
      if (!outage?.isOpen) return undefined;
      // The clock was set back.
      return now() < outage.failedAt ? { ...outage, until: 0 } : outage;
    },
    probe(name) {
      if (outage) outage = { ...outage, probe: name, failedAt: now(), until: now() + longestProbe };
    },
    failed(name, fault) {
      if (suspects.has(name) && outage?.probe !== name) return { longest: usual };
      const before: Failing = outage ?? { since: now(), names: new Set(), ...noFailures };
      before.names.add(name);
      // If several names have faults of their own, more have to fail in a row.
      const isDown = before.names.size >= Math.max(fewest, suspects.size);
      const isOpen = before.isOpen || isDown || hasRetryTime(fault);
      // Those that were under way when another failed belong to the same failure.
      const isNews = now() >= before.until || before.probe === name;
      const failures = before.failures + (isNews ? 1 : 0);
      const throttled = before.throttled + (isNews && fault.throttled ? 1 : 0);
      const longest = longestDelay(fault, now() - before.since);
      const until = isNews ? now() + delayAfter({ failures, throttled }, fault, longest, random()) : before.until;
      const { since, names, probe } = before;
      outage = {
        since,
        names,
        failures,
        throttled,
        isOpen,
        fault,
        failedAt: now(),
        until,
        ...(!isNews && probe && { probe }),
      };
      return isOpen ? undefined : { longest };
    },
    ended(name) {
      const { probe, ...rest } = outage ?? {};
      if (probe === name) outage = { ...(rest as Outage), until: now() };
    },
    succeeded(name) {
      suspects.delete(name);
      const failed = [...(outage?.names ?? [])].filter((each) => each !== name);
      const wasOpen = outage?.isOpen;
      outage = undefined;
      for (const each of failed) suspects.add(each);
      return wasOpen ? failed : [];
    },
    retryNow() {
      if (outage) outage = { ...outage, until: 0 };
    },
  };
}

/** Milliseconds to wait after the first 429 without a Retry-After. */
const throttledWait = 10_000;

type Failures = Pick<Outage, "failures" | "throttled">;

function delayAfter({ failures, throttled }: Failures, fault: TargetFault, cap: number, random: number): number {
  if (!fault.throttled) return backOffDelay(failures, random, { base: 2_000, cap });
  return Math.min(cap, throttledWait * 2 ** (throttled - 1)) * (1 + random / 10);
}

/**
 * The end of an outage is noticed within seconds: after ten seconds or, after a long outage, a twentieth of its length,
 * but at most a minute. A service that rejects the credentials or limits requests gets fewer.
 */
function longestDelay({ kind, throttled }: TargetFault, outage: number): number {
  if (throttled) return usual;
  if (kind === "unauthorised") return Math.min(usual, Math.max(10_000, outage / 4));
  return Math.min(60_000, Math.max(10_000, outage / 20));
}
