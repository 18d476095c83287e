import { describe, expect, it } from "vitest";
import { printTable } from "./print-table.ts";

describe("printTable", () => {
  it("makes columns as wide as their widest cell, without spaces after the last one", () => {
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

  it("keeps a row on its line, and escapes control characters", () => {
    expect(printTable(["A", "B"], [["x\ny", "\u001b[31mred"]])).toBe("A        B\nx\\u{a}y  \\u{1b}[31mred\n");
  });
});
