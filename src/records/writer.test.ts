import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Worker } from "node:worker_threads";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createZoneIn } from "../../test/rig/store/write.ts";
import { until } from "../../test/rig/until.ts";
import { parseNetwork } from "../core/addresses/network.ts";
import { wholeAccount } from "../core/may.ts";
import { StoreBusy } from "../lib/limits/store-busy.ts";
import { startThread } from "../process/shipped-files.ts";
import { acmeProofs } from "./commands/acme-proof.ts";
import { updateFromDns } from "./commands/from-dns-update.ts";
import { storeTransfer } from "./commands/from-transfer.ts";
import { plainSettings } from "./model.ts";
import { recordsDatabase, signingKeyFile } from "./open-store.ts";
import type { Actor } from "./queries/permitted-view.ts";
import { createRecordService, type RecordService } from "./service.ts";
import type { RecordStore } from "./store/port.ts";
import { AccessEnded } from "./store/port.ts";
import { migrations } from "./store/sqlite/schema.ts";
import { openSqliteStore, type SqliteStore } from "./store/sqlite/store.ts";

const now = Date.now();
const limits = { zone: 1_000_000, account: 10_000_000, set: 3 };
let folder: string;
let store: SqliteStore;
let service: RecordService;
let actor: Actor & { readonly token: number };
let workers: Worker[];
let startStore: (threadFrom: number) => SqliteStore;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "moor-writer-"));
  workers = [];
  const workerData = { path: recordsDatabase(folder), keyFile: signingKeyFile(folder), limits };
  const start = () => {
    const worker = startThread("store-writer", { workerData });
    workers.push(worker);
    return worker;
  };
  startStore = (threadFrom) => openSqliteStore(workerData.path, migrations, undefined, { start, threadFrom }, limits);
  store = startStore(1);
  const account = (await store.ensureAccount("main", now)).id;
  const token = await store.addToken({ account, name: "t", hash: "h", scope: wholeAccount, created: now });
  actor = { account, token: token.id, label: "token", scope: wholeAccount };
  service = createRecordService({ store, now: () => now, nameservers: ["ns1.example.net"] });
  // In this thread, so that the tests see when the other one starts.
  const zone = { account, id: "z", name: "a.example", settings: plainSettings(60), serial: 1, created: now, sets: [] };
  await createZoneIn(store, zone, "tester");
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

it("is started when commands wait together, and used until they no longer do", async () => {
  store.close();
  store = startStore(2);
  service = createRecordService({ store, now: () => now, nameservers: ["ns1.example.net"] });
  await put("www", "192.0.2.1");
  expect(workers.length).toBe(0);
  await Promise.all([put("www", "192.0.2.2"), put("w3", "192.0.2.3")]);
  expect(workers.length).toBe(1);
  // The last ones are written by this thread, the others by the other one.
  for (let i = 0; i < 20; i++) await put("www", `198.51.100.${i}`);
  await Promise.all([put("a", "192.0.2.4"), put("b", "192.0.2.5")]);
  expect([await valueAt("www"), await valueAt("a"), workers.length]).toEqual([["198.51.100.19"], ["192.0.2.4"], 1]);
});

