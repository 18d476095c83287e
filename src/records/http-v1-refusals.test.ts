import { describe, expect, it } from "vitest";
import { wholeAccount } from "../core/may.ts";
import { v1Service } from "./rig/v1-service.ts";

const { call, newRecord, newToken, newZone, post, put } = v1Service();

describe("bad input", () => {
  it.each([
    ["AAAA with an IPv4 address", { type: "AAAA", value: "192.0.2.1" }, "invalid AAAA record"],
    ["A with an IPv6 address", { value: "2001:db8::1" }, "invalid A record"],
    [
      "a CNAME at the apex",
      { type: "CNAME", name: "@", value: "a.example." },
      "422 Unprocessable Entity: invalid: CNAME not allowed for zone apex @; 422 Unprocessable Entity: taken  @",
    ],
    ["an unknown type", { type: "NOPE" }, "record type not allowed"],
    ["an SOA", { type: "SOA", value: "a. b. 1 2 3 4 5" }, "record type not allowed"],
    ["no value", { value: undefined }, "422 Unprocessable Entity: missing: value; "],
    ["a number for a value", { value: 7 }, "422 Unprocessable Entity: invalid: value must be a text; "],
    ["a negative ttl", { ttl: -1 }, /invalid: a TTL is/],
    ["a fractional ttl", { ttl: 1.5 }, /invalid: a TTL is/],
    ["a label of 64 bytes", { name: "x".repeat(64) }, /^422 Unprocessable Entity: invalid: /],
    ["a name of 300 bytes", { name: "abcdefghi.".repeat(30).slice(0, -1) }, /^422 Unprocessable Entity: invalid: /],
    ["a NUL in a value", { type: "TXT", value: "a\0b" }, "invalid TXT record"],
  ])("%s is refused, nothing is stored", async (_, fields, message) => {
    const zone = await newZone();
    const body = { zone_id: zone.id, type: "A", name: "www", value: "192.0.2.1", ...fields };
    const answer = await post("/api/v1/records", body);
    expect(answer.status).toBe(422);
    expect(answer.json.error.message).toEqual(typeof message === "string" ? message : expect.stringMatching(message));
    expect((await call("GET", `/api/v1/records?zone_id=${zone.id}`)).json.records).toHaveLength(1);
  });

  it("a CNAME beside other records is taken", async () => {
    const zone = await newZone();
    await newRecord(zone.id, {});
    const body = { zone_id: zone.id, type: "CNAME", name: "www", value: "other.example." };
    expect((await post("/api/v1/records", body)).json.error.message).toBe("422 Unprocessable Entity: taken  www");
  });

  it.each([
    ["", "422 : empty zone name"],
    ["localhost", "422 : invalid zone name"],
    ["-bad.example", "422 Unprocessable Entity: invalid label must not start with a dash"],
    ["sp ace.example", "422 Unprocessable Entity: invalid invalid character for domain name"],
  ])("a zone cannot be called %j", async (name, message) => {
    const { status, json } = await post("/api/v1/zones", { name });
    expect([status, json.error, json.zone.id, json.zone.ns]).toEqual([422, { message, code: 422 }, "", null]);
  });

  it("a zone name is taken once", async () => {
    const zone = await newZone();
    const { status, json } = await post("/api/v1/zones", { name: zone.name.toUpperCase() });
    expect([status, json.error.message]).toEqual([422, "zone already exists"]);
  });

  it.each([["{"], [""], ["[1,"], ["\u0000"]])("a body that is not JSON is a 400: %j", async (body) => {
    const answer = await call("POST", "/api/v1/records", { body, headers: { "content-type": "application/json" } });
    expect([answer.status, answer.text]).toEqual([400, '{"error":"json not valid"}\n']);
  });

  it.each([["[]"], ["null"], ["7"], ['"text"']])("JSON that is not an object is refused: %s", async (body) => {
    expect((await call("POST", "/api/v1/records", { body })).status).toBe(422);
  });

  it("a body over 1 MiB is a 413", async () => {
    expect((await call("POST", "/api/v1/records", { body: `"${"x".repeat(1024 * 1024)}"` })).status).toBe(413);
  });

  it.each([
    ["GET", "/api/v1/zones/none", { message: "zone not found", code: 404 }],
    ["DELETE", "/api/v1/zones/none", { message: "zone not found", code: 404 }],
    ["GET", "/api/v1/records?zone_id=none", { message: "zone not found", code: 404 }],
    ["GET", "/api/v1/records/none", { message: "record not found", code: 404 }],
    ["DELETE", "/api/v1/records/none", { message: "record not found", code: 404 }],
  ])("%s %s is a 404", async (method, path, error) => {
    const { status, json } = await call(method, path);
    expect([status, json.error]).toEqual([404, error]);
  });

  it("PUT on a record that does not exist is a 404", async () => {
    const zone = await newZone();
    const { status, json } = await put("/api/v1/records/none", {
      zone_id: zone.id,
      type: "A",
      name: "a",
      value: "192.0.2.1",
    });
    expect([status, json.error.message]).toEqual([404, "record not found"]);
  });

  it("an unknown path is a plain 404", async () => {
    const answer = await call("GET", "/api/v1/nope");
    expect([answer.status, answer.text]).toEqual([404, "404 page not found"]);
    expect((await call("GET", "/nope")).status).toBe(404);
  });
});

