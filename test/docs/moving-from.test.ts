import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { parse } from "yaml";
import { runMoor } from "../../src/cli/program.ts";
import { openTerminal } from "../rig/cli/terminal.ts";
import { pages } from "./pages.ts";
import { commandsOf } from "./shell.ts";

/** The page's old configs, the command that follows each, and the new config that follows that. */
const blocks = pages.find(({ path }) => path === "docs/moving-from.md")?.blocks ?? [];
const imports = blocks.flatMap((old, at) => {
  const command = blocks.slice(at).find(({ language }) => language === "sh");
  const becomes = blocks.slice(at).find(({ language }) => language === "yaml");
  return old.title.startsWith("/") && command && becomes ? [{ old, command, becomes }] : [];
});

// The other programs have theirs beside the code that converts them: src/cli/init/from/.
it("has an example", () => {
  expect(imports.map(({ old }) => old.title)).toEqual(["/etc/ddclient.conf"]);
});

it.each(imports)("$old.title becomes the config that the page shows", async ({ old, command, becomes }) => {
  const folder = mkdtempSync(join(tmpdir(), "moor-docs-"));
  mkdirSync(dirname(join(folder, old.title)), { recursive: true });
  writeFileSync(join(folder, old.title), old.text);
  const [{ words } = { words: [] }] = commandsOf(command);
  expect(words.slice(0, 3)).toEqual(["moor", "init", "--from"]);
  const { io, printed } = openTerminal(folder);
  const typed = words.slice(1).map((word) => (word === old.title ? join(folder, word) : word));
  expect([await runMoor([...typed, "--yes"], io), printed.err]).toEqual([0, ""]);
  const written = parse(await readFile(join(folder, "moor.yaml"), "utf8")) as object;
  expect(written).toMatchObject(parse(becomes.text) as object);
});
