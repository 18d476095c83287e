import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createToken, hashSecret } from "../../src/access/secret.ts";
import { wholeAccount } from "../../src/core/may.ts";
import { createHttpServer } from "../../src/lib/http/server.ts";
import { createLog } from "../../src/process/log.ts";
import { rrsetsApi } from "../../src/records/api/rrsets/routes.ts";
import type { LoggedChange } from "../../src/records/model.ts";
import { createRecordService } from "../../src/records/service.ts";
import type { RecordStore } from "../../src/records/store/port.ts";
import { openSqliteStore } from "../../src/records/store/sqlite/store.ts";
import { dropHistory } from "../../src/records/tools/keep-history.ts";
import { trimSqliteTables } from "../../src/records/tools/tables/sqlite.ts";
import { zonesFromStore } from "../../src/serving/zones.ts";
import { patience } from "../rig/patience.ts";
import { readEvents } from "../rig/records/event-reader.ts";
import { filledAt, fillStore } from "../rig/records/filled-store.ts";

let folder: string;
let store: RecordStore;
let server: ReturnType<typeof createHttpServer>;
let url: string;
let headers: Record<string, string>;
let history: readonly LoggedChange[];
const log = createLog({ format: "text", level: "silent", write: () => undefined });

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "moor-history-"));
  const path = join(folder, "records.sqlite");
  store = openSqliteStore(path);
  await fillStore(store);
  history = await store.changesAfter(0, 1_000);
  const secret = createToken();
  const account = await store.ensureAccount("main", 0);
  await store.addToken({ account: account.id, name: "t", hash: hashSecret(secret), scope: wholeAccount, created: 0 });
  headers = { authorization: `Bearer ${secret}` };
  const service = createRecordService({ store, now: Date.now, nameservers: ["ns1.example.net"] });
  server = createHttpServer({ bodyLimit: 1024 * 1024 });
  await server.register(rrsetsApi({ service, store, now: Date.now, log }), { prefix: "/v1" });
  url = `${await server.listen({ host: "127.0.0.1", port: 0 })}/v1`;
  // All but the last two writes are too old.
  const keep = history.at(-2)?.at ?? filledAt;
  const tables = trimSqliteTables(path);
  await dropHistory(tables, { before: keep, rest: 0, signal: AbortSignal.timeout(patience) });
  await tables.close();
});
afterAll(async () => {
  await server.close();
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

describe("with a cut history", () => {
  it("an event stream that would resume before the cut reports that first, and then continues", async () => {
    const reader = await readEvents(`${url}/events`, { ...headers, "last-event-id": "3" });
    await reader.until((each) => each.events.length >= 3);
    const [cut, ...rest] = reader.events;
    reader.close();
    const from = (history.at(-2)?.position ?? 0) - 1;
    expect(cut).toMatchObject({ event: "cut", id: String(from), data: { asked: 3, from } });
    expect(rest.map(({ event, id }) => [event, Number(id)])).toEqual([
      ["change", from + 1],
      ["change", from + 2],
    ]);
  });

  it("an event stream that resumes after the cut does not report it", async () => {
    const reader = await readEvents(`${url}/events`, { ...headers, "last-event-id": String(history.at(-2)?.position) });
    await reader.until((each) => each.events.length >= 1);
    expect(reader.events.map(({ event }) => event)).toEqual(["change"]);
    reader.close();
  });

  it("a secondary gets the changes if all of them are available, and otherwise the whole zone", async () => {
    const zones = await zonesFromStore(store, { nameservers: ["ns1.example.net"], log });
    const [last, before, gone] = [
      ...new Set(history.filter((each) => each.zone === 1).map((each) => each.serial)),
    ].reverse();
    const between = (from: number | undefined) => zones.changesBetween("example.org", from ?? 0, last ?? 0);
    expect(await between(before)).toMatchObject([{ owner: "www", type: "A", kind: "replace" }]);
    // Undefined leads to a full transfer (RFC 1995 section 4).
    expect(await between(gone)).toBeUndefined();
    expect(await between(1)).toBeUndefined();
    await zones.close();
  });

  it("dropped changes cannot be undone, the others can", async () => {
    const undo = (serial: number | undefined) =>
      fetch(`${url}/zones/example.org/history/${serial}/undo`, { method: "POST", headers }).then(
        (answer) => answer.status,
      );
    expect(await undo(history.find((each) => each.zone === 1)?.serial)).toBe(404);
    expect(await undo(history.at(-1)?.serial)).toBe(201);
  });
});
