import type { Instant } from "../core/instant.ts";
import { InterruptibleSleep } from "./interruptible-sleep.ts";
import { isFrom, type ManagedRecord, sourcesOf } from "./round/managed-records.ts";
import { type NameEvent, type NameState, nextState } from "./round/name-state.ts";
import { type PlannedUpdate, planRound } from "./round/plan.ts";
import type { Round, UpdateResult } from "./round/result.ts";
import { openServiceQueues, type ServiceQueues } from "./round/service-queue.ts";
import type { ServiceTools, SourcesAndTargets } from "./round/sources-and-targets.ts";
import { type WriteTools, withConfirmation, withTimeout, writeRecord } from "./round/write-record.ts";
import {
  addressBeside,
  bothOf,
  companionsOf,
  queueKeyOf,
  type WrittenTogether,
  writeTogether,
} from "./round/write-together.ts";
import type { SourceReader } from "./sources/source-reader.ts";

/**
 * `signal`: no write starts any more. `writes`: those under way are aborted. `reads`: sources are read again; without
 * it, all of them were just read.
 */
export type StopSignals = { readonly signal: AbortSignal; readonly writes: AbortSignal; readonly reads?: true };

type SourceLoop = { readonly reader: SourceReader; readonly sleep: InterruptibleSleep };

export type StepTools = ServiceTools & {
  readonly interval: number;
  /** Changes are kept in the state file until they were reported. */
  readonly keepsEvents?: boolean | undefined;
};

const stopped = { kind: "stopped" } as const;

/** The steps of the updater: plan, write and remember, collect what to report. Each name and family has one state. */
export class UpdaterSteps {
  readonly sources: ReadonlyMap<string, SourceLoop>;
  /** Wakes the loop that reports. */
  readonly reportSleep = new InterruptibleSleep();
  readonly #records: readonly ManagedRecord[];
  readonly #services: SourcesAndTargets;
  readonly #tools: StepTools;
  readonly #queues: ServiceQueues;
  readonly #states: Map<ManagedRecord, NameState>;
  /** Since the last round: finished writes, and names whose state has changed. */
  readonly #finished: UpdateResult[] = [];
  readonly #changed = new Set<ManagedRecord>();
  #unsaved: { readonly code: string; readonly retryAt: Instant } | undefined;
  #isStateShared = false;

  constructor(records: readonly ManagedRecord[], services: SourcesAndTargets, tools: StepTools) {
    this.#records = records;
    this.#services = services;
    this.#tools = tools;
    this.#queues = openServiceQueues(services.serviceOf);
    const open = ([source, reader]: readonly [string, SourceReader]): [string, SourceLoop] => [
      source,
      { reader, sleep: new InterruptibleSleep() },
    ];
    this.sources = new Map(Array.from(services.readers, open));
    this.#states = new Map(this.plan().map((latest) => [latest.record, { kind: "unread", latest }]));
  }

  /** Chooses and plans, from the latest reading of each source. */
  plan(records: readonly ManagedRecord[] = this.#records): readonly PlannedUpdate[] {
    const { schedule } = this.#services;
    const { state, now } = this.#tools;
    const { memory, notBefore } = schedule;
    return planRound(records, { readings: this.readings(), state, memory, now: now(), notBefore });
  }

