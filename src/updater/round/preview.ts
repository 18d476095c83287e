import { isPendingWrite, type PendingWrite, postponed } from "./name-state.ts";
import type { PlannedUpdate } from "./plan.ts";
import type { UpdateResult } from "./result.ts";
import { openServiceQueues } from "./service-queue.ts";
import type { SourcesAndTargets } from "./sources-and-targets.ts";
import type { StateFile } from "./state-file.ts";
import { isRight, refusedUnsent, type WriteTools, withTimeout } from "./write-record.ts";

/** What these updates would do, as far as reading the records shows. Writes and stores nothing. */
export async function previewRound(
  updates: readonly PlannedUpdate[],
  { targetOf, serviceOf, schedule }: SourcesAndTargets,
  state: StateFile,
  signal: AbortSignal,
): Promise<readonly UpdateResult[]> {
  const results = new Map<PlannedUpdate, UpdateResult>();
  const queues = openServiceQueues(serviceOf);
  const preview = async (update: PendingWrite): Promise<UpdateResult> => {
    const wait = schedule.waitForReading(update.record.target);
    if (wait !== undefined) return postponed(update, wait);
    return previewRecord(update, { target: targetOf(update.record), state }, withTimeout(signal));
  };
  for (const update of updates.filter(isPendingWrite)) {
    queues.add(update.record, async () => {
      if (!signal.aborted) results.set(update, await preview(update));
    });
  }
  await queues.idle();
  return updates.map((update) => results.get(update) ?? update);
}

export async function previewRecord(
  update: PendingWrite,
  { target, state }: Pick<WriteTools, "target" | "state">,
  signal: AbortSignal,
): Promise<UpdateResult> {
  const { plan } = update;
  const { spec } = update.record;
  const currentContent = await target.current(spec, signal);
  if (currentContent.kind === "missing" && spec.create) {
    // The record may be missing, but its zone must exist, as far as the API can show it.
    const zone = await target.records(spec.zone, signal);
    return zone.kind === "found" || zone.kind === "unsupported" ? update : refusedUnsent(update, zone);
  }
  if (currentContent.kind !== "found") return refusedUnsent(update, currentContent);
  if (plan.kind === "replace") return update;
  const contentBefore = currentContent.value;
  if (isRight(contentBefore, update, state)) return { ...update, outcome: { kind: "same" }, contentBefore };
  return { ...update, plan: { ...plan, kind: "replace" }, contentBefore };
}
