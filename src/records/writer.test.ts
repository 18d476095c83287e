import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Worker } from "node:worker_threads";
import { afterEach, beforeEach, expect, it } from "vitest";
import { wholeAccount } from "../core/may.ts";
import { StoreBusy } from "../process/database/store-busy.ts";
import { startThread } from "../process/shipped-files.ts";
import { plainSettings } from "./model.ts";
import { recordsDatabase, signingKeyFile } from "./open-store.ts";
import { createRecordService, type RecordService } from "./service/service.ts";
import type { Actor } from "./service/sight.ts";
import { AccessEnded } from "./store/access-ended.ts";
import { migrations } from "./store/sqlite/schema.ts";
import { openSqliteStore, type SqliteStore } from "./store/sqlite/store.ts";

const now = Date.now();
let folder: string;
let store: SqliteStore;
let service: RecordService;
let actor: Actor & { readonly token: number };
let workers: Worker[];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "moor-writer-"));
  workers = [];
  const workerData = { path: recordsDatabase(folder), keyFile: signingKeyFile(folder) };
  store = openSqliteStore(workerData.path, migrations, undefined, () => {
    const worker = startThread("store-writer", { workerData });
    workers.push(worker);
    return worker;
  });
  const account = (await store.ensureAccount("main", now)).id;
  const token = await store.addToken({ account, name: "t", hash: "h", scope: wholeAccount, created: now });
  actor = { account, token: token.id, label: "token", scope: wholeAccount };
  service = createRecordService({ store, now: () => now, nameservers: ["ns1.example.net"] });
  // In this thread, so that the tests see when the other one starts.
  const zone = { account, id: "z", name: "a.example", settings: plainSettings(60), serial: 1, created: now, sets: [] };
  await store.createZone(zone, "tester");
});
afterEach(async () => {
  await store.drain();
  store.close();
  rmSync(folder, { recursive: true });
});

const put = (name: string, value: string, by: Actor = actor) =>
  service.editSet(
    by,
    { zone: { name: "a.example" }, name, type: "A" },
    { kind: "put", draft: { records: [{ value, comment: "" }] } },
  );
const valueAt = async (name: string) => {
  const set = await service.set(actor, { zone: { name: "a.example" }, name, type: "A" });
  return set.kind === "done" ? set.set?.records.map(({ value }) => value) : set.kind;
};

it("is started by the first command, and its writes can be read", async () => {
  const before = workers.length;
  const written = await put("www", "192.0.2.1");
  expect(written).toMatchObject({
    kind: "done",
    made: true,
    set: { owner: "www" },
    action: { command: "create_rrset" },
  });
  expect([before, workers.length, await valueAt("www")]).toEqual([0, 1, ["192.0.2.1"]]);
});

it("followers know a write before its writer gets the answer", async () => {
  await put("www", "192.0.2.1");
  const events: string[] = [];
  store.onChange((rows) => void events.push(...(rows ?? []).map(({ change }) => change.kind)));
  await put("www", "192.0.2.2").then(() => events.push("answer"));
  expect(events).toEqual(["replace", "answer"]);
});

it("writes what waits in a few transactions, in which a refused write does not affect the others", async () => {
  await put("www", "192.0.2.1");
  const before = store.counters.commits;
  const names = Array.from({ length: 50 }, (_, i) => `h${i}`);
  const outcomes = await Promise.all(names.map((name, i) => put(name, i === 7 ? "nonsense" : `192.0.2.${i}`)));
  expect(outcomes.map(({ kind }) => kind)).toEqual(names.map((_, i) => (i === 7 ? "refused" : "done")));
  expect(store.counters.commits - before).toBeLessThan(10);
  const serials = outcomes.flatMap((outcome) => (outcome.kind === "done" ? outcome.serial : []));
  expect(new Set(serials).size).toBe(49);
});

it("refuses the write of a token that was revoked before its turn", async () => {
  await put("www", "192.0.2.1");
  const [revoked, late] = await Promise.all([
    store.revokeToken(actor.token, now),
    put("www", "192.0.2.2").catch((error: unknown) => error),
  ]);
  expect(revoked).toBe(true);
  expect(late).toBeInstanceOf(AccessEnded);
  expect(await valueAt("www")).toEqual(["192.0.2.1"]);
});

it("sees what another connection has written", async () => {
  await put("www", "192.0.2.1");
  const other = openSqliteStore(recordsDatabase(folder));
  const its = createRecordService({ store: other, now: () => now, nameservers: ["ns1.example.net"] });
  const target = { zone: { name: "a.example" }, name: "www", type: "A" };
  await its.editSet(actor, target, { kind: "put", draft: { records: [{ value: "192.0.2.9", comment: "" }] } });
  other.close();
  const added = { kind: "add", draft: { records: [{ value: "192.0.2.2", comment: "" }] } } as const;
  expect((await service.editSet(actor, target, added)).kind).toBe("done");
  expect(await valueAt("www")).toEqual(["192.0.2.9", "192.0.2.2"]);
});

it("a thread that dies ends in an error for what it had, and the next write starts another one", async () => {
  await put("www", "192.0.2.1");
  const lost = put("www", "192.0.2.2").catch((error: unknown) => error);
  await new Promise(setImmediate);
  await workers[0]?.terminate();
  const error = await lost;
  // It may have answered before it died.
  if (error instanceof Error) expect(error).toBeInstanceOf(StoreBusy);
  else expect(error).toMatchObject({ kind: "done" });
  expect(await put("www", "192.0.2.3")).toMatchObject({ kind: "done" });
  expect([workers.length, await valueAt("www")]).toEqual([2, ["192.0.2.3"]]);
});

it("closes the file when the store is closed", async () => {
  await put("www", "192.0.2.1");
  await store.drain();
  store.close();
  // SQLite removes its other files when the last connection is closed.
  expect(readdirSync(folder)).toEqual(["records.sqlite"]);
  store = openSqliteStore(recordsDatabase(folder));
});

it("a write that is too large for it is done beside it, and seen by the next one", async () => {
  const records = Array.from({ length: 1_500 }, (_, i) => ({ value: `192.0.${i >> 8}.${i & 255}`, comment: "" }));
  const zone = { name: "a.example" };
  const changes = records.map((record, i) => ({ name: `m${i}`, type: "A", to: { records: [record] } }));
  const written = await service.changeSets(actor, zone, { changes, expectedSerial: undefined });
  expect(written.kind).toBe("done");
  await put("m7", "198.51.100.7");
  expect(await valueAt("m7")).toEqual(["198.51.100.7"]);
});
