import { describe, expect, it } from "vitest";
import { writtenSets } from "../../../test/rig/core/written-sets.suite.ts";
import { type Prerequisite, type RecordUpdate, unmetPrerequisite, updatedSets } from "./dns-update.ts";
import type { RRset } from "./rrset.ts";

const soa = "ns1.example.org. hostmaster.example.org.";
const sets = writtenSets(
  "example.org",
  `@ 600 SOA ${soa} 5 1 2 3 4
   @ 600 NS ns1.example.org.
   @ - TXT "x"
   www - A 192.0.2.1
   www - A 192.0.2.2
   www - TXT "x"
   alias 600 CNAME www.example.org.
   moved 600 TYPE39 \\# 3 016100`,
);
const context = { zoneTtl: 600, now: 9, ids: ["new"] };

const after = (...updates: readonly RecordUpdate[]) =>
  updatedSets(sets, updates, context)
    .map((set) => `${set.owner} ${set.ttl ?? "-"} ${set.type} ${set.records.map((record) => record.rdata).join(" ")}`)
    .sort();
/** The sets that the updates remove (`-`), then those that they add (`+`). */
const changed = (...updates: readonly RecordUpdate[]) => {
  const [before, now] = [after(), after(...updates)];
  const gone = before.filter((line) => !now.includes(line)).map((line) => `-${line}`);
  return [...gone, ...now.filter((line) => !before.includes(line)).map((line) => `+${line}`)];
};
const add = (owner: string, type: "A" | "CNAME" | "SOA" | "TYPE39", rdata: string, ttl = 600): RecordUpdate => ({
  kind: "add",
  owner,
  type,
  ttl,
  rdata,
});
const remove = (owner: string, type: "A" | "CNAME" | "NS" | "SOA", rdata: string): RecordUpdate => ({
  kind: "delete-record",
  owner,
  type,
  rdata,
});

describe("updates (RFC 2136 section 3.4.2)", () => {
  it.each<[string, RecordUpdate, readonly string[]]>([
    ["the zone's default TTL is not stored with the set", add("new", "A", "192.0.2.9"), ["+new - A 192.0.2.9"]],
    [
      "another TTL is stored, for the whole set",
      add("www", "A", "192.0.2.1", 60),
      ["-www - A 192.0.2.1 192.0.2.2", "+www 60 A 192.0.2.1 192.0.2.2"],
    ],
    [
      "one value more",
      add("www", "A", "192.0.2.9"),
      ["-www - A 192.0.2.1 192.0.2.2", "+www - A 192.0.2.1 192.0.2.2 192.0.2.9"],
    ],
    ["an existing value", add("www", "A", "192.0.2.2"), []],
    ["an older SOA is ignored", add("@", "SOA", `${soa} 4 1 2 3 9`), []],
    ["another SOA with the same serial is ignored", add("@", "SOA", `${soa} 5 1 2 3 9`), []],
    [
      "a newer SOA is stored",
      add("@", "SOA", `${soa} 6 1 2 3 9`),
      [`-@ 600 SOA ${soa} 5 1 2 3 4`, `+@ 600 SOA ${soa} 6 1 2 3 9`],
    ],
    ["an SOA below the apex is ignored", add("www", "SOA", `${soa} 6 1 2 3 9`), []],
    [
      "an alias replaces an alias",
      add("alias", "CNAME", "b.example."),
      ["-alias 600 CNAME www.example.org.", "+alias 600 CNAME b.example."],
    ],
    [
      "a DNAME replaces a DNAME",
      add("moved", "TYPE39", "\\# 3 016200"),
      ["-moved 600 TYPE39 \\# 3 016100", "+moved 600 TYPE39 \\# 3 016200"],
    ],
    ["a CNAME is not added to other data", add("www", "CNAME", "b.example."), []],
    ["data is not added to a CNAME", add("alias", "A", "192.0.2.9"), []],
    ["one value less", remove("www", "A", "192.0.2.1"), ["-www - A 192.0.2.1 192.0.2.2", "+www - A 192.0.2.2"]],
    [
      "removing the last value removes the set",
      remove("alias", "CNAME", "www.example.org."),
      ["-alias 600 CNAME www.example.org."],
    ],
    ["removing a missing value changes nothing", remove("www", "A", "192.0.2.7"), []],
    ["the last nameserver stays", remove("@", "NS", "ns1.example.org."), []],
    ["the SOA stays", remove("@", "SOA", `${soa} 5 1 2 3 4`), []],
    ["a set is removed", { kind: "delete-set", owner: "www", type: "A" }, ["-www - A 192.0.2.1 192.0.2.2"]],
    ["the apex NS set is not removed", { kind: "delete-set", owner: "@", type: "NS" }, []],
    [
      "all sets of a name are removed",
      { kind: "delete-name", owner: "www" },
      ["-www - A 192.0.2.1 192.0.2.2", '-www - TXT "x"'],
    ],
    ["at the apex, SOA and NS stay", { kind: "delete-name", owner: "@" }, ['-@ - TXT "x"']],
  ])("%s", (_, update, expected) => {
    expect(changed(update)).toEqual(expected);
  });

  it("are applied in order", () => {
    const gone = ["-www - A 192.0.2.1 192.0.2.2", '-www - TXT "x"'];
    const deletion: RecordUpdate = { kind: "delete-name", owner: "www" };
    expect(changed(deletion, add("www", "CNAME", "b.example."))).toEqual([...gone, "+www - CNAME b.example."]);
    expect(changed(add("www", "CNAME", "b.example."), deletion)).toEqual(gone);
  });

  it("give a new record an id, and keep the id of a replaced CNAME", () => {
    const updates = [add("alias", "CNAME", "b.example."), add("new", "A", "192.0.2.9")];
    const idsOf = (owner: string, among: typeof sets) =>
      among.find((set) => set.owner === owner)?.records.map(({ id }) => id);
    const now = updatedSets(sets, updates, { ...context, ids: ["first", "second"] });
    expect(idsOf("alias", now)).toEqual(idsOf("alias", sets));
    expect(idsOf("new", now)).toEqual(["second"]);
  });

  it("keep the comments and labels of a set", () => {
    const marked = sets.map((set) => ({ ...set, labels: { env: "prod" } }));
    const now = updatedSets(marked, [add("www", "A", "192.0.2.9"), add("alias", "CNAME", "b.example.")], context);
    expect(now.filter((set) => set.labels === undefined)).toEqual([]);
  });

  it("that add existing records change nothing", () => {
    const updates = [add("www", "A", "192.0.2.1"), add("alias", "CNAME", "www.example.org.")];
    expect(updatedSets(sets, updates, context)).toEqual(sets);
  });

  it("do not change anything else", () => {
    const [first] = updatedSets(sets, [add("www", "A", "192.0.2.9")], context);
    expect(first).toBe(sets[0]);
  });
});

