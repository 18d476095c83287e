import { join } from "node:path";
import type { CommandIo } from "../../src/cli/io/command-io.ts";
import { runMoor as runHere } from "../../src/cli/program.ts";
import { builtProgram } from "./bundle.ts";
import { openTerminal } from "./cli/terminal.ts";
import { type Namespace, node, repository, type StartOptions } from "./namespace.ts";
import type { Ended, StartedProcess } from "./started-process.ts";

const program = () => [node, builtProgram()] as const;

export const startMoor = (inside: Namespace, words: readonly string[], options: StartOptions = {}): StartedProcess =>
  inside.start([...program(), ...words], options);

export const runMoor = (inside: Namespace, words: readonly string[], options: StartOptions = {}): Promise<Ended> =>
  inside.run([...program(), ...words], options);

/**
 * Runs several commands in one process, and returns how each ended. Loading the program is most of what a short command
 * does; that each can be run alone is the claim of other tests.
 */
export async function runEachMoor(
  inside: Namespace,
  commands: readonly (readonly string[])[],
  options: StartOptions = {},
): Promise<readonly Ended[]> {
  const script = join(repository, "test", "rig", "commands-process.ts");
  const words = commands.map((command) => JSON.stringify(command));
  const { out, err } = await inside.run([node, script, builtProgram(), ...words], options);
  const ended = out.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line) as Ended]));
  if (ended.length < commands.length) throw new Error(`moor ${commands[ended.length]?.join(" ")}: ${err}`);
  return ended;
}

/** For preparing a test: throws if the exit code is not 0. */
export async function prepareWithMoor(inside: Namespace, words: readonly string[]): Promise<Ended> {
  const ended = await runMoor(inside, words);
  if (ended.code !== 0) throw new Error(`moor ${words.join(" ")} exited with ${ended.code}: ${ended.err}`);
  return ended;
}

/**
 * Runs a command of the operator in this process, because another one takes ten times as long. Throws if the exit code
 * is not 0.
 */
export async function administer(
  words: readonly string[],
  env: CommandIo["env"] = {},
): Promise<Pick<Ended, "out" | "err">> {
  const { io, printed } = openTerminal(repository);
  const code = await runHere(words, { ...io, env });
  if (code !== 0) throw new Error(`moor ${words.join(" ")} exited with ${code}: ${printed.err}`);
  return printed;
}

/** Every line of `moor up` below "What you can do next" that is neither empty nor a comment. */
export const worthTyping = (said: string): readonly string[] =>
  (/What you can do next.*\n([\s\S]*)\nCtrl-C/.exec(said)?.[1] ?? "").split("\n").filter((line) => /^[^#]/.test(line));
