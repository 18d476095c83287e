import { type Family, recordTypeOf } from "../../core/addresses/address.ts";
import { parseOwner } from "../../core/names/name.ts";
import type { ListedZone } from "../../providers/provider-calls.ts";
import type { RecordTarget, TargetFault } from "../../updater/targets/target.ts";
import type { CommandIo } from "../io/command-io.ts";

export type NewRecord = {
  readonly zone: ListedZone;
  readonly name: string;
  readonly family: Family;
  readonly value: string;
  readonly target: RecordTarget;
  readonly io: CommandIo;
};

/**
 * Creates a record with the zone's TTL. Undefined if the service lists it afterwards. The answer
 * does not count: it can be lost after the write, or report a success that did not happen.
 */
export async function makeRecord(wanted: NewRecord): Promise<TargetFault | undefined> {
  const { target, zone, io } = wanted;
  const answered = await createSet(wanted);
  const listed = await target.records(zone.name, io.signal);
  if (listed.kind !== "found") return answered ?? listed;
  const isThere = listed.value.some(({ name, type, value }) => {
    const owner = parseOwner(name, zone.name);
    return owner.ok && owner.value === wanted.name && type === recordTypeOf(wanted.family) && value === wanted.value;
  });
  if (isThere) return undefined;
  const todo = "create it in the console, with any address";
  return (
    answered ?? { kind: "later", because: "the record service reported success, but does not list the record", todo }
  );
}

async function createSet({ target, zone, name, family, value, io }: NewRecord): Promise<TargetFault | undefined> {
  const outcome = await target.replace({ zone: zone.name, name, family, value, create: true }, io.signal);
  return outcome.kind === "done" ? undefined : outcome.fault;
}
