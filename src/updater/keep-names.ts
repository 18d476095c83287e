import { firstFew } from "../core/first-few.ts";
import type { Instant } from "../core/instant.ts";
import type { Result } from "../core/result.ts";
import { printable } from "../core/visible-text.ts";
import { openSystemd } from "../process/lifecycle.ts";
import type { Logger } from "../process/log.ts";
import type { UpdaterConfig } from "./config/config.ts";
import { watchFiles } from "./config/watch-files.ts";
import { createPageKeeper, type PageKeeper } from "./page/keep-page.ts";
import { openHistory } from "./report/history.ts";
import { onlyLasting } from "./report/lasting-trouble.ts";
import { type Outlets, type OutletTools, openOutlets, reportsChanges } from "./report/outlets.ts";
import { type Notify, Reporter, troublesOf } from "./report/reporter.ts";
import { createStatusKeeper } from "./report/status.ts";
import { managedRecordsOf } from "./round/managed-records.ts";
import type { Removal } from "./round/remove-records.ts";
import { longestSilence } from "./round/schedule.ts";
import { openStateFile, type StateFile } from "./round/state-file.ts";
import { openUpdater, type Updater, type WatchOptions } from "./updater.ts";

export type KeepTools = {
  readonly state: StateFile;
  readonly log: Logger;
  readonly now: () => Instant;
  readonly random: () => number;
  /** The name of this machine, for notices. */
  readonly host: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Reads the config file again; or checks this text, as if it were in the file. */
  readonly reload: (instead?: string) => Result<UpdaterConfig>;
  /** The folder of the built pages, if not next to this program. */
  readonly pages?: string;
  /** Serves the page; by default, one that is opened and closed here. */
  readonly page?: PageKeeper;
  /** Milliseconds that trouble must last before people are notified. */
  readonly patience?: number;
  /** Registers the functions to call on request from outside, such as a signal. */
  readonly onRequest?: (request: { readonly check: () => void; readonly reload: () => void }) => void;
};

/** Long enough for a service restart or a reconnect of the line. */
const usualPatience = 60_000;

/** Milliseconds that the writes under way have to finish before a new config is adopted. */
const longestDrain = 30_000;

/** Milliseconds: less than systemd waits before it kills. */
const longestRemoval = 30_000;

/** Watches until the signal aborts. Adopts a changed config; reports and ignores a bad one. */
export async function keepNames(first: UpdaterConfig, tools: KeepTools, signal: AbortSignal): Promise<void> {
  await new NameKeeper(tools, signal).run(first);
}

/** What survives a reload of the config: status, reporter, notices, page and systemd. */
class NameKeeper {
  readonly #tools: KeepTools;
  readonly #signal: AbortSignal;
  readonly #status: ReturnType<typeof createStatusKeeper>;
  readonly #lastingTrouble: ReturnType<typeof onlyLasting>;
  readonly #reporter: Reporter;
  readonly #page: PageKeeper;
  readonly #systemd: ReturnType<typeof openSystemd>;
  readonly #outlets: Outlets;
  #state: StateFile;
  /** These three belong to the config in force. */
  #addToHistory: Notify = () => undefined;
  #check: () => void = () => undefined;
  #reload: () => void = () => undefined;

