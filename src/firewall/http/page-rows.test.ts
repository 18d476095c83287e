import { describe, expect, it } from "vitest";
import { pageRows } from "./page-rows.ts";

const rows = [
  { name: "eth10", mtu: "1500", groups: ["lan"] },
  { name: "eth9", mtu: "9000", groups: ["wan"] },
  { name: "lo", mtu: "65536", groups: [] },
];
const named = (fields: Record<string, unknown>) => pageRows(rows, fields).rows.map(({ name }) => name);

describe("pageRows", () => {
  it.each<[string, Record<string, unknown>, readonly string[]]>([
    ["no fields", {}, ["eth10", "eth9", "lo"]],
    ["all", { rowCount: -1 }, ["eth10", "eth9", "lo"]],
    ["the first two", { current: 1, rowCount: 2 }, ["eth10", "eth9"]],
    ["the rest, as text", { current: "2", rowCount: "2" }, ["lo"]],
    ["a page that does not exist", { current: 9, rowCount: 2 }, []],
    ["found in any cell", { searchPhrase: "WAN" }, ["eth9"]],
    ["all words", { searchPhrase: "eth 1500" }, ["eth10"]],
    ["sorted numerically", { sort: { name: "asc" } }, ["eth9", "eth10", "lo"]],
    ["backwards", { sort: { mtu: "desc" } }, ["lo", "eth9", "eth10"]],
    ["nonsense", { current: "x", rowCount: {}, searchPhrase: 7, sort: "name" }, ["eth10", "eth9", "lo"]],
    ["a page before the first", { current: -3, rowCount: 1 }, ["eth10"]],
    ["a column that does not exist", { sort: { __proto__: "asc", nothing: "desc" } }, ["eth10", "eth9", "lo"]],
  ])("%s", (_, fields, names) => {
    expect(named(fields)).toEqual(names);
  });

  it("counts the matches and the rows shown", () => {
    expect(pageRows(rows, { rowCount: 1, searchPhrase: "eth" })).toMatchObject({
      total: 2,
      rowCount: 1,
      current: 1,
    });
  });
});
