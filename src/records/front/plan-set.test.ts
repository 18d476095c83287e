import { describe, expect, test } from "vitest";
import type { PublishedContent, PublishedSet } from "../model.ts";
import { afterRead, planSet, type Theirs } from "./plan-set.ts";

const content = (value: string, ttl: number | null = 300): PublishedContent => ({ ttl, values: [value] });
const [one, two, three] = [content("192.0.2.1"), content("192.0.2.2"), content("192.0.2.3")];
const ttls = { here: 3600, there: 300 };
const row = (fields: Partial<PublishedSet>): PublishedSet => ({
  owner: "www",
  type: "A",
  held: null,
  at: 0,
  ...fields,
});

test("what is sent without an answer is read before it is sent again", () => {
  expect(planSet(two, row({ held: one, sent: two }), ttls)).toEqual({ kind: "read" });
  expect(planSet(two, row({ held: one }), ttls)).toEqual({ kind: "send" });
});

test("a set that was changed at the provider is not sent", () => {
  expect(planSet(two, row({ held: one, theirs: three }), ttls).kind).toBe("failed");
});

test("a drift ends with a read if theirs was taken here", () => {
  expect(planSet(three, row({ held: one, theirs: three }), ttls)).toEqual({ kind: "read" });
  expect(planSet(null, row({ held: one, theirs: null }), ttls)).toEqual({ kind: "read" });
});

describe("after a read", () => {
  const cases: readonly [string, PublishedSet, Theirs, PublishedContent | null, "known" | "drifted"][] = [
    ["it holds what it held", row({ held: one }), one, two, "known"],
    ["it holds what was sent", row({ held: one, sent: two }), two, three, "known"],
    ["what was sent did not arrive", row({ held: one, sent: two }), one, two, "known"],
    ["somebody wrote the same there", row({ held: one }), two, two, "known"],
    ["somebody wrote something else there", row({ held: one }), three, one, "drifted"],
    ["somebody wrote something else there, and moor sent", row({ held: one, sent: two }), three, two, "drifted"],
    ["somebody deleted it there", row({ held: one }), null, one, "drifted"],
    ["somebody created it there", row({}), one, null, "drifted"],
    ["it holds something that moor cannot read", row({ held: one }), { unreadable: "no" }, one, "drifted"],
    ["a drift has ended", row({ held: one, theirs: two }), one, one, "known"],
    ["another TTL", row({ held: one }), content("192.0.2.1", 60), one, "drifted"],
  ];
  test.each(cases)("%s", (_, before, theirs, ours, kind) => {
    const after = afterRead(before, theirs, ours, { before: ttls, now: ttls });
    expect([after.kind, after.row.sent]).toEqual([kind, undefined]);
    if (kind === "known") expect([after.row.held, after.row.theirs]).toEqual([theirs, undefined]);
    else expect(after.row.theirs).toEqual(theirs);
  });

  describe("of a provider that writes a set in several requests, whose last answer was lost", () => {
    const set = (ttl: number, ...values: readonly string[]): PublishedContent => ({ ttl, values });
    const [old, wanted] = [set(300, "a", "b"), set(600, "b", "c", "d")];
    const parts: readonly (readonly [string, PublishedContent | null, PublishedContent | null, Theirs, boolean])[] = [
      ["values without the TTL", old, wanted, set(300, "b", "c", "d"), true],
      ["the TTL and some values", old, wanted, set(600, "b", "c"), true],
      ["a value that nobody here knows", old, wanted, set(300, "b", "x"), false],
      ["another TTL", old, wanted, set(60, "b", "c", "d"), false],
      ["a value is gone that both have", old, wanted, set(300, "a", "c"), false],
      ["a set that is created", null, wanted, set(600, "d"), true],
      ["a set that is deleted", old, null, set(300, "a"), true],
      ["a set that is gone", old, wanted, null, false],
    ];
    test.each(parts)("%s", (_, held, sent, theirs, isPart) => {
      const read = (writesInSteps: boolean) =>
        afterRead(row({ held, sent }), theirs, wanted, { before: ttls, now: ttls, rules: { writesInSteps } }).kind;
      expect([read(true), read(false)]).toEqual([isPart ? "known" : "drifted", "drifted"]);
    });
  });

  test("a new default TTL at the provider changes the sets that use it", () => {
    const held = content("192.0.2.1", null);
    const read = (there: number) => afterRead(row({ held }), held, one, { before: ttls, now: { ...ttls, there } }).kind;
    expect([read(300), read(60)]).toEqual(["known", "drifted"]);
  });
});
