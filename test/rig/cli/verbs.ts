import { runMoor } from "../../../src/cli/program.ts";
import { openTerminal } from "./terminal.ts";

/** A verb as its help shows it. */
export type Verb = {
  readonly verb: string;
  readonly options: readonly Option[];
  /** `<id>` is required, `[file]` is not. */
  readonly args: readonly string[];
  readonly isGroup: boolean;
};

export type Option = { readonly name: string; readonly takes: "nothing" | "a value" | "perhaps a value" };

async function help(verb: readonly string[]): Promise<string> {
  const { io, printed } = openTerminal("/");
  await runMoor([...verb, "--help"], io);
  return printed.out + printed.err;
}

/** `path` itself and all verbs below it. */
export async function verbsAt(path: readonly string[] = []): Promise<readonly Verb[]> {
  const [own = "", below = ""] = (await help(path)).split("\nCommands:\n");
  const names = [...below.matchAll(/^ {2}([a-z-]+)/gm)].flatMap(([, name = ""]) => (name === "help" ? [] : [name]));
  const options = [...own.matchAll(/^ {2}(--[a-z0-9-]+)(?: (<|\[))?/gm)].map(([, name = "", value]): Option => {
    return { name, takes: value === undefined ? "nothing" : value === "<" ? "a value" : "perhaps a value" };
  });
  const usage = /^Usage: moor(.*)$/m.exec(own)?.[1] ?? "";
  const args = [...usage.matchAll(/(<[a-z.]+>|\[[a-z.]+\])/g)]
    .map(([arg]) => arg)
    .filter((arg) => !/options|command/.test(arg));
  const inner = await Promise.all(names.map((name) => verbsAt([...path, name])));
  return [{ verb: path.join(" "), options, args, isGroup: names.length > 0 }, ...inner.flat()];
}
