import type { Instant } from "../../core/instant.ts";
import { absoluteName } from "../../core/names/name.ts";
import { utcSecond } from "../../core/utc-text.ts";
import type { UpdaterConfig } from "../config/config.ts";
import { longestHold } from "../http/retry-after.ts";
import { followSource } from "../sources/follow.ts";
import { createPacing } from "../sources/pacing.ts";
import { openReadings } from "../sources/readings.ts";
import type { AddressSource, SourceReading } from "../sources/source.ts";
import { openSource } from "../sources/sources.ts";
import { confirmDns } from "../targets/confirm-dns.ts";
import { type Budget, createBudget } from "../targets/quota.ts";
import type { RecordTarget, TargetFault } from "../targets/target.ts";
import { openTarget } from "../targets/targets.ts";
import { type ApplyTools, openApplying, previewRound } from "./apply.ts";
import { createHolds } from "./holds.ts";
import { type PlannedUpdate, planRound } from "./plan.ts";
import { createRecall } from "./recall.ts";
import type { UpdateResult } from "./result.ts";
import type { StateFile } from "./state-file.ts";
import { holdKey, type Subject, subjectsOf } from "./subjects.ts";

/** Read, plan, apply; once or again and again. */
export type Updater = {
  /** Reads and plans; sends and stores nothing. */
  plan(signal: AbortSignal): Promise<readonly PlannedUpdate[]>;
  /** What a round would come to, as far as the record services tell a reader; writes and stores nothing. */
  preview(signal: AbortSignal): Promise<readonly UpdateResult[]>;
  round(signal: AbortSignal, options?: RoundOptions): Promise<Round>;
  /**
   * What has failed is tried in the next round, and not only when its back-off has ended; a service that asked to be left alone
   * gets one request. No firewall's answer is older.
   */
  hurry(): void;
  /** Waits for what is under way, and tells what came of it. */
  ended(): Promise<Pick<Round, "results">>;
  /**
   * Listens to the sources that push, and says when one has something new, or a record service has `ended` what it was asked
   * for. Returns when the signal says stop.
   */
  follow(news: () => void, ended: () => void, signal: AbortSignal): Promise<void>;
  /** The values that the record of a subject has at the record service, unless that has asked to be left alone. */
  published(subject: Subject, signal: AbortSignal): ReturnType<RecordTarget["current"]>;
  close(): void;
};

export type RoundOptions = {
  /** From when firewalls are asked, and from when record services are: what is under way when it is kept is told by a later round. */
  readonly enough?: () => Promise<void>;
  /** False for a round that is there to tell what has ended: else each slow look at a record would call for the next one. */
  readonly looks?: boolean;
};

export type Round = {
  /** Without those that have not answered in time, and will be told of by a later round. */
  readonly readings: ReadonlyMap<string, SourceReading>;
  readonly results: readonly UpdateResult[];
  /** When something that failed, waits or is looked at regularly is due; undefined when nothing is. */
  readonly due: Instant | undefined;
  /** Sources that do not push, or not now: they have to be asked again. */
  readonly polled: readonly string[];
  /** Targets that asked to be left alone for a minute or more from now, and until when. */
  readonly holds?: ReadonlyMap<string, Instant>;
  /** Set when an address that was written earlier is still not on disk. */
  readonly unsaved?: string;
  /** Another process has written the state file since the round before. */
  readonly stateShared?: boolean;
};

export type UpdaterTools = {
  readonly state: StateFile;
  readonly now: () => Instant;
  readonly random: () => number;
};

