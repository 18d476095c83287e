import type { Instant } from "../core/instant.ts";
import type { PlannedUpdate } from "./plan-round.ts";
import type { StateFile } from "./state-file.ts";
import type { RecordTarget, ReplaceOutcome } from "./target.ts";

/** What became of one planned update. Only a replaced one was sent and accepted. */
export type UpdateResult = PlannedUpdate & {
  readonly outcome?: ReplaceOutcome;
  /** The record was replaced, but that could not be put on disk. */
  readonly unsaved?: string;
};

export type ApplyTools = {
  readonly targets: ReadonlyMap<string, RecordTarget>;
  readonly state: StateFile;
  readonly holdKey: (target: string) => string;
  readonly now: () => Instant;
};

/** Services side by side, so that a slow one delays nobody else; the names of one service after another. */
export async function applyRound(
  planned: readonly PlannedUpdate[],
  tools: ApplyTools,
  signal: AbortSignal,
): Promise<readonly UpdateResult[]> {
  const byTarget = Map.groupBy(planned, ({ subject }) => subject.target);
  const done = await Promise.all([...byTarget.values()].map((group) => applyToTarget(group, tools, signal)));
  const results = new Map(done.flat().map((result) => [result.subject.key, result]));
  return planned.map((update) => results.get(update.subject.key) ?? update);
}

async function applyToTarget(
  group: readonly PlannedUpdate[],
  tools: ApplyTools,
  signal: AbortSignal,
): Promise<readonly UpdateResult[]> {
  const results: UpdateResult[] = [];
  let heldUntil: Instant | undefined;
  for (const update of group) {
    if (update.plan.kind !== "replace" || signal.aborted) {
      results.push(update);
    } else if (heldUntil !== undefined) {
      results.push({ ...update, plan: { kind: "wait", until: heldUntil, address: update.plan.address } });
    } else {
      const result = await applyOne(update, update.plan.address.text, tools, signal);
      heldUntil = await holdAfter(result, tools);
      results.push(result);
    }
  }
  return results;
}

async function applyOne(
  update: PlannedUpdate,
  value: string,
  { targets, state, now }: ApplyTools,
  signal: AbortSignal,
): Promise<UpdateResult> {
  const { subject } = update;
  const target = targets.get(subject.target);
  if (!target) throw new Error(`no target ${subject.target}`);
  const outcome = await target.replace({ ...subject.order, value }, signal);
  if (outcome.kind !== "replaced") return { ...update, outcome };
  try {
    await state.set(subject.key, { address: value, storedAt: new Date(now()).toISOString() });
    return { ...update, outcome };
  } catch (error) {
    return { ...update, outcome, unsaved: (error as NodeJS.ErrnoException).code ?? String(error) };
  }
}

/** A Retry-After speaks for the whole service, so no other name asks before its end. It outlives this process. */
async function holdAfter({ outcome, subject }: UpdateResult, tools: ApplyTools): Promise<Instant | undefined> {
  if (outcome === undefined || outcome.kind === "replaced" || !outcome.retryAfter) return undefined;
  const until = tools.now() + outcome.retryAfter;
  // Known in memory in any case; a disk that does not take it shows at the next stored address.
  await tools.state.setHold(tools.holdKey(subject.target), until).catch(() => undefined);
  return until;
}
