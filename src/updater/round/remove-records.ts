import type { RemoveOutcome } from "../targets/target.ts";
import type { ManagedRecord } from "./managed-records.ts";
import { openServiceQueues } from "./service-queue.ts";
import type { SourcesAndTargets } from "./sources-and-targets.ts";
import type { StateFile } from "./state-file.ts";
import { markInDoubt } from "./write-record.ts";

export type Removal = { readonly record: ManagedRecord; readonly address: string; readonly outcome: RemoveOutcome };

/**
 * Removes the records of these names that hold the address written last. A stored address stays in doubt: the next
 * start writes it.
 */
export async function removeRecords(
  records: readonly ManagedRecord[],
  { targetOf, serviceOf, schedule }: SourcesAndTargets,
  state: StateFile,
  signal: AbortSignal,
): Promise<readonly Removal[]> {
  const removals: Removal[] = [];
  const queues = openServiceQueues(serviceOf);
  const remove = async (record: ManagedRecord, address: string): Promise<void> => {
    if (schedule.waitForReading(record.target) !== undefined)
      return void removals.push({ record, address, outcome: askedToWait });
    const doubt = await markInDoubt(record.key, state);
    const outcome = await targetOf(record).remove?.({ ...record.spec, value: address }, signal);
    if (!outcome) return;
    if (outcome.kind === "refused" || outcome.kind === "left") await doubt.remove();
    removals.push({ record, address, outcome });
  };
  for (const record of records) {
    const { address } = state.get(record.key) ?? {};
    if (address !== undefined) queues.add(record, () => remove(record, address));
  }
  await queues.idle();
  return removals;
}

const askedToWait: RemoveOutcome = {
  kind: "refused",
  fault: {
    kind: "later",
    because: "the record service asked moor to wait (Retry-After)",
    todo: "remove the record by hand",
  },
};
