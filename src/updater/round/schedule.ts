import type { IncomingHttpHeaders } from "node:http";
import type { Instant } from "../../core/instant.ts";
import type { ServiceWait } from "../../core/updates/plan-update.ts";
import { originOf } from "../../lib/http-client/endpoint.ts";
import { longestRetryAfter } from "../../lib/http-client/retry-after.ts";
import { BackOffs } from "../../lib/limits/failure-delay.ts";
import { roomAgainAt } from "../../providers/answers/quota.ts";
import type { UpdaterConfig } from "../config/config.ts";
import type { TargetFault } from "../targets/target.ts";
import { type CircuitBreaker, createCircuitBreaker, hasRetryTime, isOfService } from "./circuit-breaker.ts";
import type { ManagedRecord } from "./managed-records.ts";
import { NameMemory } from "./name-memory.ts";
import type { NameState } from "./name-state.ts";
import type { UpdateResult } from "./result.ts";
import type { StateFile } from "./state-file.ts";

export type Admission =
  /** `record` may be another one, which is tried instead of this one. */
  | { readonly kind: "send"; readonly record: ManagedRecord }
  /** `fault`: the service is down. */
  | { readonly kind: "postponed"; readonly wait: ServiceWait; readonly fault?: TargetFault };

export type ScheduleTools = {
  readonly state: Pick<StateFile, "get" | "rateLimitedUntil" | "setRateLimitedUntil">;
  readonly now: () => Instant;
  readonly random: () => number;
};

/**
 * Milliseconds. The round after such a pause sends no request; it only notices a clock change or a sleep of the
 * machine.
 */
export const longestPause = 600_000;

/** Milliseconds without a round after which a watcher counts as stuck. */
export const longestSilence = 2 * longestPause;

/** Milliseconds: the source may be slow to answer, but a write long afterwards has nothing to do with the request. */
const tryAllowedFor = 60_000;
/** Milliseconds that a clock may be set back by a normal correction. */
const clockSlack = 60_000;

type Limit = { readonly at: Instant; readonly until: Instant | undefined };

/**
 * When it is each name's turn: when it must be planned again (`dueAt`), and when it may be sent to its record service:
 * not before the end of a Retry-After, of a nearly used-up quota, or of our back-off after a failure of this name or of
 * the whole service.
 */
export class Schedule {
  readonly memory = new NameMemory();
  readonly #targets: UpdaterConfig["targets"];
  readonly #interval: number;
  readonly #tools: ScheduleTools;
  readonly #backOffs: BackOffs;
  /** By credential: two targets with the same service and the same token share a quota. */
  readonly #quotas = new Map<string, Limit>();
  readonly #breakers = new Map<string, CircuitBreaker>();
  /** When each service sent its Retry-After to this process; the end of it is in the state file. */
  readonly #limitedAt = new Map<string, Instant>();
  #tryAllowedAt = Number.NEGATIVE_INFINITY;
  /** The Retry-After that the one allowed request ignored. */
  readonly #overridden = new Map<string, Instant>();

  constructor({ targets, interval }: Pick<UpdaterConfig, "targets" | "interval">, tools: ScheduleTools) {
    this.#targets = targets;
    this.#interval = interval;
    this.#tools = tools;
    this.#backOffs = new BackOffs(tools.random);
  }

  /** When a name must be planned again even if its source reports nothing new; undefined if never. */
  dueAt(record: ManagedRecord, { kind, latest: { plan } }: NameState): Instant | undefined {
    switch (kind) {
      case "unread":
      // Without an address there is nothing to compare the record with, until the source reports something new.
      case "idle":
      case "queued":
      case "writing":
        return undefined;
      case "waiting":
        // The reason to wait may have ended since it was planned.
        if (plan.kind === "wait" && (plan.because === "hold-down" || plan.because === "cap")) return plan.until;
        return this.notBefore(record)?.until ?? this.#tools.now();
      case "refused":
      case "in-doubt":
        return this.notBefore(record)?.until ?? this.#nextCheckOf(record);
      case "up-to-date":
        return this.#nextCheckOf(record);
      default:
        return kind satisfies never;
    }
  }

