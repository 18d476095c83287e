import { createHash } from "node:crypto";
import { expect, it } from "vitest";
import { sha1 } from "./sha1.ts";

const byCrypto = (text: string): string => createHash("sha1").update(text, "latin1").digest("hex");

it("gives the hash that node:crypto gives, for all lengths up to three blocks and wherever the text is divided", () => {
  for (let length = 0; length <= 192; length++) {
    const text = String.fromCharCode(...Array.from({ length }, (_, i) => (i * 37 + length) & 0xff));
    const at = (length * 7) % (length + 1);
    expect(Buffer.from(sha1(text)).toString("hex")).toBe(byCrypto(text));
    expect(Buffer.from(sha1(text.slice(0, at), text.slice(at))).toString("hex")).toBe(byCrypto(text));
  }
});

it("hashes the hash again, with a salt of any length", () => {
  for (const length of [0, 1, 8, 34, 35, 36, 100, 255]) {
    const salt = String.fromCharCode(...Array.from({ length }, (_, i) => (i * 11 + 7) & 0xff));
    let expected = byCrypto(`name${salt}`);
    for (const rounds of [1, 2, 3]) {
      expected = byCrypto(Buffer.from(expected, "hex").toString("latin1") + salt);
      expect(Buffer.from(sha1("name", salt, rounds)).toString("hex")).toBe(expected);
    }
  }
});
