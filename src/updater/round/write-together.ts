import type { ReplaceRequest, WriteOutcome } from "../targets/target.ts";
import type { ManagedRecord } from "./managed-records.ts";
import type { NameState } from "./name-state.ts";
import type { UpdateResult } from "./result.ts";
import { nameKeyOf } from "./service-queue.ts";
import { markInDoubt, storeOutcome, type WriteTools } from "./write-record.ts";

/** Without a result, the name has to be written alone: nothing was stored, perhaps because of another name. */
export type WrittenTogether = { readonly record: ManagedRecord; readonly result?: UpdateResult };

export type QueuedState = Extract<NameState, { kind: "queued" }>;

/** Where a name waits for its turn: with its whole zone, if the names of that zone are written together. */
export const queueKeyOf = (state: QueuedState, canTogether: boolean): string =>
  canTogether && isForTogether(state) ? state.latest.record.spec.zone : nameKeyOf(state.latest.record);

/** Both families of a name, for a service that takes both addresses in one call. */
export const bothOf = (first: QueuedState, mate: NameState | undefined): readonly QueuedState["latest"][] =>
  mate?.kind === "queued" && isPlannedToWrite(first) && isPlannedToWrite(mate)
    ? [first.latest, mate.latest]
    : [first.latest];

/**
 * The address of a name's other family, for a service that gets both: what is planned, unless `holdDown` or
 * `changesPerHour` delays it; otherwise what was written last.
 */
export function addressBeside(mate: NameState, state: WriteTools["state"]): string | undefined {
  const { plan, record } = mate.latest;
  const isDelayed = plan.kind === "wait" && (plan.because === "hold-down" || plan.because === "cap");
  return "address" in plan && !isDelayed ? plan.address.text : state.get(record.key)?.address;
}

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

/** Not a record that is chosen by its id. */
const isForTogether = (queued: QueuedState): boolean =>
  !queued.alone && queued.latest.record.spec.recordId === undefined && isPlannedToWrite(queued);

/** False for a `compare` of a record that is probably right, which only reads. */
const isPlannedToWrite = ({ latest: { plan, stored } }: QueuedState): boolean =>
  plan.kind === "replace" || stored !== plan.address.text;

/** Marks all stored addresses as in doubt, writes all in one request, and stores the outcome of each. */
export async function writeTogether(
  updates: readonly QueuedState["latest"][],
  tools: WriteTools,
  signal: AbortSignal,
): Promise<readonly WrittenTogether[]> {
  const { target, state } = tools;
  const doubts = await Promise.all(updates.map(({ record }) => markInDoubt(record.key, state)));
  const requests = updates.map(({ record, plan }) => ({ ...record.spec, value: plan.address.text }));
  const outcomes = await (target.replaceAll?.(requests, signal) ?? replaceBoth(target, requests, signal));
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

/** One request has one outcome, for both. */
async function replaceBoth(
  target: WriteTools["target"],
  [first, second]: readonly ReplaceRequest[],
  signal: AbortSignal,
): Promise<readonly WriteOutcome[]> {
  if (!first) return [];
  const outcome = await target.replace({ ...first, otherAddress: second?.value }, signal);
  return [outcome, outcome];
}
