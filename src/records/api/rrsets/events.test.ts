import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type EventReader, readEvents } from "../../../../test/rig/records/event-reader.ts";
import { createToken, hashSecret } from "../../../access/secret.ts";
import { type Scope, wholeAccount } from "../../../core/may.ts";
import { createHttpServer } from "../../../lib/http/server.ts";
import { createLog } from "../../../process/log.ts";
import { createRecordService } from "../../service.ts";
import type { RecordStore } from "../../store/port.ts";
import { openSqliteStore } from "../../store/sqlite/store.ts";
import { rrsetsApi } from "./routes.ts";

const heartbeat = 200;
/** Readers must have read within this time, also on a slow machine. */
const patience = 3_000;
const streams = { open: 0 };

let store: RecordStore;
let server: ReturnType<typeof createHttpServer>;
let url: string;
let token: string;
const open: EventReader[] = [];

beforeAll(async () => {
  store = openSqliteStore(":memory:");
  const service = createRecordService({ store, now: Date.now, nameservers: ["ns1.example.net"] });
  const log = createLog({ format: "text", level: "error", write: (line) => process.stderr.write(line) });
  server = createHttpServer({ bodyLimit: 16 * 1024 * 1024 });
  await server.register(rrsetsApi({ service, store, now: Date.now, log, events: { heartbeat, patience, streams } }), {
    prefix: "/v1",
  });
  url = `${await server.listen({ host: "127.0.0.1", port: 0 })}/v1`;
  token = await newToken();
});
afterEach(() => {
  for (const reader of open.splice(0)) reader.close();
});
afterAll(async () => {
  await server.close();
  await store.close();
});

async function newToken(scope: Scope = wholeAccount, account = "main"): Promise<string> {
  const { id } = await store.ensureAccount(account, Date.now());
  const secret = createToken();
  await store.addToken({ account: id, name: secret, hash: hashSecret(secret), scope, created: 0 });
  return secret;
}

async function listen(secret = token, headers: Record<string, string> = {}): Promise<EventReader> {
  const reader = await readEvents(`${url}/events`, { authorization: `Bearer ${secret}`, ...headers });
  open.push(reader);
  if (reader.status === 200) await reader.until((each) => each.lastId() !== undefined);
  return reader;
}

async function call(method: string, path: string, body?: unknown): Promise<{ zone: { name: string } }> {
  const answer = await fetch(`${url}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}` },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  expect(answer.status).toBeLessThan(300);
  return (await answer.json()) as { zone: { name: string } };
}

let zones = 0;
async function newZone(): Promise<string> {
  zones += 1;
  return (await call("POST", "/zones", { name: `e${zones}.example`, mode: "primary" })).zone.name;
}
const put = (zone: string, name: string, value: string) =>
  call("PUT", `/zones/${zone}/rrsets/${name}/A/records`, { records: [{ value }] });
const names = (reader: EventReader) => reader.events.map(({ data }) => data.name);

