import { describe, expect, it } from "vitest";
import { openTerminal } from "../../../test/rig/cli/terminal.ts";
import { runMoor } from "../program.ts";

async function moor(...argv: string[]) {
  const { io, printed } = openTerminal("/");
  const code = await runMoor(argv, io);
  return { code, ...printed, words: printed.out.replaceAll(/\s+/g, " ") };
}

describe("help", () => {
  it.each([
    ["up", "listens (default: 127.0.0.1:8053)"],
    ["up", "its page (default: 127.0.0.1:9053)"],
    ["records", "where to listen (default: 127.0.0.1:8053)"],
    ["records", "a nameserver of new zones (may be repeated) --hostmaster"],
    ["firewall", "where to listen (default: 127.0.0.1:8443)"],
  ])("%s shows a default as you would type it: %s", async (verb, shown) => {
    const { code, words } = await moor(verb, "--help");
    expect([code, words]).toEqual([0, expect.stringContaining(shown)]);
    expect(words).not.toMatch(/default: [{[]/);
  });

  it.each(["interfaces", "status", "history"])("%s says what it is for", async (verb) => {
    const { out } = await moor(verb, "--help");
    expect(out).toMatch(/^Usage: .*\n\n\w.* \w/);
  });

  it("is also a verb", async () => {
    expect(await moor("help", "records")).toEqual(await moor("records", "--help"));
    expect(await moor("help")).toMatchObject({ code: 0, out: (await moor("--help")).out });
    expect(await moor("help", "store", "backup")).toEqual(await moor("store", "backup", "--help"));
    expect(await moor("record", "list", "example.org", "--help")).toEqual(await moor("help", "record", "list"));
  });

  it.each([
    ["help recrods", "error: unknown command 'recrods'\n(Did you mean records?)\n(see moor --help)\n"],
    ["help store bakcup", "error: unknown command 'bakcup'\n(Did you mean backup?)\n(see moor store --help)\n"],
    ["recrods --help", "error: unknown command 'recrods'\n(Did you mean records?)\n(see moor --help)\n"],
    ["token nonsense -h", "error: unknown command 'nonsense'\n(see moor token --help)\n"],
    ["help nonsense", "error: unknown command 'nonsense'\n(see moor --help)\n"],
  ])("%s says which word is unknown", async (typed, err) => {
    expect(await moor(...typed.split(" "))).toMatchObject({ code: 2, out: "", err });
  });

  it("is not printed to a shell that completes the word --help", async () => {
    expect((await moor("complete", "--", "token", "add", "--help")).out).not.toContain("Usage:");
  });

  it.each([
    ["nonsense", "moor"],
    ["update --bogus", "moor update"],
    ["records --listen x", "moor records"],
    ["store nonsense", "moor store"],
    ["token add --bogus", "moor token add"],
  ])("%s points to %s --help", async (typed, path) => {
    const { code, err } = await moor(...typed.split(" "));
    expect([code, err]).toEqual([2, expect.stringContaining(`\n(see ${path} --help)\n`)]);
  });
});
