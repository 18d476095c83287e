import { parseZoneName } from "../../core/names/name.ts";
import { parseTyped } from "../../core/names/unicode.ts";
import type { CommandIo } from "../io/command-io.ts";
import { printTable } from "../io/print-table.ts";
import { tellFaults } from "../io/tell-faults.ts";
import { askTarget, type TargetOptions } from "./ask-target.ts";

/** `moor list ZONE`: the records of a zone and their ids. */
export async function list(options: TargetOptions & { readonly zone: string }, io: CommandIo): Promise<number> {
  const zone = parseTyped(parseZoneName, options.zone, "ZONE");
  if (!zone.ok) {
    tellFaults(zone.faults, io);
    return 2;
  }
  return askTarget(
    options,
    io,
    (target, signal) => target.records(zone.value, signal),
    (found) =>
      printTable(
        ["NAME", "TYPE", "TTL", "VALUE", "ID"],
        found.map(({ name, type, ttl, value, id }) => [name, type, String(ttl ?? ""), shortened(value), id]),
      ),
  );
}

/** Keys of a few hundred characters would push the ids out of sight. */
const shortened = (value: string) => (value.length > 60 ? `${value.slice(0, 59)}…` : value);