describe("GET /events", () => {
  it("sends what happens from now on, as server-sent events", async () => {
    const zone = await newZone();
    await put(zone, "before", "192.0.2.1");
    const reader = await listen();
    expect([reader.status, reader.headers["content-type"]]).toEqual([200, "text/event-stream"]);
    expect(reader.headers["x-correlation-id"]).toMatch(/^[0-9a-f]{32}$/);
    await put(zone, "www", "192.0.2.1");
    await reader.until(({ events }) => events.length === 1);
    const [event] = reader.events;
    expect(event).toMatchObject({
      event: "change",
      data: { kind: "create", name: "www", type: "A", zone: { name: zone }, before: null },
    });
    expect(event?.id).toBe(String(event?.data.id));
  });

  it("continues after Last-Event-ID, with no event lost or repeated", async () => {
    const zone = await newZone();
    const first = await listen();
    await put(zone, "one", "192.0.2.1");
    await first.until(({ events }) => events.length === 1);
    first.close();
    await put(zone, "two", "192.0.2.1");
    await put(zone, "three", "192.0.2.1");
    const second = await listen(token, { "last-event-id": first.lastId() ?? "" });
    await put(zone, "four", "192.0.2.1");
    await second.until(({ events }) => events.length >= 3);
    expect(names(second)).toEqual(["two", "three", "four"]);
  });

  it("can be resumed even if no event has come yet", async () => {
    const zone = await newZone();
    const first = await listen();
    first.close();
    await put(zone, "later", "192.0.2.1");
    const second = await listen(token, { "last-event-id": first.lastId() ?? "" });
    await second.until(({ events }) => events.length === 1);
    expect(names(second)).toEqual(["later"]);
  });

  it("catches up on more than one batch of a long log, in order", async () => {
    const zone = await newZone();
    const from = (await listen()).lastId() ?? "";
    const changes = Array.from({ length: 400 }, (_, i) => ({
      name: `h${i}`,
      type: "A",
      records: [{ value: "192.0.2.1" }],
    }));
    await call("POST", `/zones/${zone}/changes`, { changes });
    await call("POST", `/zones/${zone}/changes`, { changes: changes.map((each) => ({ ...each, ttl: 60 })) });
    const reader = await listen(token, { "last-event-id": from });
    await reader.until(({ events }) => events.length === 800);
    const ids = reader.events.map(({ data }) => data.id);
    expect(ids).toEqual(ids.toSorted((a, b) => a - b));
  });

  it("starts from now with an id from the future, and refuses an invalid one", async () => {
    const reader = await listen(token, { "last-event-id": "999999999" });
    expect(Number(reader.lastId())).toBeLessThan(999_999_999);
    expect((await listen(token, { "last-event-id": "abc" })).status).toBe(422);
  });

  it("shows each token what it may see: its account's zones, and sets in its scope", async () => {
    const [mine, other] = [await newZone(), await newZone()];
    const stranger = await listen(await newToken(wholeAccount, "stranger"));
    const oneZone = await listen(await newToken({ access: "read", zones: [mine] }));
    const oneSet = await listen(
      await newToken({ access: "read", zones: [mine], sets: [{ owner: "www", types: ["A"] }] }),
    );
    const all = await listen();
    await put(other, "www", "192.0.2.1");
    await put(mine, "mail", "192.0.2.1");
    await put(mine, "www", "192.0.2.1");
    await all.until(({ events }) => events.length === 3);
    await Promise.all(
      [oneZone, oneSet].map((reader) => reader.until(({ events }) => events.some(({ data }) => data.name === "www"))),
    );
    expect(names(oneZone)).toEqual(["mail", "www"]);
    expect(names(oneSet)).toEqual(["www"]);
    expect(names(stranger)).toEqual([]);
  });

  it("sends heartbeats while nothing happens", async () => {
    const reader = await listen();
    await reader.until((each) => each.text().split(": still here").length > 2);
    expect(reader.events).toEqual([]);
  });

  it("ends when the token is revoked", async () => {
    const secret = await newToken();
    const [reader, other] = [await listen(secret), await listen()];
    const beats = (of: EventReader) => of.text().split(": still here").length - 1;
    await reader.until(() => beats(reader) > 1);
    expect(reader.ended(), "before the token is revoked").toBe(false);
    await revoke(secret);
    await reader.until((each) => each.ended());
    expect((await listen(secret)).status).toBe(401);
    const before = beats(other);
    await other.until(() => beats(other) > before + 1);
    expect(other.ended(), "the stream of another token").toBe(false);
  });

  const revoke = async (secret: string) => {
    const known = (await store.tokens()).find((each) => each.name === secret);
    await store.revokeToken(known?.id ?? 0, Date.now());
  };

  it("ends immediately when the token is revoked, without another event", async () => {
    const zone = await newZone();
    const secret = await newToken();
    const { reader, close } = await another(store, { beat: 600_000, secret });
    await put(zone, "before", "192.0.2.1");
    await reader.until(({ events }) => events.length === 1);
    await revoke(secret);
    for (let i = 0; i < 14; i += 1) await put(zone, `after${i}`, "192.0.2.1");
    await reader.until((each) => each.ended());
    expect(names(reader)).toEqual(["before"]);
    await close();
  });

  it("ends when the token is revoked even if nothing else happens", async () => {
    const secret = await newToken();
    const { reader, counted, close } = await another(store, { beat: 600_000, secret });
    await revoke(secret);
    await reader.until((each) => each.ended());
    await expect.poll(() => counted.open).toBe(0);
    await close();
  });

  it("does not deliver what a slow reader has not received when its token is revoked", async () => {
    const zone = await newZone();
    const secret = await newToken();
    const { reader, close } = await another(store, { beat: 600_000, secret });
    reader.pause();
    const records = Array.from({ length: 50 }, (_, i) => ({ value: `192.0.2.${i}`, comment: "x".repeat(900) }));
    const changes = Array.from({ length: 200 }, (_, i) => ({ name: `h${i}`, type: "A", records }));
    await call("POST", `/zones/${zone}/changes`, { changes });
    await new Promise(setImmediate);
    await revoke(secret);
    reader.resume();
    await reader.until((each) => each.ended());
    expect(reader.events.length).toBeLessThan(200);
    await close();
  });

  it("limits the streams of one token, says what to do, and leaves room for others", async () => {
    await expect.poll(() => streams.open).toBe(0);
    const greedy = await newToken();
    const held = await Promise.all(Array.from({ length: 20 }, () => listen(greedy)));
    const refused = await listen(greedy);
    expect([refused.status, refused.headers["retry-after"]]).toEqual([429, "60"]);
    await refused.until((each) => each.text().includes("this token has 20 event streams open"));
    expect((await listen()).status).toBe(200);
    held[0]?.close();
    await expect.poll(async () => (await listen(greedy)).status).toBe(200);
  });

  it("limits the streams of one account, whatever its tokens", async () => {
    for (let i = 0; i < 10; i += 1) {
      const secret = await newToken(wholeAccount, "crowd");
      await Promise.all(Array.from({ length: 20 }, () => listen(secret)));
    }
    const refused = await listen(await newToken(wholeAccount, "crowd"));
    expect(refused.status).toBe(429);
    await refused.until((each) => each.text().includes("this account has 200 event streams open"));
  });

  it("disconnects a reader that accepts nothing, without delaying others", async () => {
    const zone = await newZone();
    await expect.poll(() => streams.open).toBe(0);
    const [slow, quick] = [await listen(), await listen()];
    slow.pause();
    const comment = "x".repeat(900);
    const records = Array.from({ length: 50 }, (_, i) => ({ value: `192.0.2.${i}`, comment }));
    const changes = Array.from({ length: 15 }, (_, i) => ({ name: `h${i}`, type: "A", records }));
    for (let round = 0; round < 12; round += 1) {
      await call("POST", `/zones/${zone}/changes`, { changes: changes.map((each) => ({ ...each, ttl: 60 + round })) });
    }
    await quick.until(({ events }) => events.length === 180);
    await expect.poll(() => streams.open).toBe(1);
    await put(zone, "end", "192.0.2.1");
    await quick.until(({ events }) => names({ ...quick, events }).includes("end"));
    expect(quick.ended()).toBe(false);
    // What the kernels have buffered still arrives, but then the stream ends, without the last event.
    slow.resume();
    await slow.until((each) => each.ended());
    expect(names(slow)).not.toContain("end");
  });

  const another = async (of: RecordStore, { within = patience, beat = heartbeat, secret = token } = {}) => {
    const counted = { open: 0 };
    const other = createHttpServer({ bodyLimit: 1024 });
    const service = createRecordService({ store: of, now: Date.now, nameservers: ["ns1.example.net"] });
    const logged: string[] = [];
    const log = createLog({ format: "text", level: "error", write: (line) => void logged.push(line) });
    const events = { heartbeat: beat, patience: within, streams: counted };
    await other.register(rrsetsApi({ service, store: of, now: Date.now, log, events }), { prefix: "/v1" });
    const at = await other.listen({ host: "127.0.0.1", port: 0 });
    const reader = await readEvents(`${at}/v1/events`, { authorization: `Bearer ${secret}` });
    open.push(reader);
    return { reader, counted, logged, close: () => other.close() };
  };

  it("ends for all when the service closes", async () => {
    const { reader, counted, close } = await another(store);
    expect([reader.status, reader.ended(), counted.open]).toEqual([200, false, 1]);
    await close();
    await reader.until((each) => each.ended());
    expect(counted.open).toBe(0);
  });

  it("ends when the change log cannot be read instead of staying silent, and logs why", async () => {
    let away = false;
    const { reader, counted, logged, close } = await another({
      ...store,
      changesAfter: (position, limit) =>
        away ? Promise.reject(new Error("away")) : store.changesAfter(position, limit),
    });
    expect(counted.open).toBe(1);
    away = true;
    await put(await newZone(), "www", "192.0.2.1");
    await reader.until((each) => each.ended());
    expect(counted.open).toBe(0);
    expect(logged).toEqual([expect.stringMatching(/a request failed .*error=away/)]);
    await close();
  });

  it("needs a token", async () => expect((await listen("bad")).status).toBe(401));
});
