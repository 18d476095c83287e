import { type Command, Help, type Option } from "commander";
import { bracketed } from "../../core/addresses/address.ts";
import { nearest } from "../../core/names/nearest.ts";
import type { ListenAddress } from "../../lib/http/listen.ts";

/** Gives each verb a description, and makes a usage error point to the help of its verb. */
export function describeVerbs(command: Command, path = command.name()): void {
  if (command.description() === "") command.description(command.summary());
  command.showHelpAfterError(`(see ${path} --help)`);
  for (const inner of command.commands) describeVerbs(inner, `${path} ${inner.name()}`);
}

/** `moor help store backup`. Commander's own help command ignores a word that it does not know. */
export function helpFor(program: Command, words: readonly string[]): never {
  let command = program;
  for (const word of words.filter((each) => !/^-|^help$/.test(each))) {
    if (command.commands.length === 0) break;
    const inner = command.commands.find((each) => each.name() === word);
    if (inner === undefined) {
      const meant = nearest(
        word,
        command.commands.map((each) => each.name()),
      );
      return command.error(`error: unknown command '${word}'${meant ? `\n(Did you mean ${meant}?)` : ""}`);
    }
    command = inner;
  }
  return command.help();
}

/** Shows a default as you would type it; an empty list is no default. */
export function describeOption(option: Option): string {
  const { defaultValue: value, description } = option;
  if (Array.isArray(value) && value.length === 0) return description;
  if (!isListenAddress(value)) return new Help().optionDescription(option);
  return `${description} (default: ${bracketed(value.host)}:${value.port})`;
}

const isListenAddress = (value: unknown): value is ListenAddress =>
  typeof value === "object" && value !== null && "host" in value && "port" in value;
