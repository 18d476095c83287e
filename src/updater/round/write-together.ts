import type { ManagedRecord } from "./managed-records.ts";
import type { NameState } from "./name-state.ts";
import type { UpdateResult } from "./result.ts";
import { nameKeyOf } from "./service-queue.ts";
import { markInDoubt, storeOutcome, type WriteTools } from "./write-record.ts";

/** Without a result, the name has to be written alone: nothing was stored, perhaps because of another name. */
export type WrittenTogether = { readonly record: ManagedRecord; readonly result?: UpdateResult };

type QueuedState = Extract<NameState, { kind: "queued" }>;

/** Where a name waits for its turn: with its whole zone, if the names of that zone are written together. */
export const queueKeyOf = (state: QueuedState, canTogether: boolean): string =>
  canTogether && isForTogether(state) ? state.latest.record.spec.zone : nameKeyOf(state.latest.record);

/** All that is written in the same transaction as this one: queued for the same target, zone and family. */
export function companionsOf(first: QueuedState, all: Iterable<NameState>): readonly QueuedState["latest"][] {
  if (!isForTogether(first)) return [first.latest];
  const { target, spec } = first.latest.record;
  const isCompanion = (state: NameState): state is QueuedState =>
    state.kind === "queued" &&
    isForTogether(state) &&
    state.latest.record.target === target &&
    state.latest.record.spec.zone === spec.zone &&
    state.latest.record.spec.family === spec.family;
  return [...all].filter(isCompanion).map(({ latest }) => latest);
}

/**
 * False for a `compare` of a record that is probably right, which only reads, and for a record that is chosen by its
 * id.
 */
function isForTogether({ alone, latest: { record, plan, stored } }: QueuedState): boolean {
  if (alone || record.spec.recordId !== undefined) return false;
  return plan.kind === "replace" || stored !== plan.address.text;
}

/** Marks all stored addresses as in doubt, writes all in one transaction, and stores the outcome of each. */
export async function writeTogether(
  updates: readonly QueuedState["latest"][],
  tools: WriteTools,
  signal: AbortSignal,
): Promise<readonly WrittenTogether[]> {
  const { target, state } = tools;
  const doubts = await Promise.all(updates.map(({ record }) => markInDoubt(record.key, state)));
  const requests = updates.map(({ record, plan }) => ({ ...record.spec, value: plan.address.text }));
  const outcomes = (await target.replaceAll?.(requests, signal)) ?? [];
  return Promise.all(
    updates.map(async (update, at) => {
      const { record } = update;
      const outcome = outcomes[at] ?? { kind: "alone" };
      const doubt = doubts[at] ?? { wasInDoubt: false, remove: async () => undefined };
      if (outcome.kind === "refused" || outcome.kind === "alone") await doubt.remove();
      return outcome.kind === "alone"
        ? { record }
        : { record, result: await storeOutcome(update, outcome, doubt, tools) };
    }),
  );
}
