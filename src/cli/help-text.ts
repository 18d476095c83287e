import type { Command } from "commander";
import type { ListenAddress } from "../process/listen-address.ts";

/** Help says what a verb is for, and shows defaults as they would be typed. */
export function completeHelp(command: Command): void {
  if (command.description() === "") command.description(command.summary());
  for (const option of command.options) {
    const typed = asTyped(option.defaultValue);
    if (typed !== undefined) option.defaultValueDescription = typed;
  }
  for (const inner of command.commands) completeHelp(inner);
}

/** Undefined for what commander shows well by itself. */
function asTyped(value: unknown): string | undefined {
  if (Array.isArray(value)) return value.length === 0 ? "none" : value.join(" ");
  if (!isListenAddress(value)) return undefined;
  return `${value.host.includes(":") ? `[${value.host}]` : value.host}:${value.port}`;
}

const isListenAddress = (value: unknown): value is ListenAddress =>
  typeof value === "object" && value !== null && "host" in value && "port" in value;
