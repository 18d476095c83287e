import type { Instant } from "../core/instant.ts";
import type { Result } from "../core/result.ts";
import type { SmallLog } from "../process/small-log.ts";
import { openSystemd } from "../process/systemd.ts";
import type { UpdaterConfig } from "./config/config.ts";
import { watchFiles } from "./config/watch-files.ts";
import { openHistory } from "./report/history.ts";
import type { PageOptions, UpdaterPage } from "./report/http-page.ts";
import { onlyLasting } from "./report/lasting-trouble.ts";
import { createReporter, type Reporter, type Tell, troublesOf } from "./report/reporter.ts";
import { createStatusKeeper, type StatusKeeper } from "./report/status.ts";
import { openTelling } from "./report/telling.ts";
import { longestSilence } from "./round/rhythm.ts";
import { openStateFile, type StateFile } from "./round/state-file.ts";
import { subjectsOf } from "./round/subjects.ts";
import { openUpdater, type WatchOptions } from "./updater.ts";

export type KeepTools = {
  readonly state: StateFile;
  readonly log: SmallLog;
  readonly now: () => Instant;
  readonly random: () => number;
  /** The name of this machine, for those who are told of its troubles. */
  readonly host: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Reads the config file again. */
  readonly reload: () => Result<UpdaterConfig>;
  /** Where the built pages are, when not beside this program. */
  readonly pages?: string;
  /** Milliseconds that trouble must have lasted before people are told of it. */
  readonly patience?: number;
  /** Calls one of them when somebody outside asks for it, as by a signal. */
  readonly onRequest?: (request: { readonly check: () => void; readonly reload: () => void }) => void;
};

/** Everything that outlives a reload. */
type Lasting = {
  readonly status: StatusKeeper;
  readonly reporter: Reporter;
  /** As the config in force has them. */
  readonly tellTo: { history: Tell; people: Tell };
};

/** What somebody outside may ask for; filled in by whatever watches at present. */
type Requests = { check: () => void; reload: () => void };

/** Watches until the signal says stop; a config that was changed is taken over, a bad one is named and left aside. */
export async function keepNames(first: UpdaterConfig, tools: KeepTools, signal: AbortSignal): Promise<void> {
  const { log, now } = tools;
  const status = createStatusKeeper(now);
  const tellTo: Lasting["tellTo"] = { history: () => undefined, people: () => undefined };
  const lastingTrouble = onlyLasting((notice) => tellTo.people(notice), tools.patience ?? usualPatience);
  const reporter = createReporter(log, (notice) => {
    tellTo.history(notice);
    lastingTrouble.tell(notice);
  });
  const lasting = { status, reporter, tellTo };
  const requests: Requests = { check: () => undefined, reload: () => undefined };
  tools.onRequest?.({ check: () => requests.check(), reload: () => requests.reload() });
  const isAlive = () => status.silence() < longestSilence;
  const systemd = openSystemd({ env: tools.env, status: "keeping names", isAlive });
  let config: UpdaterConfig | undefined = first;
  let state = tools.state;
  let isFirst = true;
  while (config && !signal.aborted) {
    if (isFirst) systemd.ready();
    else systemd.reloading();
    isFirst = false;
    const before: UpdaterConfig = config;
    config = await keepUntilReload(config, { ...tools, state }, lasting, requests, signal);
    if (!config) break;
    const possible = troublesOf(subjectsOf(config));
    for (const each of [reporter, lastingTrouble]) each.forget((key) => !possible.has(key));
    if (config.stateFile !== before.stateFile) state = await otherState(config, state, tools);
  }
  lastingTrouble.close();
  systemd.close();
}

/** A service that is restarted, or a line that is dialled anew, is back by then. */
const usualPatience = 60_000;

/** The config to go on with, or undefined when it is over. */
async function keepUntilReload(
  config: UpdaterConfig,
  tools: KeepTools,
  { status, reporter, tellTo }: Lasting,
  requests: Requests,
  signal: AbortSignal,
): Promise<UpdaterConfig | undefined> {
  const { state, log, now, random } = tools;
  const stop = new AbortController();
  const stopWith = () => stop.abort(signal.reason);
  signal.addEventListener("abort", stopWith, { once: true });
  if (signal.aborted) stopWith();
  let next: UpdaterConfig | undefined;
  const reload = () => {
    const found = goodConfig(tools);
    if (!found) return;
    next = found;
    stop.abort(new Error("the config was read again"));
  };
  requests.reload = reload;
  const files = watchFiles(config.files, reload);
  const history = openHistory(config.historyFile, (because) => log.warn({ because }, "the history cannot be kept"));
  const updater = await openUpdater(config, { state, now, random });
  const asked = { status: () => status.now(), check: () => requests.check(), silence: () => status.silence() };
  const page = lazyPage({ config, published: updater.published, now, pages: tools.pages, ...asked });
  const telling = await openTelling(config, { ...tools, ...asked, page });
  tellTo.history = (notice) => history.add(notice, new Date(now()));
  tellTo.people = telling.tell;
  const onRound: WatchOptions["onRound"] = (round, next) => status.note(round, state, next);
  requests.check = updater.check;
  try {
    await updater.watch({ reporter, onRound }, stop.signal);
  } finally {
    signal.removeEventListener("abort", stopWith);
    await telling.close();
    updater.close();
    await history.settled();
    // Last: what is changed meanwhile is read, too.
    files.close();
  }
  return next;
}

/** Nothing of it is loaded before somebody asks: most watchers are never looked at. */
function lazyPage(options: PageOptions): UpdaterPage {
  let page: UpdaterPage | undefined;
  return async (request, response) => {
    if (!/^\/(?:\?|$|assets\/|page\/)/.test(request.url ?? "")) return false;
    page ??= (await import("./report/http-page.ts")).createUpdaterPage(options);
    return await page(request, response);
  };
}

function goodConfig({ reload, log }: KeepTools): UpdaterConfig | undefined {
  const read = reload();
  if (read.ok && read.value.names.length > 0) {
    log.info({ names: read.value.names.length }, "the config was read again");
    for (const warning of read.value.warnings) log.warn({ because: warning }, "careful");
    return read.value;
  }
  const faults = read.ok ? [{ where: read.value.file, message: "there are no names to keep" }] : read.faults;
  for (const { where, message } of faults) {
    log.warn({ where, because: message }, "the config has a fault; the one before stays in force");
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
    if (opened.warning) log.warn({ because: opened.warning }, "careful");
    return opened.state;
  }
  log.warn({ because: opened.because, todo: opened.todo }, "the state stays in the file before");
  return before;
}
