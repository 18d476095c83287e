import fc from "fast-check";
import { expect, test } from "vitest";
import { recordTypes } from "../rdata/table.ts";
import { parseTtl, setKey } from "./rrset.ts";

test.each([0, 1, 60, 86_400, 2_147_483_647])("%d is a TTL", (ttl) => {
  expect(parseTtl(ttl)).toEqual({ ok: true, value: ttl });
});

test.each([-1, 0.5, 2_147_483_648, Number.NaN, Number.POSITIVE_INFINITY, "300", "", null, undefined, true, [1], {}])(
  "%j is not a TTL",
  (ttl) => {
    expect(parseTtl(ttl, "rrsets[0].ttl")).toMatchObject({
      ok: false,
      faults: [{ code: "bad-ttl", where: "rrsets[0].ttl", todo: expect.any(String) }],
    });
  },
);

test("two sets share a key only when owner and type are equal", () => {
  const owner = fc.constantFrom("@", "a", "a.b", "*", "txt", "a\\032b");
  const type = fc.constantFrom(...recordTypes);
  fc.assert(
    fc.property(owner, type, owner, type, (ownerA, typeA, ownerB, typeB) => {
      expect(setKey(ownerA, typeA) === setKey(ownerB, typeB)).toBe(ownerA === ownerB && typeA === typeB);
    }),
  );
});
