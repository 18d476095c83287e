import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { nearest } from "../../core/names/nearest.ts";
import { ok, type Result } from "../../core/result.ts";
import { shellWord } from "../../core/shell-word.ts";
import { lockFor } from "../../lib/sqlite/sole.ts";
import type { UpdaterConfig } from "../../updater/config/config.ts";
import { readConfig } from "../../updater/read-config.ts";
import { openStateFile, type StateFile } from "../../updater/round/state-file.ts";
import type { CommandIo } from "../io/command-io.ts";
import { printFaults } from "../io/print-faults.ts";
import { atVariables, configFromEnvironment } from "./environment.ts";

export const defaultConfig = "moor.yaml";

/** Undefined after printing the faults of the config. */
export function loadConfig(file: string | undefined, io: CommandIo): UpdaterConfig | undefined {
  const read = readTyped(file, io);
  if (read.ok) return read.value;
  printFaults(read.faults, io);
  return undefined;
}

/**
 * For commands that only ask: without a config that is typed or in this folder, it is that of `moor up`, which may be
 * running here.
 */
export const loadConfigInUse = (file: string | undefined, io: CommandIo): UpdaterConfig | undefined =>
  loadConfig(isElsewhere(file, io) ? trialConfig : file, io);

const isElsewhere = (file = defaultConfig, io: CommandIo): boolean =>
  isMissing(file, io) && !isMissing(trialConfig, io) && configFromEnvironment(io.env) === undefined;

/** Only the default may be another file. */
const isMissing = (file: string, { cwd }: CommandIo): boolean =>
  (file === defaultConfig || file === trialConfig) && !existsSync(resolve(cwd, file));

const trialConfig = "moor-data/up.yaml";

/** The stored addresses; undefined after printing why they cannot be used. */
export async function openState(config: UpdaterConfig, write: boolean, io: CommandIo): Promise<StateFile | undefined> {
  const opened = await openStateFile(config.stateFile, Date.now(), { write });
  if (opened.kind === "unusable") {
    io.err(`${opened.because}; ${opened.todo}\n`);
    return undefined;
  }
  if (opened.warning) io.err(`warning: ${opened.warning}\n`);
  return opened.state;
}

/** For the life of an updater that keeps watching: a second one on the same state file is refused. */
export const lockState = ({ stateFile }: UpdaterConfig): { readonly close: () => void } =>
  lockFor(
    `${stateFile}.lock`,
    `another updater uses the state file ${stateFile}; stop it, or choose another file with \`state:\` in the config`,
  );

/** Reads the config so that commands in its messages have the right `--config` and `--target`. */
export function readTyped(file = defaultConfig, io: CommandIo, instead?: string): Result<UpdaterConfig> {
  const read = instead === undefined ? readFileOrEnvironment(file, io) : readConfig(file, io.env, io.cwd, instead);
  if (!read.ok) return read;
  const config = file === defaultConfig ? [] : [`--config ${shellWord(file)}`];
  const targets = [...read.value.targets].map(([name, target]) => {
    const flags = [...config, ...(read.value.targets.size > 1 ? [`--target ${shellWord(name)}`] : [])];
    const typed = {
      ...(io.program !== "moor" && { program: io.program }),
      ...(flags.length > 0 && { flags: flags.join(" ") }),
    };
    return [name, { ...target, ...typed }] as const;
  });
  return ok({ ...read.value, targets: new Map(targets) });
}

function readFileOrEnvironment(file: string, io: CommandIo): Result<UpdaterConfig> {
  const asked = file === defaultConfig ? configFromEnvironment(io.env) : undefined;
  if (asked === undefined) return readConfig(file, io.env, io.cwd);
  if (!isMissing(file, io)) {
    const read = readConfig(file, io.env, io.cwd);
    const ignored = `${file} counts, not the variables MOOR_TARGET and MOOR_NAMES; remove the file or the variables`;
    return read.ok ? ok({ ...read.value, warnings: [...read.value.warnings, ignored] }) : read;
  }
  if (!asked.ok) return asked;
  const read = readConfig(file, io.env, io.cwd, asked.value.text);
  return read.ok ? read : { ok: false, faults: atVariables(read.faults, asked.value) };
}

/** The entry of that name, or the only one; undefined after printing what is wrong. */
export function pickOne<T>(
  kind: "source" | "target",
  entries: ReadonlyMap<string, T>,
  wanted: string | undefined,
  { file, io }: { readonly file: string; readonly io: CommandIo },
): T | undefined {
  const names = [...entries.keys()];
  const only = names.length === 1 ? names[0] : undefined;
  const entry = entries.get(wanted ?? only ?? "");
  if (entry !== undefined) return entry;
  const shown = resolve(io.cwd, file);
  if (names.length === 0) io.err(`${shown} has no ${kind}s; add one below \`${kind}s:\`\n`);
  else if (wanted === undefined) io.err(`there are several ${kind}s; choose one with --${kind}: ${names.join(", ")}\n`);
  else {
    const meant = nearest(wanted, names);
    const hint = meant ? `; did you mean ${meant}?` : "";
    io.err(`there is no ${kind} ${wanted}; choose from ${names.join(", ")}${hint}\n`);
  }
  return undefined;
}