export async function openUpdater(config: UpdaterConfig, { state, now, random }: UpdaterTools): Promise<Updater> {
  const subjects = subjectsOf(config);
  const budgets = new Map<string, Budget>();
  const { sources, targets } = await openAll(config, subjects, (target) => budgetOf(config, budgets, target), now);
  const pacing = createPacing(random);
  // A firewall that is back is to be read within the interval, however long it was away.
  const sourcePacing = createPacing(random, config.interval);
  const recall = createRecall();
  const holds = createHolds(state, now);

  const quotaNotBefore = (target: string): Instant | undefined => {
    const until = budgetOf(config, budgets, target).notBefore(now());
    return until !== undefined && until > now() && until - now() <= longestHold ? until : undefined;
  };
  const heldUntil = (target: string) => holds.until(holdKey(config, target));
  const targetNotBefore = (target: string) => latest([heldUntil(target), quotaNotBefore(target)]);
  const notBefore = ({ key, target }: Subject) => {
    const held = holds.isWanted(holdKey(config, target)) ? undefined : heldUntil(target);
    return latest([held, quotaNotBefore(target), pacing.notBefore(key, now())]);
  };
  /** Those of a minute and more: shorter ones are over before anybody has read of them. */
  const longHolds = () =>
    new Map(
      [...targets.keys()].flatMap((target) => {
        const until = heldUntil(target);
        return until !== undefined && until - now() >= 60_000 ? [[target, until] as const] : [];
      }),
    );
  const plan = (readings: ReadonlyMap<string, SourceReading>, looks = true) =>
    planRound(subjects, { readings, state, recall, now: now(), notBefore, looks });
  const serviceOf = (target: string) => config.targets.get(target)?.url.origin ?? target;
  const settle = ({ subject, outcome }: UpdateResult) => {
    if (!outcome) return;
    const service = serviceOf(subject.target);
    if ("fault" in outcome) pacing.failed(subject.key, now(), outcome.fault.unreached ? service : undefined);
    else {
      pacing.succeeded(subject.key);
      // Not for any answer: a service with too much to do answers some with 503 and others never.
      pacing.reached(service);
      holds.succeeded(holdKey(config, subject.target));
    }
  };
  const dueOf = ({ subject, plan, outcome, underWay }: UpdateResult): Instant | undefined => {
    if (underWay) return undefined;
    // What it waited for may be over since it was planned.
    if (plan.kind === "wait") return plan.because === "asked" ? (notBefore(subject) ?? now()) : plan.until;
    // Without an address there is nothing to hold the record against, until the firewall has something new.
    if (plan.kind === "nothing") return plan.because === "same-as-stored" ? nextLook(subject) : undefined;
    const failed = outcome && !("fault" in outcome) ? undefined : notBefore(subject);
    return failed ?? nextLook(subject);
  };
  const nextLook = ({ key, rules }: Subject): Instant | undefined => {
    if (rules.compare === "record") return now() + config.interval;
    return rules.verify === undefined ? undefined : (recall.verifiedAt(key) ?? now()) + rules.verify;
  };
  const tools: ApplyTools = {
    ...{ targets, state, recall, now, serviceOf },
    notBefore: (target) => quotaNotBefore(target) ?? holds.untilUnlessWanted(holdKey(config, target)),
    hold: (target, until) => holds.set(holdKey(config, target), until),
  };

  let tellNews: () => void = () => undefined;
  let tellEnded: () => void = () => undefined;
  const reading = openReadings(sources, { pacing: sourcePacing, now }, () => tellNews());
  const applying = openApplying(tools, () => tellEnded());

  return {
    plan: async (signal) => plan(await reading.read(signal)),
    preview: async (signal) => previewRound(plan(await reading.read(signal)), tools, signal),
    async round(signal, { enough, looks } = {}) {
      const { unsaved, stateShared } = await state.flush().then(
        (others) => ({ unsaved: undefined, stateShared: others }),
        (error: NodeJS.ErrnoException) => ({ unsaved: error.code ?? error.message, stateShared: false }),
      );
      const readings = await reading.read(signal, enough);
      const applied = await applying.act(plan(readings, looks), signal, enough);
      applied.forEach(settle);
      const results = applied.map((result) => withConfirmation(result, signal));
      const isUnsaved = unsaved !== undefined || results.some((result) => result.unsaved !== undefined);
      const waits = [...results.map(dueOf), ...reading.due(), isUnsaved ? now() + config.interval : undefined].filter(
        (until) => until !== undefined,
      );
      const due = waits.length === 0 ? undefined : waits.reduce((a, b) => Math.min(a, b));
      const troubles = { ...(unsaved === undefined ? {} : { unsaved }), ...(stateShared ? { stateShared } : {}) };
      return { readings, results, due, polled: reading.polled(), holds: longHolds(), ...troubles };
    },
    hurry() {
      for (const each of [pacing, sourcePacing]) each.hurry();
      holds.wanted();
      reading.hurry();
    },
    ended: async () => ({ results: await applying.ended() }),
    async follow(news, ended, signal) {
      [tellNews, tellEnded] = [news, ended];
      const following = [...sources].map(([name, source]) => {
        const on = {
          reading(pushed: SourceReading) {
            reading.pushed(name, pushed);
            news();
          },
          // To ask, and be told why not.
          lost: () => reading.lost(name) && news(),
        };
        return followSource(source, on, { random }, signal);
      });
      await Promise.all(following);
    },
    async published(subject, signal) {
      const target = targets.get(subject.target);
      if (!target) throw new Error(`no target ${subject.target}`);
      const until = targetNotBefore(subject.target);
      if (until !== undefined && now() < until) return askedToWait(until);
      return target.current(subject.order, signal);
    },
    close() {
      for (const opened of [...targets.values(), ...sources.values()]) opened.close();
    },
  };
}

async function openAll(
  config: UpdaterConfig,
  subjects: readonly Subject[],
  budget: (target: string) => Budget,
  now: () => Instant,
) {
  const sources = new Map<string, AddressSource>();
  const targets = new Map<string, RecordTarget>();
  for (const { source, target } of subjects) {
    const sourceConfig = config.sources.get(source);
    if (sourceConfig && !sources.has(source)) sources.set(source, await openSource(sourceConfig));
    const targetConfig = config.targets.get(target);
    if (!targetConfig || targets.has(target)) continue;
    targets.set(target, await openTarget(targetConfig, (headers) => budget(target).note(headers, now())));
  }
  return { sources, targets };
}

/** One a token: two targets with the same service and the same token share it. */
function budgetOf({ targets }: UpdaterConfig, budgets: Map<string, Budget>, target: string): Budget {
  const config = targets.get(target);
  const key = config ? `${config.url.origin} ${config.token()}` : target;
  const budget = budgets.get(key) ?? createBudget();
  budgets.set(key, budget);
  return budget;
}

function withConfirmation(result: UpdateResult, signal: AbortSignal): UpdateResult {
  const { subject, plan, outcome } = result;
  const { confirm } = subject.rules;
  if (!confirm || outcome?.kind !== "done" || !("address" in plan)) return result;
  const { zone, name, family } = subject.order;
  const order = { zone, name: absoluteName(name, zone), family, value: plan.address.text, servers: confirm.servers };
  return { ...result, confirmation: confirmDns(order, signal) };
}

const askedToWait = (until: Instant): TargetFault => ({
  kind: "later",
  because: `the record service is not to be asked before ${utcSecond(until)}`,
  todo: "nothing: moor waits as the service asked",
});

function latest(instants: readonly (Instant | undefined)[]): Instant | undefined {
  const known = instants.filter((instant) => instant !== undefined);
  return known.length === 0 ? undefined : Math.max(...known);
}
