import type { Command } from "commander";

/** `moor complete bash|zsh|fish|powershell` prints a script; the script asks `moor complete -- words…` at each Tab. */
export async function addCompletion(program: Command, argv: readonly string[]): Promise<void> {
  if (argv[0] !== "complete") {
    program
      .command("complete")
      .summary("shell completion: a script for bash, zsh, fish or powershell")
      .argument("[shell]");
    return;
  }
  // Told to the shell line by line, so nothing may have two.
  for (const command of program.commands) command.description(command.summary() || command.description());
  const { default: tab } = await import("@bomb.sh/tab/commander");
  tab(program);
}
