#!/usr/bin/env node
import { enableCompileCache } from "node:module";
import { join } from "node:path";
import { scriptToType } from "../src/cli/try-lines.ts";
import { keepFootprintSmall } from "../src/process/small-footprint.ts";

// The one verb that runs for months and has nearly nothing to do; --once ends before it would matter.
if (process.argv[2] === "update" && !process.argv.includes("--once")) keepFootprintSmall();
// The second start is a third faster when compiled code is kept; where it cannot be kept, nothing is lost.
enableCompileCache();
const { runMoor } = await import("../src/cli/program.ts");

const stop = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => stop.abort(new Error(`stopped by ${signal}`)));
}
// A reader that has gone, as in `moor list | head`, is no fault of ours.
process.stdout.on("error", () => process.exit(0));

// In a clone the script beside this file runs it; installed, it is on the PATH.
const inClone = import.meta.filename.endsWith(".ts");

process.exitCode = await runMoor(process.argv.slice(2), {
  program: inClone ? scriptToType(join(import.meta.dirname, "moor"), process.cwd()) : "moor",
  out: (text) => process.stdout.write(text),
  err: (text) => process.stderr.write(text),
  env: process.env,
  cwd: process.cwd(),
  signal: stop.signal,
  isTerminal: process.stdin.isTTY === true && process.stdout.isTTY === true,
  onSignal: (name, act) => void process.on(name, act),
});
