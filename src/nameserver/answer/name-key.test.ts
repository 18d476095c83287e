import { expect, it } from "vitest";
import { isRootKey, keyAbove, keyOfName, labelsOfKey, nameOfKey } from "./name-key.ts";

it.each([
  ["", "\0"],
  ["org", "\x03org\0"],
  ["www.example.org", "\x03www\x07example\x03org\0"],
  ["a\\.b.example", "\x03a.b\x07example\0"],
  ["\\000\\255.example", "\x02\0\xff\x07example\0"],
])("%j is looked up as %j", (name, key) => {
  expect(keyOfName(name)).toBe(key);
  expect(nameOfKey(key)).toBe(name);
});

it("gives the parent names, up to the root", () => {
  const above: string[] = [];
  for (let key = keyOfName("www.example.org"); !isRootKey(key); key = keyAbove(key)) above.push(nameOfKey(key));
  expect(above).toEqual(["www.example.org", "example.org", "org"]);
});

it("reads only the name from a key with more characters after it", () => {
  expect(labelsOfKey("\x03www\0\0\x01")).toEqual(["www"]);
});
