import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Result } from "../result.ts";
import {
  absoluteName,
  enclosing,
  labelsOf,
  ownerOf,
  parseName,
  parseOwner,
  parseTarget,
  parseZoneName,
} from "./name.ts";

/** The value, or the codes of the faults. */
const outcome = (result: Result<string>): string | readonly string[] =>
  result.ok ? result.value : result.faults.map((fault) => fault.code);

const zone = "example.org";
const label63 = "a".repeat(63);
/** 255 bytes on the wire. */
const longest = [label63, label63, label63, "a".repeat(61)].join(".");

describe("owners in example.org", () => {
  test.each<[string, string | readonly string[]]>([
    ["@", "@"],
    ["", "@"],
    ["example.org", "@"],
    ["Example.ORG", "@"],
    ["example.org.", "@"],
    ["www", "www"],
    ["WWW", "www"],
    ["*", "*"],
    ["*.sub", "*.sub"],
    ["_acme-challenge.www", "_acme-challenge.www"],
    ["www.example.org.", "www"],
    ["WWW.Example.Org.", "www"],
    ["x.example.org", "x.example.org"],
    ["x.example.org.example.org.", "x.example.org"],
    ["a\\.b", "a\\.b"],
    ["a\\.b.example.org.", "a\\.b"],
    ["\\065", "a"],
    ["\\097\\@", "a\\@"],
    ["\\@", "\\@"],
    ["a\\032b", "a\\032b"],
    ["a\\ b", "a\\032b"],
    ["a\\255b", "a\\255b"],
    ["a$b", "a\\$b"],
    ["a/b", "a/b"],
    [label63, label63],
    [`${label63}a`, ["label-too-long"]],
    ["www.example.net.", ["out-of-zone"]],
    ["badexample.org.", ["out-of-zone"]],
    ["bad\\.example.org.", ["out-of-zone"]],
    ["org.", ["out-of-zone"]],
    [".", ["empty-name"]],
    ["a..b", ["empty-label"]],
    [".a", ["empty-label"]],
    ["a..", ["empty-label"]],
    ["..", ["empty-label", "empty-label"]],
    ["a b", ["bad-character"]],
    ["a\nb", ["bad-character"]],
    ["a\0b", ["bad-character"]],
    ['a"b', ["bad-character"]],
    ["a;b", ["bad-character"]],
    ["(a)", ["bad-character"]],
    ["me@home", ["bad-character"]],
    ["büro", ["bad-character"]],
    ["💡", ["bad-character"]],
    ["\u212a", ["bad-character"]],
    ["a\\", ["bad-character"]],
    ["a\\25", ["bad-character"]],
    ["a\\256", ["bad-character"]],
    ["a\\ü", ["bad-character"]],
    [`ü.${label63}a..b`, ["bad-character", "label-too-long", "empty-label"]],
    [longest, ["name-too-long"]],
    [longest.slice(12), longest.slice(12)],
    [longest.slice(11), ["name-too-long"]],
    [longest.slice(12).toUpperCase(), longest.slice(12)],
    [`${longest.slice(12)}.example.org.`, longest.slice(12)],
    [`${longest.slice(11)}.example.org.`, ["name-too-long"]],
  ])("%j", (text, expected) => {
    expect(outcome(parseOwner(text, zone))).toEqual(expected);
  });

  test("a fault says where, what, and what to do", () => {
    expect(parseOwner("www.example.net.", zone, "records[3].name")).toEqual({
      ok: false,
      faults: [
        {
          code: "out-of-zone",
          where: "records[3].name",
          message: "the name www.example.net. is not inside the zone example.org",
          todo: "use a name that ends with example.org. or a relative name without a trailing dot",
        },
      ],
    });
  });
});

test("a name of a megabyte gives one fault", () => {
  expect(outcome(parseOwner(".".repeat(1_000_000), zone))).toEqual(["name-too-long"]);
});

test("a name with every byte escaped is still read", () => {
  const escaped = longest.replaceAll("a", "\\097");
  expect(outcome(parseName(`${escaped}.`))).toBe(longest);
});

describe("zone names", () => {
  test.each<[string, string | readonly string[]]>([
    ["example.org", "example.org"],
    ["Example.Org.", "example.org"],
    ["home.test", "home.test"],
    ["a.b.c.d", "a.b.c.d"],
    ["xn--bcher-kva.example", "xn--bcher-kva.example"],
    ["2.0.192.in-addr.arpa", "2.0.192.in-addr.arpa"],
    ["0/25.2.0.192.in-addr.arpa", "0/25.2.0.192.in-addr.arpa"],
    ["_x.example.org", "_x.example.org"],
    [longest, longest],
    [`${longest}a`, ["name-too-long"]],
    ["", ["empty-name"]],
    [".", ["single-label"]],
    ["org", ["single-label"]],
    ["org.", ["single-label"]],
    ["-.de", ["label-starts-with-dash"]],
    ["-a.-b", ["label-starts-with-dash", "label-starts-with-dash"]],
    ["*.example.org", ["bad-character"]],
    ["a\\.b.org", ["bad-character"]],
    ["bücher.example", ["bad-character"]],
    ["exa mple.org", ["bad-character"]],
    ["example..org", ["empty-label"]],
    [`${label63}a.org`, ["label-too-long"]],
  ])("%j", (text, expected) => {
    expect(outcome(parseZoneName(text))).toEqual(expected);
  });
});

