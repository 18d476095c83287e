import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import { createLog } from "../../process/log.ts";
import { type LoggedRow, type Publication, plainSettings, type Zone } from "../model.ts";
import type { RecordStore } from "../store/port.ts";
import { publishZones } from "./publisher.ts";

const published = { provider: 1, readEvery: 0 } as Publication;
const settings = { ...plainSettings(300), published };
const zone = { number: 7, account: 1, name: "one.example", settings } as Zone;

test("an action does not end between two reads of the rows of its write", async () => {
  const log = Array.from({ length: 1_500 }, (_, at) => {
    const change = { kind: "create", owner: `n${at}`, type: "A" };
    return { position: at + 1, zone: 7, serial: 2, actor: "test", change } as unknown as LoggedRow;
  });
  const set = (owner: string) => ({ owner, type: "A", ttl: 300, records: [{ rdata: "192.0.2.1" }] });
  const row = (owner: string) => ({ owner, type: "A", held: { ttl: 300, values: ["192.0.2.1"] }, at: 1 });
  const note = { through: 0, waiting: 0, ttl: 300, readAt: 1, trouble: undefined };
  const ended: number[] = [];
  let endedEarly: readonly number[] | undefined;
  const store = {
    ...{ onChange: () => () => {}, lastChange: async () => 0, endStrayPublishing: async () => {} },
    ...{ publishedZones: async () => [[zone, note]], publishedZone: async () => note, zoneBy: async () => zone },
    ...{ setsAfter: async () => [], publishedSetsAfter: async () => [], publishingSerials: async () => [] },
    providers: async () => [{ id: 1, name: "h", kind: "hetzner", url: "http://127.0.0.1:9", replaced: 0 }],
    changesAfter: async (after: number, limit: number) => {
      // Time for what was read before.
      for (let turn = 0; turn < 2_000 && after === 1_000; turn++) await nextTurn();
      if (after === 1_000) endedEarly = [...ended];
      return log.slice(after, after + limit);
    },
    sets: async (_: Zone, { owners = [] }: { owners?: readonly string[] }) => owners.map(set),
    publishedSetsAt: async (_: number, owners: readonly string[]) => owners.map(row),
    notePublishedZone: async () => {},
    endPublishing: async (_: number, serials: readonly number[]) => void ended.push(...serials),
  } as unknown as RecordStore;
  const quiet = createLog({ format: "text", level: "silent", write: () => {} });
  const signer = { decryptText: () => "token" };
  const end = publishZones({ store, signer, now: () => 1, random: () => 0, log: quiet, changed: () => {} });
  await expect.poll(() => ended).toEqual([2]);
  expect(endedEarly).toEqual([]);
  await end();
});

test("a new leader leaves a first fill alone that another node has just begun", async () => {
  const unpublished = { ...zone, settings: plainSettings(300) };
  const note = { through: 0, waiting: 0, ttl: 300, trouble: undefined };
  const [begun, abandoned] = [
    { ...note, readAt: 999_000 },
    { ...note, readAt: 1 },
  ];
  const forgotten: number[] = [];
  const store = {
    ...{ onChange: () => () => {}, lastChange: async () => 0, endStrayPublishing: async () => {} },
    ...{ publishingSerials: async () => [], endPublishing: async () => {}, changesAfter: async () => [] },
    publishedZones: async () => [
      [unpublished, begun],
      [{ ...unpublished, number: 8 }, abandoned],
    ],
    forgetPublished: async (number: number) => void forgotten.push(number),
  } as unknown as RecordStore;
  const log = createLog({ format: "text", level: "silent", write: () => {} });
  const signer = { decryptText: () => "token" };
  const end = publishZones({ store, signer, now: () => 1_000_000, random: () => 0, log, changed: () => {} });
  await expect.poll(() => forgotten).toContain(8);
  await end();
  expect(forgotten).not.toContain(7);
});

test("a repeated write that waits for one set does not make the publisher compare the whole zone", async () => {
  const askedFor = [{ owner: "www", type: "A" }] as const;
  const change = {
    kind: "settings",
    before: settings,
    after: { ...settings, published: { ...published, asked: 1, askedFor } },
  };
  const row = { position: 1, zone: 7, serial: 2, actor: "test", change } as unknown as LoggedRow;
  const note = { through: 0, waiting: 0, ttl: 300, readAt: 1, trouble: undefined };
  const ended: number[] = [];
  let [comparisons, heard] = [0, (_: readonly LoggedRow[]) => {}];
  const held = { ttl: 300, values: ["192.0.2.1"] };
  const store = {
    ...{ lastChange: async () => 0, endStrayPublishing: async () => {}, notePublishedZone: async () => {} },
    ...{ publishedZones: async () => [[zone, note]], publishedZone: async () => note, zoneBy: async () => zone },
    ...{ setsAfter: async () => [], publishingSerials: async () => [], changesAfter: async () => [] },
    providers: async () => [{ id: 1, name: "h", kind: "hetzner", url: "http://127.0.0.1:9", replaced: 0 }],
    onChange: (listener: typeof heard) => {
      heard = listener;
      return () => {};
    },
    publishedSetsAfter: async () => {
      comparisons += 1;
      return [];
    },
    sets: async () => [{ owner: "www", type: "A", ttl: 300, records: [{ rdata: "192.0.2.1" }] }],
    publishedSetsAt: async () => [{ owner: "www", type: "A", held, at: 1 }],
    endPublishing: async (_: number, serials: readonly number[]) => void ended.push(...serials),
  } as unknown as RecordStore;
  const quiet = createLog({ format: "text", level: "silent", write: () => {} });
  const signer = { decryptText: () => "token" };
  const end = publishZones({ store, signer, now: () => 1, random: () => 0, log: quiet, changed: () => {} });
  await expect.poll(() => comparisons).toBe(1);
  const hear = () => {
    heard([row]);
    return ended;
  };
  await expect.poll(hear).toContain(2);
  expect(comparisons).toBe(1);
  await end();
});
