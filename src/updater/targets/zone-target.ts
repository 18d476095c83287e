import type { Lookup } from "../../providers/answers/service-fault.ts";
import { isOfService } from "../../providers/answers/service-fault.ts";
import type { WriteAnswer } from "../../providers/answers/write-answer.ts";
import { batches } from "../../providers/batches.ts";
import type { CurrentSet, SetName } from "../../providers/provider-calls.ts";
import {
  confirmed,
  createSetTarget,
  faultOf,
  type NewSetContent,
  prepare,
  refused,
  type SetCalls,
  setOf,
  writeThenLastStep,
} from "./set-target.ts";
import type { RecordTarget, ReplaceRequest, TargetFault, TogetherOutcome } from "./target.ts";

export type TargetSetChange<Raw> = {
  readonly set: SetName;
  readonly content: NewSetContent;
  readonly current: CurrentSet<Raw> | undefined;
};

/** The calls of a service that can also write many sets of one zone in one transaction. */
export type ZoneCalls<Raw> = SetCalls<Raw> & TogetherCalls<Raw>;

export type TogetherCalls<Raw> = Pick<SetCalls<Raw>, "service" | "lastStep"> & {
  /** As `read`, in the order of the sets. All are of one zone. */
  readAll(sets: readonly SetName[], signal: AbortSignal): Promise<readonly Lookup<CurrentSet<Raw> | undefined>[]>;
  /** All or nothing. */
  writeAll(changes: readonly TargetSetChange<Raw>[], signal: AbortSignal): Promise<WriteAnswer<unknown>>;
  /** The size of one change, and of the largest transaction. */
  readonly batch: { readonly sizeOf: (change: TargetSetChange<Raw>) => number; readonly most: number };
  /** Whether a set with several addresses is replaced, and not left alone. */
  readonly replacesSeveral?: boolean;
};

/** A set target that replaces many sets in as few transactions as the service allows. */
export function createZoneTarget<Raw>(calls: ZoneCalls<Raw>): RecordTarget {
  return { ...createSetTarget(calls), replaceAll: (requests, signal) => replaceAll(calls, requests, signal) };
}

type Pending<Raw> = { readonly request: ReplaceRequest; readonly change: TargetSetChange<Raw> };

export async function replaceAll<Raw>(
  calls: TogetherCalls<Raw>,
  requests: readonly ReplaceRequest[],
  signal: AbortSignal,
): Promise<readonly TogetherOutcome[]> {
  const outcomes = new Map<ReplaceRequest, TogetherOutcome>();
  const pending: Pending<Raw>[] = [];
  const before = await calls.readAll(requests.map(setOf), signal);
  for (const [at, request] of requests.entries()) {
    const prepared = prepare(request, before[at] ?? { kind: "found", value: undefined }, calls);
    if (prepared.kind !== "to-write") outcomes.set(request, prepared);
    else {
      const content = { value: request.value, ttl: request.ttl };
      pending.push({ request, change: { set: setOf(request), content, current: prepared.current } });
    }
  }
  // An earlier try may have ended before the last step.
  const open = outcomes.size > 0 && (await calls.lastStep?.confirm(requests[0]?.zone ?? "", signal));
  for (const [request, { kind }] of open ? outcomes : [])
    if (open && kind === "done") outcomes.set(request, { kind: "unknown", fault: open });
  for (const part of batches(pending, ({ change }) => calls.batch.sizeOf(change), calls.batch.most)) {
    const ended = await replacePart(calls, part, signal);
    for (const [at, { request }] of part.entries()) outcomes.set(request, ended[at] ?? { kind: "alone" });
    const fault = serviceFault(ended[0]);
    if (!fault) continue;
    // The rest would fail as well, and was not sent.
    for (const { request } of pending) if (!outcomes.has(request)) outcomes.set(request, refused(fault));
    break;
  }
  return requests.map((request) => outcomes.get(request) ?? { kind: "alone" });
}

async function replacePart<Raw>(
  calls: TogetherCalls<Raw>,
  part: readonly Pending<Raw>[],
  signal: AbortSignal,
): Promise<readonly TogetherOutcome[]> {
  const changes = part.map(({ change }) => change);
  const zone = changes[0]?.set.zone ?? "";
  const written = await writeThenLastStep(calls, zone, () => calls.writeAll(changes, signal), signal);
  if (written.kind === "refused") return part.map(({ request }) => refusedTogether(faultOf(request, written.because)));
  if (written.kind === "unknown" && !written.probablyDone) return part.map(() => written);
  const after = await calls.readAll(
    changes.map(({ set }) => set),
    signal,
  );
  return part.map(({ request }, at) =>
    confirmed(calls.service, request, written, after[at] ?? { kind: "found", value: undefined }),
  );
}

/** One wrong request makes a service refuse all of them, unless the whole service has a problem. */
const refusedTogether = (fault: TargetFault): TogetherOutcome =>
  isOfService(fault) ? refused(fault) : { kind: "alone" };

const serviceFault = (outcome: TogetherOutcome | undefined): TargetFault | undefined =>
  outcome && "fault" in outcome && isOfService(outcome.fault) ? outcome.fault : undefined;
