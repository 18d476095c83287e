import { describe, expect, it } from "vitest";
import { v1Service } from "../../../../test/rig/records/v1-service.ts";

const { call, post, put, newZone, newRecord, newToken } = v1Service();

const path = "/api/v1/records/bulk";
const entry = (zoneId: string, fields: Record<string, unknown> = {}) => ({
  zone_id: zoneId,
  type: "A",
  name: "www",
  value: "192.0.2.1",
  ...fields,
});
const recordsOf = async (id: string) => (await call("GET", `/api/v1/records?zone_id=${id}`)).json.records;
const serialOf = async (id: string) =>
  Number((await call("GET", `/api/v1/records?zone_id=${id}&type=SOA`)).json.records[0].value.split(" ")[2]);

describe("POST /records/bulk", () => {
  it("creates all of them in one write, and answers with both other lists empty", async () => {
    const zone = await newZone();
    const before = await serialOf(zone.id);
    const records = Array.from({ length: 50 }, (_, i) => entry(zone.id, { name: `h${i}`, ttl: 60 }));
    const { status, json } = await post(path, { records });
    expect(status).toBe(200);
    expect(Object.keys(json)).toEqual(["records", "valid_records", "invalid_records"]);
    expect([json.valid_records, json.invalid_records]).toEqual([[], []]);
    expect(json.records.map((record: { name: string }) => record.name)).toEqual(records.map(({ name }) => name));
    expect(await recordsOf(zone.id)).toHaveLength(51);
    expect(await serialOf(zone.id)).toBe(before + 1);
  });

  it("creates none if one is invalid: that one is in invalid_records, the others in valid_records, as sent", async () => {
    const zone = await newZone();
    const before = await serialOf(zone.id);
    const [good, bad] = [entry(zone.id, { ttl: 60 }), entry(zone.id, { type: "NS", value: "a b" })];
    const { status, json } = await post(path, { records: [good, bad, bad] });
    expect(status).toBe(422);
    expect(json).toEqual({
      records: [],
      valid_records: [good],
      invalid_records: [bad, bad],
      error: { message: "invalid NS record, invalid NS record, ", code: 422 },
    });
    expect(await recordsOf(zone.id)).toHaveLength(1);
    expect(await serialOf(zone.id)).toBe(before);
  });

  it("reports only the records that conflict with each other", async () => {
    const zone = await newZone();
    await newRecord(zone.id, { name: "there" });
    const fine = entry(zone.id, { name: "fine" });
    const taken = entry(zone.id, { name: "there" });
    const cname = entry(zone.id, { name: "alias", type: "CNAME", value: "x.example." });
    const beside = entry(zone.id, { name: "alias" });
    const { status, json } = await post(path, { records: [fine, taken, cname, beside] });
    expect([status, json.valid_records, json.invalid_records]).toEqual([422, [fine], [taken, cname, beside]]);
    expect(json.error.message).toBe(
      "422 Unprocessable Entity: taken: 192.0.2.1; , 422 Unprocessable Entity: taken  alias, " +
        "422 Unprocessable Entity: taken  alias, ",
    );
  });

  it("is all or nothing across zones too", async () => {
    const [one, two] = [await newZone(), await newZone()];
    const none = await post(path, { records: [entry(one.id), entry("none")] });
    expect([none.status, none.json.error.message]).toEqual([422, "zone not found, "]);
    expect(await recordsOf(one.id)).toHaveLength(1);
    const both = await post(path, { records: [entry(two.id), entry(one.id), entry(two.id, { name: "b" })] });
    expect(both.json.records.map((record: { zone_id: string }) => record.zone_id)).toEqual([two.id, one.id, two.id]);
  });

  it.each([
    ["no list", {}, 422, "422 Unprocessable Entity: missing: records; "],
    ["something other than a list", { records: "x" }, 422, /records must be a list/],
    ["more than 10,000 records", { records: Array.from({ length: 10_001 }, () => ({})) }, 422, /at most 10000 records/],
    ["entries that are not objects", { records: [null, 7, "x"] }, 422, /missing: zone_id/],
  ])("refuses %s", async (_, body, status, message) => {
    const answer = await post(path, body);
    expect([answer.status, answer.json.records]).toEqual([status, []]);
    expect(answer.json.error.message).toEqual(typeof message === "string" ? message : expect.stringMatching(message));
  });

  it("accepts an empty list", async () => {
    expect((await post(path, { records: [] })).text).toBe('{"records":[],"valid_records":[],"invalid_records":[]}\n');
  });

  it("accepts 10,000 records", async () => {
    const zone = await newZone();
    const records = Array.from({ length: 10_000 }, (_, i) => ({
      zone_id: zone.id,
      type: "A",
      name: `h${i}`,
      value: "1.2.3.4",
    }));
    const { status, json } = await post(path, { records });
    expect([status, json.records.length]).toEqual([200, 10_000]);
    expect(await recordsOf(zone.id)).toHaveLength(10_001);
  });

  it("is refused as a whole if the token may not write one of them", async () => {
    const zone = await newZone();
    const narrow = { token: await newToken("main", { access: "write", sets: [{ owner: "mine" }] }) };
    const answer = await post(path, { records: [entry(zone.id, { name: "mine" }), entry(zone.id)] }, narrow);
    expect([answer.status, answer.json]).toEqual([403, { message: "this token does not cover this name and type" }]);
    expect(await recordsOf(zone.id)).toHaveLength(1);
  });
});

