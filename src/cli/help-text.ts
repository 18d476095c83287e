import { type Command, Help, type Option } from "commander";
import type { ListenAddress } from "../process/listen-address.ts";

/** Help says what a verb is for. */
export function describeVerbs(command: Command): void {
  if (command.description() === "") command.description(command.summary());
  for (const inner of command.commands) describeVerbs(inner);
}

/** A default as it would be typed; an empty list is none. */
export function describeOption(option: Option): string {
  const { defaultValue: value, description } = option;
  if (Array.isArray(value) && value.length === 0) return description;
  if (!isListenAddress(value)) return new Help().optionDescription(option);
  return `${description} (default: ${value.host.includes(":") ? `[${value.host}]` : value.host}:${value.port})`;
}

const isListenAddress = (value: unknown): value is ListenAddress =>
  typeof value === "object" && value !== null && "host" in value && "port" in value;
