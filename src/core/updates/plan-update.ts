import type { Address, Family } from "../addresses/address.ts";
import type { Choice } from "../addresses/choose-address.ts";
import { gate, type PublicRule, type WarnedScope } from "../addresses/publish-gate.ts";
import type { Instant } from "../instant.ts";

/** What to do about one name and one family. */
export type UpdatePlan =
  | { readonly kind: "nothing"; readonly because: NoUpdate }
  | { readonly kind: "wait"; readonly until: Instant; readonly address: Address; readonly because: WaitReason }
  /** Read the record first, and replace it only if it differs. */
  | { readonly kind: "compare"; readonly address: Address; readonly warning?: WarnedScope }
  | { readonly kind: "replace"; readonly address: Address; readonly warning?: WarnedScope };

export type NoUpdate = "same-as-stored" | "no-address" | "unknown" | "not-publishable" | "not-master" | "paused";

/** `hold-down`, `cap`: protection against flapping. */
export type WaitReason = ServiceWait["because"] | "hold-down" | "cap";

/** The record service asked for it, its quota is nearly used up, or we back off after a failure. */
export type ServiceWait = { readonly until: Instant; readonly because: "retry-after" | "quota" | "back-off" };

export type UpdateRules = {
  readonly public?: PublicRule;
  /** Milliseconds for which an address must have been stable before it replaces another. */
  readonly holdDown?: number;
  readonly changesPerHour?: number;
  /**
   * What the wanted address is compared with: the stored address, or the record itself, which others may change too.
   */
  readonly compare?: "state" | "record";
};

export type UpdateFacts = {
  readonly family: Family;
  readonly choice: Choice;
  /** The address of the last successful write, as canonical text. */
  readonly stored: string | undefined;
  readonly notBefore: ServiceWait | undefined;
  readonly now: Instant;
  /** Without rules, an address is written when it differs from the stored one. */
  readonly rules?: UpdateRules;
  /** The user wants the record to be left alone. */
  readonly paused?: boolean;
  /** False on the standby of two firewalls. */
  readonly isMaster?: boolean;
  /** Since when this address has been seen without interruption. */
  readonly steadySince?: Instant | undefined;
  /** The times of recent replacements, oldest first. */
  readonly changes?: readonly Instant[];
  /** It is time to check whether the record still has the stored address. */
  readonly verifyDue?: boolean;
  /** The wanted TTL differs from the one stored with the address. */
  readonly ttlChanged?: boolean;
};

export function planUpdate(facts: UpdateFacts): UpdatePlan {
  const { family, choice, stored, notBefore, now, rules = {} } = facts;
  if (facts.paused) return { kind: "nothing", because: "paused" };
  if (facts.isMaster === false) return { kind: "nothing", because: "not-master" };
  switch (choice.kind) {
    case "unknown":
    case "unknown-interface":
      return { kind: "nothing", because: "unknown" };
    case "none":
      return { kind: "nothing", because: "no-address" };
    case "address":
      break;
    default:
      return choice satisfies never;
  }
  const { address } = choice;
  const verdict = gate(address, family, rules.public);
  if (verdict.kind === "refuse") return { kind: "nothing", because: "not-publishable" };
  const same = address.text === stored;
  const { verifyDue = false, ttlChanged = false } = facts;
  const byRecord = rules.compare === "record" || (same && (verifyDue || ttlChanged));
  if (same && !byRecord) return { kind: "nothing", because: "same-as-stored" };
  if (notBefore !== undefined && now < notBefore.until) return { kind: "wait", ...notBefore, address };
  const damped = dampedUntil(facts, rules, same);
  if (damped) return { kind: "wait", ...damped, address };
  const warning = verdict.kind === "warn" ? { warning: verdict.scope } : {};
  return { kind: byRecord ? "compare" : "replace", address, ...warning };
}

const hour = 3_600_000;

/** The highest allowed `changesPerHour`. */
export const mostChangesPerHour = 3600;

/** Those of the last hour. Times in the future, after the clock was set back, do not count. */
export const changesThatCount = (changes: readonly Instant[], now: Instant): readonly Instant[] =>
  changes.filter((at) => at <= now && now - at < hour);

/** The very first address is never delayed: a wrong record is worse than one that changes often. */
function dampedUntil({ stored, now, steadySince = now, changes = [] }: UpdateFacts, rules: UpdateRules, same: boolean) {
  if (stored === undefined) return undefined;
  const { holdDown = 0, changesPerHour } = rules;
  // After the clock was set back, the wait must not become longer.
  const steady = Math.min(steadySince, now) + holdDown;
  if (!same && now < steady) return { until: steady, because: "hold-down" as const };
  if (changesPerHour === undefined) return undefined;
  const oldest = changesThatCount(changes, now).at(-changesPerHour);
  return oldest === undefined ? undefined : { until: oldest + hour, because: "cap" as const };
}
