import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { scopeInWords } from "./scope-in-words.ts";
import { draftFor, faultsOf, scopeOf, type TokenDraft } from "./token-draft.ts";

/** What the form of a new token makes of what people type, tested without a browser. */

beforeAll(() => void vi.stubEnv("TZ", "UTC"));
afterAll(() => void vi.unstubAllEnvs());

const now = Date.parse("2026-11-19T12:00:00Z");
const empty = draftFor(null, null);
const munich = "xn--mnchen-3ya.test";
const read = (typed: Partial<TokenDraft>) => {
  const draft = { ...empty, name: "router", ...typed };
  const scope = scopeOf(draft, now);
  const faults = Object.entries(faultsOf(draft, scope)).filter(([, fault]) => fault !== undefined);
  return { words: scopeInWords(scope), faults: Object.fromEntries(faults) };
};

it.for([
  ["nothing", {}, "may write all zones and create new ones"],
  ["a zone", { zones: ["harbour.example"] }, "may write all of harbour.example"],
  ["a type", { zones: ["harbour.example"], types: ["A"] }, "may write A in harbour.example"],
  ["a name in Unicode", { zones: [munich], owner: "Straße" }, "may write all records of straße.münchen.test"],
  ["a whole name", { zones: [munich], owner: "home.münchen.test." }, "may write all records of home.münchen.test"],
  ["a name for every zone", { owner: "home" }, "may write all records of home in every zone"],
  ["networks", { networks: "192.0.2.0/24, 10.0.0.0/8" }, /, only from 192\.0\.2\.0\/24 and 10\.0\.0\.0\/8$/],
  ["a number of days", { ends: "7" }, /, until 26 November 2026$/],
  ["a last day", { ends: "day", day: "2099-03-31" }, /, until 31 March 2099$/],
  ["today", { ends: "day", day: "2026-11-19" }, /, until 19 November 2026$/],
  ["only to read", { access: "read" }, "may read all zones"],
] as const)("a token that is limited to %s says so", ([, typed, words]) => {
  expect(read(typed)).toEqual({ words: expect.stringMatching(words), faults: {} });
});

it.for([
  ["name with an empty label", { zones: [munich], owner: "a..b" }, { owner: "a label is empty" }],
  ["name with a space", { zones: [munich], owner: "a b" }, { owner: "is not allowed in a name; use letters, digits" }],
  ["whole name without its zone", { owner: "home.example.org." }, { owner: "choose one zone, or leave the zone's" }],
  ["whole name with two zones", { zones: ["b.test", munich], owner: "a.b.test." }, { owner: "choose one zone" }],
  ["network", { networks: "10.0.0.0/8, 10.0.0.300" }, { networks: "10.0.0.300 is not a network; use one such as" }],
  ["missing last day", { ends: "day" }, { day: "choose today or a later day" }],
  ["last day that is over", { ends: "day", day: "2026-11-18" }, { day: "choose today or a later day" }],
  ["purpose of spaces", { name: " " }, { name: "required, so that you recognise it" }],
] as const)("a wrong %s is reported at its field", ([, typed, expected]) => {
  const messages = Object.entries(expected).map(([field, message]) => [field, expect.stringContaining(message)]);
  expect(read(typed).faults).toEqual(Object.fromEntries(messages));
});

describe("the form of a token for a record", () => {
  it("starts with its zone and its name, and what it is for", () => {
    const draft = draftFor(munich, "xn--strae-oqa");
    expect(draft).toMatchObject({ name: "straße.münchen.test", zones: [munich], owner: "straße" });
    expect(scopeOf(draft, now).sets).toEqual([{ owner: "xn--strae-oqa" }]);
  });

  it("has a purpose of at most 100 letters", () => {
    expect(draftFor(`${"a".repeat(60)}.test`, "b".repeat(60)).name).toHaveLength(100);
  });
});
