import { createHash } from "node:crypto";
import { expect, it } from "vitest";
import { sha1 } from "./sha1.ts";

const byCrypto = (...parts: readonly Buffer[]): string => createHash("sha1").update(Buffer.concat(parts)).digest("hex");
const noSalt = Buffer.of();

it("gives the hash that node:crypto gives, for all lengths up to three blocks and wherever the bytes are divided", () => {
  for (let length = 0; length <= 192; length++) {
    const all = Buffer.from(Array.from({ length }, (_, i) => (i * 37 + length) & 0xff));
    const at = (length * 7) % (length + 1);
    expect(Buffer.from(sha1(all, length, noSalt)).toString("hex")).toBe(byCrypto(all));
    expect(Buffer.from(sha1(all, at, all.subarray(at))).toString("hex")).toBe(byCrypto(all));
  }
});

it("hashes the hash again, with a salt of any length", () => {
  for (const length of [0, 1, 8, 34, 35, 36, 100, 255]) {
    const salt = Buffer.from(Array.from({ length }, (_, i) => (i * 11 + 7) & 0xff));
    const name = Buffer.from("name");
    let expected = byCrypto(name, salt);
    for (const rounds of [1, 2, 3]) {
      expected = byCrypto(Buffer.from(expected, "hex"), salt);
      expect(Buffer.from(sha1(name, name.length, salt, rounds)).toString("hex")).toBe(expected);
    }
  }
});
