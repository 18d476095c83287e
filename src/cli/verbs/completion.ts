import type { Command } from "commander";
import type { CommandIo } from "../io/command-io.ts";

const summary = "Prints a completion script for bash, zsh, fish or powershell.";

/** `moor complete bash|zsh|fish|powershell` prints a script; the script asks `moor complete -- words…` at each Tab. */
export async function addCompletion(program: Command, argv: readonly string[], io: CommandIo): Promise<void> {
  if (argv[0] !== "complete") {
    program.command("complete").description(summary).argument("[shell]");
    return;
  }
  // The shell reads one suggestion per line, so a description must not have two.
  for (const command of program.commands) command.description(command.summary() || command.description());
  const { default: tab } = await import("@bomb.sh/tab/commander");
  const root = tab(program);
  if (argv[1] === "--") await (await import("./suggest.ts")).addSuggestions(root, argv.slice(2), io);
  program.commands.find((command) => command.name() === "complete")?.description(summary);
  // The library prints to the console, either a line or a whole script per call.
  const { log } = console;
  const corrected = createCorrection();
  program.hook("preAction", () => {
    console.log = (text: string) => io.out(`${corrected(text)}\n`);
  });
  program.hook("postAction", () => {
    console.log = log;
  });
}

/**
 * `:4` keeps the shell from completing file names, so it is printed only after suggestions. A readonly variable would
 * make bash fail when the script is sourced again.
 */
function createCorrection(): (text: string) => string {
  let lines = 0;
  return (text) => {
    lines += 1;
    if (text === ":4" && lines === 1) return ":0";
    return text.replaceAll(/^readonly (?=ShellComp)/gm, "").replace(/^complete -F /m, "complete -o default -F ");
  };
}
