import { describe, expect, it } from "vitest";
import { passwordFault } from "./password.ts";
import { createToken } from "./secret.ts";

describe("a password", () => {
  it.each([
    ["too short", "password12"],
    ["too short", "x9!kQw2#p7r"],
    ["a common word with a number", "password1234"],
    ["a common word with a number", "Password123!"],
    ["a common word in other characters", "P@55w0rd2024"],
    ["two common words", "welcomeadmin1"],
    ["common words and a year", "Summer-2024-Winter"],
    ["one letter", "aaaaaaaaaaaa"],
    ["digits in order", "123456789012"],
    ["digits in reverse order", "0987654321098"],
    ["letters in order", "abcdefghijkl"],
    ["rows of keys", "qwertyuiop[]"],
    ["rows of keys", "1qaz2wsx3edc"],
    ["rows of keys, German", "qwertzuiopasdf"],
    ["two alternating rows", "1q2w3e4r5t6y"],
    ["two alternating rows", "q1w2e3r4t5y6"],
    ["two alternating rows, German", "Q1W2E3R4T5Z6"],
    ["two alternating rows", "qawsedrftgyh"],
    ["a repeated part", "xyzxyzxyzxyz"],
    ["a repeated part", "k7k7k7k7k7k7k7"],
    ["the name of the user", "annaliese-1234"],
    ["the name of the user, twice", "AnnalieseAnnaliese"],
    ["the name of the product", "moor-firewall-1"],
    ["the name of the product", "moor records 2026"],
    ["without letters and digits", "!!!!!!!!!!!!????"],
    ["no text", undefined],
  ])("is refused if it is %s: %s", (_, password) => {
    expect(passwordFault(password, "annaliese")).toEqual(expect.stringMatching(/\.$/));
  });

  it.each([
    "correct horse battery",
    "anchors aweigh, all",
    "long enough for all",
    "x9!kQw2#p7rT",
    "Grüne Wellen im März",
    "その山は高いですか、いいえ",
    "my password: teal otter dune",
  ])("is accepted: %s", (password) => expect(passwordFault(password, "annaliese")).toBeUndefined());

  it("that moor generated is always accepted", () => {
    for (let i = 0; i < 200; i += 1) expect(passwordFault(createToken(), "admin")).toBeUndefined();
  });

  it("of any length is checked quickly", () => {
    expect(passwordFault("ab".repeat(500), "n")).toBeDefined();
    expect(passwordFault("a1".repeat(500) + "x".repeat(10), "n")).toBeDefined();
  });
});
