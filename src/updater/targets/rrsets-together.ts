import { mostChanges } from "../../contract/rrsets-limits.ts";
import { isOfService } from "../../providers/answers/service-fault.ts";
import { readSets } from "../../providers/read-sets.ts";
import type { RRsetsCalls } from "../../providers/services/hetzner/rrsets.ts";
import { refused } from "./set-target.ts";
import type { ReplaceRequest, TogetherOutcome } from "./target.ts";
import { replaceAll, type TogetherCalls } from "./zone-target.ts";

/** How often to start again when another client changed the zone between the read and the write. */
const mostTries = 3;

/**
 * `moor records` changes up to 500 sets under one serial. The original API has no such call, and there each is written
 * alone.
 */
export async function replaceSetsTogether(
  calls: RRsetsCalls,
  comment: () => string,
  requests: readonly ReplaceRequest[],
  signal: AbortSignal,
): Promise<readonly TogetherOutcome[]> {
  const zone = requests[0]?.zone ?? "";
  for (let tries = 1; ; tries++) {
    // Before the sets are read: if the zone changes in between, the write is refused.
    const serial = await calls.http.serial(zone, signal);
    if (serial.kind === "absent" || (serial.kind === "ok" && serial.value === undefined))
      return requests.map(() => alone);
    if (serial.kind !== "ok") return requests.map(() => refused(serial));
    let expected = serial.value;
    let isStale = false;
    const together: TogetherCalls<undefined> = {
      service: calls.service,
      replacesSeveral: true,
      batch: { sizeOf: () => 1, most: mostChanges },
      readAll: (sets) => readSets(calls, sets, signal),
      async writeAll(changes) {
        const wanted = changes.map(({ set: { name, type }, content: { value, ttl } }) => ({
          name,
          type,
          records: [{ value, comment: comment() }],
          ttl,
        }));
        const written = await calls.settled(await calls.http.change(zone, expected, wanted, signal), signal);
        isStale = written.kind === "refused" && written.because.kind === "later" && !isOfService(written.because);
        // This write changes the serial. If there are more than 500 sets, the next part is written without checking it.
        expected = undefined;
        return written;
      },
    };
    const outcomes = await replaceAll(together, requests, signal);
    if (!isStale || tries === mostTries) return outcomes;
  }
}

const alone: TogetherOutcome = { kind: "alone" };
