import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { repeatedKey } from "./repeated-key.ts";

describe("a key that an object has twice", () => {
  test.each<[string, string | undefined]>([
    ["{}", undefined],
    ["7", undefined],
    ['"a"', undefined],
    ['{"a":1,"b":2}', undefined],
    ['{"a":1,"a":1}', "a"],
    ['{"a":1,"b":{"a":2}}', undefined],
    ['{"a":{"b":1},"c":{"b":1}}', undefined],
    ['[{"a":1},{"a":1}]', undefined],
    ['[{"a":1},{"a":1, "a" : 2}]', "a"],
    ['{"a":{"b":1},"a":{}}', "a"],
    ['{"a":"a","b":"a"}', undefined],
    ['{"a":"{","a":"}"}', "a"],
    ['{"a":"\\"","a\\\\":1,"a\\"":2}', undefined],
    ['{"wan0":1,"wa\\u006e0":2}', "wan0"],
    ['{"":1,"":2}', ""],
    ['{"__proto__":1,"__proto__":2}', "__proto__"],
  ])("%s", (text, expected) => {
    JSON.parse(text);
    expect(repeatedKey(text)).toBe(expected);
  });

  it("is never found in the output of JSON.stringify", () => {
    fc.assert(fc.property(fc.json(), (text) => repeatedKey(JSON.stringify(JSON.parse(text))) === undefined));
  });

  it("is found wherever it is", () => {
    fc.assert(
      fc.property(fc.string(), fc.json(), fc.json(), (key, one, other) => {
        const name = JSON.stringify(key);
        expect(repeatedKey(`[${one},{${name}:${one},${name}:${other}}]`)).toBeDefined();
      }),
    );
  });
});
