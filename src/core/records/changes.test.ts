import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { applyChanges } from "../../../test/rig/core/apply-changes.ts";
import { type Change, diffingSets, diffSets, invertChange, sameSet } from "./changes.ts";
import { type RRset, setKey, type ZoneRecord } from "./rrset.ts";

const record = (value: string, rest: Partial<ZoneRecord> = {}): ZoneRecord => ({
  id: value,
  name: "www",
  value,
  rdata: value,
  comment: "",
  created: 0,
  modified: 0,
  ...rest,
});

const invertChanges = (changes: readonly Change[]) => changes.toReversed().map(invertChange);

const www = (...records: readonly ZoneRecord[]): RRset => ({ owner: "www", type: "A", ttl: null, records });
const one = record("192.0.2.1");
const two = record("192.0.2.2");
const three = record("192.0.2.3");
const labelled = (labels: Readonly<Record<string, string>>): RRset => ({ ...www(one), labels });

describe("what a write changes", () => {
  test.each<[string, readonly RRset[], readonly RRset[], readonly string[]]>([
    ["nothing to nothing", [], [], []],
    ["a new set", [], [www(one)], ["create"]],
    ["a removed set", [www(one)], [], ["delete"]],
    ["a set that has become empty", [www(one)], [www()], ["delete"]],
    ["an empty set does not count", [www()], [], []],
    ["another value", [www(one)], [www(two)], ["replace"]],
    ["one value more", [www(one)], [www(one, two)], ["replace"]],
    ["another order", [www(one, two)], [www(two, one)], []],
    ["values exchanged", [www(one, two)], [www({ ...two, id: one.id }, { ...one, id: two.id })], ["replace"]],
    [
      "values exchanged, in their order",
      [www(one, two)],
      [www({ ...one, id: two.id }, { ...two, id: one.id })],
      ["replace"],
    ],
    [
      "two of three values exchanged",
      [www(one, two, three)],
      [www(one, { ...three, id: two.id }, { ...two, id: three.id })],
      ["replace"],
    ],
    [
      "names exchanged",
      [www(one), { ...www(two), owner: "mail" }],
      [www({ ...one, id: two.id }), { ...www({ ...two, id: one.id }), owner: "mail" }],
      ["replace", "replace"],
    ],
    [
      "a record replaced by another of the same value",
      [www(one), { ...www({ ...one, id: two.id }), owner: "mail" }],
      [www({ ...one, id: two.id }), { ...www(one), owner: "new" }],
      ["delete", "replace", "create"],
    ],
    [
      "a record moved to another set, with an equal one in its place",
      [www(one)],
      [www({ ...one, id: "new" }), { ...www(one), owner: "mail" }],
      ["replace", "create"],
    ],
    ["other ids and another order", [www(one, two)], [www({ ...two, id: "new" }, { ...one, id: "newer" })], []],
    ["a value counted twice", [www(one, one, two)], [www(one, two, two)], ["replace"]],
    ["another TTL", [www(one)], [{ ...www(one), ttl: 60 }], ["replace"]],
    ["TTL 0 is not the zone's TTL", [www(one)], [{ ...www(one), ttl: 0 }], ["replace"]],
    ["a first label", [www(one)], [labelled({ env: "prod" })], ["replace"]],
    ["another label", [labelled({ env: "prod" })], [labelled({ env: "test" })], ["replace"]],
    ["one label more", [labelled({ env: "prod" })], [labelled({ env: "prod", team: "a" })], ["replace"]],
    ["labels in another order", [labelled({ env: "prod", team: "a" })], [labelled({ team: "a", env: "prod" })], []],
    ["no labels, explicit or not", [www(one)], [labelled({})], []],
    ["a lock", [www(one)], [{ ...www(one), locked: true }], ["replace"]],
    ["a removed lock", [{ ...www(one), locked: true }], [www(one)], ["replace"]],
    ["no lock, explicit or not", [www(one)], [{ ...www(one), locked: false }], []],
    ["another comment", [www(one)], [www({ ...one, comment: "x" })], ["replace"]],
    ["the same value written differently", [www(one)], [www({ ...one, value: " 192.0.2.1" })], ["replace"]],
    ["the same text with another meaning", [www(one)], [www({ ...one, rdata: "192.0.2.9" })], ["replace"]],
    ["the same name written differently", [www(one)], [www({ ...one, name: "WWW" })], ["replace"]],
    ["another id and time", [www(one)], [www({ ...one, id: "new", created: 5, modified: 9 })], []],
    [
      "an alias instead of an address: the address leaves first",
      [www(one)],
      [{ ...www(record("a.example.org.")), type: "CNAME" }],
      ["delete", "create"],
    ],
  ])("%s", (_, existing, wanted, kinds) => {
    expect(diffSets(existing, wanted).map((change) => change.kind)).toEqual(kinds);
  });

  test("is nothing for equal sets", () => {
    expect(sameSet(www(one, two), www(two, one))).toBe(true);
    expect(sameSet(www(one), www(two))).toBe(false);
  });

  test("contains the sets before and after", () => {
    expect(diffSets([www(one)], [www(two)])).toEqual([
      { kind: "replace", owner: "www", type: "A", before: www(one), after: www(two) },
    ]);
  });
});