  constructor(tools: KeepTools, signal: AbortSignal) {
    this.#tools = tools;
    this.#signal = signal;
    this.#status = createStatusKeeper(tools.now);
    this.#state = tools.state;
    const events: OutletTools["events"] = {
      events: () => this.#state.events(),
      eventDelivered: (id, by) => this.#state.eventDelivered(id, by),
    };
    this.#outlets = openOutlets({ ...tools, events, status: () => this.#status.now() });
    this.#lastingTrouble = onlyLasting(this.#outlets.notify, tools.patience ?? usualPatience);
    this.#reporter = new Reporter(tools.log, (notice) => {
      this.#addToHistory(notice);
      this.#lastingTrouble.notify(notice);
    });
    this.#page = tools.page ?? createPageKeeper(tools);
    tools.onRequest?.({ check: () => this.#check(), reload: () => this.#reload() });
    const isAlive = () => this.#status.silence() < longestSilence;
    this.#systemd = openSystemd({ env: tools.env, status: "keeping names up to date", isAlive });
  }

  async run(first: UpdaterConfig): Promise<void> {
    this.#systemd.ready();
    let config = first;
    while (!this.#signal.aborted) {
      const next = await this.#keepUntilReload(config);
      if (!next || this.#signal.aborted) break;
      this.#systemd.reloading();
      const possible = troublesOf(managedRecordsOf(next));
      for (const each of [this.#reporter, this.#lastingTrouble]) each.forget((key) => !possible.has(key));
      if (next.stateFile !== config.stateFile) this.#state = await otherState(next, this.#state, this.#tools);
      config = next;
    }
    if (this.#tools.page === undefined) await this.#page.close();
    this.#lastingTrouble.close();
    await this.#outlets.close();
    this.#systemd.close();
  }

  /** Returns the config to continue with; undefined at the end. */
  async #keepUntilReload(config: UpdaterConfig): Promise<UpdaterConfig | undefined> {
    const { log, now, random } = this.#tools;
    const state = this.#state;
    const reloading = this.#awaitReload();
    const files = watchFiles(config.files, this.#reload);
    const history = openHistory(config.historyFile, (because) => log.warn({ because }, "the history cannot be saved"));
    const updater = await openUpdater(config, { state, now, random, keepsEvents: reportsChanges(config) });
    this.#check = updater.retryNow;
    await this.#servePage(config, updater);
    await this.#outlets.adopt(config);
    this.#addToHistory = (notice) => history.add(notice, new Date(now()));
    const onRound: WatchOptions["onRound"] = (round, nextAt) => this.#status.note(round, state, nextAt);
    try {
      const ends = AbortSignal.any([this.#signal, reloading.begun]);
      const writesEnd = AbortSignal.any([this.#signal, reloading.drained]);
      await updater.watch({ reporter: this.#reporter, onRound }, ends, writesEnd);
      if (this.#signal.aborted) logRemovals(await updater.remove(AbortSignal.timeout(longestRemoval)), log);
    } finally {
      updater.close();
      await history.settled();
      // Last, so that a change while the others close is noticed too.
      files.close();
    }
    return reloading.next();
  }

  /** `begun` aborts when a good config was read, `drained` when the writes under way have had their time. */
  #awaitReload() {
    const [begun, drained] = [new AbortController(), new AbortController()];
    let next: UpdaterConfig | undefined;
    this.#reload = () => {
      const config = goodConfig(this.#tools);
      if (!config) return;
      next = config;
      begun.abort(new Error("the config was reloaded"));
      // Writes may finish: an aborted one would have to be repeated.
      setTimeout(() => drained.abort(), longestDrain).unref();
    };
    return { begun: begun.signal, drained: drained.signal, next: () => next };
  }

  async #servePage(config: UpdaterConfig, { published, putBack, devices, retryNow }: Updater): Promise<void> {
    await this.#page.serve(config, {
      published,
      putBack,
      devices,
      check: retryNow,
      changing: { checkText: this.#tools.reload, adopt: () => this.#reload() },
      status: () => this.#status.now(),
      silence: () => this.#status.silence(),
    });
  }
}

function logRemovals(removals: readonly Removal[], log: Logger): void {
  for (const { record, address, outcome } of removals) {
    const { displayName: name } = record;
    if (outcome.kind === "removed") log.info({ name, address }, "record removed");
    else if (outcome.kind === "left") {
      const because =
        outcome.values.length === 0 ? "it no longer exists" : `it holds ${firstFew(outcome.values.map(printable))}`;
      log.info({ name, because }, "record not removed");
    } else log.warn({ name, because: outcome.fault.because, todo: outcome.fault.todo }, "record not removed");
  }
}

function goodConfig({ reload, log }: KeepTools): UpdaterConfig | undefined {
  const read = reload();
  if (read.ok && read.value.names.length > 0) {
    log.info({ names: read.value.names.length }, "the config was reloaded");
    for (const warning of read.value.warnings) log.warn({ because: warning }, "a setting in the config is not safe");
    return read.value;
  }
  const faults = read.ok
    ? [{ where: read.value.file, message: "the config has no names", todo: "add one below `names:`" }]
    : read.faults;
  for (const { where, message, todo } of faults) {
    log.warn({ where, because: message, todo }, "the new config has a fault; the old one stays in use");
  }
  return undefined;
}

async function otherState(
  { stateFile }: UpdaterConfig,
  before: StateFile,
  { now, log }: KeepTools,
): Promise<StateFile> {
  const opened = await openStateFile(stateFile, now(), { write: true });
  if (opened.kind === "open") {
    if (opened.warning) log.warn({ because: opened.warning }, "the state file was damaged");
    return opened.state;
  }
  log.warn(
    { because: opened.because, todo: opened.todo },
    "the new state file cannot be used; the old one stays in use",
  );
  return before;
}
