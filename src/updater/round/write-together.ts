import type { NameState } from "./name-state.ts";
import type { UpdateResult } from "./result.ts";
import { placeOfName } from "./service-queue.ts";
import type { Subject } from "./subjects.ts";
import { markDoubt, noted, type WriteTools } from "./write-record.ts";

/** Without a result, the name has to be written alone: nothing was stored, perhaps because of another name. */
export type WrittenTogether = { readonly subject: Subject; readonly result?: UpdateResult };

type Queued = Extract<NameState, { kind: "queued" }>;

/** Where a name waits for its turn: with its whole zone, if the names of that zone are written together. */
export const placeOf = (state: Queued, canTogether: boolean): string =>
  canTogether && isForTogether(state) ? state.latest.subject.order.zone : placeOfName(state.latest.subject);

/** All that is written in the same transaction as this one: queued for the same target, zone and family. */
export function companionsOf(first: Queued, all: Iterable<NameState>): readonly Queued["latest"][] {
  if (!isForTogether(first)) return [first.latest];
  const { target, order } = first.latest.subject;
  const isCompanion = (state: NameState): state is Queued =>
    state.kind === "queued" &&
    isForTogether(state) &&
    state.latest.subject.target === target &&
    state.latest.subject.order.zone === order.zone &&
    state.latest.subject.order.family === order.family;
  return [...all].filter(isCompanion).map(({ latest }) => latest);
}

/**
 * False for a `compare` of a record that is probably right, which only reads, and for a record that is chosen by its
 * id.
 */
function isForTogether({ alone, latest: { subject, plan, stored } }: Queued): boolean {
  if (alone || subject.order.recordId !== undefined) return false;
  return plan.kind === "replace" || stored !== plan.address.text;
}

/** Marks all stored addresses as in doubt, writes all in one transaction, and stores the outcome of each. */
export async function writeTogether(
  updates: readonly Queued["latest"][],
  tools: WriteTools,
  signal: AbortSignal,
): Promise<readonly WrittenTogether[]> {
  const { target, state } = tools;
  const doubts = await Promise.all(updates.map(({ subject }) => markDoubt(subject.key, state)));
  const orders = updates.map(({ subject, plan }) => ({ ...subject.order, value: plan.address.text }));
  const outcomes = (await target.replaceAll?.(orders, signal)) ?? [];
  return Promise.all(
    updates.map(async (update, at) => {
      const { subject } = update;
      const outcome = outcomes[at] ?? { kind: "alone" };
      const doubt = doubts[at] ?? { isOld: false, takeBack: async () => undefined };
      if (outcome.kind === "refused" || outcome.kind === "alone") await doubt.takeBack();
      return outcome.kind === "alone" ? { subject } : { subject, result: await noted(update, outcome, doubt, tools) };
    }),
  );
}
