import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type RecordType, recordTypes } from "../rdata/table.ts";
import { checkOwners, checkZone } from "./check-zone.ts";
import type { RRset } from "./rrset.ts";

const set = (owner: string, type: RecordType, ...values: readonly string[]): RRset => ({
  owner,
  type,
  ttl: null,
  records: values.map((rdata, i) => ({
    id: `${i}`,
    name: owner,
    value: rdata,
    rdata,
    comment: "",
    created: 0,
    modified: 0,
  })),
});

const codes = (sets: readonly RRset[]): readonly string[] =>
  checkOwners(sets).map((fault) => `${fault.code} at ${fault.where}`);

const soa = set("@", "SOA", "ns1.example.org. hostmaster.example.org. 1 2 3 4 5");

describe("sets of the owners that a write touches", () => {
  test.each<[string, readonly RRset[], readonly string[]]>([
    ["nothing", [], []],
    ["an address", [set("www", "A", "192.0.2.1")], []],
    ["all kinds at the apex", [soa, set("@", "A", "192.0.2.1"), set("@", "NS", "ns1.example.org.")], []],
    ["two values", [set("www", "A", "192.0.2.1", "192.0.2.2")], []],
    ["an alias alone", [set("www", "CNAME", "a.example.org.")], []],
    ["aliases at two names", [set("a", "CNAME", "c."), set("b", "A", "192.0.2.1")], []],
    ["an empty set", [set("www", "A")], ["empty-set at www A"]],
    ["a value twice", [set("www", "A", "192.0.2.1", "192.0.2.1")], ["duplicate-value at www A"]],
    [
      "a value three times",
      [set("www", "A", "192.0.2.1", "192.0.2.1", "192.0.2.1")],
      ["duplicate-value at www A", "duplicate-value at www A"],
    ],
    ["an alias at the apex", [set("@", "CNAME", "a.example.org.")], ["cname-at-apex at @ CNAME"]],
    ["an alias with two targets", [set("www", "CNAME", "a.", "b.")], ["cname-and-other at www CNAME"]],
    [
      "an alias and an address",
      [set("www", "A", "192.0.2.1"), set("www", "CNAME", "a.")],
      ["cname-and-other at www CNAME"],
    ],
    [
      "an alias and two others, which is one fault",
      [set("www", "CNAME", "a."), set("www", "A", "192.0.2.1"), set("www", "TXT", '"x"')],
      ["cname-and-other at www CNAME"],
    ],
    ["an SOA below the apex", [set("www", "SOA", "x")], ["soa-not-at-apex at www SOA"]],
    ["two SOA records", [set("@", "SOA", "x", "y")], ["soa-single at @ SOA"]],
    ["a DNAME next to other data", [set("@", "TYPE39", "x"), set("@", "A", "192.0.2.1")], []],
    ["two DNAME records, which may have been stored earlier", [set("d", "TYPE39", "x", "y")], []],
    ["a set given twice", [set("www", "A", "192.0.2.1"), set("www", "A", "192.0.2.2")], ["duplicate-set at www A"]],
    ["an alias given twice", [set("www", "CNAME", "a."), set("www", "CNAME", "b.")], ["duplicate-set at www CNAME"]],
    [
      "faults at several owners",
      [set("a", "A"), set("b", "CNAME", "x."), set("b", "MX", "1 x."), set("c", "TXT", '"x"', '"x"')],
      ["empty-set at a A", "cname-and-other at b CNAME", "duplicate-value at c TXT"],
    ],
  ])("%s", (_, sets, expected) => {
    expect(codes(sets)).toEqual(expected);
  });

  test.each<[readonly RRset[], string]>([
    [
      [set("www", "CNAME", "a."), set("www", "A", "192.0.2.1"), set("www", "TXT", '"x"')],
      "www has a CNAME record and also A, TXT",
    ],
    [[set("a", "TXT", "x".repeat(60), "x".repeat(60))], `the TXT set at a has the value ${"x".repeat(60)} twice`],
    [[set("a", "TXT", "x".repeat(61), "x".repeat(61))], `the TXT set at a has the value ${"x".repeat(60)}... twice`],
  ])("%j is reported as: %s", (sets, message) => {
    expect(checkOwners(sets)).toMatchObject([{ message }]);
  });
});

describe("a whole zone", () => {
  test("needs its SOA", () => {
    const withoutSoa = [set("@", "NS", "ns1.example.org."), set("www", "A", "192.0.2.1")];
    expect(checkZone(withoutSoa)).toMatchObject([{ code: "soa-missing", where: "@ SOA" }]);
    expect(checkZone([soa, set("www", "A", "192.0.2.1")])).toEqual([]);
  });

  test("an SOA elsewhere does not count", () => {
    expect(checkZone([set("www", "SOA", "x")]).map((fault) => fault.code)).toEqual(["soa-not-at-apex", "soa-missing"]);
  });
});

const anySet = fc
  .tuple(
    fc.constantFrom("@", "a", "b", "c.d"),
    fc.constantFrom(...recordTypes),
    fc.array(fc.constantFrom("x", "y", "z"), { maxLength: 3 }),
  )
  .map(([owner, type, values]) => set(owner, type, ...values));
const anySets = fc.uniqueArray(anySet, { selector: ({ owner, type }) => `${owner} ${type}`, maxLength: 8 });

describe("laws", () => {
  test("the order of the sets does not matter", () => {
    fc.assert(
      fc.property(anySets, (sets) => {
        expect([...codes(sets.toReversed())].sort()).toEqual([...codes(sets)].sort());
      }),
    );
  });

  test("owners are independent of each other", () => {
    fc.assert(
      fc.property(anySets, (sets) => {
        const apart = ["@", "a", "b", "c.d"].flatMap((owner) => codes(sets.filter((s) => s.owner === owner)));
        expect([...codes(sets)].sort()).toEqual(apart.sort());
      }),
    );
  });

  test("every fault says what to do", () => {
    fc.assert(
      fc.property(anySets, (sets) => {
        for (const fault of checkZone(sets)) expect(fault.todo).toMatch(/\w/);
      }),
    );
  });
});
