import { mkdirSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { runMoor } from "../../src/cli/program.ts";
import { openTerminal } from "../rig/cli/terminal.ts";
import { type Verb, verbsAt } from "../rig/cli/verbs.ts";
import { lineAt, pages } from "./pages.ts";
import { commandsOf } from "./shell.ts";

type Command = { readonly at: string; readonly words: readonly string[] };

const verbs = new Map((await verbsAt()).map((verb) => [verb.verb, verb]));

/** The commands of moor in the shell blocks of a page, in their order. */
const typed = pages.map(({ path, blocks }) => ({
  path,
  commands: blocks
    .filter(({ language }) => language === "sh")
    .flatMap((block) => commandsOf(block))
    .filter(({ words }) => words[0] === "moor")
    .map(({ words, line }): Command => ({ at: `${path}:${line}`, words: words.slice(1) })),
}));

/** Commands that the text names, such as `moor store backup FILE`. They may leave out arguments and values. */
const named: readonly Command[] = pages.flatMap(({ path, prose }) =>
  [...prose.matchAll(/`moor ([^`]*)`/g)].map(({ index, 1: words = "" }) => ({
    at: `${path}:${lineAt(prose, index)}`,
    words: words
      .replace(/…[\s\S]*/, "")
      .split(/\s+/)
      .filter(Boolean),
  })),
);

function verbOf(words: readonly string[]): Verb | undefined {
  const two = verbs.get(words.slice(0, 2).join(" "));
  return two ?? verbs.get(words[0] ?? "");
}

/** What is wrong with a command, as far as the help tells. */
function faultsOf({ at, words }: Command, { whole }: { readonly whole: boolean }): readonly string[] {
  // The one option that moor has without a command.
  if (words.join(" ") === "--version") return [];
  const verb = verbOf(words);
  const line = `${at}: moor ${words.join(" ")}`;
  if (verb === undefined || (whole && verb.isGroup)) return [`${line}: no such command`];
  const rest = words.slice(verb.verb.split(" ").length);
  const faults: string[] = [];
  let args = 0;
  for (let index = 0; index < rest.length; index++) {
    const word = rest[index] ?? "";
    const option = verb.options.find(({ name }) => name === word);
    if (!word.startsWith("--")) args += 1;
    else if (option === undefined) faults.push(`${line}: no option ${word}`);
    else if (option.takes !== "nothing" && rest[index + 1]?.startsWith("--") === false) index += 1;
    else if (option.takes === "a value" && whole) faults.push(`${line}: ${word} without a value`);
  }
  const least = verb.args.filter((arg) => arg.startsWith("<")).length;
  if (whole && args < least) faults.push(`${line}: an argument is missing`);
  const takesMore = verb.args.some((arg) => arg.includes("..."));
  if (!verb.isGroup && !takesMore && args > verb.args.length) faults.push(`${line}: too many arguments`);
  return faults;
}

describe("commands in the docs", () => {
  it("are those that moor has, with its options", () => {
    const all = typed.flatMap(({ commands }) => commands);
    expect(all.length).toBeGreaterThan(60);
    expect(all.flatMap((command) => faultsOf(command, { whole: true }))).toEqual([]);
  });

  it("are those that moor has in running text too", () => {
    expect(named.length).toBeGreaterThan(80);
    expect(named.flatMap((command) => faultsOf(command, { whole: false }))).toEqual([]);
  });

  it.each([
    ["stroe check", ["x: moor stroe check: no such command"]],
    ["token", ["x: moor token: no such command"]],
    [
      "token add --nmae x",
      ["x: moor token add --nmae x: no option --nmae", "x: moor token add --nmae x: too many arguments"],
    ],
    ["store backup", ["x: moor store backup: an argument is missing"]],
    ["records --listen --catalog", ["x: moor records --listen --catalog: --listen without a value"]],
  ])("that moor does not have are noticed: %s", (line, faults) => {
    expect(faultsOf({ at: "x", words: line.split(" ") }, { whole: true })).toEqual(faults);
  });
});

/** These need a firewall, a record service or PostgreSQL; other tests start those, and run these commands. */
const needsOthers =
  /^zone (publish|unpublish|set|state) |(take-theirs|put-ours-back) |^zone import .*--from |^record list (?!.*--data)|^(init|update|interfaces|status|history|up)\b|postgres:/;

/** These are only checked against the help: in the folder of their page they would fail, for the given reason. */
const onlyRead: ReadonlyMap<string, string> = new Map([
  ["grant revoke 7 --data /var/lib/moor-records", "there is no grant 7"],
  [
    "grant add dev.alpha.test --account bob --zone alpha.test --data /var/lib/moor-records",
    "there is no zone alpha.test",
  ],
  ["transfer-key add NAME --secret-file FILE", "a form"],
  ...["on", "roll", "off", "resign"].map(
    (verb) => [`dnssec ${verb} example.org`, "there is no zone example.org"] as const,
  ),
  // test/nameserver/moving-signed-zones.test.ts runs these.
  ...[
    "on example.org --key Kexample.org.+013+12345.private --also-publish example.org.keys",
    "on example.org --also-publish example.org.keys",
    "publish example.org example.org.keys",
    ...["denial example.org nsec3", "ignore-silent example.org"],
    ...["withdraw example.org", "export example.org --to keys"],
  ].map((words) => [`dnssec ${words}`, "there is no zone example.org"] as const),
]);

/** Creates what a service that the page starts with systemd would have created. */
const before: ReadonlyMap<string, readonly string[]> = new Map([
  ["docs/getting-started.md", ["firewall", "--data", "/var/lib/moor-firewall", "--listen", "127.0.0.1:0"]],
  ["docs/keep-your-provider.md", ["token", "add", "--new", "--data", "/var/lib/moor-records"]],
  ["docs/operations.md", ["token", "add", "--new", "--data", "/var/lib/moor-records"]],
]);

const addressOptions = new Set(["--listen", "--dns", "--metrics"]);

/** They listen at a port of their own if the command names none. */
const services = new Set(["records", "firewall"]);

/** The command for this machine: any port of loopback, and absolute paths inside the folder. */
function local(words: readonly string[], folder: string): readonly string[] {
  const isService = services.has(words[0] ?? "") && !words.includes("--listen");
  return [...words, ...(isService ? ["--listen", "127.0.0.1:0"] : [])].map((word, index, all) => {
    if (addressOptions.has(all[index - 1] ?? "")) return "127.0.0.1:0";
    if (all[index - 1] === "--notify") return word.replace(/^192\.0/, "127.0");
    return word.replaceAll(/^\/(?=etc|var|run)/g, `${folder}/`).replaceAll(/\$\([^)]*\)/g, "now");
  });
}

/** Runs a command to its end; a service only until it says that it listens. */
async function runIn(
  folder: string,
  words: readonly string[],
): Promise<{ readonly code: number; readonly said: string }> {
  for (const word of words) if (word.startsWith(`${folder}/`)) mkdirSync(dirname(word), { recursive: true });
  const stop = new AbortController();
  const { io, printed } = openTerminal(folder, stop.signal);
  const out = (text: string) => {
    io.out(text);
    if (/listens on/.test(text)) stop.abort();
  };
  const code = await runMoor(words, { ...io, out });
  return { code, said: printed.out + printed.err };
}

describe("commands in the docs run", () => {
  const runnable = typed
    .map(({ path, commands }) => ({
      path,
      commands: commands.filter(({ words }) => !needsOthers.test(words.join(" "))),
    }))
    .filter(({ commands }) => commands.length > 0);

  it.each(runnable)("of $path, in their order", async ({ path, commands }) => {
    const folder = mkdtempSync(join(tmpdir(), "moor-docs-"));
    await runIn(folder, local(before.get(path) ?? ["help"], folder));
    const failed: string[] = [];
    for (const { at, words } of commands) {
      if (onlyRead.has(words.join(" "))) continue;
      const { code, said } = await runIn(folder, local(words, folder));
      if (code !== 0) failed.push(`${at}: moor ${words.join(" ")}: ${said}`);
    }
    expect(failed).toEqual([]);
  });
});
