import { expect, test } from "vitest";
import type { Provider, ProviderSet } from "../../providers/provider.ts";
import { theirsIn, theirsOf, withoutMixedTtls } from "./theirs.ts";

const set: ProviderSet = { owner: "www", type: "A", ttl: 300, values: ["192.0.2.1", "192.0.2.2"], hasMixedTtl: true };
const content = { sets: [set], unreadable: [] };
const unreadable = { unreadable: "its records have different TTLs" };

test("a set whose records have different TTLs is none that can be published, in a list and alone", async () => {
  const { by, places } = theirsIn(content);
  expect([by.get("www A"), places]).toEqual([unreadable, []]);
  const provider = { rules: {}, set: async () => ({ kind: "found", value: set }) } as unknown as Provider;
  const read = await theirsOf(provider, "one.example", [set], new AbortController().signal);
  expect(read).toEqual({ theirs: [unreadable] });
  expect(withoutMixedTtls(content)).toMatchObject({
    sets: [],
    unreadable: [{ name: "www", type: "A", because: unreadable.unreadable }],
  });
});
