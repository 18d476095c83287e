import { chmodSync, mkdirSync, mkdtempSync, readdirSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { openTerminal } from "../../../test/rig/cli/terminal.ts";
import { runMoor } from "../program.ts";

let cwd: string;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), "moor-empty-folder-"));
  mkdirSync(join(cwd, "x"));
  chmodSync(join(cwd, "x"), 0o755);
});

it.each([
  ["token list", "records"],
  ["token revoke 1", "records"],
  ["transfer-key list", "records"],
  ["transfer-key revoke ns2", "records"],
  ["zone export --all --to out", "records"],
  ["sign-in", "records"],
  ["key list", "firewall"],
  ["key revoke abcdefgh", "firewall"],
  ["user list", "firewall"],
  ["user log", "firewall"],
  ["user change anna --disable", "firewall"],
  ["user password anna", "firewall"],
  ["user remove anna", "firewall"],
  ["sign-in --firewall", "firewall"],
])("moor %s creates no database in a folder without one, and says so", async (words, file) => {
  const { io, printed } = openTerminal(cwd);
  const code = await runMoor([...words.split(" "), "--data", "x"], io);
  expect({ code, out: printed.out }).toEqual({ code: 1, out: "" });
  expect(printed.err).toMatch(
    new RegExp(
      `^moor: there is no ${file}\\.sqlite in the folder .*/x; give the folder of the service with --data, or start`,
    ),
  );
  expect(readdirSync(cwd)).toEqual(["x"]);
  expect([readdirSync(join(cwd, "x")), statSync(join(cwd, "x")).mode & 0o777]).toEqual([[], 0o755]);
});

describe.each([
  ["token add", "records"],
  ["transfer-key add ns2", "records"],
  ["grant add example.org", "records"],
  ["key add", "firewall"],
  ["user add anna", "firewall"],
])("moor %s", (words, file) => {
  const add = async (...more: readonly string[]) => {
    const { io, printed } = openTerminal(cwd);
    return { code: await runMoor([...words.split(" "), ...more], io), ...printed };
  };

  it.each([
    ["a folder without a store", "x", `there is no ${file}\\.sqlite in the folder .*/x`],
    ["a mistyped folder", "y", "there is no folder .*/y"],
  ])("creates no store in %s: a running service would know nothing of it", async (_, data, said) => {
    const { code, out, err } = await add("--data", data);
    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(err).toMatch(new RegExp(`^moor: ${said}; give .* with --data, or add --new to create a store there\\n$`));
    expect([readdirSync(cwd), readdirSync(join(cwd, "x"))]).toEqual([["x"], []]);
  });

  it("creates one with --new", async () => {
    expect(await add("--data", "y", "--new")).toMatchObject({ code: 0 });
    expect(readdirSync(join(cwd, "y"))).toContain(`${file}.sqlite`);
  });
});
