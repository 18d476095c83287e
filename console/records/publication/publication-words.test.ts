import { expect, test } from "vitest";
import type { WirePublication } from "../../../src/contract/front.ts";
import { publicationInWords, stateInWords } from "./publication-words.ts";

const publication = (counts: Partial<WirePublication["counts"]>, trouble: WirePublication["trouble"] = null) => ({
  ...{ provider: "hetzner", service: "Hetzner", drift: "ask" as const, read_every: 900 },
  ...{
    read_at: "2026-01-01T00:00:00Z",
    trouble,
    counts: { published: 9, waiting: 0, refused: 0, drifted: 0, ...counts },
  },
});

test.each([
  [publication({}), "published at Hetzner"],
  [publication({ waiting: 1 }), "1 record set on the way to Hetzner"],
  [publication({ waiting: 1, refused: 2 }), "2 record sets refused by Hetzner"],
  [publication({ waiting: 1, refused: 2, drifted: 3 }), "3 record sets changed at Hetzner"],
  [publication({ drifted: 3 }, { text: "401", since: "2026-01-01T00:00:00Z" }), "not reaching Hetzner"],
])("the worst is said first: %#", (given, words) => expect(publicationInWords(given)).toBe(words));

test("a refusal has the provider's own words", () =>
  expect(stateInWords({ state: "refused", because: "TTL too low" }, "deSEC")).toBe("refused by deSEC: TTL too low"));
