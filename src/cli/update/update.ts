import { hostname } from "node:os";
import { printable } from "../../core/visible-text.ts";
import type { Endpoint } from "../../lib/http-client/endpoint.ts";
import { type Program, programFault } from "../../lib/kernel/run-program.ts";
import { noLog } from "../../process/log.ts";
import type { UpdaterConfig } from "../../updater/config/config.ts";
import type { SourceConfig } from "../../updater/config/kinds.ts";
import { describeInterval } from "../../updater/report/describe-interval.ts";
import { type Summary, summarise } from "../../updater/report/describe-round.ts";
import { openHistory } from "../../updater/report/history.ts";
import { Reporter } from "../../updater/report/reporter.ts";
import { describeSources, type ManagedRecord, managedRecordsOf } from "../../updater/round/managed-records.ts";
import type { Round, UpdateResult } from "../../updater/round/result.ts";
import type { StateFile } from "../../updater/round/state-file.ts";
import type { Updater } from "../../updater/updater.ts";
import type { CommandIo } from "../io/command-io.ts";
import { defaultConfig, loadConfig, lockState, openState, readTyped } from "./load-config.ts";

export type UpdateOptions = {
  readonly config?: string | undefined;
  readonly once?: boolean | undefined;
  readonly dryRun?: boolean | undefined;
  readonly check?: boolean | undefined;
  /** With `dryRun`: also exits with 1 if a name would get no address. */
  readonly needsAddress?: boolean | undefined;
  /** The format of log lines while watching. */
  readonly logFormat?: "text" | "json" | undefined;
};

/** `moor update`: keeps the names in the config pointing at their addresses until it is stopped, or for one round. */
export async function update(options: UpdateOptions, io: CommandIo): Promise<number> {
  const config = loadConfig(options.config, io);
  if (!config) return 2;
  if (config.names.length === 0) {
    io.err(
      `${config.namesAt ?? options.config ?? defaultConfig}: there are no names to update; add one below \`names:\`\n`,
    );
    return 2;
  }
  for (const warning of config.warnings) io.err(`warning: ${warning}\n`);
  if (options.check) return check(config, io);
  const state = await openState(config, !options.dryRun, io);
  if (!state) return 1;
  if (!options.dryRun && !options.once) return keepWatching(config, state, options, io);
  const { openUpdater } = await import("../../updater/updater.ts");
  const updater = await openUpdater(config, { state, now: Date.now, random: Math.random });
  try {
    return await (options.dryRun ? dryRun(updater, options, io) : once(updater, config, io));
  } finally {
    updater.close();
  }
}

function check(config: UpdaterConfig, io: CommandIo): number {
  const faults = programFaults(config);
  for (const fault of faults) io.err(`${config.file}: ${fault}\n`);
  if (faults.length > 0) return 2;
  io.out(`ok: ${config.file}\n`);
  for (const record of managedRecordsOf(config)) {
    const { displayName, target, spec } = record;
    const named = (source: string) => `${source} (${placeOf(config.sources.get(source))})`;
    const ttl = spec.ttl === undefined ? "" : `, ttl ${spec.ttl}`;
    io.out(`${displayName}: from ${describeSources(record, named)}`);
    io.out(`, written to ${target} (${hostOf(config.targets.get(target))})${ttl}\n`);
  }
  io.out(`${describeInterval(config)}; last addresses in ${config.stateFile}\n`);
  return 0;
}

/** The programs of `run:` and of sources that could not be started. */
function programFaults({ run, sources }: UpdaterConfig): readonly string[] {
  const commands = [...run, ...sources.values()].flatMap((each) =>
    "command" in each ? [each.command as Program] : [],
  );
  return commands.flatMap((command) => {
    const code = programFault(command);
    const file = printable(command.file);
    if (code === undefined) return [];
    if (code !== "ENOENT") return [`the program ${file} cannot be started (${code}); make it executable (chmod +x)`];
    return [`the program ${file} does not exist; correct the path, or write it with its arguments as a list`];
  });
}

