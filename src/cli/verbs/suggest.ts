import type { ArgumentHandler, RootCommand } from "@bomb.sh/tab";
import { recordTypes } from "../../core/rdata/table.ts";
import type { CommandIo } from "../io/command-io.ts";
import type { ManageOptions } from "../manage/records-api.ts";

/** Milliseconds: somebody has pressed Tab and waits. */
const longest = 2_000;

/** Adds what the command line itself does not say: zones, record types, kinds of sources and services. */
export async function addSuggestions(root: RootCommand, words: readonly string[], io: CommandIo): Promise<void> {
  let isAsked = false;
  let zones: readonly string[] = [];
  const suggestZones =
    (candidates: (typed: string, zone: string) => readonly string[]): ArgumentHandler =>
    (complete) => {
      isAsked = true;
      const typed = words.at(-1) ?? "";
      // After the zone of `zone import`, its file follows.
      if (words.slice(0, -1).some((word) => zones.includes(word)) && !words.includes("--from")) return;
      for (const candidate of zones.flatMap((zone) => candidates(typed, zone))) complete(candidate, "");
    };
  for (const [name, command] of root.commands) {
    const [zone, owner, type] = ["zone", "name", "type"].map((argument) => command.arguments.get(argument));
    if (zone && name !== "zone add") zone.handler = suggestZones((_, each) => [each]);
    if (owner && type) owner.handler = suggestZones(namesIn);
    if (type) type.handler = (complete) => recordTypes.forEach((each) => complete(each, ""));
  }
  if (words[0] === "init") {
    const { sourceNames } = await import("../../updater/sources/sources.ts");
    const { targetNames } = await import("../../updater/targets/targets.ts");
    suggestKinds(root, "kind", sourceNames);
    suggestKinds(root, "api", targetNames);
  }
  rehearse(root, words);
  if (isAsked) zones = await readZones(words, io);
}

/** The typed name, continued so that it ends with the zone. */
export function namesIn(typed: string, zone: string): readonly string[] {
  const labels = typed.split(".");
  const heads = labels.map((_, i) => labels.slice(0, i).join("."));
  return heads
    .filter((head) => zone.startsWith(typed.slice(head === "" ? 0 : head.length + 1)))
    .map((head) => (head === "" ? zone : `${head}.${zone}`));
}

function suggestKinds(root: RootCommand, option: string, names: Readonly<Record<string, string>>): void {
  const initOption = root.commands.get("init")?.options.get(option);
  if (initOption)
    initOption.handler = (complete) => Object.entries(names).forEach(([code, name]) => complete(code, name));
}

/**
 * Calls the handlers that the words need, without printing. The library calls them synchronously, so what they
 * need must be read before.
 */
function rehearse(root: RootCommand, words: readonly string[]): void {
  const { log } = console;
  console.log = () => undefined;
  try {
    root.parse([...words]);
  } finally {
    console.log = log;
  }
}

/** Of the service or store that the command is about; none if it cannot be asked: a shell has no use for the reason. */
async function readZones(words: readonly string[], io: CommandIo): Promise<readonly string[]> {
  const signal = AbortSignal.any([io.signal, AbortSignal.timeout(longest)]);
  const silent = { ...io, out: () => undefined, err: () => undefined, signal };
  const zones: string[] = [];
  const options: ManageOptions = { config: "moor.yaml", account: "main", ...serviceOptions(words) };
  try {
    const { withApi } = await import("../manage/with-api.ts");
    await withApi(options, silent, async (api) => {
      const { pagesOf } = await import("../manage/records-api.ts");
      for await (const page of pagesOf(api, "/zones", "zones", 50)) {
        zones.push(...page.flatMap(({ name }) => (typeof name === "string" ? [name] : [])));
        if (signal.aborted) break;
      }
      return 0;
    });
  } catch {
    // What was read until then is better than nothing.
  }
  return zones;
}

const optionNames = {
  data: "--data",
  database: "--database",
  databasePasswordFile: "--database-password-file",
  config: "--config",
  target: "--target",
  account: "--account",
} as const;

/** The options that say which service or store. */
const serviceOptions = (words: readonly string[]): Partial<Record<keyof typeof optionNames, string>> =>
  Object.fromEntries(
    Object.entries(optionNames).flatMap(([key, name]) => {
      const joined = words.find((word) => word.startsWith(`${name}=`))?.slice(name.length + 1);
      const value = joined ?? (words.includes(name) ? words[words.indexOf(name) + 1] : undefined);
      return value ? [[key, value]] : [];
    }),
  );