  /** Plans the names of a source, and queues what has to be written. */
  async decide(source: string, stop: StopSignals): Promise<void> {
    await this.#saveAndMerge();
    for (const update of this.plan(this.#records.filter((record) => isFrom(record, source)))) {
      this.#handle(update.record, { kind: "planned", update }, stop);
    }
  }

  /** Resolves when nothing is being written, and nothing waits for it. */
  written(): Promise<void> {
    return this.#queues.idle();
  }

  /** For a report: everything as it stands, and what changed. */
  collect(): Round {
    const { readers, schedule } = this.#services;
    const results = [...this.#states.values()].map(resultOf);
    const moves = results.filter(({ record }) => this.#changed.has(record));
    const round = {
      readings: this.readings(),
      results,
      changed: [...new Set([...this.#finished, ...moves])],
      due: earliest([...readers.keys()].map((source) => this.due(source))),
      polled: [...readers.keys()].filter((source) => !readers.get(source)?.isPushing()),
      rateLimitedUntil: schedule.longRateLimits(this.#records.map(({ target }) => target)),
      ...(this.#unsaved && { unsaved: this.#unsaved.code }),
      stateShared: this.#isStateShared,
    };
    this.#finished.length = 0;
    this.#changed.clear();
    this.#isStateShared = false;
    return round;
  }

  /** When the names of a source must be planned again even without news from it. */
  due(source: string): Instant | undefined {
    const { readers, schedule } = this.#services;
    const dues = [...this.#states].map(([record, each]) =>
      isFrom(record, source) ? schedule.dueAt(record, each) : undefined,
    );
    return earliest([...dues, readers.get(source)?.retryAt(), this.#unsaved?.retryAt]);
  }

  check(): void {
    this.#services.sourceBackOffs.retryNow();
    this.#services.schedule.allowOneTry();
    for (const { sleep } of this.sources.values()) sleep.wake();
  }

  putBack(displayName: string): boolean {
    const { schedule } = this.#services;
    const record = this.#records.find((each) => each.displayName === displayName && !each.paused);
    if (!record) return false;
    schedule.memory.requestVerify(record.key);
    schedule.allowOneTry();
    this.#wakeSources(record);
    return true;
  }

  readings(): Round["readings"] {
    return new Map([...this.#services.readers].flatMap(([name, reader]) => readingOf(name, reader)));
  }

  #wakeSources(record: ManagedRecord): void {
    for (const from of sourcesOf(record)) this.sources.get(from.source)?.sleep.wake();
  }

  #handle(record: ManagedRecord, event: NameEvent, stop: StopSignals): void {
    const before = this.#states.get(record);
    if (!before) return;
    const { state: after, action } = nextState(before, event);
    this.#states.set(record, after);
    if (after !== before) this.#changed.add(record);
    if (event.kind === "ended") this.#finished.push(event.result);
    if (action === "enqueue") {
      if (stop.reads) this.#readMate(record);
      this.#enqueue(record, stop);
    }
    const mate = before.kind === "unread" && after.kind !== "unread" ? this.#mateOf(record) : undefined;
    if (mate) this.#enqueue(mate, stop);
    if (action === "plan-again") this.#wakeSources(record);
  }

  /** A service that takes both addresses of a name gets none before both are known, or their sources have failed. */
  #enqueue(record: ManagedRecord, stop: StopSignals): void {
    const state = this.#states.get(record);
    const mate = this.#mateOf(record);
    if (state?.kind !== "queued" || (mate && this.#states.get(mate)?.kind === "unread")) return;
    const key = queueKeyOf(state, this.#services.targetOf(record).replaceAll !== undefined);
    this.#queues.add(record, () => this.#sendQueued(record, stop), key);
  }

  /** After a reconnect, the other address is new too. Another source that has it is read before the request. */
  #readMate(record: ManagedRecord): void {
    const mate = this.#mateOf(record);
    const state = mate && this.#states.get(mate);
    if (!state || state.kind === "queued" || state.kind === "writing" || isFrom(record, mate.source)) return;
    this.#states.set(mate, { ...state, kind: "unread" });
    this.#wakeSources(mate);
  }

  /** The other family of the name, if its service takes both addresses in one call. */
  #mateOf(record: ManagedRecord): ManagedRecord | undefined {
    if (record.otherFamilyKey === undefined || !this.#services.targetOf(record).takesBoth) return undefined;
    return this.#records.find(({ key }) => key === record.otherFamilyKey);
  }

  /**
   * It is the name's turn at its service: writes it, and stores the outcome. Where the service can, all names of its
   * zone that wait there are written in one transaction; their own turns then find nothing left to do.
   */
  async #sendQueued(record: ManagedRecord, stop: StopSignals): Promise<void> {
    // First, all names that were planned together join the queue.
    await Promise.resolve();
    const writes: Promise<void>[] = [];
    // During an outage, another name may be tried instead of this one, which then has to wait.
    while (this.#states.get(record)?.kind === "queued") {
      const admission = stop.signal.aborted ? stopped : this.#services.schedule.admit(record, () => this.#queued());
      if (admission.kind !== "send") {
        await this.#unwritten(record, admission, stop);
        break;
      }
      writes.push(this.#send(admission.record, stop));
    }
    await Promise.all(writes);
  }

  async #unwritten(record: ManagedRecord, event: NameEvent, stop: StopSignals): Promise<void> {
    this.#handle(record, event, stop);
    await this.#tools.state.endBatch().catch((error) => this.#noteUnsaved(codeOf(error)));
  }

  #queued(): readonly ManagedRecord[] {
    return [...this.#states].filter(([, { kind }]) => kind === "queued").map(([record]) => record);
  }

  async #send(record: ManagedRecord, stop: StopSignals): Promise<void> {
    const { schedule, targetOf } = this.#services;
    const { state, now, keepsEvents } = this.#tools;
    const current = this.#states.get(record);
    if (current?.kind !== "queued") return;
    const target = targetOf(record);
    const mate = this.#mateOf(record);
    const mateState = mate && this.#states.get(mate);
    const updates = target.replaceAll ? companionsOf(current, this.#states.values()) : bothOf(current, mateState);
    for (const update of updates) this.#handle(update.record, { kind: "dequeued" }, stop);
    const next = () =>
      this.#queued()
        .filter((each) => each.target === record.target)
        .map(({ key }) => key);
    const noteEvent: WriteTools["noteEvent"] = keepsEvents ? (event) => state.noteEvent(event) : undefined;
    const otherAddress = mateState && addressBeside(mateState, state);
    const tools = { target, state, memory: schedule.memory, now, next, noteEvent, otherAddress };
    const written =
      updates.length > 1
        ? await writeTogether(updates, tools, withTimeout(stop.writes))
        : [{ record, result: await writeRecord(current.latest, tools, withTimeout(stop.writes)) }];
    await Promise.all(written.map(async ({ result }) => result && schedule.noteOutcome(result)));
    schedule.tryEnded(record);
    for (const each of written) this.#ended(each, stop);
    this.reportSleep.wake();
  }

  #ended({ record, result }: WrittenTogether, stop: StopSignals): void {
    if (result?.unsaved !== undefined) this.#noteUnsaved(result.unsaved);
    const ending: NameEvent = result
      ? { kind: "ended", result: withConfirmation(result, stop.signal) }
      : { kind: "write-alone" };
    this.#handle(record, ending, stop);
  }

  /** Retries what an earlier write could not store on disk, and adopts what another process has stored. */
  async #saveAndMerge(): Promise<void> {
    try {
      this.#isStateShared = (await this.#tools.state.flush()) || this.#isStateShared;
      this.#unsaved = undefined;
    } catch (error) {
      this.#noteUnsaved(codeOf(error));
    }
  }

  #noteUnsaved(code: string): void {
    this.#unsaved = { code, retryAt: this.#tools.now() + this.#tools.interval };
  }
}

const codeOf = (error: unknown): string => {
  const { code, message } = error as NodeJS.ErrnoException;
  return code ?? message;
};

function earliest(instants: readonly (Instant | undefined)[]): Instant | undefined {
  const dueTimes = instants.filter((instant) => instant !== undefined);
  return dueTimes.length === 0 ? undefined : dueTimes.reduce((a, b) => Math.min(a, b));
}

const readingOf = (name: string, reader: SourceReader) => {
  const latest = reader.latest();
  return latest ? [[name, latest] as const] : [];
};

const resultOf = ({ kind, latest }: NameState): UpdateResult =>
  kind === "queued" || kind === "writing" ? { ...latest, underWay: true } : latest;
