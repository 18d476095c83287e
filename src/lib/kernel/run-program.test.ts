import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { until } from "../../../test/rig/until.ts";
import { runProgram } from "./run-program.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "moor-program-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const child = "sh -c 'echo $$ > pid; exec sleep 600'";
const childPid = () => {
  try {
    return Number(readFileSync(join(folder, "pid"), "utf8"));
  } catch {
    return 0;
  }
};
const isAlive = (pid: number) => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};
/** The program ends when its child has begun. */
const run = (script: string) => {
  const program = { file: "/bin/sh", args: ["-c", `${script} & while ! [ -s pid ]; do sleep 0.1; done; echo 9.9.9.9`] };
  const limits = { timeoutMs: 240_000, maxBytes: 1_000 };
  return runProgram({ ...program, folder }, limits, new AbortController().signal);
};
const ended = { kind: "exited", code: 0, stdout: "9.9.9.9\n" };

it("a program has ended when it exits, although its child holds the output open; the child is killed", async () => {
  expect(await run(child)).toMatchObject(ended);
  await until(() => !isAlive(childPid()));
});

it("a program has ended when it exits, although its child has left the process group", async () => {
  expect(await run(`setsid ${child}`)).toMatchObject(ended);
  expect(isAlive(childPid())).toBe(true);
  process.kill(childPid(), "SIGKILL");
});
