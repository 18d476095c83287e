import type { UpdaterState } from "../../contract/updater-page.ts";
import type { Instant } from "../../core/instant.ts";
import { notReadYet } from "../round/choose-for.ts";
import { isOfService } from "../round/circuit-breaker.ts";
import { sourcesOf } from "../round/managed-records.ts";
import type { Round, UpdateResult } from "../round/result.ts";
import type { StateFile } from "../round/state-file.ts";
import type { TargetFault } from "../targets/target.ts";
import { driftTodo, summarise } from "./describe-round.ts";

/** The state of a watcher after its last round. */
export type Status = UpdaterState & { readonly changes: number; readonly failures: number };

type SourceStatus = Status["sources"][number];
type NameStatus = Status["names"][number];

export function createStatusKeeper(clock: () => Instant) {
  let lastRoundAt = performance.now();
  let status: Status = {
    started: iso(clock()),
    rounds: 0,
    lastRound: null,
    nextRound: null,
    changes: 0,
    failures: 0,
    sources: [],
    services: [],
    names: [],
  };
  return {
    /** `next`: when the next round begins at the latest. */
    note(round: Round, state: StateFile, next: Instant): void {
      lastRoundAt = performance.now();
      const services = servicesIn(round, status.services);
      const names = namesIn(round, state, { names: status.names, services });
      const done = round.changed.filter(({ outcome }) => outcome?.kind === "done").length;
      // A name that only waits for its service was not sent.
      const failed = round.changed.filter(({ plan, outcome }) => plan.kind !== "wait" && outcome && "fault" in outcome);
      status = {
        ...status,
        rounds: status.rounds + 1,
        lastRound: iso(clock()),
        nextRound: iso(next),
        changes: status.changes + done,
        failures: status.failures + failed.length,
        sources: sourcesIn(round, status.sources),
        services,
        names,
      };
    },
    now: (): Status => status,
    /** Milliseconds since the last round, or since the start. Clock changes and sleep of the machine do not count. */
    silence: (): number => performance.now() - lastRoundAt,
  };
}

function namesIn(
  { results }: Pick<Round, "results">,
  state: Pick<StateFile, "get">,
  { names: before, services }: { readonly names: readonly NameStatus[]; readonly services: Status["services"] },
): readonly NameStatus[] {
  const failing = new Set(services.map(({ service }) => service));
  return results.map((result) => {
    const last =
      (isUnread(result) || isBeingChecked(result, state)) &&
      before.find(({ name }) => name === result.record.displayName);
    if (last) return last;
    const { kind, what, because, todo } = summarise(result, true);
    const storedEntry = state.get(result.record.key);
    const wanted = result.choice.kind === "address" ? result.choice.address.text : null;
    return {
      name: result.record.displayName,
      ...(isHeldBack(result) && failing.has(result.record.target) && { service: result.record.target }),
      ok: kind === "done" || kind === "nothing",
      wanted,
      stored: storedEntry?.address ?? null,
      storedAt: storedEntry?.storedAt ?? null,
      what,
      because,
      todo,
      onDrift: driftTodo(result.record, wanted),
      ...(result.record.paused && { paused: true }),
    };
  });
}

/** The fault of its whole record service, which other names have too. */
const serviceFault = ({ outcome }: UpdateResult): TargetFault | undefined =>
  outcome && "fault" in outcome && isOfService(outcome.fault) ? outcome.fault : undefined;

/** Its last attempt failed; after a reload of the config, only the time of the next one is known. */
const isHeldBack = (result: UpdateResult): boolean => {
  const { plan, outcome } = result;
  return outcome ? serviceFault(result) !== undefined : plan.kind === "wait" && plan.because === "back-off";
};

/** A service that failed stays in the list while its records wait for the next attempt. */
function servicesIn({ results }: Pick<Round, "results">, before: Status["services"]): Status["services"] {
  return [...Map.groupBy(results.filter(isHeldBack), ({ record }) => record.target)].flatMap(([service, those]) => {
    const records = those.length;
    const fault = those.map(serviceFault).find((each) => each !== undefined);
    if (fault) {
      const { kind, because, todo } = fault;
      return [{ service, because, todo, records, isUnauthorised: kind === "unauthorised" }];
    }
    const isAnswered = results.some(({ record, outcome }) => record.target === service && outcome);
    const last = before.find((each) => each.service === service);
    return last && !isAnswered ? [{ ...last, records }] : [];
  });
}

/** A record that was correct when last read stays ok while a slow service is asked again. */
const isBeingChecked = ({ underWay, record, plan }: UpdateResult, state: Pick<StateFile, "get">): boolean => {
  const storedEntry = state.get(record.key);
  return underWay === true && "address" in plan && storedEntry?.address === plan.address.text && !storedEntry.inDoubt;
};

/** Its source has not answered yet: the previous status is shown. */
const isUnread = ({ choice, trouble }: UpdateResult): boolean => choice.kind === "unknown" && !trouble;

function sourcesIn({ readings, polled, results }: Round, before: readonly SourceStatus[]): readonly SourceStatus[] {
  const names = new Set([...readings.keys(), ...polled]);
  return [...names].map((source) => {
    const how = polled.includes(source) ? "polling" : "events";
    const used = results.flatMap(({ record }) => sourcesOf(record));
    const called = used.find((from) => from.source === source)?.kindLabel ?? "source";
    const reading = readings.get(source);
    const unread = { source, called, up: false, how, because: notReadYet(called) } as const;
    if (!reading) return before.find((last) => last.source === source) ?? unread;
    return {
      source,
      called,
      up: reading.kind === "report",
      how,
      ...(reading.kind !== "report" && { because: reading.because }),
      ...(reading.kind === "report" && reading.gatewayFault && { because: reading.gatewayFault.because }),
    };
  });
}

const iso = (at: Instant) => new Date(at).toISOString();
