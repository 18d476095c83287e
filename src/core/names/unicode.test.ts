import { domainToUnicode } from "node:url";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { anyCharacter } from "../../../test/rig/any-text.ts";
import { parseName } from "./name.ts";
import { nameToAscii, nameToUnicode } from "./unicode.ts";

const ascii = (text: string): string => {
  const name = nameToAscii(text);
  return name.ok ? name.value : name.faults.map((fault) => fault.code).join();
};

describe("to ASCII", () => {
  test.each([
    ["bücher.example", "xn--bcher-kva.example"],
    ["BÜCHER.Example.", "xn--bcher-kva.Example."],
    ["bu\u0308cher", "xn--bcher-kva"],
    ["*.bücher", "*.xn--bcher-kva"],
    ["_sip._tcp.bücher", "_sip._tcp.xn--bcher-kva"],
    ["_ü", "xn--_-eha"],
    ["日本語。例え。テスト", "xn--wgv71a119e.xn--r8jz45g.xn--zckzah"],
    ["straße", "xn--strae-oqa"],
    ["Ａ", "a"],
    ["①.ü", "1.xn--tda"],
    ["אבג.1", "xn--4dbcd.1"],
    ["💡", "xn--ds8h"],
    ["www", "www"],
    ["@", "@"],
    ["WWW.a\\.b", "WWW.a\\.b"],
    ["", ""],
  ])("%s", (text, expected) => {
    expect(ascii(text)).toBe(expected);
  });

  test.each([
    "ü b",
    "ü/b",
    "ü%41",
    "ü:80",
    "ü@b",
    "ü?",
    "ü#",
    "ü\\.b",
    "\\252ü",
    "ü\n",
    "ü\0",
    "\u00ad",
    "\u0308a",
    "…",
    "xn--ü",
    "\ud800",
    "\u200b\u2060",
  ])("%j has no ASCII form", (text) => {
    expect(nameToAscii(text, "name")).toMatchObject({ ok: false, faults: [{ code: "bad-character", where: "name" }] });
  });
});

test("a label that becomes too long is left to `parseName`; very long text is refused immediately", () => {
  expect(parseName(ascii(`${"a".repeat(62)}ü`))).toMatchObject({ ok: false, faults: [{ code: "label-too-long" }] });
  expect(ascii("ü".repeat(1_000_000))).toBe("name-too-long");
});

describe("to Unicode", () => {
  test.each([
    ["xn--bcher-kva.example", "bücher.example"],
    ["XN--BCHER-KVA", "bücher"],
    ["*.xn--wgv71a119e.xn--r8jz45g.xn--zckzah.", "*.日本語.例え.テスト."],
    ["xn--ds8h", "💡"],
    ["www.example.org", "www.example.org"],
    ["@", "@"],
    ["xn--", "xn--"],
    ["xn--a", "xn--a"],
    ["xn--abc-", "xn--abc-"],
    ["xn--zzzzzzzzzz99999", "xn--zzzzzzzzzz99999"],
    ["xn--bcher-kva.a\\.b", "xn--bcher-kva.a\\.b"],
    ["a.xn--xn---epa", "a.xn--xn---epa"],
    [`xn--${"9".repeat(60_000)}`, `xn--${"9".repeat(60_000)}`],
  ])("%s", (name, expected) => {
    expect(nameToUnicode(name)).toBe(expected);
  });
});

describe("laws", () => {
  const letter = anyCharacter.filter((character) => /^[\p{Ll}\p{Lo}\d]$/u.test(character));
  const letters = fc.string({ unit: letter, minLength: 1, maxLength: 12 });

  test("a name with an ASCII form survives a round trip", () => {
    fc.assert(
      fc.property(fc.array(letters, { minLength: 1, maxLength: 4 }), (labels) => {
        const name = nameToAscii(labels.join("."));
        if (!name.ok || !parseName(name.value).ok) return;
        expect(nameToAscii(nameToUnicode(name.value))).toEqual(name);
        expect(name.value).toMatch(/^[\0-\x7f]*$/);
      }),
    );
  });

  test("Node's own decoder agrees", () => {
    fc.assert(
      fc.property(letters, (label) => {
        const name = nameToAscii(`${label}.example`);
        if (name.ok) expect(nameToUnicode(name.value)).toBe(domainToUnicode(name.value));
      }),
    );
  });

  test("any text is converted or refused, without throwing", () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter }), (text) => {
        const name = nameToAscii(text);
        expect(name.ok || name.faults.length > 0).toBe(true);
        expect(nameToUnicode(`xn--${text}`)).toMatch(/^/);
      }),
    );
  });
});
