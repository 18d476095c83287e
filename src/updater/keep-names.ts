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
import { openOutlets } from "./report/outlets.ts";
import { createReporter, type Notify, troublesOf } from "./report/reporter.ts";
import { createStatusKeeper } from "./report/status.ts";
import type { Removal } from "./round/remove-records.ts";
import { longestSilence } from "./round/rhythm.ts";
import { openStateFile, type StateFile } from "./round/state-file.ts";
import { subjectsOf } from "./round/subjects.ts";
import { openUpdater, type WatchOptions } from "./updater.ts";

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
  const { log, now, random } = tools;
  const status = createStatusKeeper(now);
  /** These two belong to the config in force. */
  let addToHistory: Notify = () => undefined;
  let notifyPeople: Notify = () => undefined;
  const lastingTrouble = onlyLasting((notice) => notifyPeople(notice), tools.patience ?? usualPatience);
  const reporter = createReporter(log, (notice) => {
    addToHistory(notice);
    lastingTrouble.notify(notice);
  });
  const page = tools.page ?? createPageKeeper(tools);
  let [check, reload] = [() => {}, () => {}];
  tools.onRequest?.({ check: () => check(), reload: () => reload() });
  const isAlive = () => status.silence() < longestSilence;
  const systemd = openSystemd({ env: tools.env, status: "keeping names up to date", isAlive });

  /** Returns the config to continue with; undefined at the end. */
  const keepUntilReload = async (config: UpdaterConfig, state: StateFile): Promise<UpdaterConfig | undefined> => {
    const [reloaded, drained] = [new AbortController(), new AbortController()];
    let next: UpdaterConfig | undefined;
    reload = () => {
      const found = goodConfig(tools);
      if (!found) return;
      next = found;
      reloaded.abort(new Error("the config was reloaded"));
      // Writes may finish: an aborted one would have to be repeated.
      setTimeout(() => drained.abort(), longestDrain).unref();
    };
    const files = watchFiles(config.files, reload);
    const history = openHistory(config.historyFile, (because) => log.warn({ because }, "the history cannot be saved"));
    const updater = await openUpdater(config, { state, now, random });
    check = updater.check;
    const asked = { status: () => status.now(), check, silence: () => status.silence() };
    const { published, putBack, devices } = updater;
    const changing = { checkText: tools.reload, adopt: () => reload() };
    await page.serve(config, { published, putBack, devices, changing, ...asked });
    const outlets = await openOutlets(config, { ...tools, status: asked.status });
    addToHistory = (notice) => history.add(notice, new Date(now()));
    notifyPeople = outlets.notify;
    const onRound: WatchOptions["onRound"] = (round, nextAt) => status.note(round, state, nextAt);
    try {
      const ends = AbortSignal.any([signal, reloaded.signal]);
      await updater.watch({ reporter, onRound }, ends, AbortSignal.any([signal, drained.signal]));
      if (signal.aborted) logRemovals(await updater.remove(AbortSignal.timeout(longestRemoval)), log);
    } finally {
      outlets.close();
      updater.close();
      await history.settled();
      // Last, so that a change while the others close is noticed too.
      files.close();
    }
    return next;
  };

  systemd.ready();
  let config = first;
  let state = tools.state;
  while (!signal.aborted) {
    const next = await keepUntilReload(config, state);
    if (!next || signal.aborted) break;
    systemd.reloading();
    const possible = troublesOf(subjectsOf(next));
    for (const each of [reporter, lastingTrouble]) each.forget((key) => !possible.has(key));
    if (next.stateFile !== config.stateFile) state = await otherState(next, state, tools);
    config = next;
  }
  if (tools.page === undefined) await page.close();
  lastingTrouble.close();
  systemd.close();
}

function logRemovals(removals: readonly Removal[], log: Logger): void {
  for (const { subject, address, outcome } of removals) {
    const { title: name } = subject;
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
