import { describe, expect, it } from "vitest";
import { hasControls, onOneLine, visible } from "./visible-text.ts";

describe("visible", () => {
  it.each([
    ["plain text", "v=spf1 -all", "v=spf1 -all"],
    ["letters of all languages", "grün 東京 👩‍🚀", "grün 東京 👩‍🚀"],
    ["characters that move the cursor", "a\rb\u0007\u007f\u009b2J", "a\\u{d}b\\u{7}\\u{7f}\\u{9b}2J"],
    ["characters that change the direction", "a\u202eb\u2066", "a\\u{202e}b\\u{2066}"],
    ["other line breaks", "a\u2028b", "a\\u{2028}b"],
  ])("%s", (_, text, seen) => {
    expect(visible(text)).toBe(seen);
  });
});

describe("one line", () => {
  it.each([
    ["plain text", "main; (grün)\tserver", "main; (grün)\tserver", false],
    ["blanks around it", " main ", "main", false],
    ["line breaks", "a\r\nb\u2028c\vd", "a b c d", true],
    ["an escape sequence", "a\u001b[2Jb", "a [2Jb", true],
    ["NUL and DEL", "\0a\x7f", "a", true],
  ])("%s", (_, text, line, controls) => {
    expect([onOneLine(text), hasControls(text)]).toEqual([line, controls]);
  });
});
