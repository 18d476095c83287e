import type { Family } from "../../core/addresses/address.ts";
import { carpRole } from "../../core/addresses/carp-role.ts";
import type { Choice, Considered } from "../../core/addresses/choose-address.ts";
import { chooseInOrder, type OrderedChoosing, type PassedOver } from "../../core/addresses/choose-in-order.ts";
import { firstFew } from "../../core/first-few.ts";
import type { Instant } from "../../core/instant.ts";
import { type Plan, planUpdate } from "../../core/updates/plan-update.ts";
import type { SourceReading, WhyUnknown } from "../sources/source.ts";
import type { Recall } from "./recall.ts";
import type { StateFile } from "./state-file.ts";
import type { Subject } from "./subjects.ts";

export type PlannedUpdate = {
  readonly subject: Subject;
  readonly choice: Choice;
  /** The interface of the choice. */
  readonly device: string;
  readonly considered: readonly Considered[];
  readonly passedOver: readonly PassedOver[];
  readonly stored: string | undefined;
  readonly plan: Plan;
  /** Set if the source was read but the address is unknown: why, and what to do. */
  readonly trouble?: { readonly because: string; readonly todo: string };
};

export type RoundFacts = {
  readonly readings: ReadonlyMap<string, SourceReading>;
  readonly state: Pick<StateFile, "get">;
  readonly recall: Recall;
  /** Until when to write nothing: because of a Retry-After, a quota, or our back-off after a failed write. */
  readonly notBefore: (subject: Subject) => Instant | undefined;
  readonly now: Instant;
};

/** `called`: what messages call the source. */
export const notReadYet = (called: string) => `the ${called} has not answered yet`;

export function planRound(subjects: readonly Subject[], facts: RoundFacts): readonly PlannedUpdate[] {
  const chosen = new Map<string, OrderedChoosing>();
  const alike = Map.groupBy(subjects, ({ policyKey }) => policyKey);
  return subjects.map((subject) => {
    const choosing = chosen.get(subject.policyKey) ?? choose(subject, alike.get(subject.policyKey) ?? [], facts);
    chosen.set(subject.policyKey, choosing);
    return planSubject(subject, choosing, facts);
  });
}

/** Leaves out names with `compare: record`: two clients with different stored addresses would keep overwriting each other. */
export function publishedOf(alike: readonly Subject[], state: RoundFacts["state"]): readonly string[] {
  const stored = alike.map(({ key, rules }) => (rules.compare === "record" ? undefined : state.get(key)?.address));
  return [...new Set(stored)].filter((address) => address !== undefined);
}

function choose(
  { source, called, policy, family }: Subject,
  alike: readonly Subject[],
  facts: RoundFacts,
): OrderedChoosing {
  const reading = facts.readings.get(source);
  const unknown = whyUnknown(reading, family);
  if (reading?.kind === "report" && !unknown) {
    return chooseInOrder(reading.report, { ...policy, published: publishedOf(alike, facts.state) });
  }
  const choice = { kind: "unknown", because: unknown?.because ?? notReadYet(called) } as const;
  return { choice, device: policy.devices[0] ?? "", considered: [], passedOver: [] };
}

function whyUnknown(reading: SourceReading | undefined, family: Family): WhyUnknown | undefined {
  return reading?.kind === "unavailable" ? reading : reading?.unknown?.[family];
}

function planSubject(subject: Subject, choosing: OrderedChoosing, facts: RoundFacts): PlannedUpdate {
  const { key, family, rules } = subject;
  const { recall, now } = facts;
  const { choice } = choosing;
  const reading = facts.readings.get(subject.source);
  const kept = facts.state.get(key);
  if (reading) recall.saw(key, choice.kind === "address" ? choice.address.text : undefined, now);
  const plan = planUpdate({
    ...{ family, choice, rules, now },
    // In doubt, the content of the record is unknown, so even the stored address must be written.
    stored: kept?.inDoubt ? undefined : kept?.address,
    otherTtl: subject.order.ttl !== undefined && subject.order.ttl !== kept?.ttl,
    notBefore: facts.notBefore(subject),
    ...(reading?.kind === "report" ? { isMaster: isMaster(subject, reading) } : {}),
    steadySince: recall.steadySince(key),
    changes: recall.changes(key),
    verifyDue: isDue(rules.verify, recall.verifiedAt(key) ?? Date.parse(kept?.storedAt ?? ""), now),
  });
  const trouble = troubleOf(choice, subject, reading);
  return { subject, ...choosing, stored: kept?.address, plan, ...(trouble ? { trouble } : {}) };
}

function isMaster({ rules }: Subject, reading: SourceReading & { readonly kind: "report" }): boolean {
  return rules.carpMaster === undefined || carpRole(reading.report, rules.carpMaster) === "master";
}

/** A last time in the future (the clock was set back), or none at all, counts as long ago. */
function isDue(every: number | undefined, last: Instant, now: Instant): boolean {
  return every !== undefined && !(last <= now && now - last < every);
}

function troubleOf(
  choice: Choice,
  { source, called, family }: Subject,
  reading: SourceReading | undefined,
): PlannedUpdate["trouble"] {
  if (!reading) return undefined;
  const unknown = whyUnknown(reading, family);
  if (unknown) return { because: unknown.because, todo: unknown.todo };
  if (choice.kind !== "unknown-interface") return undefined;
  return {
    because: `the ${called} ${source} has no interface ${choice.device}`,
    todo: choice.known.length === 0 ? "it reports no interfaces" : `its interfaces are ${firstFew(choice.known)}`,
  };
}
