import { type Command, InvalidArgumentError, Option } from "commander";

/** A year of changes, plus a month to notice that something is missing. */
const usualHistory = 400 * 86_400_000;

const units: Readonly<Record<string, number>> = { h: 3_600_000, d: 86_400_000, w: 604_800_000, y: 31_536_000_000 };

/** `400d`, `12h`, `2y` in milliseconds, one hour at least; `forever` is infinite. */
export function readKeepHistory(text: string): number {
  if (text === "forever") return Number.POSITIVE_INFINITY;
  const [, count, unit = ""] = /^([1-9]\d{0,4})([hdwy])$/.exec(text) ?? [];
  const length = Number(count) * (units[unit] ?? Number.NaN);
  if (Number.isNaN(length)) throw new InvalidArgumentError("It must be a time such as 400d, 26w or 2y, or forever.");
  return length;
}

const option = (description: string): Option =>
  new Option("--keep-history <time>", description).argParser(readKeepHistory);

export const keepHistoryOption = (command: Command): Command =>
  command.addOption(option("how long to keep changes, such as 90d or 2y, or forever").default(usualHistory, "400d"));

/** Without a default: only the service knows how long it keeps them. */
export const dropHistoryOption = (command: Command): Command =>
  command.addOption(
    option("drop changes that are older than this, such as 90d or 2y (without it, nothing is dropped)"),
  );
