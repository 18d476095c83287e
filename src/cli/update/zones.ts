import type { CommandIo } from "../io/command-io.ts";
import { printTable } from "../io/print-table.ts";
import { askTarget, type TargetOptions } from "./ask-target.ts";

/** `moor zones`: the zones that a record service shows to the config's token. */
export async function zones(options: TargetOptions, io: CommandIo): Promise<number> {
  return askTarget(
    options,
    io,
    (target, signal) => target.zones(signal),
    (found) =>
      found.length === 0
        ? "there are no zones yet; make one in the console\n"
        : printTable(
            ["ZONE", "TTL", "ID"],
            found.map(({ name, ttl, id }) => [name, String(ttl ?? ""), id]),
          ),
  );
}
