import { asAscii } from "../../core/names/unicode.ts";
import { visible } from "../../core/visible-text.ts";
import type { CommandIo } from "../io/command-io.ts";
import { askTarget, type TargetOptions } from "./ask-target.ts";

/** `moor show RECORD`: one record by its id. */
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
        ["ttl", ttl === undefined ? "the zone's" : String(ttl)],
        ["id", id],
        ["zone id", zoneId],
      ]
        .map(([label = "", text = ""]) => `${label.padEnd(9)}${visible(text)}\n`)
        .join(""),
  );
}

/** `bücher.example/home/A` with its names as the service has them; other ids are ASCII and stay as they are. */
const idOf = (typed: string): string => typed.split("/").map(asAscii).join("/");
