import { describe, expect, it } from "vitest";
import type { Rrset } from "../../../src/contract/rrsets.ts";
import { contentOf } from "./set-content.ts";
import { addedTo, checkDraft, emptyDraft, openedWith, withOneMore } from "./set-draft.ts";
import { typedTtl } from "./ttl.ts";
import { typedOwner } from "./typed-owner.ts";

const setOf = (type: string, values: readonly string[], more: Partial<Rrset> = {}): Rrset => ({
  ...{ id: `twin/${type}`, name: "twin", type, ttl: 300, labels: { team: "ops" }, protection: { change: false } },
  ...{ zone: 1, records: values.map((value) => ({ value, comment: `of ${value}` })) },
  ...more,
});

describe("a record that is added to a set", () => {
  const typed = (type: "A" | "CNAME", text: string, more = {}) => ({
    ...emptyDraft(type, "twin"),
    values: [{ key: 0, texts: [text], comment: "" }],
    ...more,
  });
  const written = (set: Rrset, draft: Parameters<typeof addedTo>[1]) =>
    checkDraft(addedTo(set, draft), "example.org", []).change;

  it("joins its values, whose TTL, comments and labels stay", () => {
    const change = written(setOf("A", ["192.0.2.1", "192.0.2.2"]), typed("A", "192.0.2.3"));
    expect(change).toMatchObject({ ttl: 300, labels: { team: "ops" } });
    expect(change?.records).toEqual([
      { value: "192.0.2.3", comment: "" },
      { value: "192.0.2.1", comment: "of 192.0.2.1" },
      { value: "192.0.2.2", comment: "of 192.0.2.2" },
    ]);
  });

  it("gives it a TTL and labels that were typed", () => {
    const change = written(setOf("A", ["192.0.2.1"]), typed("A", "192.0.2.3", { ttl: "1h", labels: "site=attic" }));
    expect(change).toMatchObject({ ttl: 3600, labels: { team: "ops", site: "attic" } });
  });

  it("replaces the target of an alias, which has only one", () => {
    const change = written(setOf("CNAME", ["old"]), typed("CNAME", "backup"));
    expect(change?.records).toEqual([{ value: "backup", comment: "" }]);
  });

  it.for([
    ["192.0.2.3", ["192.0.2.3", "192.0.2.1", "192.0.2.2"]],
    [" ", ["192.0.2.1", "192.0.2.2"]],
  ] as const)("opens the set with %j in it", ([text, values]) => {
    const draft = openedWith(setOf("A", ["192.0.2.1", "192.0.2.2"]), typed("A", text));
    expect(draft).toMatchObject({ ttl: "300", labels: "team=ops" });
    expect(draft.values.map(({ texts }) => texts.join(" "))).toEqual(values);
  });
});

it("a value that is added after one was removed is a new one, which the form moves the focus to", () => {
  const two = withOneMore(emptyDraft("A"));
  const again = withOneMore({ ...two, values: two.values.slice(0, 1) });
  expect(again.newest).not.toBe(two.newest);
  expect(again.values.at(-1)?.key).toBe(again.newest);
});

describe("a set that was changed elsewhere", () => {
  const before = setOf("A", ["192.0.2.1"], { labels: { a: "1", b: "2" } });
  it.for([
    ["its TTL", { ttl: 120 }, false],
    ["its labels", { labels: { a: "1" } }, false],
    ["a comment", { records: [{ value: "192.0.2.1", comment: "rack 4" }] }, false],
    ["only the order of its labels", { labels: { b: "2", a: "1" } }, true],
    ["only its protection", { protection: { change: true } }, true],
  ] as const)("is another one if it differs in more than order and protection: %s", ([, change, same]) => {
    expect(contentOf({ ...before, ...change }) === contentOf(before)).toBe(same);
  });

  it("is the same if only the serial of its SOA record was raised, as every write does", () => {
    const soa = (serial: number, refresh: number) =>
      contentOf(
        setOf("SOA", [`ns1.example.net. host.example.net. ${serial} ${refresh} 600 86400 300`], { labels: {} }),
      );
    const withoutComment = (text: string | undefined) => text?.replaceAll(/of [^"]*/g, "");
    expect(withoutComment(soa(2, 7200))).toBe(withoutComment(soa(1, 7200)));
    expect(withoutComment(soa(1, 7300))).not.toBe(withoutComment(soa(1, 7200)));
  });
});

it.for([
  ["300", 300],
  ["5m", 300],
  ["1h 30m", 5400],
  ["Default", null],
  ["59", undefined],
  ["99999999999", undefined],
  ["soon", undefined],
] as const)("the TTL %s is read as %s", ([text, seconds]) => expect(typedTtl(text)).toBe(seconds));

describe("a name that is typed", () => {
  it.for([
    ["Mail", "mail"],
    ["mail.harbour.example.", "mail"],
    ["Straße", "xn--strae-oqa"],
    ["@", "@"],
  ])("%s is %s", ([typed = "", owner]) => {
    expect(typedOwner(typed, "harbour.example")).toMatchObject({ ok: true, value: owner });
  });

  it.for([
    ["mail.Harbour.example", "the name already ends with the zone's name"],
    ["a..b", "a label is empty"],
    ["a b", "is not allowed in a name"],
  ])("%s is refused: %s", ([typed = "", message]) => {
    const owner = typedOwner(typed, "harbour.example");
    expect(owner.ok ? [] : owner.faults.map((fault) => fault.message).join()).toContain(message);
  });
});

describe("a value with an empty field", () => {
  it.for([
    ["MX", ["70000", ""], { "0.0": expect.stringContaining("65535"), "0.1": "required" }],
    ["MX", ["", "mail.example.org."], { "0.0": "required" }],
    ["MX", ["10", ""], { "0.1": "required" }],
    ["SRV", ["1", "", "99999", ""], { "0.1": "required", "0.2": expect.stringContaining("65535"), "0.3": "required" }],
  ] as const)("says what is wrong in the others too: %s %j", ([type, texts, expected]) => {
    const draft = { ...emptyDraft(type, "@"), values: [{ ...emptyDraft(type).values[0], texts }] };
    expect(Object.fromEntries(checkDraft(draft as never, "example.org", []).faults)).toEqual(expected);
  });
});
