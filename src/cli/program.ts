import { Command, CommanderError } from "commander";
import type { CommandIo, Run } from "./io/command-io.ts";
import { fileTrouble } from "./io/file-trouble.ts";
import { describeOption, describeVerbs, helpFor } from "./io/help-text.ts";
import { addAdminVerbs } from "./verbs/admin.ts";
import { addClientVerbs } from "./verbs/client.ts";
import { addCompletion } from "./verbs/completion.ts";
import { addInitVerb } from "./verbs/init.ts";
import { addManageVerbs } from "./verbs/manage.ts";
import { addServiceVerbs } from "./verbs/service.ts";
import { addVersion } from "./verbs/version.ts";

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
