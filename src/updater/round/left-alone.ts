import type { IncomingHttpHeaders } from "node:http";
import type { Instant } from "../../core/instant.ts";
import type { UpdaterConfig } from "../config/config.ts";
import { longestHold } from "../http/retry-after.ts";
import { createPacing } from "../sources/pacing.ts";
import { roomAgainAt } from "../targets/quota.ts";
import type { UpdateResult } from "./result.ts";
import type { StateFile } from "./state-file.ts";
import type { Subject } from "./subjects.ts";

/** Until when record services are not to be asked: Retry-After, a quota that is nearly used up, our back-off after a failure. */
export type LeftAlone = {
  /** For a plan: the latest of the three. */
  readonly notBefore: (subject: Subject) => Instant | undefined;
  /** Before a write: after `allowOneTry`, the first one to each service goes out in spite of its Retry-After. */
  untilForWrite(target: string): Instant | undefined;
  /** Before the record is only read. */
  untilForReading(target: string): Instant | undefined;
  /** Every answer says how much of the quota of its token is left. */
  answered(target: string, headers: IncomingHttpHeaders): void;
  ended(result: UpdateResult): Promise<void>;
  /** A person wants to know now: back-offs are over, and each service that sent a Retry-After gets one request. */
  allowOneTry(): void;
  /** The Retry-After of a minute and more: shorter ones are over before anybody has read of them. */
  longHolds(targets: readonly string[]): ReadonlyMap<string, Instant>;
};

export type LeftAloneTools = {
  readonly state: Pick<StateFile, "hold" | "setHold">;
  readonly now: () => Instant;
  readonly random: () => number;
};

/** Milliseconds: the source may be slow to say what is to be written; what comes up long after has nothing to do with the wish. */
const tryAllowedFor = 60_000;
/** Milliseconds that a clock may be put back by while it is only kept right. */
const clockSlack = 60_000;

type Noted = { readonly at: Instant; readonly until: Instant | undefined };

export function createLeftAlone(
  { targets }: Pick<UpdaterConfig, "targets">,
  { state, now, random }: LeftAloneTools,
): LeftAlone {
  const pacing = createPacing(random);
  /** By token: two targets with the same service and the same token share a quota. */
  const quotas = new Map<string, Noted>();
  /** When each service sent its Retry-After, as far as this process heard it; the file has until when. */
  const heldAt = new Map<string, Instant>();
  let tryAllowedAt = Number.NEGATIVE_INFINITY;
  /** Which Retry-After the one request went out in spite of. */
  const defied = new Map<string, Instant>();

  const serviceOf = (target: string) => serviceOfTarget(targets, target);
  /** Whom a Retry-After speaks for. */
  const holdKey = (target: string) => targets.get(target)?.url.href ?? target;
  const tokenOf = (target: string) => `${serviceOf(target)} ${targets.get(target)?.token?.()}`;
  /** What is further away than any service may ask for, or was said at a time to come, is from before the clock was put back. */
  const ifAhead = ({ at, until }: Noted): Instant | undefined => {
    const wasPutBack = now() < at - clockSlack;
    return until !== undefined && !wasPutBack && until > now() && until - now() <= longestHold ? until : undefined;
  };
  const quotaUntil = (target: string) => ifAhead(quotas.get(tokenOf(target)) ?? { at: 0, until: undefined });
  const heldUntil = (target: string) => {
    const key = holdKey(target);
    return ifAhead({ at: heldAt.get(key) ?? 0, until: state.hold(key) });
  };
  const hold = async (target: string, until: Instant): Promise<void> => {
    heldAt.set(holdKey(target), now());
    // Known in memory in any case; a disk that does not take it shows at the next stored address.
    await state.setHold(holdKey(target), until).catch(() => undefined);
  };
  const isTryAllowed = (target: string): boolean => {
    const since = now() - tryAllowedAt;
    return since >= 0 && since < tryAllowedFor && !defied.has(holdKey(target));
  };
  return {
    notBefore({ key, target }) {
      const held = isTryAllowed(target) ? undefined : heldUntil(target);
      return latest([held, quotaUntil(target), pacing.notBefore(key, now())]);
    },
    untilForWrite(target) {
      const [quota, held] = [quotaUntil(target), heldUntil(target)];
      if (quota !== undefined || held === undefined || !isTryAllowed(target)) return quota ?? held;
      defied.set(holdKey(target), held);
      return undefined;
    },
    untilForReading: (target) => latest([heldUntil(target), quotaUntil(target)]),
    answered(target, headers) {
      quotas.set(tokenOf(target), { at: now(), until: roomAgainAt(headers, now()) });
    },
    async ended({ subject: { key, target }, outcome }) {
      if (!outcome) return;
      if ("fault" in outcome) {
        const { retryAfter, unreached } = outcome.fault;
        pacing.failed(key, now(), unreached ? serviceOf(target) : undefined);
        if (retryAfter) await hold(target, now() + retryAfter);
        return;
      }
      pacing.succeeded(key);
      // Not for any answer: a service with too much to do answers some with 503 and others never.
      pacing.reached(serviceOf(target));
      // The service takes requests again, unless it sent another Retry-After since, as to a request that went out together with it.
      const inSpiteOf = defied.get(holdKey(target));
      if (inSpiteOf !== undefined && inSpiteOf === heldUntil(target)) await hold(target, now());
    },
    allowOneTry() {
      pacing.retryNow();
      tryAllowedAt = now();
      defied.clear();
    },
    longHolds(among) {
      const held = among.map((target) => [target, heldUntil(target)] as const);
      return new Map(held.filter((each): each is [string, Instant] => (each[1] ?? 0) - now() >= 60_000));
    },
  };
}

/** Targets at the same place are one service to us. */
export const serviceOfTarget = (targets: UpdaterConfig["targets"], target: string): string =>
  targets.get(target)?.url.origin ?? target;

function latest(instants: readonly (Instant | undefined)[]): Instant | undefined {
  const known = instants.filter((instant) => instant !== undefined);
  return known.length === 0 ? undefined : Math.max(...known);
}
