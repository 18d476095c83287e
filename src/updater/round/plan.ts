import { carpRole } from "../../core/addresses/carp-role.ts";
import type { Instant } from "../../core/instant.ts";
import { planUpdate, type ServiceWait, type UpdatePlan } from "../../core/updates/plan-update.ts";
import type { SourceReading } from "../sources/source.ts";
import { chooseFor, type RecordChoice } from "./choose-for.ts";
import type { ManagedRecord } from "./managed-records.ts";
import type { NameMemory } from "./name-memory.ts";
import type { StateFile } from "./state-file.ts";

export type PlannedUpdate = RecordChoice & {
  readonly record: ManagedRecord;
  readonly stored: string | undefined;
  readonly plan: UpdatePlan;
};

export type RoundFacts = {
  readonly readings: ReadonlyMap<string, SourceReading>;
  readonly state: Pick<StateFile, "get">;
  readonly memory: NameMemory;
  /** Until when to write nothing, and why. */
  readonly notBefore: (record: ManagedRecord) => ServiceWait | undefined;
  readonly now: Instant;
};

export function planRound(records: readonly ManagedRecord[], facts: RoundFacts): readonly PlannedUpdate[] {
  const chosen = new Map<string, RecordChoice>();
  const alike = Map.groupBy(records, ({ choiceKey }) => choiceKey);
  return records.map((record) => {
    const recordChoice = chosen.get(record.choiceKey) ?? choose(record, alike.get(record.choiceKey) ?? [], facts);
    chosen.set(record.choiceKey, recordChoice);
    return planRecord(record, recordChoice, facts);
  });
}

/**
 * Leaves out names with `compare: record`: two clients with different stored addresses would keep overwriting each
 * other.
 */
export function storedAddressesOf(alike: readonly ManagedRecord[], state: RoundFacts["state"]): readonly string[] {
  const stored = alike.map(({ key, rules }) => (rules.compare === "record" ? undefined : state.get(key)?.address));
  return [...new Set(stored)].filter((address) => address !== undefined);
}

const choose = (
  record: ManagedRecord,
  alike: readonly ManagedRecord[],
  { readings, state }: RoundFacts,
): RecordChoice => chooseFor(record, readings, storedAddressesOf(alike, state));

/**
 * Milliseconds. When a source can no longer be read, it gets this much time to recover before another one replaces it.
 */
const failoverHold = 60_000;

function planRecord(record: ManagedRecord, recordChoice: RecordChoice, facts: RoundFacts): PlannedUpdate {
  const { key, family } = record;
  const { memory, now } = facts;
  const { choice, passedOver } = recordChoice;
  const reading = facts.readings.get(recordChoice.source ?? record.source);
  const storedEntry = facts.state.get(key);
  if (reading) memory.saw(key, choice.kind === "address" ? choice.address.text : undefined, now);
  const isFailover = passedOver.some(({ because }) => because === "unreadable") && !memory.isFirst(key);
  const rules = isFailover ? { holdDown: failoverHold, ...record.rules } : record.rules;
  const plan = planUpdate({
    family,
    choice,
    rules,
    now,
    paused: record.paused === true,
    // In doubt, the content of the record is unknown, so even the stored address must be written.
    stored: storedEntry?.inDoubt ? undefined : storedEntry?.address,
    ttlChanged: record.spec.ttl !== undefined && record.spec.ttl !== storedEntry?.ttl,
    notBefore: facts.notBefore(record),
    ...(reading?.kind === "report" && { isMaster: isMaster(record, reading) }),
    steadySince: memory.steadySince(key),
    changes: memory.changes(key),
    verifyDue:
      memory.isCheckRequested(key) ||
      isDue(rules.verify, memory.verifiedAt(key) ?? Date.parse(storedEntry?.storedAt ?? ""), now),
  });
  return { record, ...recordChoice, stored: storedEntry?.address, plan };
}

function isMaster({ rules }: ManagedRecord, reading: SourceReading & { readonly kind: "report" }): boolean {
  return rules.carpMaster === undefined || carpRole(reading.report, rules.carpMaster) === "master";
}

/** A last time in the future (the clock was set back), or none at all, counts as long ago. */
function isDue(every: number | undefined, last: Instant, now: Instant): boolean {
  return every !== undefined && !(last <= now && now - last < every);
}
