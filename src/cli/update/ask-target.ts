import type { Lookup, RecordTarget } from "../../updater/targets/target.ts";
import { openTarget } from "../../updater/targets/targets.ts";
import type { CommandIo } from "../io/command-io.ts";
import { loadConfig, pickOne } from "./load-config.ts";

export type TargetOptions = {
  readonly config?: string | undefined;
  readonly target?: string | undefined;
  readonly json?: boolean | undefined;
};

/** Asks the chosen record service one question and prints the answer: a table for people, JSON for programs. */
export async function askTarget<T>(
  options: TargetOptions,
  io: CommandIo,
  ask: (target: RecordTarget, signal: AbortSignal) => Promise<Lookup<T>>,
  print: (value: T) => string,
): Promise<number> {
  const config = loadConfig(options.config, io);
  const chosen = config && pickOne("target", config.targets, options.target, { file: config.file, io });
  if (!config || !chosen) return 2;
  for (const warning of config.warnings) io.err(`warning: ${warning}\n`);
  const target = await openTarget(chosen);
  try {
    const answer = await ask(target, io.signal);
    if (answer.kind !== "found") {
      io.err(`${answer.because}; ${answer.todo}\n`);
      return 1;
    }
    io.out(options.json ? `${JSON.stringify(answer.value, undefined, 2)}\n` : print(answer.value));
    return 0;
  } finally {
    target.close();
  }
}
