#!/usr/bin/env node
import { join } from "node:path";
import { isSea } from "node:sea";
import { setFlagsFromString } from "node:v8";

// npm only warns when it installs moor for an older Node.
if (Number.parseInt(process.versions.node, 10) < 24) {
  process.stderr.write(
    `moor needs Node 24 or newer, but the node on the PATH is ${process.versions.node}; install a newer one\n`,
  );
  process.exit(2);
}

// Two verbs run for months and mostly wait. V8's compilers never return the megabytes they take when they first run,
// and resolving imports is enough to start them. So they are switched off before the first import; nothing may be
// imported above this. `records` keeps them: switched on later, they make it answer a quarter slower than if they had
// never been off.
const [verb = ""] = process.argv.slice(2);
const mostlyWaits = verb === "firewall" || (verb === "update" && !process.argv.includes("--once"));
if (mostlyWaits) {
  for (const compiler of ["opt", "maglev", "sparkplug"]) setFlagsFromString(`--no-${compiler}`);
  (await import("../src/cli/io/small-footprint.ts")).collectAfterStart();
} else {
  // A compile cache makes later starts a third faster. It costs memory, so the verbs above do without it.
  (await import("node:module")).enableCompileCache();
}

const { scriptToType } = await import("../src/cli/io/try-lines.ts");
const { runMoor } = await import("../src/cli/program.ts");

const stop = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => stop.abort(new Error(`stopped by ${signal}`)));
}
// A closed pipe, as in `moor list | head`, is not an error. A full disk is: the output is lost.
process.stdout.on("error", ({ code, message }: NodeJS.ErrnoException) => {
  if (code === "EPIPE") process.exit(0);
  process.stderr.write(`moor: standard output cannot be written: ${message}\n`);
  process.exit(1);
});
// A service keeps running when its log cannot be written, and logs again when there is space.
process.stderr.on("error", () => undefined);

// In a clone, moor is run by the script beside this file, and as a single executable it is that; when installed, moor
// is on the PATH.
const script = import.meta.filename.endsWith(".ts")
  ? join(import.meta.dirname, "moor")
  : isSea()
    ? process.execPath
    : undefined;

// Replaced by `scripts/build.ts`.
const commit = process.env.MOOR_COMMIT;

process.exitCode = await runMoor(process.argv.slice(2), {
  commit,
  ...(script === undefined ? { program: "moor" } : { program: scriptToType(script, process.cwd()), script }),
  out: (text) => process.stdout.write(text),
  err: (text) => process.stderr.write(text),
  env: process.env,
  cwd: process.cwd(),
  signal: stop.signal,
  isTerminal: process.stdin.isTTY === true && process.stdout.isTTY === true,
  onSignal: (name, act) => void process.on(name, act),
});

// What a closed service still waits for, such as the rest of a zone at a slow provider, is abandoned. A program of
// `run:` of the updater may finish.
if (stop.signal.aborted && verb === "records") setTimeout(() => process.exit(), 1_000).unref();
