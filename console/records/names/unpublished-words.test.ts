import { expect, it } from "vitest";
import { type Unpublished, unpublishedInWords } from "./unpublished-words.ts";

const none: Unpublished = {
  kind: "not-published",
  zone: "example.org",
  service: "Hetzner",
  ...{ refused: 0, drifted: 0, waiting: 0, trouble: null },
};

it.for<[Partial<Unpublished>, string]>([
  [{ refused: 1 }, "1 record set is refused by Hetzner."],
  [{ waiting: 2 }, "2 record sets are not yet at Hetzner."],
  [{ drifted: 1 }, "1 record set was changed at Hetzner."],
  [{ drifted: 3, refused: 2 }, "3 record sets were changed at Hetzner. 2 record sets are refused by Hetzner."],
  [
    { waiting: 1, trouble: { text: "the token was refused", since: "2026-11-01T12:00:00Z" } },
    "changes cannot be sent to Hetzner: the token was refused. 1 record set is not yet at Hetzner.",
  ],
])("%o is said as %s", ([some, words]) => {
  expect(unpublishedInWords({ ...none, ...some })).toBe(words);
});
