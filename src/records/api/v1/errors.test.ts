import { describe, expect, it } from "vitest";
import { v1Service } from "../../../../test/rig/records/v1-service.ts";

const { call, newRecord, newZone, post, put } = v1Service();

const create = async (zoneId: string, fields: object) =>
  await post("/api/v1/records", { zone_id: zoneId, type: "A", name: "www", value: "192.0.2.1", ...fields });

describe("shapes", () => {
  const zeroRecord = { id: "", type: "", name: "", value: "", zone_id: "", created: "", modified: "" };

  it("validation of a record: a zero object and an error whose code is the status as a number", async () => {
    const zone = await newZone();
    const { status, json } = await create(zone.id, { value: "1.2.3.4.5" });
    expect([status, json]).toEqual([422, { record: zeroRecord, error: { message: "invalid A record", code: 422 } }]);
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

  it("zone exists: 422 with a zero zone", async () => {
    const zone = await newZone();
    const { status, json } = await post("/api/v1/zones", { name: zone.name.toUpperCase() });
    expect([status, json.zone.id, json.error]).toEqual([422, "", { message: "zone already exists", code: 422 }]);
  });
});

describe("messages of zones", () => {
  it.each([
    ["", "422 : empty zone name"],
    ["localhost", "422 : invalid zone name"],
    [".", "422 : invalid zone name"],
    ["-bad.example", "422 Unprocessable Entity: invalid label must not start with a dash"],
    ["-.de", "422 Unprocessable Entity: invalid label must not start with a dash"],
    ["sp ace.example", "422 Unprocessable Entity: invalid invalid character for domain name"],
    ["bücher.example", "422 Unprocessable Entity: invalid invalid character for domain name"],
    ["a..example", /^422 Unprocessable Entity: invalid/],
    [`${"x".repeat(64)}.example`, /^422 Unprocessable Entity: invalid/],
    ["abcdefghi.".repeat(30), /^422 Unprocessable Entity: invalid/],
    ["nul\0.example", /^422 Unprocessable Entity: invalid/],
  ])("a zone cannot be named %j", async (name, message) => {
    const { status, json } = await post("/api/v1/zones", { name });
    expect([status, json.zone.id, json.zone.ns, json.error.code]).toEqual([422, "", null, 422]);
    expect(json.error.message).toEqual(typeof message === "string" ? message : expect.stringMatching(message));
  });
});

describe("messages of records, and nothing is stored", () => {
  it.each([
    ["AAAA with an IPv4 address", { type: "AAAA", value: "192.0.2.1" }, "invalid AAAA record"],
    ["A with an IPv6 address", { value: "2001:db8::1" }, "invalid A record"],
    ["an A record with blanks", { value: "192.0.2.1 192.0.2.2" }, "invalid A record"],
    ["MX without its number", { type: "MX", value: "mail" }, "invalid MX record"],
    ["NS with two names", { type: "NS", value: "a b" }, "invalid NS record"],
    [
      "a CNAME at the apex",
      { type: "CNAME", name: "@", value: "a.example." },
      "422 Unprocessable Entity: invalid: CNAME not allowed for zone apex @; ",
    ],
    ["an unknown type", { type: "NOPE" }, "record type not allowed"],
    ["an SOA", { type: "SOA", value: "a. b. 1 2 3 4 5" }, "record type not allowed"],
    [
      "a name outside of the zone",
      { name: "www.example.com." },
      "422 Unprocessable Entity: invalid: out of zone data .; ",
    ],
    ["no value", { value: undefined }, "422 Unprocessable Entity: missing: value; "],
    ["no name", { name: null }, "422 Unprocessable Entity: missing: name; "],
    ["no type", { type: undefined }, "422 Unprocessable Entity: missing: type; "],
    ["no zone", { zone_id: undefined }, "422 Unprocessable Entity: missing: zone_id; "],
    ["an unknown zone", { zone_id: "none" }, "zone not found"],
    ["a number for a value", { value: 7 }, "422 Unprocessable Entity: invalid: value must be a string; "],
    ["a list for a name", { name: ["www"] }, "422 Unprocessable Entity: invalid: name must be a string; "],
    ["a negative ttl", { ttl: -1 }, /invalid: a TTL is/],
    ["a fractional ttl", { ttl: 1.5 }, /invalid: a TTL is/],
    ["a label of 64 bytes", { name: "x".repeat(64) }, /^422 Unprocessable Entity: invalid: /],
    ["a name of 300 bytes", { name: "abcdefghi.".repeat(30).slice(0, -1) }, /^422 Unprocessable Entity: invalid: /],
    ["a name of 100,000 bytes", { name: "a.".repeat(50_000) }, /^422 Unprocessable Entity: invalid: /],
    ["a NUL in a name", { name: "a\0b" }, "422 Unprocessable Entity: invalid ASCII character:  ; "],
    ["a blank in a name", { name: "a b" }, "422 Unprocessable Entity: invalid ASCII character:  ; "],
    ["a NUL in a value", { type: "TXT", value: "a\0b" }, "invalid TXT record"],
    ["half a surrogate in a value", { type: "TXT", value: '"\ud800"' }, "invalid TXT record"],
    ["half a surrogate in a value without quotes", { type: "TXT", value: "a\ud800b" }, "invalid TXT record"],
    ["a line break in a value", { type: "TXT", value: "a\nb IN A 192.0.2.1" }, "invalid TXT record"],
    ["a value of 70,000 bytes", { type: "TXT", value: "x".repeat(70_000) }, "invalid TXT record"],
  ])("%s", async (_, fields, message) => {
    const zone = await newZone();
    const before = await call("GET", `/api/v1/zones/${zone.id}/export`);
    const answer = await create(zone.id, fields);
    expect([answer.status, answer.json.error.code, answer.json.record.id]).toEqual([422, 422, ""]);
    expect(answer.json.error.message).toEqual(typeof message === "string" ? message : expect.stringMatching(message));
    expect((await call("GET", `/api/v1/zones/${zone.id}/export`)).text).toBe(before.text);
  });

  it("a CNAME next to other records, and others next to a CNAME, are `taken`", async () => {
    const zone = await newZone();
    await newRecord(zone.id, {});
    const cname = await create(zone.id, { type: "CNAME", value: "other.example." });
    expect(cname.json.error.message).toBe("422 Unprocessable Entity: taken  www");
    await newRecord(zone.id, { name: "alias", type: "CNAME", value: "www" });
    const other = await create(zone.id, { name: "alias" });
    expect(other.json.error.message).toBe("422 Unprocessable Entity: taken  alias");
  });

  it("an invalid value in a PUT gets the same message, and leaves the record unchanged", async () => {
    const zone = await newZone();
    const record = await newRecord(zone.id, {});
    const bad = { zone_id: zone.id, type: "A", name: "www", value: "nope" };
    const { status, json } = await put(`/api/v1/records/${record.id}`, bad);
    expect([status, json.record.id, json.error.message]).toEqual([422, "", "invalid A record"]);
    expect((await call("GET", `/api/v1/records/${record.id}`)).json.record).toEqual(record);
  });
});

describe("hostile bodies", () => {
  const deep = (levels: number) => "[".repeat(levels) + "]".repeat(levels);

  it.each([
    ["[]", 422],
    ["null", 422],
    ["7", 422],
    ['"text"', 422],
    [deep(100_000), 422],
    [`{"a":${deep(50_000)}}`, 422],
    [`{${Array.from({ length: 50_000 }, (_, i) => `"k${i}":1`).join(",")}}`, 422],
    ['{"__proto__":{"name":"x"},"constructor":1}', 422],
    ['{"name":"a","name":7}', 422],
    [`"${"x".repeat(1024 * 1024)}"`, 413],
    [Buffer.from([0x7b, 0xff, 0x7d]), 400],
    [Buffer.from([0xff, 0xfe, 0x7b, 0x00, 0x7d, 0x00]), 400],
    ['{"a":1e999}', 422],
    ["NaN", 400],
  ])("%# is refused in the API's shape", async (body, status) => {
    for (const path of ["/api/v1/records", "/api/v1/zones", "/api/v1/records/bulk", "/api/v1/primary_servers"]) {
      const answer = await call("POST", path, { body });
      expect([answer.status, answer.headers["content-type"]]).toEqual([status, "application/json; charset=utf-8"]);
      expect(answer.json.error ?? answer.json.message).toBeDefined();
    }
  });

  it.each([
    ["/api/v1/records/%00"],
    ["/api/v1/zones/%ff"],
    [`/api/v1/records/${"x".repeat(5000)}`],
    ["/api/v1/records?zone_id[]=a&zone_id[]=b"],
    ["/api/v1/records?zone_id=a&zone_id=b"],
    ["/api/v1/zones?name=%00"],
    [`/api/v1/zones?search_name=${"%25".repeat(2000)}`],
    ["/api/v1/records?name=%F0%9F%92%A9"],
  ])("%s does no harm", async (path) => {
    const { status } = await call("GET", path);
    expect(status).toBeLessThan(500);
  });
});
