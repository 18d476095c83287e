import type { Instant } from "../../core/instant.ts";
import type { UpdaterConfig } from "../config/config.ts";
import { longestHold } from "../http/retry-after.ts";
import { createPacing } from "../sources/pacing.ts";
import { type Budget, createBudget } from "../targets/quota.ts";
import { createHolds } from "./holds.ts";
import type { UpdateResult } from "./result.ts";
import type { StateFile } from "./state-file.ts";
import type { Subject } from "./subjects.ts";

/** Until when record services are not to be asked: Retry-After, a quota that is nearly used up, our back-off after failures. */
export type LeftAlone = {
  /** For planning: the latest of all three. */
  readonly notBefore: (subject: Subject) => Instant | undefined;
  /** Before a request. After `allowOneTry` the first one to each service passes. */
  untilForRequest(target: string): Instant | undefined;
  /** For those who only look: they never use up the request of `allowOneTry`. */
  untilForReader(target: string): Instant | undefined;
  ended(result: UpdateResult): Promise<void>;
  /** A person wants to know now: back-offs are over, and each service that sent a Retry-After gets one request all the same. */
  allowOneTry(): void;
  /** The Retry-After of a minute and more: shorter ones are over before anybody has read of them. */
  longHolds(targets: readonly string[]): ReadonlyMap<string, Instant>;
  budgetOf(target: string): Budget;
  /** Targets at the same place are one service to us. */
  serviceOf(target: string): string;
};

export type LeftAloneTools = {
  readonly state: Pick<StateFile, "hold" | "setHold">;
  readonly now: () => Instant;
  readonly random: () => number;
};

export function createLeftAlone(config: UpdaterConfig, { state, now, random }: LeftAloneTools): LeftAlone {
  const budgets = new Map<string, Budget>();
  const holds = createHolds(state, now);
  const pacing = createPacing(random);

  /** One per token: two targets with the same service and the same token share it. */
  const budgetOf = (target: string): Budget => {
    const { url, token } = config.targets.get(target) ?? {};
    const key = url && token ? `${url.origin} ${token()}` : target;
    const budget = budgets.get(key) ?? createBudget();
    budgets.set(key, budget);
    return budget;
  };
  const quotaUntil = (target: string): Instant | undefined => {
    const until = budgetOf(target).notBefore(now());
    return until !== undefined && until > now() && until - now() <= longestHold ? until : undefined;
  };
  const holdKey = (target: string) => config.targets.get(target)?.url.href ?? target;
  const serviceOf = (target: string) => config.targets.get(target)?.url.origin ?? target;
  const heldUntil = (target: string) => holds.until(holdKey(target));
  return {
    budgetOf,
    serviceOf,
    notBefore({ key, target }) {
      const held = holds.isTryAllowed(holdKey(target)) ? undefined : heldUntil(target);
      return latest([held, quotaUntil(target), pacing.notBefore(key, now())]);
    },
    untilForRequest: (target) => quotaUntil(target) ?? holds.untilForRequest(holdKey(target)),
    untilForReader: (target) => latest([heldUntil(target), quotaUntil(target)]),
    async ended({ subject: { key, target }, outcome }) {
      if (!outcome) return;
      if (!("fault" in outcome)) {
        pacing.succeeded(key);
        // Not for any answer: a service with too much to do answers some with 503 and others never.
        pacing.reached(serviceOf(target));
        return holds.succeeded(holdKey(target));
      }
      const { retryAfter, unreached } = outcome.fault;
      pacing.failed(key, now(), unreached ? serviceOf(target) : undefined);
      if (retryAfter) await holds.set(holdKey(target), now() + retryAfter);
    },
    allowOneTry() {
      pacing.retryNow();
      holds.allowOneTry();
    },
    longHolds(targets) {
      const held = targets.map((target) => [target, heldUntil(target)] as const);
      const isLong = (entry: (typeof held)[number]): entry is readonly [string, Instant] =>
        entry[1] !== undefined && entry[1] - now() >= 60_000;
      return new Map(held.filter(isLong));
    },
  };
}

function latest(instants: readonly (Instant | undefined)[]): Instant | undefined {
  const known = instants.filter((instant) => instant !== undefined);
  return known.length === 0 ? undefined : Math.max(...known);
}
