import { carpRole } from "../../core/addresses/carp-role.ts";
import type { Instant } from "../../core/instant.ts";
import { planUpdate, type ServiceWait, type UpdatePlan } from "../../core/updates/plan-update.ts";
import type { SourceReading } from "../sources/source.ts";
import { type Chosen, chooseFor } from "./choose-for.ts";
import type { NameMemory } from "./name-memory.ts";
import type { StateFile } from "./state-file.ts";
import type { Subject } from "./subjects.ts";

export type PlannedUpdate = Chosen & {
  readonly subject: Subject;
  readonly stored: string | undefined;
  readonly plan: UpdatePlan;
};

export type RoundFacts = {
  readonly readings: ReadonlyMap<string, SourceReading>;
  readonly state: Pick<StateFile, "get">;
  readonly memory: NameMemory;
  /** Until when to write nothing, and why. */
  readonly notBefore: (subject: Subject) => ServiceWait | undefined;
  readonly now: Instant;
};

export function planRound(subjects: readonly Subject[], facts: RoundFacts): readonly PlannedUpdate[] {
  const chosen = new Map<string, Chosen>();
  const alike = Map.groupBy(subjects, ({ policyKey }) => policyKey);
  return subjects.map((subject) => {
    const choosing = chosen.get(subject.policyKey) ?? choose(subject, alike.get(subject.policyKey) ?? [], facts);
    chosen.set(subject.policyKey, choosing);
    return planSubject(subject, choosing, facts);
  });
}

/**
 * Leaves out names with `compare: record`: two clients with different stored addresses would keep overwriting each
 * other.
 */
export function publishedOf(alike: readonly Subject[], state: RoundFacts["state"]): readonly string[] {
  const stored = alike.map(({ key, rules }) => (rules.compare === "record" ? undefined : state.get(key)?.address));
  return [...new Set(stored)].filter((address) => address !== undefined);
}

const choose = (subject: Subject, alike: readonly Subject[], { readings, state }: RoundFacts): Chosen =>
  chooseFor(subject, readings, publishedOf(alike, state));

/**
 * Milliseconds. When a source can no longer be read, it gets this much time to recover before another one replaces it.
 */
const failoverHold = 60_000;

function planSubject(subject: Subject, choosing: Chosen, facts: RoundFacts): PlannedUpdate {
  const { key, family } = subject;
  const { memory, now } = facts;
  const { choice, passedOver } = choosing;
  const reading = facts.readings.get(choosing.source ?? subject.source);
  const kept = facts.state.get(key);
  if (reading) memory.saw(key, choice.kind === "address" ? choice.address.text : undefined, now);
  const isFailover = passedOver.some(({ because }) => because === "unreadable") && !memory.isFirst(key);
  const rules = isFailover ? { holdDown: failoverHold, ...subject.rules } : subject.rules;
  const plan = planUpdate({
    family,
    choice,
    rules,
    now,
    paused: subject.paused === true,
    // In doubt, the content of the record is unknown, so even the stored address must be written.
    stored: kept?.inDoubt ? undefined : kept?.address,
    otherTtl: subject.order.ttl !== undefined && subject.order.ttl !== kept?.ttl,
    notBefore: facts.notBefore(subject),
    ...(reading?.kind === "report" ? { isMaster: isMaster(subject, reading) } : {}),
    steadySince: memory.steadySince(key),
    changes: memory.changes(key),
    verifyDue:
      memory.isCheckRequested(key) ||
      isDue(rules.verify, memory.verifiedAt(key) ?? Date.parse(kept?.storedAt ?? ""), now),
  });
  return { subject, ...choosing, stored: kept?.address, plan };
}

function isMaster({ rules }: Subject, reading: SourceReading & { readonly kind: "report" }): boolean {
  return rules.carpMaster === undefined || carpRole(reading.report, rules.carpMaster) === "master";
}

/** A last time in the future (the clock was set back), or none at all, counts as long ago. */
function isDue(every: number | undefined, last: Instant, now: Instant): boolean {
  return every !== undefined && !(last <= now && now - last < every);
}
