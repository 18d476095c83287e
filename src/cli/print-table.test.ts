import { describe, expect, it } from "vitest";
import { printTable, visible } from "./print-table.ts";

describe("printTable", () => {
  it("is as wide as the widest cell, with nothing behind the last column", () => {
    expect(
      printTable(
        ["NAME", "VALUE"],
        [
          ["www", "192.0.2.1"],
          ["longer", ""],
        ],
      ),
    ).toBe("NAME    VALUE\nwww     192.0.2.1\nlonger\n");
  });

  it("keeps a row on its line, and lets no value command the terminal", () => {
    expect(printTable(["A", "B"], [["x\ny", "\u001b[31mred"]])).toBe("A        B\nx\\u{a}y  \\u{1b}[31mred\n");
  });
});

describe("visible", () => {
  it.each([
    ["plain text", "v=spf1 -all", "v=spf1 -all"],
    ["letters of all languages", "grün 東京 👩‍🚀", "grün 東京 👩‍🚀"],
    ["what moves the cursor", "a\rb\u0007\u007f\u009b2J", "a\\u{d}b\\u{7}\\u{7f}\\u{9b}2J"],
    ["what turns the direction", "a\u202eb\u2066", "a\\u{202e}b\\u{2066}"],
    ["what breaks the line elsewhere", "a\u2028b", "a\\u{2028}b"],
  ])("%s", (_, text, seen) => {
    expect(visible(text)).toBe(seen);
  });
});
