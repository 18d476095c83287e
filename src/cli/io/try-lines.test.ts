import { describe, expect, it } from "vitest";
import { shellWord } from "../../core/shell-word.ts";
import { readStorePlace } from "../store/read-store-place.ts";
import { scriptToType, storeFlags } from "./try-lines.ts";

describe("a word for the shell", () => {
  it.each([
    ["moor-data/ca.pem", "moor-data/ca.pem"],
    ["my data/ca.pem", "'my data/ca.pem'"],
    ["it's", `'it'\\''s'`],
    ["$HOME", "'$HOME'"],
    ["", "''"],
  ])("%s", (text, word) => expect(shellWord(text)).toBe(word));
});

describe("a script, as you type it in a folder", () => {
  it.each([
    ["in the clone", "/src/moor/bin/moor", "/src/moor", "bin/moor"],
    ["in the script's own folder", "/src/moor/bin/moor", "/src/moor/bin", "./moor"],
    ["elsewhere", "/src/moor/bin/moor", "/src/data", "../moor/bin/moor"],
    ["with a space in its path", "/my src/moor/bin/moor", "/", "'my src/moor/bin/moor'"],
  ])("%s", (_, script, cwd, typed) => expect(scriptToType(script, cwd)).toBe(typed));
});

describe("the store of a service, for another command", () => {
  const io = { program: "moor", out: () => undefined, err: () => undefined, env: {}, cwd: "/" };
  it.each([
    ["a folder", { data: "my data" }, "--data 'my data'"],
    [
      "PostgreSQL",
      { data: "d", database: "postgres://me@127.0.0.1/moor" },
      "--database postgres://me@127.0.0.1:5432/moor",
    ],
    [
      "PostgreSQL with parameters",
      { data: "d", database: "postgres://me@/moor?host=127.0.0.1&sslmode=disable" },
      "--database 'postgres://me@127.0.0.1:5432/moor?sslmode=disable'",
    ],
    [
      "PostgreSQL with a password in a file",
      { data: "d", database: "postgres://me@127.0.0.1/moor", databasePasswordFile: "pw" },
      "--database postgres://me@127.0.0.1:5432/moor --database-password-file pw",
    ],
  ])("%s", async (_, typed, flags) => {
    const signal = new AbortController().signal;
    expect(storeFlags(typed, await readStorePlace(typed, { ...io, signal }))).toBe(flags);
  });
});
