import { describe, expect, it } from "vitest";
import { printTable } from "./print-table.ts";

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
