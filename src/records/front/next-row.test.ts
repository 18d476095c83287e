import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { runs } from "../../../test/rig/long-run.ts";
import type { OpenRequest, PublishedContent, PublishedSet } from "../model.ts";
import { nextRow, openFor, type SetEvent } from "./next-row.ts";
import { isSameContent, stateOf, type Theirs } from "./set-state.ts";

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
const underWay = (sent: PublishedContent | null): readonly OpenRequest[] => [{ content: sent }];
const read = (theirs: Theirs, ours: PublishedContent | null, at = 1_000) =>
  ({ kind: "read", theirs, ours, before: ttls, ttls, began: at, now: at }) as const;

describe("after a read", () => {
  const cases: readonly [string, PublishedSet, Theirs, PublishedContent | null, "known" | "drifted"][] = [
    ["it holds what it held", row({ held: one }), one, two, "known"],
    ["it holds what was sent", row({ held: one, sent: underWay(two) }), two, three, "known"],
    ["what was sent did not arrive", row({ held: one, sent: underWay(two) }), one, two, "known"],
    ["somebody wrote the same there", row({ held: one }), two, two, "known"],
    ["somebody wrote something else there", row({ held: one }), three, one, "drifted"],
    ["somebody wrote something else, and moor sent", row({ held: one, sent: underWay(two) }), three, two, "drifted"],
    ["somebody deleted it there", row({ held: one }), null, one, "drifted"],
    ["somebody created it there", row({}), one, null, "drifted"],
    ["it holds something that moor cannot read", row({ held: one }), { unreadable: "no" }, one, "drifted"],
    ["a drift has ended", row({ held: one, theirs: two }), one, one, "known"],
    ["another TTL", row({ held: one }), content("192.0.2.1", 60), one, "drifted"],
  ];
  test.each(cases)("%s", (_, before, theirs, ours, kind) => {
    const after = nextRow(before, read(theirs, ours));
    // Whatever it shows, the request may still be carried out.
    expect(after.sent).toEqual(before.sent?.map((sent) => ({ ...sent, until: 1_000 + openFor, isRead: true })));
    if (kind === "known") expect([after.held, after.theirs]).toEqual([theirs, undefined]);
    else expect(after.theirs).toEqual(theirs);
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
      const isDrift = (inSteps: boolean) =>
        nextRow(row({ held, sent: underWay(sent) }), { ...read(theirs, wanted), inSteps }).theirs !== undefined;
      expect([isDrift(true), isDrift(false)]).toEqual([!isPart, true]);
    });
  });

  test("a new default TTL at the provider changes the sets that use it", () => {
    const held = content("192.0.2.1", null);
    const theirs = (there: number) => nextRow(row({ held }), { ...read(held, one), ttls: { ...ttls, there } }).theirs;
    expect([theirs(300), theirs(60)]).toEqual([undefined, held]);
  });
});

describe("an earlier request that is in doubt", () => {
  const [doubt, sent]: [OpenRequest, OpenRequest] = [{ content: two, until: 50_000, isRead: true }, { content: three }];
  const before = row({ held: one, sent: [doubt, sent] });
  const events: readonly (readonly [string, SetEvent])[] = [
    ["is done", { kind: "done", held: three, began: 49_999 }],
    ["is to wait", { kind: "not-stored" }],
    ["is refused", { kind: "refused", content: three, words: "no", until: 49_000 }],
    ["is lost", { kind: "lost", content: three, until: 60_000 }],
    ["was sent twice", { kind: "sent-twice", content: three, until: 60_000 }],
    ["is read too early", read(one, one, 49_999)],
    ["is read as somebody else's", read({ unreadable: "" }, one, 49_999)],
    ["is decided", { kind: "decided" }],
    ["may be gone with its zone", { kind: "unsure", now: 49_999 }],
  ];
  test.each(events)("is not forgotten when a later one %s", (_, event) => {
    expect(nextRow(before, event).sent).toContainEqual(doubt);
  });

  test("is over for a read that began when it can be carried out no more", () => {
    expect(nextRow(row({ held: one, sent: [doubt] }), read(one, one, 50_000)).sent).toBe(undefined);
  });

  test("with the same content as the last one: it is over when both are", () => {
    const lost = { kind: "lost", content: two, until: 40_000 } as const;
    expect(nextRow(row({ sent: [doubt] }), lost).sent).toEqual([{ content: two, until: 50_000 }]);
  });
});

/** A provider whose requests may be lost, and carried out until a minute later, and a row about its one set. */
class Model {
  now = 1_000;
  ours: PublishedContent | null = one;
  there: PublishedContent | null = one;
  row = row({ held: one });
  #late: { readonly content: PublishedContent | null; readonly until: number }[] = [];

  get isPublished(): boolean {
    return stateOf(this.ours, this.row, ttls).kind === "published";
  }

  /** A request that would change what is there. */
  get isThreatened(): boolean {
    return this.#late.some(({ content: late, until }) => until >= this.now && !isSameContent(late, this.ours, ttls));
  }

  learn(event: SetEvent): void {
    this.row = nextRow(this.row, event);
  }

  /** What the publisher would do now; the outcome is that of the argument. */
  step(outcome: Outcome): void {
    const { kind } = stateOf(this.ours, this.row, ttls);
    if (kind === "to-read" || kind === "in-doubt") this.learn(read(this.there, this.ours, this.now));
    if (kind !== "to-send") return;
    this.learn({ kind: "sent", content: this.ours });
    if (outcome === "restart") this.#mayBeLate();
    if (outcome === "done" || outcome === "lost after" || outcome === "twice") this.there = this.ours;
    if (outcome === "done" || outcome === "twice") this.learn({ kind: "done", held: this.ours, began: this.now });
    if (outcome === "twice" || outcome === "lost before") this.#mayBeLate();
    const request = { content: this.ours, until: this.now + openFor };
    if (outcome === "twice") this.learn({ kind: "sent-twice", ...request });
    if (outcome === "lost before" || outcome === "lost after") this.learn({ kind: "lost", ...request });
    if (outcome === "waiting") this.learn({ kind: "not-stored" });
    if (outcome === "refused") this.learn({ kind: "refused", ...request, until: this.now, words: "no" });
  }

  #mayBeLate(): void {
    this.#late.push({ content: this.ours, until: this.now + 60_000 });
  }

  carryOutLate(): void {
    const late = this.#late.shift();
    if (late && late.until >= this.now) this.there = late.content;
  }
}

const outcomes = ["done", "lost before", "lost after", "waiting", "refused", "twice", "restart"] as const;
type Outcome = (typeof outcomes)[number];

test("a set is published only if the provider has it, and no earlier request may still replace it", () => {
  const step = fc.record({
    do: fc.constantFrom("write", "publish", "publish", "late", "pass"),
    outcome: fc.constantFrom(...outcomes),
    ours: fc.constantFrom(one, two, null),
    time: fc.constantFrom(1, 500, 10_000, openFor),
  });
  let published = 0;
  fc.assert(
    fc.property(fc.array(step, { minLength: 30, maxLength: 60 }), (steps) => {
      const model = new Model();
      for (const each of steps) {
        if (each.do === "write") model.ours = each.ours;
        if (each.do === "publish") model.step(each.outcome);
        if (each.do === "late") model.carryOutLate();
        if (each.do === "pass") model.now += each.time;
        if (!model.isPublished) continue;
        published += 1;
        expect([model.there, model.isThreatened]).toEqual([model.ours, false]);
      }
    }),
    runs(500),
  );
  expect(published).toBeGreaterThan(1_000);
});
