import type { IncomingHttpHeaders } from "node:http";
import type { Instant } from "../../core/instant.ts";
import type { UpdaterConfig } from "../config/config.ts";
import { originOf } from "../http/endpoint.ts";
import { longestHold } from "../http/retry-after.ts";
import { createPacing } from "../sources/pacing.ts";
import { roomAgainAt } from "../targets/quota.ts";
import type { UpdateResult } from "./result.ts";
import type { StateFile } from "./state-file.ts";
import type { Subject } from "./subjects.ts";

/** Until when to send nothing to a record service: Retry-After, a nearly used-up quota, our back-off after a failure. */
export type LeftAlone = {
  /** For a plan: the latest of the three. */
  readonly notBefore: (subject: Subject) => Instant | undefined;
  /** Before a write. After `allowOneTry`, the first write to each service ignores its Retry-After. */
  untilForWrite(target: string): Instant | undefined;
  /** Before a read of a record without a write. */
  untilForReading(target: string): Instant | undefined;
  /** Every answer shows the remaining quota of its token. */
  answered(target: string, headers: IncomingHttpHeaders): void;
  ended(result: UpdateResult): Promise<void>;
  /** Someone wants a check now: ends all back-offs, and allows one request to each service that sent a Retry-After. */
  allowOneTry(): void;
  /** Each Retry-After of a minute or more: shorter ones are over before anyone reads about them. */
  longHolds(targets: readonly string[]): ReadonlyMap<string, Instant>;
};

export type LeftAloneTools = {
  readonly state: Pick<StateFile, "hold" | "setHold">;
  readonly now: () => Instant;
  readonly random: () => number;
};

/** Milliseconds: the source may be slow to answer, but a write long afterwards has nothing to do with the request. */
const tryAllowedFor = 60_000;
/** Milliseconds that a clock may be set back by a normal correction. */
const clockSlack = 60_000;

type Noted = { readonly at: Instant; readonly until: Instant | undefined };

export function createLeftAlone(
  { targets }: Pick<UpdaterConfig, "targets">,
  { state, now, random }: LeftAloneTools,
): LeftAlone {
  const pacing = createPacing(random);
  /** By token: two targets with the same service and the same token share a quota. */
  const quotas = new Map<string, Noted>();
  /** When each service sent its Retry-After to this process; the end of it is in the state file. */
  const heldAt = new Map<string, Instant>();
  let tryAllowedAt = Number.NEGATIVE_INFINITY;
  /** The Retry-After that the one allowed request ignored. */
  const defied = new Map<string, Instant>();

  const serviceOf = (target: string) => serviceOfTarget(targets, target);
  /** A Retry-After applies to all targets with the same URL and, if they have an account, the same account. */
  const holdKey = (target: string) => {
    const { url, account } = targets.get(target) ?? {};
    return [url?.href ?? target, ...(account === undefined ? [] : [account])].join(" ");
  };
  const nameKey = ({ key, target }: Pick<Subject, "key" | "target">) =>
    [key, targets.get(target)?.account ?? ""].join(" ").trim();
  const tokenOf = (target: string) => `${serviceOf(target)} ${targets.get(target)?.token?.()}`;
  /** An end beyond the longest hold, or a note from the future, dates from before the clock was set back. */
  const ifAhead = ({ at, until }: Noted): Instant | undefined => {
    const wasPutBack = now() < at - clockSlack;
    return until !== undefined && !wasPutBack && until > now() && until - now() <= longestHold ? until : undefined;
  };
  const quotaUntil = (target: string) => ifAhead(quotas.get(tokenOf(target)) ?? { at: 0, until: undefined });
  const heldUntil = (target: string) => untilOf(holdKey(target));
  const untilOf = (key: string) => ifAhead({ at: heldAt.get(key) ?? 0, until: state.hold(key) });
  const hold = async (key: string, until: Instant): Promise<void> => {
    heldAt.set(key, now());
    // It is in memory anyway; a failing disk is reported with the next stored address.
    await state.setHold(key, until).catch(() => undefined);
  };
  const isTryAllowed = (key: string): boolean => {
    const since = now() - tryAllowedAt;
    return since >= 0 && since < tryAllowedFor && !defied.has(key);
  };
  const heldUnlessAllowed = (key: string) => (isTryAllowed(key) ? undefined : untilOf(key));
  return {
    notBefore(subject) {
      const { key, target } = subject;
      const held = [heldUnlessAllowed(holdKey(target)), heldUnlessAllowed(nameKey(subject))];
      return latest([...held, quotaUntil(target), pacing.notBefore(key, now())]);
    },
    untilForWrite(target) {
      const [quota, held] = [quotaUntil(target), heldUntil(target)];
      if (quota !== undefined || held === undefined || !isTryAllowed(holdKey(target))) return quota ?? held;
      defied.set(holdKey(target), held);
      return undefined;
    },
    untilForReading: (target) => latest([heldUntil(target), quotaUntil(target)]),
    answered(target, headers) {
      quotas.set(tokenOf(target), { at: now(), until: roomAgainAt(headers, now()) });
    },
    async ended({ subject, outcome }) {
      const { key, target } = subject;
      if (!outcome) return;
      if ("fault" in outcome) {
        const { retryAfter, unreached, onlyName } = outcome.fault;
        pacing.failed(key, now(), unreached ? serviceOf(target) : undefined);
        if (!retryAfter) return;
        const held = onlyName ? nameKey(subject) : holdKey(target);
        if (onlyName) defied.set(held, now() + retryAfter);
        await hold(held, now() + retryAfter);
        return;
      }
      pacing.succeeded(key);
      // Only after a success: an overloaded service answers some requests with 503 and others never.
      pacing.reached(serviceOf(target));
      // The service accepts requests again, unless it sent another Retry-After since, for example to a parallel request.
      const inSpiteOf = defied.get(holdKey(target));
      if (inSpiteOf !== undefined && inSpiteOf === heldUntil(target)) await hold(holdKey(target), now());
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

/** Targets with the same host are one service. */
export function serviceOfTarget(targets: UpdaterConfig["targets"], target: string): string {
  const url = targets.get(target)?.url;
  return url ? originOf(url) : target;
}

function latest(instants: readonly (Instant | undefined)[]): Instant | undefined {
  const known = instants.filter((instant) => instant !== undefined);
  return known.length === 0 ? undefined : Math.max(...known);
}
