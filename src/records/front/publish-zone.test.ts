import { expect, test } from "vitest";
import { createLog } from "../../process/log.ts";
import type { ChangeOutcome, Provider, ProviderChange } from "../../providers/provider.ts";
import { type Publication, type PublishedSet, plainSettings, type Zone } from "../model.ts";
import type { RecordStore } from "../store/port.ts";
import { OpenedAccount } from "./provider-accounts.ts";
import { PublishedZoneWork } from "./publish-zone.ts";
import { keyOf } from "./theirs.ts";

const published: Publication = {
  ...{ provider: 1, name: "hetzner", service: "Hetzner", drift: "ask", readEvery: 900 },
  rules: { lowestTtl: 60, highestTtl: 86_400, mostValues: 50 },
};
const zone = { number: 7, account: 1, name: "one.example", settings: { ...plainSettings(300), published } } as Zone;
const place = { owner: "www", type: "A" } as const;

/** A zone with one set, whose store and provider are objects of the test. */
function rig() {
  const rows = new Map<string, PublishedSet>();
  const state = {
    value: "192.0.2.1",
    there: undefined as string | undefined,
    /** What was written to the provider, in order. */
    sent: [] as string[],
    ended: [] as number[],
    /** Called after the sets were read from the store. */
    afterRead: () => {},
  };
  const store = {
    sets: async () => {
      const read = [{ ...place, ttl: 300, records: [{ rdata: state.value }] }];
      state.afterRead();
      return read;
    },
    publishedSetsAt: async () => [...rows.values()],
    putPublishedSets: async (_: number, given: readonly PublishedSet[]) => {
      for (const row of given) rows.set(keyOf(row), row);
    },
    endPublishing: async (_: number, serials: readonly number[]) => void state.ended.push(...serials),
    notePublishedZone: async () => {},
  } as unknown as RecordStore;
  const provider = {
    rules: { mostSets: 1 },
    wait: () => 0,
    write: async (_: string, changes: readonly ProviderChange[]) =>
      changes.map(({ owner, type, content }): ChangeOutcome => {
        state.there = content?.values[0];
        state.sent.push(`${type} ${state.there ?? "deleted"}`);
        return { kind: "done", set: content && { owner, type, ...content } };
      }),
  } as unknown as Provider;
  const now = () => 1_000;
  const account = new OpenedAccount({ id: 1, name: "hetzner", replaced: 0 } as never, "", { now, random: () => 0 });
  account.provider = provider;
  const log = createLog({ format: "text", level: "silent", write: () => {} });
  const note = { through: 0, waiting: 0, ttl: 300, readAt: 0, trouble: undefined };
  const work = new PublishedZoneWork(zone, note, { store, now, log, position: () => 0, changed: () => {} });
  return { rows, state, work, publish: () => work.publish(zone, published, account, new AbortController().signal) };
}

test("a change that arrives between the read of a set and its sending is sent too", async () => {
  const { state, work, publish } = rig();
  state.afterRead = () => {
    state.afterRead = () => {};
    state.value = "192.0.2.2";
    work.add(2, [place]);
  };
  work.add(1, [place]);
  await publish();
  expect(state.there).toBe("192.0.2.2");
  expect(state.ended).toEqual([1, 2]);
});

test("deletions are sent first: a name cannot have a CNAME and other sets", async () => {
  const { rows, state, work, publish } = rig();
  const held = { ttl: 300, values: ["other.example."] };
  rows.set("www CNAME", { owner: "www", type: "CNAME", held, at: 0 });
  work.add(1, [place, { owner: "www", type: "CNAME" }]);
  await publish();
  expect(state.sent).toEqual(["CNAME deleted", "A 192.0.2.1"]);
});
