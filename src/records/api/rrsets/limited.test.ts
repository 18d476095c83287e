import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readEvents } from "../../../../test/rig/records/event-reader.ts";
import { createToken, hashSecret } from "../../../access/secret.ts";
import { type Scope, wholeAccount } from "../../../core/may.ts";
import { createHttpServer } from "../../../lib/http/server.ts";
import { createLog } from "../../../process/log.ts";
import { createRecordService } from "../../service.ts";
import type { RecordStore } from "../../store/port.ts";
import { openSqliteStore } from "../../store/sqlite/store.ts";
import { v1Api } from "../v1/routes.ts";
import { rrsetsApi } from "./routes.ts";

/** A token for a part of an account learns nothing about the rest, from any list, count or number. */

let store: RecordStore;
let server: ReturnType<typeof createHttpServer>;
let url: string;
const tokens: Record<"whole" | "parent" | "set", string> = { whole: "", parent: "", set: "" };
type Who = keyof typeof tokens;
let now = Date.UTC(2026, 10, 15, 12);

beforeAll(async () => {
  store = openSqliteStore(":memory:");
  const clock = () => now;
  const service = createRecordService({ store, now: clock, nameservers: ["ns1.example.net"] });
  const log = createLog({ format: "text", level: "error", write: (line) => process.stderr.write(line) });
  server = createHttpServer({ bodyLimit: 1024 * 1024 });
  await server.register(rrsetsApi({ service, store, now: clock, log }), { prefix: "/v1" });
  await server.register(v1Api({ service, store, now: clock, log }), { prefix: "/api/v1" });
  url = await server.listen({ host: "127.0.0.1", port: 0 });
  const { id: account } = await store.ensureAccount("main", now);
  const add = async (scope: Scope) => {
    const secret = createToken();
    await store.addToken({ account, name: "t", hash: hashSecret(secret), scope, created: now });
    return secret;
  };
  tokens.whole = await add(wholeAccount);
  tokens.parent = await add({ access: "write", zones: ["parent.example"] });
  tokens.set = await add({ access: "write", zones: ["parent.example"], sets: [{ owner: "home", types: ["A"] }] });
  for (const name of ["parent.example", "other.example"])
    await call("whole", "POST", "/v1/zones", { name, mode: "primary" });
  await put("whole", "parent.example", "home", "192.0.2.1");
});
afterAll(async () => {
  await server.close();
  await store.close();
});

