import { lowestTtl, mostChanges } from "../../contract/rrsets-limits.ts";
import type { HttpClient } from "../../lib/http-client/client.ts";
import { isOfService } from "../../providers/answers/service-fault.ts";
import { readSets } from "../../providers/read-sets.ts";
import { type PollingTimes, type RRsetsCalls, rrsetsCalls } from "../../providers/services/hetzner/rrsets.ts";
import { setCallsOf } from "./on-provider.ts";
import { createSetTarget, refused } from "./set-target.ts";
import type { RecordTarget, ReplaceRequest, TargetKind, TogetherOutcome } from "./target.ts";
import { hostedSettings, type TokenTarget, tokenSettings } from "./token-target.ts";
import { replaceAll, type TogetherCalls } from "./zone-target.ts";

export const rrsets = {
  ...tokenSettings(
    "Target: rrsets",
    "`Authorization: Bearer` and `/v1/zones/…/rrsets`, the newer of the two APIs of `moor records`. For Hetzner, use `hetzner`.",
    "https://dns.example.org:8053",
  ),
  can: { create: true, ttl: true, lowestTtl, remove: true },
  open: async (config: TokenTarget, connect) => createRRsetsTarget(config, await connect(config)),
} satisfies TargetKind<TokenTarget>;

/** The same API at Hetzner, where most users have it: no URL is needed. */
export const hetzner = {
  ...rrsets,
  ...hostedSettings(
    "Target: hetzner",
    "Hetzner's DNS service: `rrsets` with its URL.",
    "https://api.hetzner.cloud",
    "An API token of the project that has the zone, with read and write permission.",
  ),
  async open(config: TokenTarget, connect) {
    const { replaceAll: _, ...target } = await rrsets.open(config, connect);
    return target;
  },
} satisfies TargetKind<TokenTarget>;

/** The newer record service: whole sets, and writes that continue after the answer. */
export function createRRsetsTarget(
  config: TokenTarget,
  client: HttpClient,
  now: () => number = Date.now,
  waiting?: PollingTimes,
): RecordTarget {
  const comment = () => commentAt(now());
  const calls = rrsetsCalls(config, client, { comment, now, waiting });
  return {
    ...createSetTarget({ ...setCallsOf(calls), beforeWrite: "nothing" }),
    replaceAll: (requests, signal) => replaceSetsTogether(calls, comment, requests, signal),
  };
}

/** `YYYY-MM-DD HH:MM:SS (UTC)`. */
const commentAt = (now: number) => `${new Date(now).toISOString().slice(0, 19).replace("T", " ")} (UTC)`;

/** How often to start again when another client changed the zone between the read and the write. */
const mostTries = 3;

/**
 * `moor records` changes up to 500 sets under one serial. The original API has no such call, and there each is written
 * alone.
 */
async function replaceSetsTogether(
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