describe("targets in example.org", () => {
  test.each<[string, string | readonly string[]]>([
    ["mail.example.net.", "mail.example.net."],
    ["Mail.Example.NET.", "mail.example.net."],
    ["mail", "mail.example.org."],
    ["mail.example.org", "mail.example.org.example.org."],
    ["example.org", "example.org.example.org."],
    ["@", "example.org."],
    [".", "."],
    ["a\\.b", "a\\.b.example.org."],
    [`${longest}.`, `${longest}.`],
    [`${longest}a.`, ["name-too-long"]],
    [longest, ["name-too-long"]],
    ["", ["empty-name"]],
    ["me@example.net.", ["bad-character"]],
  ])("%j", (text, expected) => {
    expect(outcome(parseTarget(text, zone))).toEqual(expected);
  });
});

describe("absolute names", () => {
  test.each<[string, string | readonly string[]]>([
    ["www.example.org", "www.example.org"],
    ["WWW.example.org.", "www.example.org"],
    ["org", "org"],
    [".", ""],
    ["", ["empty-name"]],
  ])("%j", (text, expected) => {
    expect(outcome(parseName(text))).toEqual(expected);
  });
});

/** Labels of any bytes, as text with every byte escaped in one of the ways allowed. */
const anyLabel = fc
  .array(fc.tuple(fc.integer({ min: 0, max: 255 }), fc.boolean()), { minLength: 1, maxLength: 12 })
  .map((bytes) => bytes.map(([byte, bare]) => writeByte(byte, bare)).join(""));
const writeByte = (byte: number, bare: boolean): string => {
  const character = String.fromCharCode(byte);
  if (bare && /[a-zA-Z0-9_*-]/.test(character)) return character;
  if (bare && byte > 0x20 && byte < 0x7f) return `\\${character}`;
  return `\\${String(byte).padStart(3, "0")}`;
};
const anyName = fc.array(anyLabel, { minLength: 1, maxLength: 6 }).map((labels) => labels.join("."));
const plainName = fc
  .array(fc.stringMatching(/^[a-z0-9_-]{1,10}$/), { minLength: 1, maxLength: 5 })
  .map((labels) => labels.join("."));
const someName = fc.oneof(anyName, plainName);

describe("laws", () => {
  test("a canonical name is parsed to itself", () => {
    fc.assert(
      fc.property(someName, (text) => {
        const name = outcome(parseName(text));
        if (typeof name !== "string") throw new Error(`${text} is not read`);
        expect(outcome(parseName(`${name}.`))).toBe(name);
        expect(name).toMatch(/^[!-~]+$/);
        expect(name).not.toMatch(/[A-Z]/);
      }),
    );
  });

  test("case does not matter", () => {
    fc.assert(
      fc.property(plainName, (text) => {
        expect(parseOwner(text.toUpperCase(), zone)).toEqual(parseOwner(text, zone));
      }),
    );
  });

  test("an owner survives being made absolute and relative again", () => {
    fc.assert(
      fc.property(someName, (text) => {
        const owner = outcome(parseOwner(text, zone));
        if (typeof owner !== "string") throw new Error(`${text} is not read`);
        const name = absoluteName(owner, zone);
        expect(ownerOf(name, zone)).toBe(owner);
        expect(outcome(parseOwner(`${name}.`, zone))).toBe(owner);
        expect(labelsOf(name).slice(-2)).toEqual(["example", "org"]);
      }),
    );
  });

  test("relative owners and relative targets mean the same name", () => {
    fc.assert(
      fc.property(someName, (text) => {
        const owner = outcome(parseOwner(text, zone));
        expect(outcome(parseTarget(text, zone))).toBe(`${absoluteName(String(owner), zone)}.`);
      }),
    );
  });

  test.for([
    ["a.b.example.org", ["a.b.example.org", "b.example.org", "example.org", "org"]],
    // One of these dots is escaped, so the parent is not b.example.org.
    ["a\\.b.example.org", ["a\\.b.example.org", "example.org", "org"]],
    ["", []],
  ] as const)("%s is enclosed by itself and by all its parents except the root", ([name, above]) => {
    expect(enclosing(name)).toEqual(above);
  });

  test("any text is parsed or refused with a reason, without throwing", () => {
    const text = fc.string({ unit: fc.constantFrom(...('ab.@*\\01 9"ü\0💡;-'.match(/./gu) ?? [])), maxLength: 300 });
    fc.assert(
      fc.property(text, (input) => {
        for (const parse of [parseOwner, parseTarget, parseZoneName, parseName]) {
          const result = parse(input, zone);
          expect(result.ok || result.faults.length > 0).toBe(true);
        }
      }),
    );
  });
});
