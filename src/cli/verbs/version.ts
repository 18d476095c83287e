import { execFileSync } from "node:child_process";
import { dirname } from "node:path";
import { type Command, CommanderError } from "commander";
import { version } from "../../process/shipped-files.ts";
import type { CommandIo } from "../io/command-io.ts";

/** `moor --version`: the version, and what else a bug report needs. */
export function addVersion(program: Command, io: CommandIo): void {
  program.option("-V, --version", "output the version number").on("option:version", () => {
    io.out(`${version} (commit ${io.commit ?? commitOf(io.script)}, Node ${process.versions.node})\n`);
    throw new CommanderError(0, "commander.version", version);
  });
}

function commitOf(script: string | undefined): string {
  if (script === undefined) return "unknown";
  try {
    const words = ["-C", dirname(script), "rev-parse", "--short=12", "HEAD"];
    return execFileSync("git", words, { encoding: "utf8", stdio: "pipe" }).trim();
  } catch {
    return "unknown";
  }
}
