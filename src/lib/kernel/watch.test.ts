import { spawn } from "node:child_process";
import { chmod, mkdtemp, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { realPause } from "../../../test/rig/real-pause.ts";
import { createLog } from "../../process/log.ts";
import { watchKernel } from "./watch.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "moor-watch-"));
});

/** A fake `ip` that counts its starts. */
async function fakeIp(text: string): Promise<string> {
  const path = join(folder, "ip");
  await writeFile(path, `#!/bin/sh\n[ "$1" = -V ] && exit\necho x >> ${join(folder, "starts")}\n${text}\n`);
  await chmod(path, 0o755);
  return path;
}
const starts = async () => (await readFile(join(folder, "starts"), "utf8").catch(() => "")).length / 2;

function watched(commands: readonly string[], every = { monitored: 60_000, alone: 60_000 }) {
  const stop = new AbortController();
  const seen = { changes: 0, logged: [] as string[] };
  const ended = watchKernel({
    onChange: () => {
      seen.changes += 1;
    },
    signal: stop.signal,
    log: createLog({ format: "json", write: (line) => seen.logged.push(line) }),
    commands,
    every,
    random: () => 0.5,
    backOff: { base: 20, cap: 100 },
  });
  const end = async () => {
    stop.abort();
    await ended;
  };
  onTestFinished(end);
  return { seen, end };
}

describe("watchKernel", () => {
  it("reports every line, and once more when `ip monitor` has started", async () => {
    const go = join(folder, "go");
    const text = `echo one; while [ ! -e ${go} ]; do sleep 0.02; done; echo two; exec sleep 60`;
    const { seen } = watched([await fakeIp(text)]);
    await expect.poll(() => seen.changes).toBe(2);
    await writeFile(go, "");
    await expect.poll(() => seen.changes).toBe(3);
    await realPause(200, "nothing more is reported");
    expect(seen.changes).toBe(3);
  });

  it("restarts `ip monitor` when it ends, with growing delays, and reports each time", async () => {
    const { seen } = watched([await fakeIp("exit 1")]);
    await expect.poll(starts).toBeGreaterThan(5);
    expect(seen.changes).toBeGreaterThan(4);
    expect(await starts()).toBeLessThan(60);
    expect(seen.logged).toHaveLength(1);
    expect(seen.logged[0]).toContain("`ip monitor` ended");
  });

  it("reports periodically without events, even without any `ip`", async () => {
    const { seen } = watched([join(folder, "nothing")], { monitored: 60_000, alone: 1_000 });
    await expect.poll(() => seen.changes).toBeGreaterThan(1);
    expect(seen.logged.join("")).toContain("there is no `ip`");
  });

  it("reports rarely while `ip monitor` runs", async () => {
    const { seen } = watched([await fakeIp("exec sleep 60")], { monitored: 60_000, alone: 1_000 });
    await expect.poll(starts).toBe(1);
    await realPause(500, "it reports once more for changes before `ip monitor` listened");
    const before = seen.changes;
    await realPause(2_300, "longer than two periods without `ip monitor`");
    expect(seen.changes).toBe(before);
  });

  const startedTeller = async () => {
    const file = join(folder, "pid");
    const command = await fakeIp(`echo $$ > ${file}; exec sleep 60`);
    const pid = async () => {
      await expect.poll(() => readFile(file, "utf8").catch(() => "")).toMatch(/\d\n/);
      return Number(await readFile(file, "utf8"));
    };
    return { command, pid };
  };

  it("leaves no process behind", async () => {
    const { command, pid } = await startedTeller();
    const { end } = watched([command]);
    const running = await pid();
    await end();
    await expect.poll(() => isRunning(running)).toBe(false);
  });

  it("leaves no process behind if it is killed", async () => {
    const { command, pid } = await startedTeller();
    const program = `
      const { watchKernel } = await import(${JSON.stringify(new URL("watch.ts", import.meta.url).href)});
      const log = { warn() {}, error() {}, info() {} };
      const signal = new AbortController().signal;
      await watchKernel({ onChange() {}, signal, log, commands: [${JSON.stringify(command)}] });`;
    const watcher = spawn(process.execPath, ["--input-type=module", "-e", program], { stdio: "ignore" });
    const running = await pid();
    watcher.kill("SIGKILL");
    await expect.poll(() => isRunning(running)).toBe(false);
  });

  it("ends when a terminal interrupts all its programs", async () => {
    const { command, pid } = await startedTeller();
    const program = `
      const { watchKernel } = await import(${JSON.stringify(new URL("watch.ts", import.meta.url).href)});
      const log = { warn() {}, error() {}, info() {} };
      const stop = new AbortController();
      process.once("SIGINT", () => stop.abort());
      await watchKernel({ onChange() {}, signal: stop.signal, log, commands: [${JSON.stringify(command)}] });`;
    const words = ["--input-type=module", "-e", program];
    const watcher = spawn(process.execPath, words, { stdio: "ignore", detached: true });
    const running = await pid();
    process.kill(-Number(watcher.pid), "SIGINT");
    await expect.poll(() => watcher.exitCode).toBe(0);
    await expect.poll(() => isRunning(running)).toBe(false);
  });
});

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
