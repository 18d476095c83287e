import { describe, expect, it } from "vitest";
import { scriptToType, shellWord } from "./try-lines.ts";

describe("a word for the shell", () => {
  it.each([
    ["moor-data/ca.pem", "moor-data/ca.pem"],
    ["my data/ca.pem", "'my data/ca.pem'"],
    ["it's", `'it'\\''s'`],
    ["$HOME", "'$HOME'"],
    ["", "''"],
  ])("%s", (text, word) => expect(shellWord(text)).toBe(word));
});

describe("a script, as it is typed in some folder", () => {
  it.each([
    ["in the clone", "/src/moor/bin/moor", "/src/moor", "bin/moor"],
    ["in the script's own folder", "/src/moor/bin/moor", "/src/moor/bin", "./moor"],
    ["elsewhere", "/src/moor/bin/moor", "/src/data", "../moor/bin/moor"],
    ["with a blank in its path", "/my src/moor/bin/moor", "/", "'my src/moor/bin/moor'"],
  ])("%s", (_, script, cwd, typed) => expect(scriptToType(script, cwd)).toBe(typed));
});
