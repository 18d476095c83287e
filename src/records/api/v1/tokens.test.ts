import { describe, expect, it } from "vitest";
import { v1Service } from "../../../../test/rig/records/v1-service.ts";
import { wholeAccount } from "../../../core/may.ts";

const { call, post, put, newZone, newRecord, newToken } = v1Service();

describe("a token of another account", () => {
  it("sees nothing of ours", async () => {
    const zone = await newZone();
    const record = await newRecord(zone.id, {});
    const stranger = { token: await newToken("stranger") };
    expect((await call("GET", `/api/v1/zones/${zone.id}`, stranger)).status).toBe(404);
    expect((await call("GET", `/api/v1/records/${record.id}`, stranger)).status).toBe(404);
    expect((await call("DELETE", `/api/v1/records/${record.id}`, stranger)).status).toBe(404);
    expect((await call("DELETE", `/api/v1/zones/${zone.id}`, stranger)).status).toBe(404);
    expect((await put(`/api/v1/zones/${zone.id}`, { name: zone.name, ttl: 1 }, stranger)).status).toBe(404);
    expect((await call("GET", "/api/v1/records", stranger)).json.records).toEqual([]);
    expect((await call("GET", `/api/v1/zones?name=${zone.name}`, stranger)).status).toBe(404);
  });
});

describe("a read-only token", () => {
  it("cannot write, and the answer says why", async () => {
    const zone = await newZone();
    const record = await newRecord(zone.id, {});
    const reader = { token: await newToken("main", { access: "read" }) };
    const body = { zone_id: zone.id, type: "A", name: "www", value: "192.0.2.9" };
    expect((await call("GET", `/api/v1/zones/${zone.id}`, reader)).status).toBe(200);
    const denied = { status: 403, json: { message: "this token is read-only" } };
    expect(await post("/api/v1/records", body, reader)).toMatchObject(denied);
    expect(await put(`/api/v1/records/${record.id}`, body, reader)).toMatchObject(denied);
    expect(await call("DELETE", `/api/v1/records/${record.id}`, reader)).toMatchObject(denied);
    expect(await call("DELETE", `/api/v1/zones/${zone.id}`, reader)).toMatchObject(denied);
    expect(await put(`/api/v1/zones/${zone.id}`, { name: zone.name, ttl: 1 }, reader)).toMatchObject(denied);
    expect(await post("/api/v1/zones", { name: "new.example" }, reader)).toMatchObject(denied);
  });
});

describe("a large body from a read-only token", () => {
  const body = "no JSON ".repeat(4_000);

  it.each([
    ["POST", "/api/v1/records/bulk"],
    ["PUT", "/api/v1/records/bulk"],
    ["POST", "/api/v1/records"],
    ["POST", "/api/v1/zones"],
    ["POST", "/api/v1/zones/any/import"],
  ] as const)("%s %s: is refused unread", async (method, path) => {
    const token = await newToken("main", { access: "read" });
    const denied = { status: 403, json: { message: "this token is read-only" } };
    expect(await call(method, path, { token, body })).toMatchObject(denied);
  });

  it("is read if nothing would be written", async () => {
    const token = await newToken("main", { access: "read" });
    const file = `$ORIGIN check.example.\n; ${"x".repeat(20_000)}\n@ 300 IN A 192.0.2.1\n`;
    expect((await call("POST", "/api/v1/zones/file/validate", { token, body: file })).status).toBe(200);
  });
});

