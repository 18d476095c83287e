import { describe, expect, test } from "vitest";
import type { PublishedContent, PublishedSet } from "../model.ts";
import { contentOf, isSameContent, type SetState, stateOf } from "./set-state.ts";

const [one, two]: [PublishedContent, PublishedContent] = [
  { ttl: 300, values: ["192.0.2.1"] },
  { ttl: 300, values: ["192.0.2.2"] },
];
const ttls = { here: 3600, there: 300 };
/** A request that may be carried out until then. */
const doubt = (content: PublishedContent | null): PublishedSet["sent"] => [{ content, until: 9, isRead: true }];
const row = (fields: Partial<PublishedSet>): PublishedSet => ({
  owner: "www",
  type: "A",
  held: null,
  at: 0,
  ...fields,
});

describe("the state of a set", () => {
  const cases: readonly [string, PublishedContent | null, PublishedSet | undefined, SetState["kind"]][] = [
    ["a set that the provider holds", one, row({ held: one }), "published"],
    ["the default TTL of the provider counts", one, row({ held: { ...one, ttl: null } }), "published"],
    ["a later write", two, row({ held: one }), "to-send"],
    ["a new set", one, undefined, "to-send"],
    ["no set on both sides", null, undefined, "published"],
    ["a deletion that was not sent", null, row({ held: one }), "to-send"],
    [
      "an unknown outcome, even if the last known content is the same",
      one,
      row({ held: one, sent: [{ content: two }] }),
      "to-read",
    ],
    ["an unknown outcome of a deletion", one, row({ held: one, sent: [{ content: null, until: 9 }] }), "to-read"],
    ["a refusal of this content", two, row({ held: one, refused: { content: two, words: "no" } }), "refused"],
    ["a refusal of an earlier content", two, row({ refused: { content: one, words: "no" } }), "to-send"],
    ["back to what the provider holds", one, row({ held: one, refused: { content: two, words: "no" } }), "published"],
    [
      "as at the provider, but an earlier request may replace it",
      one,
      row({ held: one, sent: doubt(two) }),
      "in-doubt",
    ],
    [
      "as at the provider, and an earlier request may write the same",
      one,
      row({ held: one, sent: doubt(one) }),
      "published",
    ],
    ["a later write, while an earlier one is in doubt", two, row({ held: one, sent: doubt(null) }), "to-send"],
    ["what the provider was seen to hold", two, row({ held: one, theirs: two }), "to-read"],
    ["a deletion there and here", null, row({ held: one, theirs: null }), "to-read"],
    ["another content at the provider", one, row({ held: one, theirs: two }), "drifted"],
    ["a set that was deleted at the provider", one, row({ held: one, theirs: null }), "drifted"],
  ];
  test.each(cases)("%s", (_, ours, known, state) => expect(stateOf(ours, known, ttls).kind).toBe(state));
});

test("without a default TTL of the provider, only an explicit one is the same", () => {
  expect(isSameContent({ ...one, ttl: null }, one, { here: 300, there: undefined })).toBe(false);
});

test("a set without a TTL is published with the zone's, and its values are in order", () => {
  const record = { id: "", name: "", value: "", comment: "", created: 0, modified: 0 };
  const records = ["192.0.2.2", "192.0.2.1"].map((rdata) => ({ ...record, rdata }));
  expect(contentOf({ owner: "www", type: "A", ttl: null, records }, ttls)).toEqual({
    ttl: 3600,
    values: ["192.0.2.1", "192.0.2.2"],
  });
});
