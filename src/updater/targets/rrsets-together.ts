import type { ReadableAction, ReadableRRset } from "../../contract/rrsets-client.ts";
import { mostChanges } from "../../contract/rrsets-limits.ts";
import { parseOwner } from "../../core/names/name.ts";
import type { RRsetsCalls } from "./rrsets-calls.ts";
import { noZone } from "./service-answer.ts";
import { type HeldSet, refused, type SetName } from "./set-target.ts";
import type { Lookup, ReplaceOrder, TogetherOutcome } from "./target.ts";
import type { WriteAnswer } from "./write-answer.ts";
import { isOfService, replaceAll, type TogetherCalls } from "./zone-target.ts";

export type TogetherTools = {
  readonly calls: RRsetsCalls;
  readonly comment: () => string;
  /** Waits for the end of an action. */
  readonly settled: (asked: WriteAnswer<ReadableAction>, signal: AbortSignal) => Promise<WriteAnswer<ReadableAction>>;
};

/** With more sets than this, listing the whole zone takes fewer requests. */
const mostSingleReads = 10;
/** How often to start again when another client changed the zone between the read and the write. */
const mostTries = 3;

/** `moor records` changes up to 500 sets under one serial. The original API has no such call, and there each is written alone. */
export async function replaceSetsTogether(
  { calls, comment, settled }: TogetherTools,
  orders: readonly ReplaceOrder[],
  signal: AbortSignal,
): Promise<readonly TogetherOutcome[]> {
  const zone = orders[0]?.zone ?? "";
  for (let tries = 1; ; tries++) {
    // Before the sets are read: if the zone changes in between, the write is refused.
    const serial = await calls.serial(zone, signal);
    if (serial.kind === "absent" || (serial.kind === "ok" && serial.value === undefined))
      return orders.map(() => alone);
    if (serial.kind !== "ok") return orders.map(() => refused(serial));
    let expected = serial.value;
    let isStale = false;
    const together: TogetherCalls<undefined> = {
      service: "the record service",
      replacesSeveral: true,
      room: { of: () => 1, most: mostChanges },
      readAll: (sets) => readSets(calls, sets, signal),
      async writeAll(changes) {
        const wanted = changes.map(({ set: { name, type }, content: { value, ttl } }) => ({
          name,
          type,
          records: [{ value, comment: comment() }],
          ...(ttl === undefined ? {} : { ttl }),
        }));
        const written = await settled(await calls.change(zone, expected, wanted, signal), signal);
        isStale = written.kind === "refused" && written.because.kind === "later" && !isOfService(written.because);
        // This write changes the serial. If there are more than 500 sets, the next part is written without checking it.
        expected = undefined;
        return written;
      },
    };
    const outcomes = await replaceAll(together, orders, signal);
    if (!isStale || tries === mostTries) return outcomes;
  }
}

const alone: TogetherOutcome = { kind: "alone" };

async function readSets(
  calls: RRsetsCalls,
  sets: readonly SetName[],
  signal: AbortSignal,
): Promise<readonly Lookup<HeldSet<undefined> | undefined>[]> {
  const zone = sets[0]?.zone ?? "";
  if (sets.length <= mostSingleReads) {
    const each = await Promise.all(sets.map((set) => calls.set(set, signal)));
    return each.map((answer) => {
      if (answer.kind === "ok") return found(answer.value);
      return answer.kind === "absent" ? { kind: "found", value: undefined } : answer;
    });
  }
  const listed = await calls.sets(zone, signal);
  if (listed.kind !== "ok") return sets.map(() => (listed.kind === "absent" ? noZone(zone) : listed));
  const byName = new Map(listed.value.map((set) => [`${ownerIn(set, zone)} ${set.type}`, set]));
  return sets.map(({ name, type }) => {
    const set = byName.get(`${name} ${type}`);
    return set ? found(set) : { kind: "found", value: undefined };
  });
}

const found = ({ records, ttl = null }: ReadableRRset): Lookup<HeldSet<undefined>> => ({
  kind: "found",
  value: { values: records.map(({ value }) => value), ttl, rest: undefined },
});

function ownerIn({ name }: ReadableRRset, zone: string): string {
  const owner = parseOwner(name, zone);
  return owner.ok ? owner.value : name;
}
