import { expect, test } from "vitest";
import { PublishingState, publishingFamilies } from "./publishing-metrics.ts";

const fault = { because: "", todo: "" };

test("counts what is not published, how long it waits, and the faults of providers", async () => {
  const state = new PublishingState();
  state.waits(1, 2, 5_000);
  state.waits(1, 3, 9_000);
  state.waits(2, 1, 4_000);
  state.waits(2, 0, 9_000);
  state.failed({ kind: "later", ...fault });
  const store = {
    publishedZones: async () =>
      [
        [{ number: 1 }, { waiting: 3 }],
        [{ number: 2 }, { waiting: 0 }],
        // Not read since its token was replaced: nothing of it is published.
        [{ number: 3 }, { waiting: 1, readAt: 0 }],
      ] as never,
    knownSets: async (zones: readonly number[]) => (zones.join() === "3" ? 20 : 0),
    troubledSets: async () => [{ zone: 2, refused: 1, drifted: 4 }],
  };
  const text = (await publishingFamilies({ store, state }, 11_000)).join("");
  for (const line of [
    'moor_unpublished_sets{state="waiting"} 23',
    'moor_unpublished_sets{state="refused"} 1',
    'moor_unpublished_sets{state="drifted"} 4',
    "moor_publishing_oldest_seconds 6",
    'moor_provider_faults_total{kind="later"} 1',
    'moor_provider_faults_total{kind="unauthorised"} 0',
  ])
    expect(text).toContain(`\n${line}\n`);
});

test("says nothing about what the database does not tell", async () => {
  const away = () => Promise.reject(new Error("away"));
  const store = { publishedZones: away, knownSets: away, troubledSets: away };
  const text = (await publishingFamilies({ store, state: new PublishingState() }, 1)).join("");
  expect(text).not.toContain("\nmoor_unpublished_sets{");
  expect(text).toContain("\nmoor_publishing_oldest_seconds 0\n");
});
