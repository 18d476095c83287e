import { expect, it } from "vitest";
import { explainTimeouts, lastLines } from "./involved-processes.ts";
import { startProcess } from "./started-process.ts";
import { until } from "./until.ts";

const printed = (name: string, output: string, ended = false) => ({
  name,
  output: () => output,
  hasEnded: () => ended,
});

it("shows the last lines of every process, with its name and whether it has ended", () => {
  const many = Array.from({ length: 30 }, (_, place) => `line ${place}\n`).join("");
  const shown = lastLines([printed("named -f", many), printed("moor records", "", true)]);
  expect(shown).toContain("--- named -f (running), last lines:\nline 10\n");
  expect(shown).toContain("line 29\n--- moor records (ended), last lines:\n(no output)");
});

it.each([
  ["a test", "Test timed out in 300000ms."],
  ["a hook", "Hook timed out in 900000ms."],
  ["a page", "locator.waitFor: Timeout 225000ms exceeded."],
  ["our own wait", "timed out after 225000 ms waiting for a record"],
])("adds them to the failure of %s by time", (_, message) => {
  const failure = { message };
  explainTimeouts([failure], () => "--- moor, last lines:\nfar away");
  expect(failure.message).toBe(`${message}\n--- moor, last lines:\nfar away`);
});

it("adds them to the failure of a poll by time, which is named in the cause", () => {
  const failure = { message: "expected 1 to be 2", cause: { message: "Matcher did not succeed in time." } };
  explainTimeouts([failure], () => "far away");
  expect(failure.message).toBe("expected 1 to be 2\nfar away");
});

it("leaves other failures as they are", () => {
  const failure = { message: "expected 1 to be 2" };
  explainTimeouts([failure], () => "far away");
  expect(failure.message).toBe("expected 1 to be 2");
});

it("a wait that ends by time says what it waited for, and what the processes printed last", async () => {
  const started = startProcess(["sh", "-c", "echo the harbour is closed; cat"], { stdio: ["pipe", "pipe", "pipe"] });
  await started.says(/closed/);
  const waiting = until(() => false, { limit: 0, what: () => "a ship" });
  await expect(waiting).rejects.toThrow(/waiting for a ship\n[\s\S]*sh -c .*running.*\nthe harbour is closed/);
  await started.stop("SIGKILL");
});
