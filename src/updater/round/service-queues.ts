import type { Instant } from "../../core/instant.ts";
import { boundedBy } from "../http/bounded-by.ts";
import type { PlannedUpdate } from "./plan.ts";
import type { UpdateResult } from "./result.ts";

/** What is to be done at the record services, one queue each: a slow one delays nobody else, in later rounds neither. */
export type ServiceQueues = {
  /**
   * Begins at each service that is not busy, and waits for all of them, or until there was `enough`. What has ended since
   * an earlier call is told now, in the place of what is planned now.
   */
  act(
    planned: readonly PlannedUpdate[],
    signal: AbortSignal,
    enough?: () => Promise<void>,
  ): Promise<readonly UpdateResult[]>;
  /** Waits for all that is under way, and tells what came of it. */
  ended(): Promise<readonly UpdateResult[]>;
};

export type QueueTools = {
  readonly now: () => Instant;
  /** Targets with the same are one service to us. */
  readonly serviceOf: (target: string) => string;
  /** Until when this target is not to be asked: its hold, or the quota of its token. */
  readonly notBefore: (target: string) => Instant | undefined;
  readonly hold: (target: string, until: Instant) => Promise<void>;
};

export type Acting = Extract<PlannedUpdate["plan"], { kind: "replace" | "compare" }>;
export type Act = (update: PlannedUpdate, plan: Acting, signal: AbortSignal) => Promise<UpdateResult>;

const writesAtOnce = 4;
/** A write with all its look-ups and the wait for its end. */
const longestWrite = 90_000;

/** `again`: another call is due, because something has ended that none waited for, or was told in the place of a plan. */
export function openQueues(act: Act, tools: QueueTools, again: () => void): ServiceQueues {
  const busy = new Map<string, Promise<void>>();
  const untold = new Map<string, UpdateResult>();
  /** What was planned last, by the subject's key. */
  const newest = new Map<string, PlannedUpdate>();
  let awaited = false;

  const serviceOf = ({ subject }: PlannedUpdate) => tools.serviceOf(subject.target);
  const begin = (service: string, group: readonly PlannedUpdate[], signal: AbortSignal) => {
    const one = async (update: PlannedUpdate) => {
      const { key } = update.subject;
      untold.set(key, await actUnlessHeld(wantedNow(update, newest.get(key)), act, tools, signal));
    };
    const queue = runQueue(group, one).finally(() => {
      busy.delete(service);
      if (!awaited) again();
    });
    busy.set(service, queue);
  };
  const told = (update: PlannedUpdate): UpdateResult => {
    const { key } = update.subject;
    const result = untold.get(key);
    untold.delete(key);
    if (result) return result;
    return isActing(update) ? { ...update, underWay: true } : update;
  };
  return {
    async act(planned, signal, enough) {
      awaited = true;
      for (const update of planned) newest.set(update.subject.key, update);
      const begun = new Set<PlannedUpdate>();
      const wanted = planned.filter((update) => isActing(update) && !untold.has(update.subject.key));
      /** What is planned for these now goes with the next call, at once when the first of them has ended. */
      const turns: Promise<void>[] = [];
      for (const [service, group] of Map.groupBy(wanted, serviceOf)) {
        const before = busy.get(service);
        if (before) turns.push(before);
        else {
          begin(service, group, signal);
          for (const update of group) begun.add(update);
        }
      }
      const all = Promise.all(busy.values());
      await (enough ? Promise.race([all, enough(), ...turns]) : all);
      awaited = false;
      if (planned.some((update) => untold.has(update.subject.key) && !begun.has(update))) again();
      return planned.map(told);
    },
    async ended() {
      await Promise.all(busy.values());
      return [...untold.values()];
    },
  };
}

const isActing = ({ plan: { kind } }: PlannedUpdate): boolean => kind === "replace" || kind === "compare";

/** Its turn may come long after it was planned. What cannot be read, and a round that looks at no record, outdate nothing. */
function wantedNow(update: PlannedUpdate, newest = update): PlannedUpdate {
  const { plan, stored } = newest;
  if (plan.kind !== "nothing") return newest;
  const isLookedAt = "address" in update.plan && update.plan.address.text === stored;
  return plan.because === "unknown" || (plan.because === "same-as-stored" && isLookedAt) ? update : newest;
}

/**
 * A few names at once. The families of one name go one after the other: what the first is told, such as to stay away, holds
 * for the second.
 */
async function runQueue(group: readonly PlannedUpdate[], one: (update: PlannedUpdate) => Promise<void>): Promise<void> {
  const names = Map.groupBy(group, ({ subject: { order } }) => `${order.zone} ${order.name}`).values();
  const lane = async () => {
    for (const name of names) {
      for (const update of name) await one(update);
    }
  };
  await Promise.all(Array.from({ length: writesAtOnce }, lane));
}

async function actUnlessHeld(
  update: PlannedUpdate,
  act: Act,
  tools: QueueTools,
  signal: AbortSignal,
): Promise<UpdateResult> {
  const { plan, subject } = update;
  if ((plan.kind !== "replace" && plan.kind !== "compare") || signal.aborted) return update;
  const until = tools.notBefore(subject.target);
  if (until !== undefined && tools.now() < until) {
    return { ...update, plan: { kind: "wait", until, address: plan.address, because: "asked" } };
  }
  using bounded = boundedBy(signal, longestWrite);
  const result = await act(update, plan, bounded.signal);
  const { outcome } = result;
  const wait = outcome && "fault" in outcome ? outcome.fault.retryAfter : undefined;
  if (wait) await tools.hold(subject.target, tools.now() + wait);
  return result;
}
