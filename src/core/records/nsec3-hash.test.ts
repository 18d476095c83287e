import { expect, it } from "vitest";
import { base32hex } from "../rdata/fields/base32hex.ts";
import { hashOf, rememberedHash, wireName } from "./nsec3-hash.ts";

/** RFC 5155 appendix A: 12 iterations, salt aabbccdd. */
const parameters = Uint8Array.of(1, 0, 0, 12, 4, 0xaa, 0xbb, 0xcc, 0xdd);

it("hashes a name once as long as it is remembered, for each set of parameters", () => {
  const remembered = new Map<string, Uint8Array>();
  const name = wireName(["example"]);
  const first = rememberedHash(remembered, name, parameters);
  expect(base32hex(first)).toBe("0p9mhaveqvm6t7vbl5lop2u3t2rp3tom");
  expect(rememberedHash(remembered, name, parameters)).toBe(first);
  const plain = Uint8Array.of(1, 0, 0, 0, 0);
  expect(rememberedHash(remembered, name, plain)).toEqual(hashOf(name, plain));
  for (let i = 0; i < 1_000; i++) rememberedHash(remembered, wireName([`n${i}`]), plain);
  expect(remembered.size).toBeLessThanOrEqual(64);
  expect(rememberedHash(remembered, name, parameters)).toEqual(first);
});
