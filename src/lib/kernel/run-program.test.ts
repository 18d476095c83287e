import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, test } from "vitest";
import { until } from "../../../test/rig/until.ts";
import { programFault, runProgram } from "./run-program.ts";

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
const run = (script: string, more: { readonly mayLeave?: boolean } = {}) => {
  const program = { file: "/bin/sh", args: ["-c", `${script} & while ! [ -s pid ]; do sleep 0.1; done; echo 9.9.9.9`] };
  const limits = { timeoutMs: 240_000, maxBytes: 1_000, ...more };
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

it("with mayLeave, what a program has started goes on after its success, and is killed after its failure", async () => {
  expect(await run(child, { mayLeave: true })).toMatchObject(ended);
  const left = childPid();
  expect(isAlive(left)).toBe(true);
  process.kill(left, "SIGKILL");
  rmSync(join(folder, "pid"));
  expect(await run(`false; trap 'exit 3' EXIT; ${child}`, { mayLeave: true })).toMatchObject({ code: 3 });
  await until(() => !isAlive(childPid()));
});

test.each<[string, string | undefined]>([
  ["sh", undefined],
  ["/bin/sh", undefined],
  ["nowhere-to-be-found", "ENOENT"],
  ["./missing", "ENOENT"],
  ["./plain", "EACCES"],
  ["/bin", "EACCES"],
])("%s can be started: %s", (file, code) => {
  writeFileSync(join(folder, "plain"), "");
  expect(programFault({ file, folder })).toBe(code);
});
