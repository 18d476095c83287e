import type { Address, Family } from "../addresses/address.ts";
import type { Choice } from "../addresses/choose-address.ts";
import { gate, type PublicRule, type WarnedScope } from "../addresses/publish-gate.ts";
import type { Instant } from "../instant.ts";

/** What to do about one name and one family; spec 4.7. */
export type Plan =
  | { readonly kind: "nothing"; readonly because: NoUpdate }
  | { readonly kind: "wait"; readonly until: Instant; readonly address: Address; readonly because: WaitReason }
  /** Read the record first, and replace it only when it holds anything else. */
  | { readonly kind: "compare"; readonly address: Address; readonly warning?: WarnedScope }
  | { readonly kind: "replace"; readonly address: Address; readonly warning?: WarnedScope };

export type NoUpdate = "same-as-stored" | "no-address" | "unknown" | "not-publishable" | "not-master";

/** Because of the record service, our own back-off, or the protection against flapping. */
export type WaitReason = "asked" | "hold-down" | "cap";

export type UpdateRules = {
  readonly public?: PublicRule;
  /** Milliseconds for which an address must have been there before it replaces another. */
  readonly holdDown?: number;
  readonly changesPerHour?: number;
  /** What the wanted address is compared with: the address stored last, or the record itself, which others may write too. */
  readonly compare?: "state" | "record";
};

export type UpdateFacts = {
  readonly family: Family;
  readonly choice: Choice;
  /** The address of the last successful write, as canonical text. */
  readonly stored: string | undefined;
  /** From the record service's Retry-After, or from our own back-off after a failed write. */
  readonly notBefore: Instant | undefined;
  readonly now: Instant;
  /** Without any, spec 4.7 to the letter. */
  readonly rules?: UpdateRules;
  /** False on the standby of two firewalls. */
  readonly isMaster?: boolean;
  /** Since when this very address has been seen without a break. */
  readonly steadySince?: Instant | undefined;
  /** When the record was replaced lately, oldest first. */
  readonly changes?: readonly Instant[];
  /** The time has come to see whether the record still holds what was stored. */
  readonly verifyDue?: boolean;
  /** The TTL that is wanted is not the one that was stored with the address. */
  readonly otherTtl?: boolean;
};

export function planUpdate(facts: UpdateFacts): Plan {
  const { family, choice, stored, notBefore, now, rules = {} } = facts;
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
  const { verifyDue = false, otherTtl = false } = facts;
  const byRecord = rules.compare === "record" || (same && (verifyDue || otherTtl));
  if (same && !byRecord) return { kind: "nothing", because: "same-as-stored" };
  if (notBefore !== undefined && now < notBefore) return { kind: "wait", until: notBefore, address, because: "asked" };
  const calm = untilCalm(facts, rules, same);
  if (calm) return { kind: "wait", ...calm, address };
  const warning = verdict.kind === "warn" ? { warning: verdict.scope } : {};
  return { kind: byRecord ? "compare" : "replace", address, ...warning };
}

const hour = 3_600_000;

/** What `changesPerHour` can be at the most. */
export const mostChangesPerHour = 3600;

/** Those of the last hour; of a time to come there are some when the clock was put back. */
export const changesThatCount = (changes: readonly Instant[], now: Instant): readonly Instant[] =>
  changes.filter((at) => at <= now && now - at < hour);

/** The first address of all is never kept back: a wrong record is worse than a restless one. */
function untilCalm({ stored, now, steadySince = now, changes = [] }: UpdateFacts, rules: UpdateRules, same: boolean) {
  if (stored === undefined) return undefined;
  const { holdDown = 0, changesPerHour } = rules;
  // A clock that was put back must not make the wait longer than it is.
  const steady = Math.min(steadySince, now) + holdDown;
  if (!same && now < steady) return { until: steady, because: "hold-down" as const };
  if (changesPerHour === undefined) return undefined;
  const oldest = changesThatCount(changes, now).at(-changesPerHour);
  return oldest === undefined ? undefined : { until: oldest + hour, because: "cap" as const };
}