const placeOf = (source: SourceConfig | undefined) => source?.url?.host ?? source?.kind ?? "";
const hostOf = (service: Partial<Endpoint> | undefined) => service?.url?.host ?? "";

async function dryRun(updater: Updater, { needsAddress }: UpdateOptions, io: CommandIo): Promise<number> {
  const { readings, results } = await updater.preview(io.signal);
  printGatewayFaults(readings, io);
  const summaries = results.map((result) => ({ record: result.record, summary: summarise(result, false) }));
  const code = printSummaries(summaries, io);
  return needsAddress ? exitCode(code, summaries) : code;
}

async function once(updater: Updater, { historyFile }: UpdaterConfig, io: CommandIo): Promise<number> {
  const round = await updater.round(io.signal);
  const { readings, results } = round;
  printGatewayFaults(readings, io);
  const history = openHistory(historyFile, (because) => io.err(`warning: the history cannot be written: ${because}\n`));
  // Logs nothing: the results are printed instead.
  const reporter = new Reporter(noLog, (notice) => history.add(notice, new Date()));
  if (io.signal.aborted) reporter.reportDone(round);
  else reporter.report(round);
  const summaries = results.map((result) => ({ record: result.record, summary: summarise(result, true) }));
  const code = exitCode(printSummaries(summaries, io), summaries);
  const confirmed = await Promise.all(results.map((result) => printConfirmation(result, io)));
  await history.settled();
  return confirmed.every(Boolean) ? code : 1;
}

function printGatewayFaults(readings: Round["readings"], io: CommandIo): void {
  for (const reading of readings.values()) {
    const fault = reading.kind === "report" ? reading.gatewayFault : undefined;
    if (fault) io.err(`warning: ${fault.because}; ${fault.todo}\n`);
  }
}

async function printConfirmation({ record, confirmation }: UpdateResult, io: CommandIo): Promise<boolean> {
  const outcome = await confirmation;
  if (outcome?.kind === "confirmed") io.out(`${record.displayName}: confirmed by DNS (servers: ${outcome.servers})\n`);
  if (outcome?.kind === "unconfirmed")
    io.out(`${record.displayName}: not confirmed by DNS: ${outcome.because}; ${outcome.todo}\n`);
  return outcome?.kind !== "unconfirmed";
}

type Summaries = readonly { readonly record: ManagedRecord; readonly summary: Summary }[];

/** A name without an address counts as a failure, whatever the reason. */
const exitCode = (code: number, summaries: Summaries): number =>
  summaries.some(({ summary: { kind } }) => kind === "none") ? 1 : code;

function printSummaries(summaries: Summaries, io: CommandIo): number {
  for (const { record, summary } of summaries) {
    const { what, because, todo } = summary;
    io.out(`${record.displayName}: ${what}: ${because}${todo ? `; ${todo}` : ""}\n`);
  }
  return summaries.some(({ summary: { kind } }) => kind === "failed" || kind === "waiting") ? 1 : 0;
}

async function keepWatching(
  config: UpdaterConfig,
  state: StateFile,
  options: UpdateOptions,
  io: CommandIo,
): Promise<number> {
  const lock = lockState(config);
  const [{ createLog }, { keepNames }] = await Promise.all([
    import("../../process/log.ts"),
    import("../../updater/keep-names.ts"),
  ]);
  const log = createLog({ format: options.logFormat ?? "text", write: io.err });
  log.info({ config: config.file, names: config.names.length, everySeconds: config.interval / 1000 }, "watching");
  const tools = {
    state,
    log,
    now: Date.now,
    random: Math.random,
    host: hostname(),
    env: io.env,
    reload: (instead?: string) => readTyped(options.config, io, instead),
    onRequest({ check, reload }: { readonly check: () => void; readonly reload: () => void }) {
      io.onSignal?.("SIGUSR1", check);
      io.onSignal?.("SIGHUP", reload);
    },
  };
  try {
    await keepNames(config, tools, io.signal);
  } finally {
    lock.close();
  }
  log.info("stopped");
  return 0;
}
