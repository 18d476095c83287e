import { describe, expect, it } from "vitest";
import { v1Service } from "../../../../test/rig/records/v1-service.ts";

const { call, newRecord, newToken, newZone, post, put, token } = v1Service();

const goTime = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} \+0000 UTC$/;

describe("what breaks real clients", () => {
  it("the name of the token header is case-insensitive", async () => {
    await newZone();
    const { status } = await call("GET", "/api/v1/zones", { token: "", headers: { "Auth-Api-Token": token() } });
    expect(status).toBe(200);
  });

  it("create answers 200", async () => {
    const zone = await newZone();
    expect((await post("/api/v1/records", { zone_id: zone.id, type: "A", name: "a", value: "192.0.2.1" })).status).toBe(
      200,
    );
  });

  it("JSON is compact, ends with a newline, has its length, and a zone begins with its id", async () => {
    const zone = await newZone();
    const { text, headers } = await call("GET", `/api/v1/zones?name=${zone.name}`);
    expect(text).toMatch(new RegExp(`^\\{"zones":\\[\\{"id":"${zone.id}","name":"${zone.name}","ttl":600,`));
    expect(text.endsWith("}\n")).toBe(true);
    expect(headers["content-length"]).toBe(String(Buffer.byteLength(text)));
    expect(headers["transfer-encoding"]).toBeUndefined();
    expect(headers["content-type"]).toBe("application/json; charset=utf-8");
  });

  it("a long answer has its length too, and all its records", async () => {
    const zone = await newZone();
    const lines = Array.from({ length: 5_000 }, (_, i) => `h${i} IN TXT "é${i}"`);
    const file = `$ORIGIN ${zone.name}.\n@ IN SOA ns. host. 1 2 3 4 60\n${lines.join("\n")}\n`;
    const headers = { "content-type": "text/plain" };
    expect((await call("POST", `/api/v1/zones/${zone.id}/import`, { body: file, headers })).status).toBe(200);
    const list = await call("GET", `/api/v1/records?zone_id=${zone.id}`);
    const names = (JSON.parse(list.text) as { records: { name: string }[] }).records.map(({ name }) => name);
    expect(names.filter((name) => name !== "@").length).toBe(5_000);
    const exported = await call("GET", `/api/v1/zones/${zone.id}/export`);
    expect(exported.text.split("\n").filter((line) => line.includes("TXT\t")).length).toBe(5_000);
    for (const { text, headers: sent } of [list, exported]) {
      expect(sent["content-length"]).toBe(String(Buffer.byteLength(text)));
      expect(sent["transfer-encoding"]).toBeUndefined();
    }
  });

  it("a record is flat, in its order, and has no ttl unless it has its own", async () => {
    const zone = await newZone();
    const record = await newRecord(zone.id, {});
    expect(Object.keys(record)).toEqual(["id", "type", "name", "value", "zone_id", "created", "modified"]);
    const timed = await newRecord(zone.id, { name: "timed", ttl: 300 });
    expect(Object.keys(timed)).toEqual(["id", "type", "name", "value", "ttl", "zone_id", "created", "modified"]);
    expect(timed.id).toMatch(/^[0-9a-f]{32}$/);
  });

  it.each([
    ["application/x-www-form-urlencoded"],
    ["application/json; charset=utf-8"],
    ["text/plain"],
    ["nonsense"],
    [undefined],
  ])("a body is JSON whatever its content type says: %s", async (type) => {
    const zone = await newZone();
    const body = JSON.stringify({ zone_id: zone.id, type: "A", name: "a", value: "192.0.2.1" });
    const headers = type === undefined ? {} : { "content-type": type };
    expect((await call("POST", "/api/v1/records", { body, headers })).status).toBe(200);
  });

  it("GET and DELETE may carry a body of any kind", async () => {
    const zone = await newZone();
    const record = await newRecord(zone.id, {});
    const headers = { "content-type": "application/json" };
    expect((await call("GET", `/api/v1/records/${record.id}`, { body: "{}", headers })).status).toBe(200);
    expect((await call("DELETE", `/api/v1/records/${record.id}`, { body: "parameters", headers })).status).toBe(200);
    expect((await call("DELETE", `/api/v1/zones/${zone.id}`, { body: "", headers })).status).toBe(200);
  });

  it("a ttl of null means none, 0 means 0, a numeric string means that number", async () => {
    const zone = await newZone();
    expect(await newRecord(zone.id, { name: "null", ttl: null })).not.toHaveProperty("ttl");
    expect(await newRecord(zone.id, { name: "zero", ttl: 0 })).toHaveProperty("ttl", 0);
    expect(await newRecord(zone.id, { name: "text", ttl: "300" })).toHaveProperty("ttl", 300);
    expect((await post("/api/v1/zones", { name: "null-ttl.example", ttl: null })).json.zone.ttl).toBe(86_400);
  });

  it("unknown keys in bodies and queries are ignored", async () => {
    const zone = await newZone();
    await newRecord(zone.id, { id: "", created: "x", extra: { deep: [] } });
    const { status, json } = await call("GET", `/api/v1/records?${zone.id}`);
    expect(status).toBe(200);
    expect(json.records.filter((record: { zone_id: string }) => record.zone_id === zone.id)).toHaveLength(2);
  });

  it("a zone name without a match is a 404 with an empty list", async () => {
    const { status, json } = await call("GET", "/api/v1/zones?name=no.such.example");
    expect(status).toBe(404);
    expect(json).toEqual({
      zones: [],
      meta: { pagination: { page: 0, per_page: 0, previous_page: 0, next_page: 0, last_page: 0, total_entries: 0 } },
      error: { message: "zone not found", code: 404 },
    });
    const empty = await call("GET", "/api/v1/zones", { token: await newToken("without zones") });
    expect(empty.status).toBe(404);
    expect(empty.json).toEqual(json);
  });

  it("total_entries counts what matches", async () => {
    const zone = await newZone();
    await newZone();
    const { json } = await call("GET", `/api/v1/zones?name=${zone.name}`);
    expect(json.meta.pagination).toEqual({
      page: 1,
      per_page: 100,
      previous_page: 1,
      next_page: 1,
      last_page: 1,
      total_entries: 1,
    });
  });

  it("without a token, and with a wrong one", async () => {
    const none = await call("GET", "/api/v1/zones", { token: "" });
    expect([none.status, none.text]).toEqual([401, '{"message":"No API key found in request"}\n']);
    const wrong = await call("GET", "/api/v1/zones", { token: "x".repeat(32) });
    expect([wrong.status, wrong.text]).toEqual([401, '{"message":"Invalid authentication credentials"}\n']);
    expect(wrong.headers["content-type"]).toBe("application/json; charset=utf-8");
  });

  it("a refused body is answered with a zero object and an error", async () => {
    const zone = await newZone();
    const { status, json } = await post("/api/v1/records", {
      zone_id: zone.id,
      type: "A",
      name: "a",
      value: "1.2.3.4.5",
    });
    expect(status).toBe(422);
    expect(json).toEqual({
      record: { id: "", type: "", name: "", value: "", zone_id: "", created: "", modified: "" },
      error: { message: "invalid A record", code: 422 },
    });
  });

  it("an unknown zone_id in a new record is a 422", async () => {
    const { status, json } = await post("/api/v1/records", {
      zone_id: "none",
      type: "A",
      name: "a",
      value: "192.0.2.1",
    });
    expect([status, json.error]).toEqual([422, { message: "zone not found", code: 422 }]);
  });

  it("the same record again is `taken`", async () => {
    const zone = await newZone();
    await newRecord(zone.id, {});
    const again = await post("/api/v1/records", { zone_id: zone.id, type: "A", name: "www", value: "192.0.2.1" });
    expect([again.status, again.json.error.message]).toEqual([422, "422 Unprocessable Entity: taken: 192.0.2.1; "]);
  });

  it.each([
    ["an ACME token", "LHDhK3oGRvkiefQnx7OOczTY5Tic_xZ6HcMOc_gmtoM", undefined],
    ["blanks", "v=spf1 include:example.net ~all", undefined],
    ["a semicolon and escapes", 'a;b \\\\ \\" c', undefined],
    ["quotes", '"quoted text"', undefined],
    ["255 bytes", "x".repeat(255), undefined],
    ["more than 255 bytes", "y".repeat(300), `"${"y".repeat(255)}" "${"y".repeat(45)}"`],
    ["an escape that clients cannot read", "a\\;b", '"a;b"'],
  ])("TXT with %s is returned as sent, or so that clients can read it", async (_, value, expected) => {
    const zone = await newZone();
    const { id } = await newRecord(zone.id, { type: "TXT", value });
    const { json } = await call("GET", `/api/v1/records/${id}`);
    expect(json.record.value).toBe(expected ?? value);
  });

  it("all records in one answer, or pages with their count", async () => {
    const zone = await newZone();
    for (let i = 0; i < 120; i += 1) await newRecord(zone.id, { name: `www${i % 2}`, value: `192.0.2.${i}` });
    const all = await call("GET", `/api/v1/records?zone_id=${zone.id}`);
    expect(all.json.records).toHaveLength(121);
    const page = await call("GET", `/api/v1/records?zone_id=${zone.id}&page=2&per_page=100`);
    expect(page.json.records).toHaveLength(21);
    expect(page.json.meta.pagination).toMatchObject({
      page: 2,
      last_page: 2,
      next_page: 2,
      previous_page: 1,
      total_entries: 121,
    });
    const beyond = await call("GET", `/api/v1/records?zone_id=${zone.id}&page=9&per_page=100`);
    expect([beyond.status, beyond.json.records]).toEqual([200, []]);
  });

  it("PUT replaces everything: omitting ttl clears it", async () => {
    const zone = await newZone();
    const record = await newRecord(zone.id, { ttl: 300 });
    const { json } = await put(`/api/v1/records/${record.id}`, {
      zone_id: zone.id,
      type: "A",
      name: "www",
      value: "192.0.2.2",
    });
    expect(json.record).not.toHaveProperty("ttl");
    expect(json.record).toMatchObject({ id: record.id, value: "192.0.2.2", created: record.created });
  });

  it("DELETE answers 200 with a JSON body", async () => {
    const zone = await newZone();
    const record = await newRecord(zone.id, {});
    const deleted = await call("DELETE", `/api/v1/records/${record.id}`);
    expect([deleted.status, deleted.text]).toEqual([200, '{"error":{}}\n']);
    expect((await call("DELETE", `/api/v1/zones/${zone.id}`)).text).toBe('{"error":{}}\n');
  });

  it("times are in Go's format with three digits", async () => {
    const zone = await newZone();
    const record = await newRecord(zone.id, {});
    expect(record.created).toMatch(goTime);
    expect(record.modified).toMatch(goTime);
    expect((await call("GET", `/api/v1/zones/${zone.id}`)).json.zone).toMatchObject({ verified: "" });
  });
});
