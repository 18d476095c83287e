import { parseAddress } from "../../core/addresses/address.ts";
import type { Held, RecordTarget, TargetFault } from "../targets/target.ts";
import type { StoredAddress } from "./merge-state.ts";
import type { PlannedUpdate } from "./plan.ts";
import type { Recall } from "./recall.ts";
import type { UpdateResult } from "./result.ts";
import { type Act, type Acting, openQueues, type QueueTools, type ServiceQueues } from "./service-queues.ts";
import type { StateFile } from "./state-file.ts";

export type ApplyTools = QueueTools & {
  readonly targets: ReadonlyMap<string, RecordTarget>;
  readonly state: StateFile;
  readonly recall: Recall;
};

/** For all rounds of one updater; `again` asks for another one. */
export const openApplying = (tools: ApplyTools, again: () => void): ServiceQueues =>
  openQueues((update, plan, signal) => applyOne(update, plan, tools, signal), tools, again);

/** What would become of them, as far as reading tells. Nothing is written or remembered. */
export function previewRound(planned: readonly PlannedUpdate[], tools: ApplyTools, signal: AbortSignal) {
  const act: Act = (update, plan, bounded) => previewOne(update, plan, tools, bounded);
  return openQueues(act, { ...tools, hold: async () => undefined }, () => undefined).act(planned, signal);
}

async function previewOne(
  update: PlannedUpdate,
  plan: Acting,
  tools: ApplyTools,
  signal: AbortSignal,
): Promise<UpdateResult> {
  const { order } = update.subject;
  const target = targetOf(update, tools);
  const held = await target.current(order, signal);
  if (held.kind === "missing" && order.create) {
    // The record may be missing, but not the zone that it is to be made in.
    const zone = await target.records(order.zone, signal);
    return zone.kind === "found" ? update : unsent(update, zone);
  }
  if (held.kind !== "found") return unsent(update, held);
  if (plan.kind === "replace") return update;
  const found = held.value;
  if (isRight(found, plan.address.text, update, tools)) return { ...update, outcome: { kind: "same" }, found };
  return { ...update, plan: { ...plan, kind: "replace" }, found };
}

async function applyOne(
  update: PlannedUpdate,
  { kind, address: { text: value } }: Acting,
  tools: ApplyTools,
  signal: AbortSignal,
): Promise<UpdateResult> {
  const { subject } = update;
  const target = targetOf(update, tools);
  const before = kind === "compare" ? await target.current(subject.order, signal) : undefined;
  if (before && before.kind !== "found" && !(before.kind === "missing" && subject.order.create)) {
    return unsent(update, before);
  }
  const found = before?.kind === "found" ? before.value : undefined;
  if (found && isRight(found, value, update, tools)) {
    tools.recall.verified(subject.key, tools.now());
    return remembered({ ...update, outcome: { kind: "same" }, found }, value, found, tools);
  }
  const undoubt = await castDoubt(subject.key, tools.state);
  const outcome = await target.replace({ ...subject.order, value }, signal);
  const result: UpdateResult = { ...update, outcome, ...(found ? { found } : {}) };
  if (outcome.kind === "refused") await undoubt();
  if (outcome.kind !== "done") return result;
  tools.recall.changed(subject.key, tools.now());
  tools.recall.verified(subject.key, tools.now());
  return remembered(result, value, outcome, tools);
}

const unsent = (update: PlannedUpdate, fault: TargetFault): UpdateResult => ({
  ...update,
  outcome: { kind: "refused", fault },
});

function targetOf({ subject }: PlannedUpdate, { targets }: ApplyTools): RecordTarget {
  const target = targets.get(subject.target);
  if (!target) throw new Error(`no target ${subject.target}`);
  return target;
}

/**
 * Before an address is sent, the stored one is marked: were we killed, or the answer lost, it would be trusted although the
 * record holds another. Gives the way to take the mark back. A disk that takes no mark does not stop the write.
 */
async function castDoubt(key: string, state: StateFile): Promise<() => Promise<void>> {
  const kept = state.get(key);
  if (kept === undefined) return async () => undefined;
  const save = (entry: StoredAddress) => state.set(key, entry).catch(() => undefined);
  await save({ ...kept, inDoubt: true });
  return () => save(kept);
}

function isRight({ values, ttl }: Held, value: string, { subject }: PlannedUpdate, { state }: ApplyTools): boolean {
  if (values.length !== 1 || parseAddress(values[0] ?? "")?.text !== value) return false;
  const wanted = subject.order.ttl;
  if (wanted === undefined || ttl === wanted) return true;
  // A service that knows only certain ones would else be sent the same again at every look.
  const kept = state.get(subject.key);
  return kept?.ttl === wanted && kept.ttlKept === ttl;
}

async function remembered(
  result: UpdateResult,
  value: string,
  { ttl }: Pick<Held, "ttl">,
  { state, now }: ApplyTools,
): Promise<UpdateResult> {
  const { key, order } = result.subject;
  const kept = state.get(key);
  const isKnown = kept?.address === value && !kept.inDoubt && (order.ttl ?? kept.ttl) === kept.ttl;
  if (result.outcome?.kind === "same" && isKnown) return result;
  const asked = order.ttl === undefined ? {} : { ttl: order.ttl, ...(ttl === order.ttl ? {} : { ttlKept: ttl }) };
  try {
    await state.set(key, { address: value, storedAt: new Date(now()).toISOString(), ...asked });
    return result;
  } catch (error) {
    return { ...result, unsaved: (error as NodeJS.ErrnoException).code ?? String(error) };
  }
}
