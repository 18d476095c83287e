import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { RRset } from "../../../core/records/rrset.ts";
import { setAt, withComments, withLess, withMore, withSet, withValues } from "./set.ts";
import type { Value } from "./values.ts";

const place = { owner: "www", type: "A" } as const;
const fresh = (prefix: string, now: number) => ({ now, newId: (i: number) => `${prefix}${i}` });

const value: fc.Arbitrary<Value> = fc
  .record({ n: fc.integer({ min: 0, max: 9 }), comment: fc.constantFrom("", "a", "b") })
  .map(({ n, comment }) => ({ value: `192.0.2.${n}`, rdata: `192.0.2.${n}`, comment }));
const values = fc.uniqueArray(value, { selector: (each) => each.rdata, minLength: 1, maxLength: 8 });

const contents = (set: RRset | undefined) => set?.records.map(({ rdata, comment }) => `${rdata} ${comment}`) ?? [];
const ids = (set: RRset | undefined) => set?.records.map((record) => record.id) ?? [];

describe("editing a set", () => {
  it("replacing gives exactly the new values, each under one id", () => {
    fc.assert(
      fc.property(values, values, (before, after) => {
        const old = withValues(place, undefined, before, fresh("a", 1));
        const set = withValues(place, old, after, fresh("b", 2));
        expect(contents(set)).toEqual(after.map(({ rdata, comment }) => `${rdata} ${comment}`));
        expect(new Set(ids(set)).size).toBe(after.length);
      }),
    );
  });

  it("replacing keeps the id of every value that stays, and creates new ids only for additional records", () => {
    fc.assert(
      fc.property(values, values, (before, after) => {
        const old = withValues(place, undefined, before, fresh("a", 1));
        const set = withValues(place, old, after, fresh("b", 2));
        for (const record of old.records) {
          const same = set.records.find((each) => each.rdata === record.rdata);
          if (same !== undefined) expect([same.id, same.created]).toEqual([record.id, record.created]);
        }
        const made = ids(set).filter((id) => id.startsWith("b"));
        expect(made).toEqual(after.slice(before.length).map((_, i) => `b${i}`));
      }),
    );
  });

  it("replacing passes ids on in the order of the values", () => {
    const said = (...ends: readonly number[]) =>
      ends.map((n) => ({ value: `192.0.2.${n}`, rdata: `192.0.2.${n}`, comment: "" }));
    const old = withValues(place, undefined, said(1, 2, 3), fresh("a", 1));
    expect(ids(withValues(place, old, said(7, 2, 8), fresh("b", 2)))).toEqual(["a0", "a1", "a2"]);
  });

  it("replacing keeps the TTL, the labels and the protection of the set", () => {
    const marks = { ttl: 60, labels: { env: "prod" }, locked: true };
    fc.assert(
      fc.property(values, values, (before, after) => {
        const old = { ...withValues(place, undefined, before, fresh("a", 1)), ...marks };
        expect(withValues(place, old, after, fresh("b", 2))).toMatchObject(marks);
      }),
    );
  });

  it("replacing with the same values changes no record", () => {
    fc.assert(
      fc.property(values, (same) => {
        const old = withValues(place, undefined, same, fresh("a", 1));
        expect(withValues(place, old, same, fresh("b", 2))).toEqual(old);
      }),
    );
  });

  it("a value in another spelling is the same record, with the new spelling", () => {
    const said = (value: string): Value => ({ value, rdata: "2001:db8::1", comment: "" });
    const old = withValues(place, undefined, [said("2001:db8::1")], fresh("a", 1));
    const set = withValues(place, old, [said("2001:DB8::1")], fresh("b", 2));
    expect(set.records).toMatchObject([{ id: "a0", value: "2001:DB8::1", created: 1, modified: 2 }]);
  });

  it("comments change only their own records", () => {
    const [one, other] = ["192.0.2.1", "192.0.2.2"].map((text) => ({ value: text, rdata: text, comment: "" }));
    if (!one || !other) throw new Error("no values");
    const old = withValues(place, undefined, [one, other], fresh("a", 1));
    const set = withComments(
      old,
      [
        { ...one, comment: "" },
        { ...other, comment: "new" },
      ],
      2,
    );
    expect(set).toMatchObject({ ok: true, value: { records: [{ modified: 1 }, { comment: "new", modified: 2 }] } });
    const missing = withComments(old, [one, { value: "x", rdata: "x", comment: "" }], 2);
    expect(missing).toMatchObject({
      faults: [{ code: "value-missing", where: "records[1].value", message: "value 'x' not found" }],
    });
  });

  it("adding and then removing the same leaves what was there", () => {
    fc.assert(
      fc.property(values, values, (before, more) => {
        const old = withValues(place, undefined, before, fresh("a", 1));
        const known = new Set(before.map((each) => each.rdata));
        const added = more.filter((each) => !known.has(each.rdata));
        const grown = withMore(place, old, { values: added, ttl: null, zoneTtl: 60 }, fresh("b", 2));
        if (!grown.ok) throw new Error("refused");
        expect(withLess(grown.value, added)).toEqual(old);
      }),
    );
  });

  it("adding an existing value is refused, whatever else is added", () => {
    fc.assert(
      fc.property(values, values, (before, more) => {
        const old = withValues(place, undefined, before, fresh("a", 1));
        const known = new Set(before.map((each) => each.rdata));
        const grown = withMore(place, old, { values: more, ttl: null, zoneTtl: 60 }, fresh("b", 2));
        expect(grown.ok).toBe(!more.some((each) => known.has(each.rdata)));
      }),
    );
  });

  it("removing everything leaves no set", () => {
    fc.assert(
      fc.property(values, (all) => {
        expect(withLess(withValues(place, undefined, all, fresh("a", 1)), all)).toBeUndefined();
      }),
    );
  });
});

describe("a set among others", () => {
  const here: RRset = { ...place, ttl: null, records: [] };
  const others: readonly RRset[] = [
    { ...here, type: "AAAA" },
    { ...here, owner: "ftp" },
  ];

  it("is found by its owner and type", () => {
    expect(setAt([...others, here], place)).toBe(here);
    expect(setAt(others, place)).toBeUndefined();
  });

  it("is put in its place or removed, and the others stay", () => {
    const changed = { ...here, ttl: 60 };
    expect(withSet([here, ...others], place, changed)).toEqual([...others, changed]);
    expect(withSet([here, ...others], place, undefined)).toEqual(others);
  });
});