describe("PUT /records/bulk", () => {
  it("replaces the valid ones in one write, and returns the others", async () => {
    const zone = await newZone();
    const [a, b] = [await newRecord(zone.id, { name: "a", ttl: 60 }), await newRecord(zone.id, { name: "b" })];
    const before = await serialOf(zone.id);
    const good = [
      { id: a.id, ...entry(zone.id, { name: "a", value: "192.0.2.9" }) },
      { id: b.id, ...entry(zone.id, { name: "c", ttl: 30 }) },
    ];
    const bad = [
      entry(zone.id),
      { id: "none", ...entry(zone.id) },
      { id: b.id, ...entry(zone.id) },
      { id: 7, ...entry(zone.id) },
    ];
    const { status, json } = await put(path, { records: [...good, ...bad] });
    expect([status, Object.keys(json)]).toEqual([200, ["records", "failed_records"]]);
    expect(json.failed_records).toEqual(bad);
    expect(json.records).toMatchObject([
      { id: a.id, value: "192.0.2.9", created: a.created },
      { id: b.id, name: "c", ttl: 30 },
    ]);
    expect(json.records[0]).not.toHaveProperty("ttl");
    expect(await serialOf(zone.id)).toBe(before + 1);
    expect(await recordsOf(zone.id)).toHaveLength(3);
  });

  it("lets records swap their names", async () => {
    const zone = await newZone();
    const [a, b] = [
      await newRecord(zone.id, { name: "a" }),
      await newRecord(zone.id, { name: "b", value: "192.0.2.2" }),
    ];
    const { json } = await put(path, {
      records: [
        { id: a.id, ...entry(zone.id, { name: "b" }) },
        { id: b.id, ...entry(zone.id, { name: "a", value: "192.0.2.2" }) },
      ],
    });
    expect(json.failed_records).toEqual([]);
    expect((await call("GET", `/api/v1/records/${a.id}`)).json.record).toMatchObject({ name: "b", value: "192.0.2.1" });
  });

  it("lets records of one set swap their values: what is answered is what is stored", async () => {
    const zone = await newZone();
    const [a, b] = [await newRecord(zone.id, {}), await newRecord(zone.id, { value: "192.0.2.2" })];
    const { json } = await put(path, {
      records: [
        { id: a.id, ...entry(zone.id, { value: "192.0.2.2" }) },
        { id: b.id, ...entry(zone.id, { value: "192.0.2.1" }) },
      ],
    });
    expect(json.records.map(({ id, value }: { id: string; value: string }) => [id, value])).toEqual([
      [a.id, "192.0.2.2"],
      [b.id, "192.0.2.1"],
    ]);
    for (const record of json.records) {
      expect((await call("GET", `/api/v1/records/${record.id}`)).json.record).toEqual(record);
    }
  });

  it.each([
    ["lets two records with the same value swap their names", ["b", "a"]],
    ["lets a record take the place of another one with the same value that moves", ["c", "a"]],
  ])("%s: what is answered is what is stored", async (_, names) => {
    const zone = await newZone();
    const before = [await newRecord(zone.id, { name: "a" }), await newRecord(zone.id, { name: "b" })];
    const { status, json } = await put(path, {
      records: before.map(({ id }, i) => ({ id, ...entry(zone.id, { name: names[i] }) })),
    });
    expect([status, json.records.map(({ name }: { name: string }) => name)]).toEqual([200, names]);
    for (const record of json.records) {
      expect((await call("GET", `/api/v1/records/${record.id}`)).json.record).toEqual(record);
    }
    const { json: list } = await call("GET", `/api/v1/records?zone_id=${zone.id}`);
    expect(list.records.filter(({ type }: { type: string }) => type === "A")).toHaveLength(2);
  });

  it("drops an entry that makes the others fail, and does the rest", async () => {
    const zone = await newZone();
    const [a, b] = [await newRecord(zone.id, { name: "a" }), await newRecord(zone.id, { name: "b" })];
    await newRecord(zone.id, { name: "there" });
    const spoiled = { id: a.id, ...entry(zone.id, { name: "there" }) };
    const { json } = await put(path, { records: [spoiled, { id: b.id, ...entry(zone.id, { name: "bb" }) }] });
    expect([json.failed_records, json.records.length]).toEqual([[spoiled], 1]);
    expect((await call("GET", `/api/v1/records/${a.id}`)).json.record.name).toBe("a");
  });

  it("changes nothing if one entry names a zone that its record is not in", async () => {
    const [one, two] = [await newZone(), await newZone()];
    const [a, b] = [await newRecord(one.id, { name: "a" }), await newRecord(one.id, { name: "b" })];
    const before = await serialOf(one.id);
    for (const zone of [two.id, "nope"]) {
      const records = [
        { id: a.id, ...entry(one.id, { name: "a", value: "192.0.2.8" }) },
        { id: b.id, ...entry(zone, { name: "b", value: "192.0.2.9" }) },
      ];
      const { status, json } = await put(path, { records });
      expect([status, json.records, json.failed_records, json.error.code]).toEqual([422, [], records, 422]);
      expect(json.error.message).toMatch(/records cannot be moved between zones/);
    }
    expect(await serialOf(one.id)).toBe(before);
    expect(await recordsOf(one.id)).toEqual(expect.arrayContaining([a, b]));
  });

  it("reveals nothing about the zone of a record that the token does not see", async () => {
    const [one, two] = [await newZone(), await newZone()];
    const hidden = await newRecord(one.id, {});
    const narrow = { token: await newToken("main", { access: "write", zones: [two.name] }) };
    const records = [{ id: hidden.id, ...entry(two.id) }];
    const { status, json } = await put(path, { records }, narrow);
    expect([status, json]).toEqual([200, { records: [], failed_records: records }]);
  });

  it("does not touch the SOA, nor records of other accounts", async () => {
    const zone = await newZone();
    const [soa] = await recordsOf(zone.id);
    const change = { id: soa.id, ...entry(zone.id) };
    expect((await put(path, { records: [change] })).json.failed_records).toEqual([change]);
    const record = await newRecord(zone.id, {});
    const stranger = { token: await newToken("stranger") };
    const theirs = { id: record.id, ...entry(zone.id, { value: "192.0.2.66" }) };
    expect((await put(path, { records: [theirs] }, stranger)).json.failed_records).toEqual([theirs]);
  });

  it("writes nothing if nothing changes", async () => {
    const zone = await newZone();
    const record = await newRecord(zone.id, {});
    const before = await serialOf(zone.id);
    const { json } = await put(path, { records: [{ id: record.id, ...entry(zone.id) }] });
    expect(json.records).toEqual([record]);
    expect(await serialOf(zone.id)).toBe(before);
  });

  it("is a 403 for a read-only token", async () => {
    const zone = await newZone();
    const record = await newRecord(zone.id, {});
    const reader = { token: await newToken("main", { access: "read" }) };
    expect((await put(path, { records: [{ id: record.id, ...entry(zone.id) }] }, reader)).status).toBe(403);
  });
});