it("knows how many values a set may have", async () => {
  const values = ["192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.4"].map((value) => ({ value, comment: "" }));
  const target = { zone: { name: "a.example" }, name: "www", type: "A" };
  const putAll = (records: typeof values) => service.editSet(actor, target, { kind: "put", draft: { records } });
  expect(await putAll(values)).toMatchObject({ kind: "refused", faults: [{ code: "too-many-values" }] });
  expect(await putAll(values.slice(1))).toMatchObject({ kind: "done" });
  expect(workers.length).toBe(1);
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

const zoneFile =
  "@ 60 SOA ns1.example.net. h.example.net. 1 7200 900 1209600 300\n@ NS ns1.example.net.\nimported A 192.0.2.9\n";

/** Writes of every kind, and what they return. A new zone has a random id, which must not matter. */
async function writesOfEveryKind(its: RecordService, on: RecordStore): Promise<readonly unknown[]> {
  const made = await its.createZone(actor, { name: "b.example", ttl: 60 }, {});
  if (made.kind !== "done") throw new Error(made.kind);
  const { id: zoneId, account } = made.zone;
  const zone = { name: "b.example" };
  const draft = (name: string, value: string, type: "A" | "AAAA" = "A") => ({
    zoneId,
    draft: { type, name, value, text: value, ttl: 60 },
  });
  const first = await its.createRecord(actor, zoneId, draft("one", "192.0.2.1").draft);
  const id = first.kind === "done" ? first.recordInZone.record.id : "";
  const prefix = parseNetwork("2001:db8:1::/48");
  const newKey = { name: "k", algorithm: "hmac-sha256", secret: "", account, scope: wholeAccount, created: 0 } as const;
  const key = await on.addTransferKey(newKey);
  if (typeof key === "string") throw new Error(key);
  const secondary = await its.createZone(actor, { name: "c.example", mode: "secondary", ttl: 60 });
  const soa = "ns1.example.net. h.example.net. 7 86400 10800 3600000 3600";
  const outcomes = [
    made,
    first,
    await its.replaceRecord(actor, id, draft("one", "192.0.2.2")),
    await its.createRecords(actor, [draft("two", "192.0.2.3"), draft("six", "2001:db8::6", "AAAA")]),
    await its.createRecords(actor, [draft("two", "192.0.2.3"), draft("three", "192.0.2.3")]),
    await its.replaceRecords(actor, [{ ...draft("one", "192.0.2.4"), id }]),
    await its.changeSets(actor, zone, {
      changes: [{ name: "four", type: "A", to: { records: [{ value: "192.0.2.5", comment: "c" }] } }],
    }),
    await its.changeSets(actor, zone, { changes: [{ name: "four", type: "A", to: "gone" }], expectedSerial: 1 }),
    await its.pointHosts(actor, ["one.b.example", "six.b.example"], {
      ipv4: { family: "ipv4", text: "192.0.2.6" },
      ...(prefix && { ipv6: { prefix } }),
    }),
    await updateFromDns(on, {
      zone: "b.example",
      prerequisites: [{ kind: "name-in-use", owner: "one" }],
      from: "192.0.2.1",
      signature: "s",
      now,
      key,
      updates: [{ kind: "add", owner: "five", type: "A", ttl: 60, rdata: "192.0.2.7" }],
    }),
    await its.labelZone(actor, zone, { a: "b" }),
    await its.changeZoneTtl(actor, zone, 120),
    await its.importFile(actor, zone, { text: zoneFile, otherServers: true, merge: false }),
    await its.undo(actor, zone, (await on.zoneBy(account, zone))?.serial ?? 0),
    await its.undo(actor, zone, 1),
    (await acmeProofs(on, () => now).publish("b.example", ["challenge"])) ?? "published",
    await its.changeZone(actor, zone, { name: "other.example" }),
    await its.deleteRecord(actor, id),
    secondary.kind === "done" &&
      (await storeTransfer(
        on,
        secondary.zone,
        { kind: "whole", serial: 7, lines: [{ owner: "@", type: "SOA", ttl: 60, rdata: soa }] },
        now,
      )),
    await its.exportZone(actor, zone, "rrsets"),
    await its.deleteZone(actor, zone, {}),
  ];
  return outcomes.map((outcome) => JSON.parse(JSON.stringify(outcome, withoutChance)));
}

/** Ids are random, and numbers depend on what was written before. */
const withoutChance = (key: string, value: unknown): unknown =>
  ["id", "number", "zone_id", "account"].includes(key) || key === "zone" ? undefined : value;

it("does with every kind of command what a store without it does", async () => {
  await put("www", "192.0.2.1");
  const memory = openSqliteStore(":memory:");
  const plain = createRecordService({ store: memory, now: () => now, nameservers: ["ns1.example.net"] });
  await memory.ensureAccount("main", now);
  await memory.addToken({ account: actor.account, name: "t", hash: "h", scope: wholeAccount, created: now });
  const before = store.counters.commits;
  const [threaded, expected] = [await writesOfEveryKind(service, store), await writesOfEveryKind(plain, memory)];
  memory.close();
  expect(threaded).toEqual(expected);
  expect(store.counters.commits - before).toBeGreaterThan(10);
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

it("a write that was answered while it ran ends its own action, and stores no second one", async () => {
  const gate = Promise.withResolvers<void>();
  const run: typeof store.run = async (...command) => {
    await gate.promise;
    return await store.run(...command);
  };
  const slow = createRecordService({
    ...{ store: { ...store, run }, now: () => now, nameservers: ["ns1.example.net"] },
    answerAfter: 1,
  });
  await put("www", "192.0.2.1");
  const written = await slow.changeZoneTtl(actor, { name: "a.example" }, 120);
  expect(written).toMatchObject({ kind: "done", action: { status: "running" } });
  gate.resolve();
  await until(async () => (await service.zone(actor, { name: "a.example" }))?.settings.ttl === 120);
  const { items } = await service.actions(actor, { page: 1, perPage: 9 });
  expect(items.map(({ command, status }) => [command, status])).toEqual([
    ["create_rrset", undefined],
    ["change_ttl", undefined],
  ]);
});
