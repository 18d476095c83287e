import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { counted } from "../shared/counted.ts";
import { noAnswer } from "../shared/live/request.ts";
import { durationInWords, minutesInWords } from "../shared/time/words-of-time.ts";
import { inOrder, linesOf, undoInWords, verbOf } from "./history/describe-change.ts";
import { scopeInWords } from "./tokens/scope-in-words.ts";
import { snippetsFor } from "./tokens/token-snippets.ts";

/** Texts of the pages, tested without a browser. */

describe("in words", () => {
  it.for([
    [{ access: "write" }, "may write all zones and create new ones"],
    [{ access: "read" }, "may read all zones"],
    [{ access: "read", zones: ["a.example", "b.example"] }, "may read all of a.example and b.example"],
    [
      {
        access: "write",
        zones: ["example.org"],
        sets: [{ owner: "home", types: ["A", "AAAA"] }],
        expires: 1_803_902_400_000,
      },
      "may write A and AAAA of home.example.org, until 1 March 2027",
    ],
    [
      { access: "write", sets: [{ types: ["TXT"] }], networks: ["192.0.2.0/24"] },
      "may write TXT in all zones, only from 192.0.2.0/24",
    ],
  ] as const)("a scope: %o", ([scope, words]) => {
    expect(scopeInWords(scope)).toBe(words);
  });

  it.for([
    [400, "a moment"],
    [1_000, "1 second"],
    [90_000, "1 minute 30 seconds"],
    [3_600_000, "1 hour"],
    [90_061_000, "1 day 1 hour"],
  ] as const)("%d ms", ([milliseconds, words]) => {
    expect(durationInWords(milliseconds)).toBe(words);
  });

  it.for([
    [45_000, "45 seconds"],
    [713_000, "11 minutes"],
    [3_659_000, "1 hour"],
  ] as const)("%d ms, which last on", ([milliseconds, words]) => {
    expect(minutesInWords(milliseconds)).toBe(words);
  });

  it("no response: what is known about the change", () => {
    for (const method of ["POST", "PUT"] as const)
      expect(noAnswer(method, true)).toContain("Your change may not have been saved");
    for (const words of [noAnswer("GET", true), noAnswer("POST", false)]) expect(words).not.toContain("saved");
  });

  it("a change: what was removed, added and kept", () => {
    const side = (...values: readonly string[]) => ({
      ttl: 60,
      labels: {},
      protection: { change: false },
      records: values.map((value) => ({ value, comment: "" })),
    });
    expect(linesOf(side("a", "b"), side("b", "c"))).toEqual({ gone: ["a"], come: ["c"], same: 1 });
    expect(linesOf(null, side("a")).come).toEqual(["a", "TTL 60"]);
  });
});

it.for([
  [0, "0 records"],
  [1, "1 record"],
  [1_204, "1,204 records"],
] as const)("%d in words: %s", ([count, words]) => expect(counted(count, "record")).toBe(words));

describe("the history", () => {
  const set = (ttl: number | null) => ({ ttl, labels: {}, protection: { change: false }, records: [] });
  it.for([
    [null, 300, ["TTL default"], ["TTL 300"]],
    [300, null, ["TTL 300"], ["TTL default"]],
    [60, 300, ["TTL 60"], ["TTL 300"]],
    [null, null, [], []],
    [300, 300, [], []],
  ] as const)("names both sides of a TTL: %s to %s", ([before, after, gone, come]) => {
    expect(linesOf(set(before), set(after))).toEqual({ gone, come, same: 0 });
  });

  it.for([
    [{}, { parent_fault: "unverified" }, [], ["DNSSEC parent: not known what it has"]],
    [{ parent_fault: "no-ds" }, {}, ["DNSSEC parent: the DS record is missing"], []],
    [{}, { denial: "nsec3" }, [], ["DNSSEC with NSEC3"]],
  ] as const)("says what changed in the settings of a signed zone: %o to %o", ([before, after, gone, come]) => {
    const zone = (dnssec: object) => ({
      ...{ ttl: 60, mode: "primary", labels: {}, protection: { delete: false }, primary_nameservers: [] },
      dnssec: { stage: "secure", denial: "nsec", parent_fault: null, keys: [7], ...dnssec },
    });
    expect(linesOf(zone(before), zone(after))).toEqual({ gone, come, same: 0 });
  });

  it.for([
    ["comment changed", { comment: "old" }, { comment: "new" }],
    ["changed", { comment: "old", value: "192.0.2.1" }, { comment: "new", value: "192.0.2.2" }],
    ["changed", { comment: "old", ttl: 60 }, { comment: "new", ttl: 300 }],
    ["changed", {}, { labels: { team: "quay" } }],
  ] as const)("says of a change what it is: %s", ([verb, ...sides]) => {
    type Side = { readonly value?: string; readonly comment?: string; readonly ttl?: number; readonly labels?: object };
    const side = ({ value = "192.0.2.1", comment = "", ...more }: Side) => ({
      ...set(60),
      ...more,
      records: [{ value, comment }],
    });
    const [before, after] = [side(sides[0]), side(sides[1])];
    expect(verbOf({ kind: "replace", before, after })).toBe(verb);
    expect(verbOf({ kind: "create", before: null, after })).toBe("added");
    expect(verbOf({ kind: "delete", before, after: null })).toBe("deleted");
  });

  it("says of a new set only what it has", () => {
    expect(linesOf(null, set(null)).come).toEqual([]);
    expect(linesOf(null, set(60)).come).toEqual(["TTL 60"]);
  });

  it("lists the changes of a write by name and type, in whatever order they were made", () => {
    const change = (id: number, name: string | null, type: string | null) =>
      ({ id, name, type, serial: 1, at: "", by: "", kind: "create", before: null, after: null }) as const;
    const zone = { id: 1, name: "example.org" };
    const sorted = [change(9, null, null), change(3, "@", "MX"), change(1, "host9", "A"), change(2, "host10", "A")];
    const changes = sorted.map((each) => ({ ...each, zone }));
    for (const given of [changes, changes.toReversed()]) expect(inOrder(given)).toEqual(changes);
  });

  it.for([
    [{ added: 450, changed: 0, deleted: 0 }, "450 sets deleted"],
    [{ added: 0, changed: 1, deleted: 2 }, "1 set changed back, 2 restored"],
  ] as const)("says what an undo does: %o", ([counts, words]) => {
    expect(undoInWords(counts)).toBe(words);
  });
});

describe("the snippet for moor on the page of a new token", () => {
  it.for(["home", "@", "*", "*.dyn", "_acme-challenge"])("names %s so that YAML reads it back", (owner) => {
    const scope = { access: "write", zones: ["example.org"], sets: [{ owner }] } as const;
    const { text = "" } = snippetsFor("https://dns.test", "s", scope).find(({ name }) => name === "moor") ?? {};
    const [config = ""] = text.split("\n\n");
    expect(parse(config)).toMatchObject({ names: [{ name: owner, zone: "example.org" }] });
  });
});
