import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { builtProgram } from "./bundle.ts";
import { repository } from "./namespace.ts";
import { withSourceLines } from "./readable-stack.ts";

const lineOf = (file: string, text: string) =>
  readFileSync(file, "utf8")
    .split("\n")
    .findIndex((line) => line.includes(text)) + 1;

it("names the line of the source for a line of the built program", () => {
  const text = "process.exit(2)";
  const built = `${builtProgram()}:${lineOf(builtProgram(), text)}:9`;
  const line = lineOf(join(repository, "bin/moor.ts"), text);
  expect(withSourceLines(`    at file://${built}\n    at f (${built})`)).toMatch(
    new RegExp(`^ {4}at bin/moor\\.ts:${line}:\\d+\n {4}at f \\(bin/moor\\.ts:${line}:\\d+\\)$`),
  );
});

it("leaves other lines as they are", () => {
  const other = "at node:internal/main:1:2 and /nowhere/program/gone.js:3:4";
  expect(withSourceLines(other)).toBe(other);
});