describe("tokens", () => {
  it("of another account see nothing of ours", async () => {
    const zone = await newZone();
    const record = await newRecord(zone.id, {});
    const stranger = { token: await newToken("stranger") };
    expect((await call("GET", `/api/v1/zones/${zone.id}`, stranger)).status).toBe(404);
    expect((await call("GET", `/api/v1/records/${record.id}`, stranger)).status).toBe(404);
    expect((await call("DELETE", `/api/v1/records/${record.id}`, stranger)).status).toBe(404);
    expect((await call("GET", "/api/v1/records", stranger)).json.records).toEqual([]);
  });

  it("that only read cannot write", async () => {
    const zone = await newZone();
    const reader = { token: await newToken("main", { access: "read" }) };
    expect((await call("GET", `/api/v1/zones/${zone.id}`, reader)).status).toBe(200);
    const write = await post("/api/v1/records", { zone_id: zone.id, type: "A", name: "a", value: "192.0.2.1" }, reader);
    expect([write.status, write.json]).toEqual([403, { message: "this token may read but not write" }]);
    expect((await call("DELETE", `/api/v1/zones/${zone.id}`, reader)).status).toBe(403);
  });

  it("of one zone see that zone only", async () => {
    const [mine, other] = [await newZone(), await newZone()];
    const narrow = { token: await newToken("main", { access: "write", zones: [mine.name] }) };
    const { json } = await call("GET", "/api/v1/zones", narrow);
    expect(json.zones.map((zone: { id: string }) => zone.id)).toEqual([mine.id]);
    expect((await call("GET", `/api/v1/zones/${other.id}`, narrow)).status).toBe(404);
    const body = { zone_id: other.id, type: "A", name: "a", value: "192.0.2.1" };
    expect((await post("/api/v1/records", body, narrow)).json.error.message).toBe("zone not found");
  });

  it("that have expired or come from elsewhere open nothing", async () => {
    for (const scope of [
      { ...wholeAccount, expires: 1 },
      { ...wholeAccount, networks: ["192.0.2.0/24"] },
    ]) {
      expect((await call("GET", "/api/v1/zones", { token: await newToken("main", scope) })).status).toBe(401);
    }
  });
});

describe("the description", () => {
  it("is an OpenAPI document with the calls of the API", async () => {
    const { json } = await call("GET", "/docs/json", { token: "" });
    expect(Object.keys(json.paths)).toEqual(
      expect.arrayContaining(["/api/v1/zones", "/api/v1/zones/{id}", "/api/v1/records", "/api/v1/records/{id}"]),
    );
    expect((await call("GET", "/docs", { token: "" })).status).toBe(200);
  });
});
