import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Argument, Command } from "commander";
import { describeOption } from "../src/cli/io/help-text.ts";
import { createProgram } from "../src/cli/program.ts";
import { addCompletion } from "../src/cli/verbs/completion.ts";
import { version } from "../src/process/shipped-files.ts";

/**
 * Writes the version, the synopsis and all commands into the man page, from the help texts; the other sections are
 * written by hand. Run it after changing a help text: npx node scripts/describe-commands.ts [FOLDER]
 */
const repository = join(import.meta.dirname, "..");
const file = "packaging/man/moor.1";
const folder = process.argv[2] ?? repository;

const sections: readonly (readonly [heading: string, commands: readonly string[]])[] = [
  ["THE UPDATER", ["update", "init", "status", "history", "interfaces"]],
  ["THE SERVICES", ["up", "records", "firewall"]],
  // All others.
  ["ADMINISTRATION", []],
  ["THE SHELL", ["complete"]],
];

const escaped = (text: string): string =>
  text
    .replaceAll("\\", "\\e")
    .replaceAll("-", "\\-")
    .replaceAll("…", "...")
    .replace(/^(?=[.'])/, "\\&");
const bold = (text: string): string => `\\fB${escaped(text)}\\fR`;
const italic = (text: string): string => `\\fI${escaped(text.toUpperCase())}\\fR`;

/** Options are bold, and what `<these>` stand for is in italics. */
const sentence = (text: string): string =>
  text
    .split(/(--[a-z0-9-]+|<[^>]+>)/)
    .map((part, at) => (at % 2 === 0 ? escaped(part) : part.startsWith("<") ? italic(part.slice(1, -1)) : bold(part)))
    .join("");

const argument = (each: Argument): string => (each.required ? italic(each.name()) : `[${italic(each.name())}]`);

/** `--config <file>`, `--host [address]`, `--json`. */
function flags(text: string): string {
  const [name = "", value = ""] = text.split(/ (.*)/);
  const inner = italic(value.slice(1, -1));
  return [escaped(name), value === "" ? "" : value.startsWith("<") ? inner : `[${inner}]`].filter(Boolean).join(" ");
}

function describe(command: Command, path: string): string {
  const args = command.registeredArguments;
  return [
    `.SS ${[escaped(path), ...args.map(argument)].join(" ")}`,
    sentence(command.description()),
    ...args.flatMap((each) =>
      each.description ? [".TP", `.I ${each.name().toUpperCase()}`, sentence(each.description)] : [],
    ),
    ...command.options.flatMap((option) => [".TP", `.B ${flags(option.flags)}`, sentence(describeOption(option))]),
    ...command.commands.map((inner) => describe(inner, `${path} ${inner.name()}`)),
  ].join("\n");
}

function synopsis(command: Command): string {
  const inner = command.commands.map((each) => bold(each.name())).join(" | ");
  const words = [...command.registeredArguments.map(argument), command.options.length > 0 && "[\\fIOPTIONS\\fR]"];
  return `.B ${escaped(`moor ${command.name()}`)}\n${inner || words.filter(Boolean).join(" ")}`;
}

/** The page with `text` instead of what is from the first heading to the other one. */
function replaceFrom(page: string, first: string, next: string, text: string): string {
  const [start, end] = [page.indexOf(`\n.SH ${first}\n`), page.indexOf(`\n.SH ${next}\n`)];
  if (start < 0 || end < start) throw new Error(`${file} must have the headings ${first} and ${next}, in this order`);
  return `${page.slice(0, start)}\n${text}${page.slice(end)}`;
}

const ignore = () => undefined;
const io = { program: "moor", env: {}, cwd: "/", signal: new AbortController().signal, out: ignore, err: ignore };
const program = createProgram(io, async () => undefined);
await addCompletion(program, [], io);
/** Without earlier names of a command. */
const shown = program
  .createHelp()
  .visibleCommands(program)
  .filter((command) => command.name() !== "help");
const all = shown.map((command) => command.name());
const others = all.filter((name) => !sections.some(([, names]) => names.includes(name)));

const section = (names: readonly string[]): string =>
  (names.length > 0 ? names : others)
    .flatMap((name) => shown.filter((command) => command.name() === name))
    .map((command) => describe(command, `moor ${command.name()}`))
    .join("\n");

const usages = [...shown.map(synopsis), ".B moor help\n[\\fICOMMAND\\fR]"].join("\n.br\n");
const commands = sections.map(([heading, names]) => `.SH ${heading}\n${section(names)}`).join("\n");

const page = readFileSync(join(repository, file), "utf8").replace(/(?<=^\.TH .*)"moor [^"]*"/m, `"moor ${version}"`);
mkdirSync(dirname(join(folder, file)), { recursive: true });
writeFileSync(
  join(folder, file),
  replaceFrom(
    replaceFrom(page, "SYNOPSIS", "DESCRIPTION", `.SH SYNOPSIS\n${usages}`),
    "THE UPDATER",
    "SIGNALS",
    commands,
  ),
);
