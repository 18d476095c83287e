import { afterEach, expect, it } from "vitest";
import { StoreBusy } from "../../../lib/limits/store-busy.ts";
import { openSqlite } from "../../../lib/sqlite/open.ts";
import { createStoreCounters } from "../counters.ts";
import { createLargeWritePauses } from "./large-write-pauses.ts";
import { LargeWrites, type Planning } from "./large-writes.ts";
import { migrations } from "./schema.ts";
import { openWalSync, runBatch, WriteQueue } from "./write-queue.ts";
import { prepareWriteSide } from "./write-side.ts";

let time = 0;
const [one, two, three] = [1, 2, 3];

/** The pause of account one after a large write of this length. */
const pauseAfter = (length: number, others: readonly (readonly [account: number, ago: number])[]) => {
  const pauses = createLargeWritePauses(() => time);
  for (const [account, ago] of others) {
    time = 1_000_000 - ago;
    pauses.arrived(account);
  }
  time = 1_000_000;
  pauses.heldUp(one, length);
  return { pauses, left: pauses.left(one) };
};

it.each([
  { length: 100, others: [[two, 5]], left: 0, why: "it was short" },
  { length: 250, others: [], left: 0, why: "nobody else writes" },
  { length: 250, others: [[one, 5]], left: 0, why: "only the account itself writes" },
  { length: 250, others: [[two, 5]], left: 10_000, why: "another account had to wait" },
  {
    length: 250,
    others: [
      [two, 200],
      [one, 100],
      [one, 1],
    ],
    left: 10_000,
    why: "another account waited longest",
  },
  {
    length: 250,
    others: [
      [two, 300],
      [one, 1],
    ],
    left: 0,
    why: "the other account had written before",
  },
  {
    length: 250,
    others: [
      [three, 9],
      [two, 8],
      [one, 7],
    ],
    left: 10_000,
    why: "several others waited",
  },
  { length: 3_600_000, others: [[two, 5]], left: 600_000, why: "it was enormous" },
] as const)("the pause is $left ms after a large write of $length ms if $why", ({ length, others, left }) => {
  expect(pauseAfter(length, others).left).toBe(left);
});

it("a pause ends, and concerns no other account", () => {
  const { pauses } = pauseAfter(250, [[two, 5]]);
  expect(pauses.left(two)).toBe(0);
  time += 9_999;
  expect(pauses.left(one)).toBe(1);
  time += 1;
  expect(pauses.left(one)).toBe(0);
});

const database = openSqlite(":memory:", migrations);
const main = prepareWriteSide(database);
const nothing = () => undefined;
const edges = { begun: nothing, ending: nothing, rolledBack: nothing, committed: () => [] };
const queue = new WriteQueue({
  runHere: (works) => runBatch(database, edges, works),
  thread: undefined,
  durable: nothing,
  disk: openWalSync(database, ":memory:"),
  counters: createStoreCounters(),
});
let writes: LargeWrites | undefined;
const open = (left: number) => {
  const opened = new LargeWrites({
    queue,
    main,
    pauses: { ...createLargeWritePauses(), left: () => left },
    open: () => prepareWriteSide(openSqlite(":memory:", migrations)),
  });
  writes = opened;
  return opened;
};
afterEach(() => writes?.close());

const command = { kind: "test" };

const planning = (steps: number): Planning<string> =>
  function* () {
    for (let i = 0; i < steps; i++) yield;
    return { writes: [], finish: () => "done" };
  };

it("a pause delays large writes only, and ends when the store is closed", async () => {
  const store = open(29_000);
  const large = [one, one].map((account) =>
    store.commit(account, { command, planning: planning(9_999) }).catch((error: Error) => error.message),
  );
  expect(await store.commit(one, { command, planning: planning(9) })).toBe("done");
  store.close();
  expect(await Promise.all(large)).toEqual(["the store is closed", "the store is closed"]);
});

it("a large write is refused if the pause is too long to wait for", async () => {
  const refusal = await open(45_500)
    .commit(one, { command, planning: planning(9_999) })
    .catch((error: unknown) => error);
  expect(refusal).toBeInstanceOf(StoreBusy);
  expect(refusal).toMatchObject({ retryAfter: 46 });
});
