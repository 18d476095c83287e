import type { RemoveOutcome } from "../targets/target.ts";
import { openServiceQueues } from "./service-queue.ts";
import type { ConfiguredServices } from "./services.ts";
import type { StateFile } from "./state-file.ts";
import type { Subject } from "./subjects.ts";
import { markDoubt } from "./write-record.ts";

export type Removal = { readonly subject: Subject; readonly address: string; readonly outcome: RemoveOutcome };

/**
 * Removes the records of these names that hold the address written last. A stored address stays in doubt: the next
 * start writes it.
 */
export async function removeRecords(
  subjects: readonly Subject[],
  { targetOf, serviceOf, schedule }: ConfiguredServices,
  state: StateFile,
  signal: AbortSignal,
): Promise<readonly Removal[]> {
  const removals: Removal[] = [];
  const queues = openServiceQueues(serviceOf);
  const remove = async (subject: Subject, address: string): Promise<void> => {
    if (schedule.waitForReading(subject.target) !== undefined)
      return void removals.push({ subject, address, outcome: askedToWait });
    const doubt = await markDoubt(subject.key, state);
    const outcome = await targetOf(subject).remove?.({ ...subject.order, value: address }, signal);
    if (!outcome) return;
    if (outcome.kind === "refused" || outcome.kind === "left") await doubt.takeBack();
    removals.push({ subject, address, outcome });
  };
  for (const subject of subjects) {
    const { address } = state.get(subject.key) ?? {};
    if (address !== undefined) queues.add(subject, () => remove(subject, address));
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
