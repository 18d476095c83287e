import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { slowToParse } from "./json-shape.ts";

const judge = (json: string) => slowToParse(Buffer.from(json));

describe("a request that takes long to parse is recognised without parsing it", () => {
  it.each([
    ["lists in lists", `${"[".repeat(500_000)}${"]".repeat(500_000)}`, /nested more than 32 levels/],
    ["an object of many keys", JSON.stringify(Object.fromEntries(numbered((i) => [`k${i}`, 1]))), /different keys/],
    ["objects without a key in common", JSON.stringify(numbered((i) => ({ [`k${i}`]: 1 }))), /different keys/],
    ["very many objects", `[${"{},".repeat(300_000)}1]`, /more than 60000 objects and lists/],
    ["nesting after a text that looks like its end", `["a\\\\",${"[".repeat(40)}`, /nested/],
    ["nesting after a long text that ends in backslashes", `["${"a".repeat(99)}\\\\",${"[".repeat(40)}`, /nested/],
  ])("%s", (_, json, why) => expect(judge(json)).toMatch(why));
});

describe("an ordinary request is quick to parse", () => {
  it.each([
    ["10,000 records", JSON.stringify({ records: numbered((i) => ({ zone_id: "z", name: `h${i}`, value: "a" })) })],
    [
      "10,000 sets",
      JSON.stringify({ rrsets: numbered((i) => ({ name: `h${i}`, type: "A", records: [{ value: "a" }] })) }),
    ],
    ["a zone file in a text", JSON.stringify({ zonefile: '{[\\"x:'.repeat(300_000) })],
    ["brackets in short texts", JSON.stringify(numbered(() => '[[{{"\\'))],
    ["an unfinished text", `{"a":"${"x".repeat(100)}\\"`],
    ["nothing", ""],
  ])("%s", (_, json) => expect(judge(json)).toBeUndefined());

  it("as is any other JSON within the limits", () => {
    fc.assert(fc.property(fc.json({ maxDepth: 8 }), (json) => judge(json) === undefined));
  });
});

function numbered<T>(one: (i: number) => T): readonly T[] {
  return Array.from({ length: 10_000 }, (_, i) => one(i));
}