const anyRecord = fc
  .record({
    id: fc.constantFrom("1", "2", "3", "4", "5", "6"),
    value: fc.constantFrom("x", "y", "X"),
    comment: fc.constantFrom("", "c"),
    name: fc.constantFrom("n", "N"),
  })
  .map(({ value, ...rest }) => record(value, { ...rest, rdata: value.toLowerCase() }));
const anySet = fc.record({
  owner: fc.constantFrom("@", "a", "b"),
  type: fc.constantFrom("A", "TXT", "CNAME"),
  ttl: fc.constantFrom(null, 0, 60),
  records: fc.array(anyRecord, { maxLength: 3 }),
});
const anySets = fc
  .uniqueArray<RRset, string>(anySet, { selector: (set) => setKey(set.owner, set.type) })
  .map(withEachIdOnce);

function withEachIdOnce(sets: readonly RRset[]): readonly RRset[] {
  const seen = new Set<string>();
  return sets.map((set) => ({ ...set, records: set.records.filter(({ id }) => !seen.has(id) && seen.add(id)) }));
}

/** By key, without empty sets and ids, records sorted: for comparing content. */
const said = (sets: readonly RRset[]) =>
  Object.fromEntries(
    sets
      .filter((set) => set.records.length > 0)
      .map((set) => [setKey(set.owner, set.type), { ttl: set.ttl, records: set.records.map(contentOf).sort() }]),
  );
const contentOf = ({ rdata, comment, value, name }: ZoneRecord) => JSON.stringify({ rdata, comment, value, name });

describe("laws", () => {
  test("applied to the existing sets, the changes give the wanted ones", () => {
    fc.assert(
      fc.property(anySets, anySets, (a, b) => {
        expect(said(applyChanges(a, diffSets(a, b)))).toEqual(said(b));
      }),
    );
  });

  test("the order of the sets makes no difference", () => {
    fc.assert(
      fc.property(anySets, (sets) => {
        const turned = sets.toReversed().map((set) => ({ ...set, records: set.records.toReversed() }));
        expect(diffSets(sets, turned)).toEqual([]);
      }),
    );
  });

  test("inverted changes undo the changes", () => {
    fc.assert(
      fc.property(anySets, anySets, (a, b) => {
        const changes = diffSets(a, b);
        const undone = applyChanges(applyChanges(a, changes), invertChanges(changes));
        expect(said(undone)).toEqual(said(a));
        expect(invertChanges(invertChanges(changes))).toEqual(changes);
      }),
    );
  });

  test("a history of changes can be undone from its end", () => {
    fc.assert(
      fc.property(anySets, anySets, anySets, (a, b, c) => {
        const history = [...diffSets(a, b), ...diffSets(b, c)];
        expect(said(applyChanges(c, invertChanges(history)))).toEqual(said(a));
      }),
    );
  });

  test("each existing record that is wanted is afterwards in its wanted set, and only once", () => {
    fc.assert(
      fc.property(anySets, anySets, (a, b) => {
        const known = new Set(idsIn(a));
        const after = applyChanges(a, diffSets(a, b));
        expect(new Set(idsIn(after)).size).toBe(idsIn(after).length);
        for (const { owner, type, records } of b) {
          const now = after.find((set) => set.owner === owner && set.type === type)?.records ?? [];
          for (const record of records.filter(({ id }) => known.has(id))) {
            expect(now.filter(({ id }) => id === record.id).map(contentOf)).toEqual([contentOf(record)]);
          }
        }
      }),
    );
  });

  test("there is no change for sets with the same records, and at most one per set", () => {
    fc.assert(
      fc.property(anySets, anySets, (a, b) => {
        const changes = diffSets(a, b);
        expect(changes.some(({ before, after }) => before && after && isDeepStrictEqual(before, after))).toBe(false);
        expect(new Set(changes.map((change) => setKey(change.owner, change.type))).size).toBe(changes.length);
      }),
    );
  });
});

const idsIn = (sets: readonly RRset[]): readonly string[] => sets.flatMap((set) => set.records.map(({ id }) => id));

test.each([
  ["new", () => [[], setsWith(2_000, 0)]],
  ["deleted", () => [setsWith(2_000, 0), []]],
  ["equal but for their ids", () => [setsWith(2_000, 0), setsWith(2_000, 1)]],
] as const)("no step of comparing large zones looks at more than a few hundred sets: they are %s", (_, zones) => {
  let looks = 0;
  const counted = (set: RRset): RRset => ({
    ...set,
    get records() {
      looks += 1;
      return set.records;
    },
  });
  const [before, after] = zones().map((sets) => sets.map(counted));
  const steps = diffingSets(before ?? [], after ?? []);
  let most = 0;
  for (let isDone: boolean | undefined = false; !isDone; looks = 0) {
    isDone = steps.next().done;
    most = Math.max(most, looks);
  }
  expect(most).toBeLessThan(500);
});

/** The ids begin with another record. */
const setsWith = (count: number, firstId: number): readonly RRset[] =>
  Array.from({ length: count }, (_, i) => ({
    owner: `h${i}`,
    type: "A",
    ttl: null,
    records: [record("192.0.2.1", { id: `r${i + firstId}` })],
  }));
