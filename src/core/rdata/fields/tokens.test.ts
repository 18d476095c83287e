import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { quote, readToken, type TextToken, tokenBytes, tokenize } from "./tokens.ts";

/** Shows quoted tokens in guillemets. */
const shown = (text: string): string => {
  const tokens = tokenize(text, "value");
  if (!tokens.ok) return tokens.faults.map((fault) => fault.code).join(" ");
  return tokens.value.map(({ raw, quoted }) => (quoted ? `«${raw}»` : raw)).join("|");
};

describe("presentation text", () => {
  test.each([
    ["", ""],
    ["  \t ", ""],
    ["10 mail.example.org.", "10|mail.example.org."],
    ["  10\t\tmail  ", "10|mail"],
    ['"a b" c', "«a b»|c"],
    ['""', "«»"],
    ['"a""b"', "«a»|«b»"],
    ['"a" "b" ', "«a»|«b»"],
    ['"say \\"hi\\""', '«say \\"hi\\"»'],
    ['"a\\\\" b', "«a\\\\»|b"],
    ["a\\ b c", "a\\ b|c"],
    ['a\\"b', 'a\\"b'],
    ["v=DMARC1; p=none (x)", "v=DMARC1;|p=none|(x)"],
    ["a\\", "a\\"],
    ['alpn="h2,h3" port=53', 'alpn="h2,h3"|port=53'],
    ['k="a b\\"c" d', 'k="a b\\"c"|d'],
    ['k=""', 'k=""'],
    ['k="a"b', "bad-quotes"],
    ['k="a""b"', "bad-quotes"],
    ['k="a', "bad-quotes"],
    ['k="a\\"', "bad-quotes"],
    ['="a"', '="a"'],
    ['"a', "bad-quotes"],
    ['a"', "bad-quotes"],
    ['a"b"', "bad-quotes"],
    ['"a"b', "bad-quotes"],
    ['"a\\"', "bad-quotes"],
    ['"', "bad-quotes"],
  ])("%j", (text, expected) => {
    expect(shown(text)).toBe(expected);
  });

  test("in a zone file, a semicolon or parenthesis also ends a token", () => {
    expect(readToken("ab;c", 0, " \t\n;()")).toEqual({ token: { raw: "ab", quoted: false }, end: 2 });
    expect(readToken('"a;b")', 0, " \t\n;()")).toEqual({ token: { raw: "a;b", quoted: true }, end: 5 });
    expect(readToken("x a\\;b c", 2, " \t\n;()")).toEqual({ token: { raw: "a\\;b", quoted: false }, end: 6 });
  });
});

const token = (raw: string): TextToken => ({ raw, quoted: true });

describe("the bytes of a token", () => {
  test.each([
    ["abc", "abc"],
    ["a\\065\\255\\000", "aA\xff\0"],
    ['\\"\\\\\\a', '"\\a'],
    ["ü€💡", "\xc3\xbc\xe2\x82\xac\xf0\x9f\x92\xa1"],
  ])("%j", (raw, bytes) => {
    expect(tokenBytes(token(raw), "value")).toEqual({ ok: true, value: bytes });
  });

  test.each(["\\", "\\25", "\\256", "\\ü", "\ud800"])("%j cannot be read", (raw) => {
    expect(tokenBytes(token(raw), "value")).toMatchObject({ ok: false, faults: [{ code: "bad-character" }] });
  });
});

const byteText = fc.uint8Array({ maxLength: 40 }).map((bytes) => String.fromCharCode(...bytes));

test("a quote inside a bare token is refused as text", () => {
  expect(tokenBytes({ raw: 'k="a"', quoted: false }, "value")).toMatchObject({ faults: [{ code: "bad-quotes" }] });
});

describe("laws", () => {
  test("quoted bytes are one token of the same bytes, in visible ASCII", () => {
    fc.assert(
      fc.property(byteText, (bytes) => {
        const text = quote(bytes);
        expect(text).toMatch(/^[ -~]*$/);
        const tokens = tokenize(text, "value");
        if (!tokens.ok) throw new Error("not read");
        expect(tokens.value.map((each) => tokenBytes(each, "value"))).toEqual([{ ok: true, value: bytes }]);
      }),
    );
  });

  test("text beyond ASCII has the bytes of UTF-8", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (text) => {
        const expected = String.fromCharCode(...new TextEncoder().encode(text));
        expect(tokenBytes(token(text.replaceAll("\\", "\\\\")), "value")).toEqual({ ok: true, value: expected });
      }),
    );
  });
});
