import { dirname } from "node:path";
import type { Program } from "../../lib/kernel/run-program.ts";
import { oneOrMore, refined, type Setting, text } from "../../lib/settings/setting.ts";

/** A program, or a list of a program and its arguments. A path is relative to the config's folder, in which it runs. */
export const program = (description: string, example: string): Setting<Program> =>
  refined(
    oneOrMore(text(description, example), "give a program"),
    ([file = "", ...args], { reading }): Program => ({
      file: file.includes("/") ? reading.resolve(file) : file,
      args,
      folder: dirname(reading.resolve("moor.yaml")),
    }),
  );
