import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { openTerminal } from "../../../test/rig/cli/terminal.ts";
import { runMoor } from "../program.ts";

let cwd: string;
beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), "moor-next-command-"));
  for (const words of ["user add --new anna", "transfer-key add --new ns2", "key add --name two", "key add"]) {
    await moor(words, "d 2");
  }
  await moor("transfer-key add --new ns2", "d 3");
  await moor("user add --new anna", "d 3");
  await moor("user remove anna", "d 3");
  for (const words of ["user add --new anna", "token add --new"]) await moor(words, "d 4");
});
afterAll(() => rm(cwd, { recursive: true }));

async function moor(words: string, data: string): Promise<string> {
  const { io, printed } = openTerminal(cwd);
  await runMoor([...words.split(" "), "--data", data], io);
  return printed.out + printed.err;
}

it.each([
  ["user add anna", "d 2", "moor user change --data 'd 2' anna\n"],
  ["user remove nobody", "d 2", "moor user list --data 'd 2' lists"],
  ["user list", "d 3", "moor user add --data 'd 3' NAME\n"],
  ["key add --user nobody", "d 2", "moor user list --data 'd 2' lists"],
  ["key revoke nothing-like-it", "d 2", "moor key list --data 'd 2' lists"],
  ["key list", "d 3", "moor key add --data 'd 3'\n"],
  ["token revoke 7", "d 2", "moor token list --data 'd 2' lists"],
  ["token list", "d 3", "moor token add --data 'd 3'\n"],
  ["transfer-key add ns2", "d 2", "moor transfer-key revoke --data 'd 2' ns2\n"],
  ["transfer-key list", "d 4", "moor transfer-key add --data 'd 4' NAME\n"],
  ["transfer-key revoke ns3", "d 2", "moor transfer-key list --data 'd 2' lists"],
])("moor %s suggests a command for the same data", async (words, data, next) => {
  expect(await moor(words, data)).toContain(next);
});
