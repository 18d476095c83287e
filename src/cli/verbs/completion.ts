import type { Command } from "commander";
import type { CommandIo } from "../io/command-io.ts";

const summary = "shell completion: a script for bash, zsh, fish or powershell";

/** `moor complete bash|zsh|fish|powershell` prints a script; the script asks `moor complete -- words…` at each Tab. */
export async function addCompletion(program: Command, argv: readonly string[], io: CommandIo): Promise<void> {
  if (argv[0] !== "complete") {
    program.command("complete").summary(summary).argument("[shell]");
    return;
  }
  // Told to the shell line by line, so nothing may have two.
  for (const command of program.commands) command.description(command.summary() || command.description());
  const { default: tab } = await import("@bomb.sh/tab/commander");
  tab(program);
  program.commands.find((command) => command.name() === "complete")?.description(summary);
  // The library prints by itself, line by line or a script at once.
  const { log } = console;
  const mended = createMender();
  program.hook("preAction", () => {
    console.log = (text: string) => io.out(`${mended(text)}\n`);
  });
  program.hook("postAction", () => {
    console.log = log;
  });
}

/**
 * Where nothing is suggested the shell shall look for files, so `:4`, which forbids that, stands behind suggestions only. What
 * is read-only in bash cannot be read a second time.
 */
function createMender(): (text: string) => string {
  let lines = 0;
  return (text) => {
    lines += 1;
    if (text === ":4" && lines === 1) return ":0";
    return text.replaceAll(/^readonly (?=ShellComp)/gm, "").replace(/^complete -F /m, "complete -o default -F ");
  };
}
