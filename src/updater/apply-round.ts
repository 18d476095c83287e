import { parseAddress } from "../core/address.ts";
import type { Instant } from "../core/instant.ts";
import { boundedBy } from "./bounded-by.ts";
import type { Confirmation } from "./confirm-dns.ts";
import type { PlannedUpdate } from "./plan-round.ts";
import type { Recall } from "./recall.ts";
import type { StateFile, StoredAddress } from "./state-file.ts";
import type { RecordTarget, ReplaceOutcome } from "./target.ts";

/** What became of one planned update. Only a replaced one was sent and accepted. */
export type UpdateResult = PlannedUpdate & {
  readonly outcome?: ReplaceOutcome | { readonly kind: "same" };
  /** What the record held, where it was read before it was written. */
  readonly found?: readonly string[];
  /** The record is right, but that could not be put on disk. */
  readonly unsaved?: string | undefined;
  /** Where the config asks for it: whether DNS answers with the new address. It takes its time and holds nobody up. */
  readonly confirmation?: Promise<Confirmation>;
};

export type ApplyTools = {
  readonly targets: ReadonlyMap<string, RecordTarget>;
  readonly state: StateFile;
  readonly recall: Recall;
  readonly now: () => Instant;
  /** Targets with the same are one service to us. */
  readonly serviceOf: (target: string) => string;
  /** Until when this target is not to be asked: its hold, or the quota of its token. */
  readonly notBefore: (target: string) => Instant | undefined;
  readonly hold: (target: string, until: Instant) => Promise<void>;
};

const writesAtOnce = 4;
/** A write with all its look-ups and the wait for its end. */
const longestWrite = 90_000;

export const applyRound = (planned: readonly PlannedUpdate[], tools: ApplyTools, signal: AbortSignal) =>
  actOnAll(planned, { ...tools, act: applyOne }, signal);

/** What would become of them, as far as reading tells. Nothing is written or remembered. */
export const previewRound = (planned: readonly PlannedUpdate[], tools: ApplyTools, signal: AbortSignal) =>
  actOnAll(planned, { ...tools, act: previewOne, hold: async () => undefined }, signal);

type Act = (update: PlannedUpdate, plan: Acting, tools: ApplyTools, signal: AbortSignal) => Promise<UpdateResult>;
type ActTools = ApplyTools & { readonly act: Act };

/**
 * Services side by side, so that a slow one delays nobody else; at each, a few names at once. The families of one name go one
 * after the other: what the first is told, such as to stay away, holds for the second.
 */
async function actOnAll(
  planned: readonly PlannedUpdate[],
  tools: ActTools,
  signal: AbortSignal,
): Promise<readonly UpdateResult[]> {
  const results = new Map<PlannedUpdate, UpdateResult>();
  const wanted = planned.filter(({ plan: { kind } }) => kind === "replace" || kind === "compare");
  const byService = Map.groupBy(wanted, ({ subject }) => tools.serviceOf(subject.target));
  const queues = [...byService.values()].map((group) => {
    const names = Map.groupBy(group, ({ subject: { order } }) => `${order.zone} ${order.name}`).values();
    const lane = async () => {
      for (const name of names) {
        for (const update of name) results.set(update, await actUnlessHeld(update, tools, signal));
      }
    };
    return Promise.all(Array.from({ length: writesAtOnce }, lane));
  });
  await Promise.all(queues);
  return planned.map((update) => results.get(update) ?? update);
}

async function actUnlessHeld(update: PlannedUpdate, tools: ActTools, signal: AbortSignal): Promise<UpdateResult> {
  const { plan, subject } = update;
  if ((plan.kind !== "replace" && plan.kind !== "compare") || signal.aborted) return update;
  const until = tools.notBefore(subject.target);
  if (until !== undefined && tools.now() < until) {
    return { ...update, plan: { kind: "wait", until, address: plan.address, because: "asked" } };
  }
  using bounded = boundedBy(signal, longestWrite);
  const result = await tools.act(update, plan, tools, bounded.signal);
  const { outcome } = result;
  if (outcome && "retryAfter" in outcome && outcome.retryAfter) {
    await tools.hold(subject.target, tools.now() + outcome.retryAfter);
  }
  return result;
}

type Acting = Extract<PlannedUpdate["plan"], { kind: "replace" | "compare" }>;

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
    return zone.kind === "found" ? update : { ...update, outcome: zone };
  }
  if (held.kind !== "found") return { ...update, outcome: held };
  if (plan.kind === "replace") return update;
  const found = held.value;
  if (holdsOnly(found, plan.address.text)) return { ...update, outcome: { kind: "same" }, found };
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
    return { ...update, outcome: before };
  }
  const found = before?.kind === "found" ? before.value : undefined;
  if (found && holdsOnly(found, value)) {
    tools.recall.verified(subject.key, tools.now());
    return remembered({ ...update, outcome: { kind: "same" }, found }, value, tools);
  }
  const undoubt = await castDoubt(subject.key, tools.state);
  const outcome = await target.replace({ ...subject.order, value }, signal);
  const result: UpdateResult = { ...update, outcome, ...(found ? { found } : {}) };
  if (outcome.kind !== "replaced") {
    // Whoever refuses the write itself has not written; of one that failed nobody knows.
    if (outcome.kind !== "later" && !outcome.afterWrite) await undoubt();
    return result;
  }
  tools.recall.changed(subject.key, tools.now());
  tools.recall.verified(subject.key, tools.now());
  return remembered(result, value, tools);
}

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

const holdsOnly = (found: readonly string[], value: string) =>
  found.length === 1 && parseAddress(found[0] ?? "")?.text === value;

async function remembered(result: UpdateResult, value: string, { state, now }: ApplyTools): Promise<UpdateResult> {
  const { key } = result.subject;
  const kept = state.get(key);
  if (result.outcome?.kind === "same" && kept?.address === value && !kept.inDoubt) return result;
  try {
    await state.set(key, { address: value, storedAt: new Date(now()).toISOString() });
    return result;
  } catch (error) {
    return { ...result, unsaved: (error as NodeJS.ErrnoException).code ?? String(error) };
  }
}