type Answer = {
  readonly zones: { name: string; modified: string }[];
  readonly zone: { id: string; modified: string; record_count: number };
  readonly actions: { id: number; command: string }[];
  readonly action: { id: number };
  readonly history: { id: number; name: string }[];
  readonly meta: { next_before: number | null; pagination: { total_entries: number } };
};
async function call(
  who: Who,
  method: string,
  path: string,
  body?: unknown,
): Promise<Answer & { readonly status: number }> {
  const answer = await fetch(url + path, {
    method,
    headers: { authorization: `Bearer ${tokens[who]}`, "auth-api-token": tokens[who] },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: answer.status, ...((await answer.json()) as Answer) };
}
const get = (who: Who, path: string) => call(who, "GET", path);
const put = (who: Who, zone: string, name: string, value: string) =>
  call(who, "POST", `/v1/zones/${zone}/changes`, { changes: [{ name, type: "A", records: [{ value }] }] });

describe("a token for a part of an account", () => {
  it.each(["host.child.parent.example", "child.parent.example"])(
    "gets the same zone for %s with a hidden child zone as without it",
    async (name) => {
      const owning = async (who: Who) => (await get(who, `/v1/zones?owns=${name}`)).zones.map((zone) => zone.name);
      const before = await owning("parent");
      await call("whole", "POST", "/v1/zones", { name: "child.parent.example", mode: "primary" });
      expect([await owning("whole"), before, await owning("parent")]).toEqual([
        ["child.parent.example"],
        ["parent.example"],
        ["parent.example"],
      ]);
      await call("whole", "DELETE", "/v1/zones/child.parent.example");
    },
  );

  it("for one set sees only its own actions, in every list and by every id", async () => {
    const { action } = await put("whole", "parent.example", "mail", "192.0.2.7");
    const own = (await put("set", "parent.example", "home", "192.0.2.2")).action;
    for (const path of ["/v1/zones/actions", "/v1/zones/parent.example/actions"]) {
      const { actions, meta } = await get("set", path);
      expect([actions.map(({ id }) => id), meta.pagination.total_entries]).toEqual([[own.id], 1]);
    }
    for (const path of ["/v1/actions/", "/v1/zones/actions/", "/v1/zones/parent.example/actions/"]) {
      expect((await get("set", path + own.id)).action).toMatchObject({ id: own.id });
      expect((await get("set", path + action.id)).status).toBe(404);
    }
    expect((await get("set", `/v1/actions?id=${own.id}&id=${action.id}`)).actions).toHaveLength(1);
  });

  it.each(["parent", "set"] as const)("cannot tell from any number how much others did (%s)", async (who) => {
    const ids = async (): Promise<readonly [number, number]> => {
      const { action } = await put(who, "parent.example", "home", `192.0.2.${(now / 1_000) % 200}`);
      now += 1_000;
      return [action.id, (await get(who, "/v1/zones/parent.example/history?per_page=1")).history[0]?.id ?? 0];
    };
    const numbers = [await ids(), await ids()];
    for (let i = 0; i < 5; i += 1) await put("whole", "other.example", "www", `192.0.2.${i}`);
    numbers.push(await ids());
    for (const kind of [0, 1] as const) {
      const [first = 0, second = 0, third = 0] = numbers.map((pair) => pair[kind]);
      for (const step of [second - first, third - second]) expect(Math.abs(step)).toBeGreaterThan(1_000_000);
    }
  });

  it("for one set pages through its history as if there were no other changes", async () => {
    for (let i = 0; i < 6; i += 1) {
      await put("set", "parent.example", "home", `198.51.100.${i}`);
      for (let j = 0; j < 5; j += 1) await put("whole", "parent.example", "mail", `198.51.100.${10 * i + j}`);
    }
    const all = (await get("set", "/v1/zones/parent.example/history?per_page=100")).history;
    expect(new Set(all.map(({ name }) => name))).toEqual(new Set(["home"]));
    const paged: number[] = [];
    const sizes: number[] = [];
    for (let before = ""; ; ) {
      const { history, meta } = await get("set", `/v1/zones/parent.example/history?per_page=3${before}`);
      paged.push(...history.map(({ id }) => id));
      sizes.push(history.length);
      if (meta.next_before === null) break;
      before = `&before=${meta.next_before}`;
    }
    expect(paged).toEqual(all.map(({ id }) => id));
    expect(sizes.slice(0, -1).every((size) => size === 3)).toBe(true);
  });

  it("follows events and resumes where it was, with ids that reveal nothing", async () => {
    const headers = { authorization: `Bearer ${tokens.set}` };
    const first = await readEvents(`${url}/v1/events`, headers);
    await first.until((each) => each.lastId() !== undefined);
    const start = Number(first.lastId());
    expect(start).not.toBe(await store.lastChange());
    await put("set", "parent.example", "home", "203.0.113.1");
    await first.until(({ events }) => events.length === 1);
    first.close();
    expect(Math.abs(Number(first.lastId()) - start)).toBeGreaterThan(1_000_000);
    await put("whole", "parent.example", "mail", "203.0.113.2");
    await put("set", "parent.example", "home", "203.0.113.3");
    const second = await readEvents(`${url}/v1/events`, { ...headers, "last-event-id": first.lastId() ?? "" });
    await second.until(({ events }) => events.length === 1);
    expect(second.events[0]?.data).toMatchObject({ name: "home", after: { records: [{ value: "203.0.113.3" }] } });
    second.close();
    // An id that this service has not sent.
    const third = await readEvents(`${url}/v1/events`, { ...headers, "last-event-id": "7" });
    await third.until(({ events }) => events.some(({ event }) => event === "cut"));
    third.close();
  });

  it("for one set cannot see from the zone that others changed something", async () => {
    const zone = async () => (await get("set", "/api/v1/zones?name=parent.example")).zones[0];
    const before = await zone();
    now += 60_000;
    await put("whole", "parent.example", "mail", "203.0.113.9");
    expect((await get("whole", "/api/v1/zones?name=parent.example")).zones[0]?.modified).not.toBe(before?.modified);
    expect(await zone()).toEqual(before);
  });
});
