import { parseZoneName } from "../../core/names/name.ts";
import { asAscii, parseTyped } from "../../core/names/unicode.ts";
import { visible } from "../../core/visible-text.ts";
import type { Lookup } from "../../providers/answers/service-fault.ts";
import type { RecordTarget } from "../../updater/targets/target.ts";
import { openTarget } from "../../updater/targets/targets.ts";
import { type CommandIo, refuse } from "../io/command-io.ts";
import { refuseFaults } from "../io/print-faults.ts";
import { printTable } from "../io/print-table.ts";
import { loadConfigInUse, pickOne } from "./load-config.ts";

export type TargetOptions = {
  readonly config?: string | undefined;
  readonly target?: string | undefined;
  readonly json?: boolean | undefined;
};

/** `moor zone list`: the zones that the token in the config can see. */
export async function zones(options: TargetOptions, io: CommandIo): Promise<number> {
  return askTarget(
    options,
    io,
    (target, signal) => target.zones(signal),
    (zones) =>
      zones.length === 0
        ? "there are no zones yet; create one in the console\n"
        : printTable(
            ["ZONE", "TTL", "ID"],
            zones.map(({ name, ttl, id }) => [name, String(ttl ?? ""), id]),
          ),
  );
}

/** `moor record list ZONE`: the records of a zone and their ids. */
export async function list(options: TargetOptions & { readonly zone: string }, io: CommandIo): Promise<number> {
  const zone = parseTyped(parseZoneName, options.zone, "ZONE");
  if (!zone.ok) return refuseFaults(zone.faults, io);
  return askTarget(
    options,
    io,
    (target, signal) => target.records(zone.value, signal),
    (records) =>
      printTable(
        ["NAME", "TYPE", "TTL", "VALUE", "ID"],
        records.map(({ name, type, ttl, value, id }) => [name, type, String(ttl ?? ""), shortened(value), id]),
      ),
  );
}

/** Long values, such as keys, would push the ids off the screen. */
const shortened = (value: string) => (value.length > 60 ? `${value.slice(0, 59)}…` : value);

/** `moor record show RECORD`: one record by its id. */
export async function show(options: TargetOptions & { readonly record: string }, io: CommandIo): Promise<number> {
  return askTarget(
    options,
    io,
    (target, signal) => target.record(idOf(options.record), signal),
    ({ id, zoneId, name, type, value, ttl }) =>
      [
        ["name", name],
        ["type", type],
        ["value", value],
        ["ttl", ttl === undefined ? "default" : String(ttl)],
        ["id", id],
        ["zone id", zoneId],
      ]
        .map(([label = "", text = ""]) => `${label.padEnd(9)}${visible(text)}\n`)
        .join(""),
  );
}

/** `bücher.example/home/A` with its names in ASCII, as the service has them; other ids are ASCII already. */
const idOf = (typed: string): string => typed.split("/").map(asAscii).join("/");

/** Asks the chosen record service one question and prints the answer: a table, or JSON for programs. */
async function askTarget<T>(
  options: TargetOptions,
  io: CommandIo,
  ask: (target: RecordTarget, signal: AbortSignal) => Promise<Lookup<T>>,
  print: (value: T) => string,
): Promise<number> {
  const config = loadConfigInUse(options.config, io);
  const chosen = config && pickOne("target", config.targets, options.target, { file: config.file, io });
  if (!config || !chosen) return 2;
  for (const warning of config.warnings) io.err(`warning: ${warning}\n`);
  const target = await openTarget(chosen);
  try {
    const answer = await ask(target, io.signal);
    if (answer.kind !== "found") return refuse(1, `${answer.because}; ${answer.todo}`, io);
    io.out(options.json ? `${JSON.stringify(answer.value, undefined, 2)}\n` : print(answer.value));
    return 0;
  } finally {
    target.close();
  }
}
