import { longestHistory, readHistory } from "../../updater/report/history.ts";
import type { CommandIo } from "../io/command-io.ts";
import { printTable } from "../io/print-table.ts";
import { loadConfigInUse } from "./load-config.ts";

export type HistoryOptions = {
  readonly config?: string | undefined;
  readonly json?: boolean | undefined;
  readonly last?: number | undefined;
};

/** `moor history`: the decisions of the updater that acted or failed, newest last. */
export async function history(options: HistoryOptions, io: CommandIo): Promise<number> {
  const config = loadConfigInUse(options.config, io);
  if (!config) return 2;
  const entries = (await readHistory(config.historyFile)).slice(-(options.last ?? longestHistory));
  if (options.json) {
    io.out(`${JSON.stringify(entries, undefined, 2)}\n`);
    return 0;
  }
  if (entries.length === 0) {
    io.out("there are no updates or failures yet\n");
    return 0;
  }
  const rows = entries.map(({ at, about, what, because = "" }) => [
    at.slice(0, 19).replace("T", " "),
    about,
    what,
    because,
  ]);
  io.out(printTable(["TIME (UTC)", "ABOUT", "WHAT", "WHY"], rows));
  return 0;
}