describe("prerequisites (RFC 2136 section 3.2)", () => {
  const is = (rdata: string): Prerequisite => ({ kind: "set-is", owner: "www", type: "A", rdata });
  it.each<[string | undefined, readonly Prerequisite[]]>([
    [undefined, [{ kind: "name-in-use", owner: "www" }]],
    ["name-missing", [{ kind: "name-in-use", owner: "nobody" }]],
    [undefined, [{ kind: "name-not-in-use", owner: "nobody" }]],
    ["name-exists", [{ kind: "name-not-in-use", owner: "www" }]],
    [undefined, [{ kind: "set-exists", owner: "www", type: "A" }]],
    ["set-missing", [{ kind: "set-exists", owner: "www", type: "AAAA" }]],
    [undefined, [{ kind: "set-absent", owner: "www", type: "AAAA" }]],
    ["set-exists", [{ kind: "set-absent", owner: "www", type: "A" }]],
    [undefined, [is("192.0.2.2"), is("192.0.2.1")]],
    ["set-missing", [is("192.0.2.1")]],
    ["set-missing", [is("192.0.2.1"), is("192.0.2.3")]],
    ["set-missing", [is("192.0.2.1"), is("192.0.2.2"), is("192.0.2.3")]],
    ["name-missing", [is("192.0.2.1"), { kind: "name-in-use", owner: "nobody" }]],
  ])("%s: %j", (expected, prerequisites) => {
    expect(unmetPrerequisite(sets, prerequisites)).toBe(expected);
  });
});

describe("a message with thousands of entries", () => {
  const entries = 500;
  /** Sets of `a`, `b`, … that count how often something of them is read. */
  const counted = (values: number) => {
    const counts = { reads: 0 };
    const counting = <T extends object>(item: T): T =>
      new Proxy(item, {
        get: (target, key, self) => {
          counts.reads += 1;
          return Reflect.get(target, key, self);
        },
      });
    const record = (i: number) =>
      counting({ id: `${i}`, name: "a", value: `${i}`, rdata: `${i}`, comment: "", created: 1, modified: 1 });
    const setAt = (i: number): RRset => {
      const records = Array.from({ length: values }, (_, k) => record(k));
      return counting({ owner: `n${i}`, type: "TXT", ttl: null, records });
    };
    return { counts, sets: Array.from({ length: entries / values }, (_, i) => setAt(i)) };
  };
  const each = <T>(make: (i: number) => T): readonly T[] => Array.from({ length: entries }, (_, i) => make(i));

  it.each<[string, number, (i: number) => RecordUpdate]>([
    ["that add", 1, (i) => ({ kind: "add", owner: `n${i}`, type: "TXT", ttl: 60, rdata: "x" })],
    ["that add to one set", entries, (i) => ({ kind: "add", owner: "n0", type: "TXT", ttl: 60, rdata: `x${i}` })],
    ["that delete names", 1, (i) => ({ kind: "delete-name", owner: `n${i}` })],
    ["that delete sets", 1, (i) => ({ kind: "delete-set", owner: `n${i}`, type: "A" })],
    ["that delete from one set", entries, (i) => ({ kind: "delete-record", owner: "n0", type: "TXT", rdata: `x${i}` })],
  ])("%s looks at each set a few times", (_, values, update) => {
    const zone = counted(values);
    updatedSets(zone.sets, each(update), { zoneTtl: 60, now: 1, ids: each(String) });
    expect(zone.counts.reads).toBeLessThan(20 * entries);
  });

  it.each<[string, (i: number) => Prerequisite]>([
    ["names", (i) => ({ kind: "name-in-use", owner: `n${i}` })],
    ["sets", (i) => ({ kind: "set-absent", owner: `n${i}`, type: "A" })],
    ["values", (i) => ({ kind: "set-is", owner: `n${i}`, type: "TXT", rdata: "0" })],
  ])("whose prerequisites are %s looks at each set a few times", (_, prerequisite) => {
    const zone = counted(1);
    expect(unmetPrerequisite(zone.sets, each(prerequisite))).toBeUndefined();
    expect(zone.counts.reads).toBeLessThan(20 * entries);
  });
});
