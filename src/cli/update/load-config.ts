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

export const defaultConfig = "moor.yaml";

/** Undefined after printing the faults of the config. */
export function loadConfig(file: string | undefined, io: CommandIo): UpdaterConfig | undefined {
  const read = readTyped(file, io);
  if (read.ok) return read.value;
  printFaults(read.faults, io);
  return undefined;
}

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
  const read = readConfig(file, io.env, io.cwd, instead);
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