describe("a token for certain zones", () => {
  it("sees only those zones", async () => {
    const [mine, other] = [await newZone(), await newZone()];
    const foreign = await newRecord(other.id, {});
    const narrow = { token: await newToken("main", { access: "write", zones: [mine.name] }) };
    const { json } = await call("GET", "/api/v1/zones", narrow);
    expect(json.zones.map((zone: { id: string }) => zone.id)).toEqual([mine.id]);
    expect(json.meta.pagination.total_entries).toBe(1);
    expect((await call("GET", `/api/v1/zones?name=${other.name}`, narrow)).status).toBe(404);
    expect((await call("GET", `/api/v1/zones/${other.id}`, narrow)).status).toBe(404);
    expect((await call("GET", `/api/v1/records/${foreign.id}`, narrow)).status).toBe(404);
    expect((await call("GET", `/api/v1/records?zone_id=${other.id}`, narrow)).status).toBe(404);
    const body = { zone_id: other.id, type: "A", name: "a", value: "192.0.2.1" };
    const write = await post("/api/v1/records", body, narrow);
    expect([write.status, write.json.error.message]).toEqual([422, "zone not found"]);
    expect((await post("/api/v1/zones", { name: "elsewhere.example" }, narrow)).status).toBe(403);
  });
});

describe("a token for certain names and types", () => {
  const scope = { access: "write", sets: [{ owner: "home", types: ["A"] }, { types: ["CAA"] }] } as const;

  it("sees and counts only those records", async () => {
    const zone = await newZone();
    const mine = await newRecord(zone.id, { name: "home" });
    const other = await newRecord(zone.id, { name: "other" });
    const six = await newRecord(zone.id, { name: "home", type: "AAAA", value: "2001:db8::1" });
    const narrow = { token: await newToken("main", scope) };
    const { json } = await call("GET", `/api/v1/records?zone_id=${zone.id}`, narrow);
    expect(json.records.map((record: { id: string }) => record.id)).toEqual([mine.id]);
    expect((await call("GET", `/api/v1/zones/${zone.id}`, narrow)).json.zone.records_count).toBe(1);
    const listed = await call("GET", `/api/v1/zones?name=${zone.name}`, narrow);
    expect(listed.json.zones[0].records_count).toBe(1);
    for (const hidden of [other, six]) {
      expect((await call("GET", `/api/v1/records/${hidden.id}`, narrow)).status).toBe(404);
      expect((await call("DELETE", `/api/v1/records/${hidden.id}`, narrow)).status).toBe(404);
    }
  });

  it("writes only those records, and cannot move them elsewhere", async () => {
    const zone = await newZone();
    const mine = await newRecord(zone.id, { name: "home" });
    const narrow = { token: await newToken("main", scope) };
    const change = (fields: object) =>
      put(
        `/api/v1/records/${mine.id}`,
        { zone_id: zone.id, type: "A", name: "home", value: "192.0.2.7", ...fields },
        narrow,
      );
    expect((await change({})).status).toBe(200);
    const away = await change({ name: "other" });
    expect([away.status, away.json]).toEqual([403, { message: "this token does not cover this name and type" }]);
    const body = { zone_id: zone.id, type: "CAA", name: "x", value: '0 issue "ca.example"' };
    expect((await post("/api/v1/records", body, narrow)).status).toBe(200);
    expect((await call("DELETE", `/api/v1/zones/${zone.id}`, narrow)).status).toBe(403);
    expect((await put(`/api/v1/zones/${zone.id}`, { name: zone.name, ttl: 1 }, narrow)).status).toBe(403);
  });
});

describe("a token with an expiry or a list of networks", () => {
  it.each([
    ["has expired", { ...wholeAccount, expires: 1 }],
    ["is for another network", { ...wholeAccount, networks: ["192.0.2.0/24"] }],
  ])("that %s is treated like an unknown one", async (_, scope) => {
    const { status, text } = await call("GET", "/api/v1/zones", { token: await newToken("main", scope) });
    expect([status, text]).toEqual([401, '{"message":"Invalid authentication credentials"}\n']);
  });

  it("is valid if it expires in the future and is for this machine", async () => {
    await newZone();
    const scope = { ...wholeAccount, expires: Date.now() + 60_000, networks: ["127.0.0.0/8"] };
    expect((await call("GET", "/api/v1/zones", { token: await newToken("main", scope) })).status).toBe(200);
  });
});
