import { describe, expect, it } from "vitest";
import { runMoor } from "./program.ts";
import { openTerminal } from "./rig/terminal.ts";

async function moor(...argv: string[]) {
  const { io, printed } = openTerminal("/");
  const code = await runMoor(argv, io);
  return { code, ...printed, words: printed.out.replaceAll(/\s+/g, " ") };
}

describe("help", () => {
  it.each([
    ["up", "listens (default: 127.0.0.1:8053)"],
    ["up", "page is (default: 127.0.0.1:9053)"],
    ["records", "where to listen (default: 127.0.0.1:8053)"],
    ["records", "a name server of new zones (may be repeated) --hostmaster"],
    ["firewall", "where to listen (default: 127.0.0.1:8443)"],
  ])("%s shows a default as it would be typed: %s", async (verb, shown) => {
    const { code, words } = await moor(verb, "--help");
    expect([code, words]).toEqual([0, expect.stringContaining(shown)]);
    expect(words).not.toMatch(/default: [{[]/);
  });

  it.each(["interfaces", "zones", "list", "show", "status", "history"])("%s says what it is for", async (verb) => {
    const { out } = await moor(verb, "--help");
    expect(out).toMatch(/^Usage: .*\n\n\w.* \w/);
  });

  it("is also a verb, as people type it", async () => {
    expect(await moor("help", "records")).toEqual(await moor("records", "--help"));
    expect(await moor("help")).toMatchObject({ code: 0, out: (await moor("--help")).out });
    expect(await moor("help", "recrods")).toMatchObject({ code: 2, err: (await moor("--help")).out });
  });
});
