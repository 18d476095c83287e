import { builtProgram } from "./bundle.ts";
import { type Namespace, node, type StartOptions } from "./namespace.ts";
import type { Ended, StartedProcess } from "./started-process.ts";

const program = () => [node, builtProgram()] as const;

export const startMoor = (inside: Namespace, words: readonly string[], options: StartOptions = {}): StartedProcess =>
  inside.start([...program(), ...words], options);

export const runMoor = (inside: Namespace, words: readonly string[], options: StartOptions = {}): Promise<Ended> =>
  inside.run([...program(), ...words], options);

/** For preparing a test: throws if the exit code is not 0. */
export async function prepareWithMoor(inside: Namespace, words: readonly string[]): Promise<Ended> {
  const ended = await runMoor(inside, words);
  if (ended.code !== 0) throw new Error(`moor ${words.join(" ")} exited with ${ended.code}: ${ended.err}`);
  return ended;
}

/** Every line of `moor up` below "What you can do next" that is neither empty nor a comment. */
export const worthTyping = (said: string): readonly string[] =>
  (/What you can do next.*\n([\s\S]*)\nCtrl-C/.exec(said)?.[1] ?? "").split("\n").filter((line) => /^[^#]/.test(line));
