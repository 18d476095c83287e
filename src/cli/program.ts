import { execFileSync } from "node:child_process";
import { basename, dirname } from "node:path";
import { Command, CommanderError } from "commander";
import { version } from "../process/shipped-files.ts";
import type { CommandIo, Run } from "./io/command-io.ts";
import { describeOption, describeVerbs, helpFor } from "./io/help-text.ts";
import { addAdminVerbs } from "./verbs/admin.ts";
import { addClientVerbs } from "./verbs/client.ts";
import { addCompletion } from "./verbs/completion.ts";
import { addInitVerb } from "./verbs/init.ts";
import { addManageVerbs } from "./verbs/manage.ts";
import { addServiceVerbs } from "./verbs/service.ts";

/** 0: success. 1: the command failed. 2: the command line is not valid. */
export async function runMoor(argv: readonly string[], io: CommandIo): Promise<number> {
  try {
    const verb = await chooseVerb(argv, io);
    return await verb();
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    io.err(`moor: ${fileTrouble(error) ?? (error instanceof Error ? error.message : String(error))}\n`);
    return 1;
  }
}

/** Returns the verb instead of running it, so that the parser can be freed first: some verbs run for months. */
async function chooseVerb(argv: readonly string[], io: CommandIo): Promise<() => Promise<number>> {
  let chosen = async () => 0;
  const program = createProgram(io, async (verb) => {
    chosen = verb;
  });
  await addCompletion(program, argv, io);
  if (asksForHelp(argv)) helpFor(program, argv);
  await program.parseAsync(argv, { from: "user" });
  return chosen;
}

/** The words after `--` are words to complete. */
const asksForHelp = (argv: readonly string[]): boolean =>
  argv[0] === "help" || (["-h", "--help"].includes(argv.at(-1) ?? "") && !argv.includes("--"));

export function createProgram(io: CommandIo, run: Run): Command {
  const program = new Command("moor")
    .description("Keeps a DNS name pointing at an address that changes.")
    .configureOutput({ writeOut: io.out, writeErr: io.err })
    .configureHelp({ optionDescription: describeOption })
    .exitOverride()
    .helpCommand("help [command]", "Shows what a command does, and its options.");
  addVersion(program, io);
  addServiceVerbs(program, io, run);
  addClientVerbs(program, io, run);
  addInitVerb(program, io, run);
  addManageVerbs(program, io, run);
  addAdminVerbs(program, io, run);
  describeVerbs(program);
  return program;
}

/** What is wrong with a file that was to be read or written, in words; undefined for any other error. */
function fileTrouble(error: unknown): string | undefined {
  const { code = "", path } = error instanceof Error ? (error as NodeJS.ErrnoException) : {};
  const because = causes[code];
  if (path === undefined || because === undefined) return undefined;
  return `${path} ${because}${basename(path) === "-" && code === "ENOENT" ? notStandardInput : ""}`;
}

const causes: Readonly<Record<string, string>> = {
  ENOENT: "does not exist",
  ENOTDIR: "does not exist: a part of the path is a file",
  EISDIR: "is a folder; give a file",
  EACCES: "cannot be opened: permission denied; run the command as a user who may",
  EPERM: "cannot be changed: permission denied; run the command as a user who may",
  EROFS: "cannot be written: its file system is read-only",
};

const notStandardInput = "; - does not mean standard input here, give the path of a file";

/** `moor --version`: the version, and what else a bug report needs. */
function addVersion(program: Command, io: CommandIo): void {
  program.option("-V, --version", "output the version number").on("option:version", () => {
    io.out(`${version} (commit ${io.commit ?? commitOf(io.script)}, Node ${process.versions.node})\n`);
    throw new CommanderError(0, "commander.version", version);
  });
}

function commitOf(script: string | undefined): string {
  if (script === undefined) return "unknown";
  try {
    const words = ["-C", dirname(script), "rev-parse", "--short=12", "HEAD"];
    return execFileSync("git", words, { encoding: "utf8", stdio: "pipe" }).trim();
  } catch {
    return "unknown";
  }
}