  /** For a plan: the reason that lasts longest. */
  readonly notBefore = (record: ManagedRecord): ServiceWait | undefined => {
    const { key, target } = record;
    return latest([
      wait("retry-after", this.#limitUnlessAllowed(this.#limitKey(target))),
      wait("retry-after", this.#limitUnlessAllowed(this.#recordLimitKey(record))),
      wait("quota", this.#quotaUntil(target)),
      wait("back-off", this.#backOffs.notBefore(key, this.#tools.now())),
      wait("back-off", this.#breakerOf(target).waiting()?.until),
    ]);
  };

  /**
   * Before a write. After `allowOneTry`, the first write to each service ignores its Retry-After. During an outage of
   * the service, a random one of the queued names tries, so that a name that always fails does not block the others.
   */
  admit(record: ManagedRecord, queued: () => readonly ManagedRecord[]): Admission {
    const { now, random } = this.#tools;
    const serviceWait = this.#waitForWrite(record.target);
    if (serviceWait !== undefined && now() < serviceWait.until) return { kind: "postponed", wait: serviceWait };
    const breaker = this.#breakerOf(record.target);
    const outage = breaker.waiting();
    if (!outage) return { kind: "send", record };
    const { until, fault } = outage;
    if (now() < until)
      return { kind: "postponed", wait: { until, because: "back-off" }, ...(!hasRetryTime(fault) && { fault }) };
    const candidates = queued().filter(({ target }) => this.#breakerOf(target) === breaker);
    const probe = candidates[Math.floor(random() * candidates.length)] ?? record;
    breaker.probe(probe.key);
    return { kind: "send", record: probe };
  }

  /** Before a read of a record without a write. */
  waitForReading(target: string): ServiceWait | undefined {
    return latest([wait("retry-after", this.#limitedUntil(target)), wait("quota", this.#quotaUntil(target))]);
  }

  /** Every answer shows the remaining quota of its token. */
  answered(target: string, headers: IncomingHttpHeaders): void {
    const now = this.#tools.now();
    this.#quotas.set(this.#credentialOf(target), { at: now, until: roomAgainAt(headers, now) });
  }

  async noteOutcome(result: UpdateResult): Promise<void> {
    const { record, outcome } = result;
    if (!outcome) return;
    if ("fault" in outcome) await this.#failed(record, outcome.fault);
    else await this.#succeeded(record);
  }

  /**
   * After `noteOutcome` for all names of a write that `admit` allowed for this one. If it tried a service that is down,
   * and showed nothing, another name may try now.
   */
  tryEnded({ key, target }: ManagedRecord): void {
    this.#breakerOf(target).ended(key);
  }

  /** Someone wants a check now: ends all back-offs, and allows one request to each service that sent a Retry-After. */
  allowOneTry(): void {
    this.#backOffs.retryNow();
    for (const breaker of this.#breakers.values()) breaker.retryNow();
    this.#tryAllowedAt = this.#tools.now();
    this.#overridden.clear();
  }

  /** Each Retry-After of a minute or more: shorter ones are over before anyone reads about them. */
  longRateLimits(among: readonly string[]): ReadonlyMap<string, Instant> {
    const limited = among.map((target) => [target, this.#limitedUntil(target)] as const);
    return new Map(limited.filter((each): each is [string, Instant] => (each[1] ?? 0) - this.#tools.now() >= 60_000));
  }

  /** When the record itself is read again, to see whether it still holds the stored address. */
  #nextCheckOf({ key, rules }: ManagedRecord): Instant | undefined {
    const every = rules.compare === "record" ? this.#interval : rules.verify;
    if (every === undefined) return undefined;
    const { state, now } = this.#tools;
    const stored = Date.parse(state.get(key)?.storedAt ?? "");
    return (this.memory.verifiedAt(key) ?? (Number.isNaN(stored) ? now() : stored)) + every;
  }

  async #failed(record: ManagedRecord, fault: TargetFault): Promise<void> {
    const { key, target } = record;
    const { retryAfter, unreached, onlyName } = fault;
    const now = this.#tools.now();
    const backOff = isOfService(fault) ? this.#breakerOf(target).failed(key, fault) : { longest: undefined };
    if (backOff) this.#backOffs.failed(key, now, unreached ? this.#serviceOf(target) : undefined, backOff.longest);
    if (!retryAfter) return;
    const limitKey = onlyName ? this.#recordLimitKey(record) : this.#limitKey(target);
    if (onlyName) this.#overridden.set(limitKey, now + retryAfter);
    await this.#limitUntil(limitKey, now + retryAfter);
  }

  async #succeeded({ key, target }: ManagedRecord): Promise<void> {
    this.#backOffs.succeeded(key);
    this.#backOffs.retryNow(this.#breakerOf(target).succeeded(key));
    // Only after a success: an overloaded service answers some requests with 503 and others never.
    this.#backOffs.reached(this.#serviceOf(target));
    // The service accepts requests again, unless it sent another Retry-After since, for example to a parallel request.
    const overridden = this.#overridden.get(this.#limitKey(target));
    if (overridden !== undefined && overridden === this.#limitedUntil(target)) {
      await this.#limitUntil(this.#limitKey(target), this.#tools.now());
    }
  }

  #waitForWrite(target: string): ServiceWait | undefined {
    const [quota, limited] = [this.#quotaUntil(target), this.#limitedUntil(target)];
    if (quota !== undefined) return { until: quota, because: "quota" };
    if (limited === undefined || !this.#isTryAllowed(this.#limitKey(target))) return wait("retry-after", limited);
    this.#overridden.set(this.#limitKey(target), limited);
    return undefined;
  }

  async #limitUntil(key: string, until: Instant): Promise<void> {
    this.#limitedAt.set(key, this.#tools.now());
    // It is in memory anyway; a failing disk is reported with the next stored address.
    await this.#tools.state.setRateLimitedUntil(key, until).catch(() => undefined);
  }

  #isTryAllowed(key: string): boolean {
    const since = this.#tools.now() - this.#tryAllowedAt;
    return since >= 0 && since < tryAllowedFor && !this.#overridden.has(key);
  }

  #limitUnlessAllowed = (key: string) => (this.#isTryAllowed(key) ? undefined : this.#untilOf(key));
  #limitedUntil = (target: string) => this.#untilOf(this.#limitKey(target));
  #untilOf = (key: string) =>
    this.#ifInForce({ at: this.#limitedAt.get(key) ?? 0, until: this.#tools.state.rateLimitedUntil(key) });
  #quotaUntil = (target: string) => {
    const quota = this.#quotas.get(this.#credentialOf(target));
    return quota && this.#ifInForce(quota);
  };

  /**
   * An end further away than the longest Retry-After, or noted in the future, dates from before the clock was set back.
   */
  #ifInForce({ at, until }: Limit): Instant | undefined {
    const now = this.#tools.now();
    const wasClockSetBack = now < at - clockSlack;
    return until !== undefined && !wasClockSetBack && until > now && until - now <= longestRetryAfter
      ? until
      : undefined;
  }

  #breakerOf(target: string): CircuitBreaker {
    const credential = this.#credentialOf(target);
    const breaker = this.#breakers.get(credential) ?? createCircuitBreaker(this.#tools.now, this.#tools.random);
    this.#breakers.set(credential, breaker);
    return breaker;
  }

  #serviceOf = (target: string) => serviceOfTarget(this.#targets, target);

  /** A Retry-After applies to all targets with the same URL and, if they have an account, the same account. */
  #limitKey(target: string): string {
    const { url, account } = this.#targets.get(target) ?? {};
    return [url?.href ?? target, ...(account === undefined ? [] : [account])].join(" ");
  }

  #recordLimitKey = ({ key, target }: ManagedRecord) =>
    [key, this.#targets.get(target)?.account ?? ""].join(" ").trim();

  #credentialOf(target: string): string {
    const { token, account } = this.#targets.get(target) ?? {};
    return [this.#serviceOf(target), token?.(), account].join(" ");
  }
}

/** Targets with the same host are one service. */
export function serviceOfTarget(targets: UpdaterConfig["targets"], target: string): string {
  const url = targets.get(target)?.url;
  return url ? originOf(url) : target;
}

const wait = (because: ServiceWait["because"], until: Instant | undefined): ServiceWait | undefined =>
  until === undefined ? undefined : { until, because };

/** Of equally long ones, the first. */
const latest = (waits: readonly (ServiceWait | undefined)[]): ServiceWait | undefined =>
  waits.filter((each) => each !== undefined).toSorted((a, b) => b.until - a.until)[0];
