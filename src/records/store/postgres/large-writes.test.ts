import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { isLongRun } from "../../../../test/rig/long-run.ts";
import { aSet } from "../../../../test/rig/records/a-set.ts";
import { type PostgresRig, startPostgresRig } from "../../../../test/rig/records/postgres.ts";
import { createZoneIn, writeTo } from "../../../../test/rig/store/write.ts";
import { plainSettings, type Zone } from "../../model.ts";
import type { ActionRule, WriteView } from "../port.ts";
import type { PostgresStore } from "./store.ts";

let rig: PostgresRig;
let store: PostgresStore;
const now = Date.UTC(2026, 10, 18);
/** More than 5,000 rows are staged. */
const size = isLongRun ? 12_000 : 6_000;

beforeAll(async () => {
  rig = await startPostgresRig();
});
afterAll(() => rig.stop());
beforeEach(async () => {
  store = await rig.open(await rig.preparedUrl());
});
afterEach(() => store.close());

async function createZone(name: string, count: number): Promise<Zone> {
  const { id: account } = await store.ensureAccount("main", now);
  const sets = Array.from({ length: count }, (_, i) => aSet(`${name[0]}${i}`, `192.0.2.${i % 250}`));
  const made = { account, id: name, name, settings: plainSettings(60), serial: 1, created: now, sets };
  const zone = await createZoneIn(store, made, "test");
  if (typeof zone === "string") throw new Error(zone);
  return zone;
}

/** The CPU milliseconds of this thread until it is stopped: all, and those of the longest pass of the event loop. */
function watchPasses() {
  const used = () => {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1_000;
  };
  const first = used();
  let [longest, last] = [0, first];
  let next: NodeJS.Immediate | undefined;
  const look = () => {
    const current = used();
    [longest, last] = [Math.max(longest, current - last), current];
    next = setImmediate(look);
  };
  look();
  return () => {
    clearImmediate(next);
    return { longest, all: used() - first };
  };
}

const emptied = (zone: Zone) => ({
  account: zone.account,
  at: { zone: zone.id },
  owners: "all" as const,
  actor: "test",
  now,
});

type Content = WriteView["sets"];

/** Replaces the content of a zone, and writes to another one until that is done. */
async function replaceBeside(large: Zone, contentAfter: (sets: Content) => Content, parts: number): Promise<Content> {
  const other = await createZone("other.example", 1);
  const write = (i: number) =>
    writeTo(store, { ...emptied(other), owners: () => ["www"] }, () => ({
      wanted: [aSet("www", `198.51.100.${i % 250}`)],
      result: undefined,
    }));
  // Once more than measured, until the code is compiled.
  await write(0);
  let [isOver, count] = [false, 0];
  const stop = watchPasses();
  const rule: ActionRule<number> = {
    kind: "action",
    request: { ...emptied(large), at: { name: large.name } },
    decide: ({ sets }) => ({ wanted: contentAfter(sets), actionName: "import_zonefile", result: sets.length }),
  };
  const replaced = store
    .run({ kind: "test", parts }, () => rule)
    .finally(() => {
      isOver = true;
    });
  while (!isOver) await write(++count);
  expect(await replaced).toMatchObject({ result: large.recordCount });
  const { longest, all } = stop();
  expect(count).toBeGreaterThan(5);
  // In one part, it would be nearly all.
  expect(longest).toBeLessThan(all / 4);
  return await store.sets(large, {});
}

it("a large zone is replaced in small parts of the loop, and others write meanwhile", async () => {
  const large = await createZone("large.example", size);
  const fewer = (sets: Content) => [...sets.slice(0, 2), aSet("new", "192.0.2.1")];
  expect(await replaceBeside(large, fewer, 3)).toHaveLength(3);
});

it("a large file is imported into a small zone in small parts of the loop, and others write meanwhile", async () => {
  const small = await createZone("small.example", 1);
  const file = Array.from({ length: size }, (_, i) => aSet(`n${i}`, `192.0.2.${i % 250}`));
  expect(await replaceBeside(small, (sets) => [...sets, ...file], size)).toHaveLength(size + 1);
});

it("a large write may be planned for longer than a transaction may be idle", async () => {
  await store.close();
  store = await rig.open(await rig.preparedUrl(), { limits: { statement: 1_000 } });
  const zone = await createZone("slow.example", 1);
  const rule: ActionRule<number> = {
    kind: "action",
    request: { ...emptied(zone), at: { name: zone.name } },
    decide: ({ sets }) => {
      // The server ends a transaction that is idle for a second.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2_500);
      return { wanted: [...sets, aSet("new", "192.0.2.1")], result: sets.length };
    },
  };
  expect(await store.run({ kind: "test", parts: 3_000 }, () => rule)).toMatchObject({ result: 1 });
  expect(await store.sets(zone, {})).toHaveLength(2);
});

it.each([1, 5])("what changes while a large write is planned is in its next plan: %s times", async (times) => {
  const zone = await createZone("busy.example", 1);
  let plans = 0;
  const changeBy = (owner: string) =>
    writeTo(store, { ...emptied(zone), owners: () => [owner] }, ({ sets }) => ({
      wanted: [...sets, aSet(owner, "198.51.100.1")],
      result: undefined,
    }));
  const changes: Promise<unknown>[] = [];
  const rule: ActionRule<number> = {
    kind: "action",
    request: { ...emptied(zone), at: { name: zone.name } },
    *decide({ sets }) {
      plans += 1;
      let isWritten = plans > times;
      if (!isWritten) changes.push(changeBy(`n${plans}`).then(() => (isWritten = true)));
      // The last plan is made under the lock of the zone, for which the other write waits.
      while (!isWritten && plans < 4) yield;
      return { wanted: [...sets, aSet("new", "192.0.2.1")], result: sets.length };
    },
  };
  const { result } = (await store.run({ kind: "test", parts: 3_000 }, () => rule)) as { readonly result: number };
  await Promise.all(changes);
  expect([plans, result]).toEqual([Math.min(times, 3) + 1, Math.min(times, 3) + 1]);
  expect(await store.sets(zone, {})).toHaveLength(2 + changes.length);
});
