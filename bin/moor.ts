#!/usr/bin/env node
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";

// npm installs moor on an older one too, with a warning at most.
if (Number.parseInt(process.versions.node, 10) < 24) {
  process.stderr.write(
    `moor needs Node 24 or newer, and the node on the PATH is ${process.versions.node}; install one\n`,
  );
  process.exit(2);
}

// Two verbs run for months and mostly wait. V8's compilers leave megabytes behind once one of them has run, and the resolving
// of imports is enough to wake them: so they are told before the first import, and no file may be imported above this.
const [verb = ""] = process.argv.slice(2);
const mostlyWaits = verb === "firewall" || (verb === "update" && !process.argv.includes("--once"));
if (mostlyWaits) {
  for (const compiler of ["opt", "maglev", "sparkplug"]) setFlagsFromString(`--no-${compiler}`);
  (await import("../src/process/small-footprint.ts")).collectAfterStart();
} else {
  // The second start is a third faster when compiled code is kept; where it cannot be kept, nothing is lost. It takes memory.
  (await import("node:module")).enableCompileCache();
}

const { scriptToType } = await import("../src/cli/io/try-lines.ts");
const { runMoor } = await import("../src/cli/program.ts");

const stop = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => stop.abort(new Error(`stopped by ${signal}`)));
}
// A reader that has gone, as in `moor list | head`, is no fault of ours; what a full disk has lost must not look done.
process.stdout.on("error", ({ code, message }: NodeJS.ErrnoException) => {
  if (code === "EPIPE") process.exit(0);
  process.stderr.write(`moor: standard output cannot be written: ${message}\n`);
  process.exit(1);
});
// A service outlives its log: that is written again once there is room.
process.stderr.on("error", () => undefined);

// In a clone the script beside this file runs it; installed, it is on the PATH.
const script = import.meta.filename.endsWith(".ts") ? join(import.meta.dirname, "moor") : undefined;

process.exitCode = await runMoor(process.argv.slice(2), {
  ...(script === undefined ? { program: "moor" } : { program: scriptToType(script, process.cwd()), script }),
  out: (text) => process.stdout.write(text),
  err: (text) => process.stderr.write(text),
  env: process.env,
  cwd: process.cwd(),
  signal: stop.signal,
  isTerminal: process.stdin.isTTY === true && process.stdout.isTTY === true,
  onSignal: (name, act) => void process.on(name, act),
});
