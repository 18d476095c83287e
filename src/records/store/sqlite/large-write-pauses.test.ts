import { afterEach, expect, it } from "vitest";
import { StoreBusy } from "../../../lib/limits/store-busy.ts";
import { openSqlite } from "../../../lib/sqlite/open.ts";
import { plainSettings } from "../../model.ts";
import { createStoreCounters } from "../counters.ts";
import { createLargeWritePauses } from "./large-write-pauses.ts";
import { LargeWrites } from "./large-writes.ts";
import { type PlannableWrite, smallWriteLimits, writeIfSmall } from "./planned-write.ts";
import { migrations } from "./schema.ts";
import { WriteConnection } from "./write-connection.ts";
import { openWalSync, runBatch, WriteQueue } from "./write-queue.ts";

let time = 0;
const [one, two] = [1, 2];

/** Of account one, after a large write of this length. */
const pausesAfter = (length: number) => {
  time = 1_000_000;
  const pauses = createLargeWritePauses(() => time);
  pauses.heldUp(one, length);
  return pauses;
};

it.each([
  { length: 100, left: 0, why: "others hardly waited" },
  { length: 250, left: 10_000, why: "others had to wait" },
  { length: 3_600_000, left: 600_000, why: "it was enormous" },
])("the pause is $left ms after a large write of $length ms: $why", ({ length, left }) => {
  expect(pausesAfter(length).left(one)).toBe(left);
});

it("a pause ends, and concerns no other account", () => {
  const pauses = pausesAfter(250);
  expect(pauses.left(two)).toBe(0);
  time += 9_999;
  expect(pauses.left(one)).toBe(1);
  time += 1;
  expect(pauses.left(one)).toBe(0);
});

const database = openSqlite(":memory:", migrations);
const main = new WriteConnection(database);
const nothing = () => undefined;
const hooks = { afterBegin: nothing, beforeCommit: nothing, afterRollback: nothing, afterCommit: () => [] };
const queue = new WriteQueue({
  run: (works) => runBatch(database, hooks, works),
  onDurable: nothing,
  disk: openWalSync(database, ":memory:"),
  counters: createStoreCounters(),
});
let writes: LargeWrites | undefined;
let heldUp: number[] = [];
const open = (left: number, connection = new WriteConnection(openSqlite(":memory:", migrations))) => {
  heldUp = [];
  const opened = new LargeWrites({
    queue,
    main,
    pauses: { heldUp: (account) => void heldUp.push(account), left: () => left },
    open: () => connection,
  });
  writes = opened;
  return opened;
};
afterEach(() => writes?.close());

const planning = (steps: number): PlannableWrite => ({
  command: { kind: "test" },
  rule: {
    kind: "write-all",
    requests: [],
    decide: function* () {
      for (let i = 0; i < steps; i++) yield;
      return { decisions: [], result: "done" };
    },
  },
  options: { signer: undefined },
  running: undefined,
});

it("a pause delays large writes only, and ends when the store is closed", async () => {
  const store = open(29_000);
  const large = [one, one].map((account) =>
    store.commit(account, planning(9_999)).catch((error: Error) => error.message),
  );
  expect(await queue.commit(() => writeIfSmall(main, planning(9), smallWriteLimits))).toEqual({ result: "done" });
  store.close();
  expect(await Promise.all(large)).toEqual(["the store is closed", "the store is closed"]);
});

it("a large write is refused if the pause is too long to wait for", async () => {
  const refusal = await open(45_500)
    .commit(one, planning(9_999))
    .catch((error: unknown) => error);
  expect(refusal).toBeInstanceOf(StoreBusy);
  expect(refusal).toMatchObject({ retryAfter: 46 });
});

const zone = { id: "z", name: "z.example", account: one, settings: plainSettings(60), serial: 1, created: 1, sets: [] };

it.each([
  { waiting: [], pauses: [], why: "nobody else writes" },
  { waiting: [one, undefined], pauses: [], why: "only the account itself writes" },
  { waiting: [one, two], pauses: [one], why: "another account has to wait" },
])("an account must pause after $pauses if $why", async ({ waiting, pauses }) => {
  const arrived: Promise<unknown>[] = [];
  const created = { ...zone, number: 1, modified: 1, recordCount: 0 };
  const opened = new WriteConnection(openSqlite(":memory:", migrations));
  Object.assign(opened, { createZone: () => created });
  Object.assign(opened.writer, {
    *creatingSets() {
      for (const account of waiting) arrived.push(queue.commit(nothing, account));
      yield;
    },
  });
  const large = { ...planning(0), rule: { kind: "create", zone, actor: "tester" } } as const;
  expect(await open(0, opened).commit(one, large)).toBe(created);
  await Promise.all(arrived);
  expect(heldUp).toEqual(pauses);
});
