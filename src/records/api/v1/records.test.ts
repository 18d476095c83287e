import { describe, expect, it } from "vitest";
import { v1Service } from "../../../../test/rig/records/v1-service.ts";
import { until } from "../../../../test/rig/until.ts";

const { call, post, put, newZone, newRecord, newToken } = v1Service();

type Wire = { id: string; name: string; type: string; value: string; zone_id: string };
const list = async (query: string): Promise<Wire[]> => (await call("GET", `/api/v1/records?${query}`)).json.records;
const serialOf = async (zoneId: string) => Number((await list(`zone_id=${zoneId}&type=SOA`))[0]?.value.split(" ")[2]);

describe("the record object", () => {
  it("has every key in its order and is flat", async () => {
    const zone = await newZone();
    const { id } = await newRecord(zone.id, { ttl: 300 });
    const { text } = await call("GET", `/api/v1/records/${id}`);
    const time = /"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} \+0000 UTC"/.source;
    expect(text).toMatch(
      new RegExp(
        `^\\{"record":\\{"id":"[0-9a-f]{32}","type":"A","name":"www","value":"192.0.2.1","ttl":300,` +
          `"zone_id":"${zone.id}","created":${time},"modified":${time}\\}\\}\n$`,
      ),
    );
  });

  it("is zeroed in an error, without a ttl", async () => {
    expect((await call("GET", "/api/v1/records/none")).text).toBe(
      '{"record":{"id":"","type":"","name":"","value":"","zone_id":"","created":"","modified":""},' +
        '"error":{"message":"record not found","code":404}}\n',
    );
  });
});

describe("GET /records", () => {
  it("treats a bare key that is the id of a visible zone as the zone_id, and ignores any other", async () => {
    const [one, other] = [await newZone(), await newZone()];
    await newRecord(one.id, { name: "mine" });
    await newRecord(other.id, { name: "theirs" });
    const zonesIn = async (query: string, sent = {}) => {
      const { json } = await call("GET", `/api/v1/records?${query}`, sent);
      return new Set(json.records.map((record: Wire) => record.zone_id));
    };
    expect(await zonesIn(one.id)).toEqual(new Set([one.id]));
    expect(await zonesIn(`zone_id=${other.id}&${one.id}`)).toEqual(new Set([other.id]));
    expect((await zonesIn("22222222222222222222ab")).size).toBeGreaterThan(1);
    const narrow = { token: await newToken("main", { access: "write", zones: [other.name] }) };
    expect(await zonesIn(one.id, narrow)).toEqual(new Set([other.id]));
  });

  it("without a zone_id returns all records of the account", async () => {
    const [one, two] = [await newZone(), await newZone()];
    await newRecord(one.id, {});
    await newRecord(two.id, {});
    const zones = new Set((await list("")).map((record) => record.zone_id));
    expect(zones.has(one.id) && zones.has(two.id)).toBe(true);
  });

  it("without a zone_id returns pages of all zones, by the names of zones and then of records", async () => {
    const token = { token: await newToken("paged", { access: "write" }) };
    const made = async (name: string) => (await post("/api/v1/zones", { name }, token)).json.zone;
    for (const name of ["paged-b.test", "paged-a.test"]) {
      const { id } = await made(name);
      await post("/api/v1/records", { zone_id: id, type: "A", name: "z", value: "192.0.2.1" }, token);
    }
    const read = async (query: string) => (await call("GET", `/api/v1/records?${query}`, token)).json;
    const all: Wire[] = (await read("")).records;
    const paged: Wire[] = [];
    const { last_page: last } = (await read("per_page=1")).meta.pagination;
    for (let page = 1; page <= last; page += 1) paged.push(...(await read(`per_page=1&page=${page}`)).records);
    const ids = (records: readonly Wire[]) => records.map(({ id }) => id).toSorted();
    expect([last, ids(paged)]).toEqual([all.length, ids(all)]);
    expect(new Set(paged.map(({ zone_id: zone }) => zone)).size).toBe(2);
    expect(paged.findIndex(({ zone_id: zone }) => zone !== paged[0]?.zone_id)).toBe(paged.length / 2);
  });

  it.each(["none", ""])("of the unknown zone «%s» is a 404 with an empty list", async (zone) => {
    const { status, text } = await call("GET", `/api/v1/records?zone_id=${zone}`);
    expect([status, text]).toEqual([404, '{"records":[],"error":{"message":"zone not found","code":404}}\n']);
  });

  it("filters by name and type", async () => {
    const zone = await newZone();
    await newRecord(zone.id, {});
    await newRecord(zone.id, { type: "AAAA", value: "2001:db8::1" });
    await newRecord(zone.id, { name: "@" });
    const found = async (query: string) =>
      (await list(`zone_id=${zone.id}&${query}`)).map((record) => `${record.name}/${record.type}`);
    expect(await found("name=www&type=AAAA&page=1&per_page=1")).toEqual(["www/AAAA"]);
    expect(await found("name=@&type=A")).toEqual(["@/A"]);
    expect(await found("type=NOPE")).toEqual([]);
    expect(await found("name=none")).toEqual([]);
  });

  it("lists the oldest first, whatever the names, also on pages; a changed record keeps its place", async () => {
    const zone = await newZone();
    for (const name of ["z", "a", "@", "m"]) {
      const { created } = await newRecord(zone.id, { name });
      const made = Date.parse(created.replace(" +0000 UTC", "Z"));
      await expect.poll(() => Date.now()).toBeGreaterThan(made);
    }
    const [, first] = await list(`zone_id=${zone.id}`);
    const values = { zone_id: zone.id, type: "A", name: "z", value: "192.0.2.9" };
    expect((await put(`/api/v1/records/${first?.id}`, values)).status).toBe(200);
    const names = async (query = "") => (await list(`zone_id=${zone.id}${query}`)).map((record) => record.name);
    expect(await names()).toEqual(["@", "z", "a", "@", "m"]);
    expect(await names("&page=2&per_page=2")).toEqual(["a", "@"]);
  });

  it("has meta only if a page is requested", async () => {
    const zone = await newZone();
    const meta = async (query: string) => (await call("GET", `/api/v1/records?zone_id=${zone.id}${query}`)).json.meta;
    expect(await meta("")).toBeUndefined();
    const pagination = { page: 1, previous_page: 1, next_page: 1, last_page: 1, total_entries: 1 };
    expect(await meta("&page=1")).toEqual({ pagination: { ...pagination, per_page: 1 } });
    expect(await meta("&per_page=10")).toEqual({ pagination: { ...pagination, per_page: 10 } });
  });

  it("returns all records without per_page, even if the first page is requested", async () => {
    const zone = await newZone();
    const records = Array.from({ length: 120 }, (_, i) => ({
      zone_id: zone.id,
      type: "A",
      name: `h${i}`,
      value: "192.0.2.1",
    }));
    expect((await post("/api/v1/records/bulk", { records })).status).toBe(200);
    const { json } = await call("GET", `/api/v1/records?page=1&zone_id=${zone.id}`);
    expect([json.records.length, json.meta.pagination.last_page]).toEqual([121, 1]);
    expect(await list(`page=2&zone_id=${zone.id}`)).toEqual([]);
    expect((await list(`page=2&per_page=100&zone_id=${zone.id}`)).length).toBe(21);
  });
});

describe("PUT /records/{id}", () => {
  const body = (zoneId: string, fields: object = {}) => ({
    zone_id: zoneId,
    type: "A",
    name: "www",
    value: "192.0.2.77",
    ...fields,
  });

  it("raises the serial by one for a change, but not for the same content", async () => {
    const zone = await newZone();
    const record = await newRecord(zone.id, {});
    const before = await serialOf(zone.id);
    const first = await put(`/api/v1/records/${record.id}`, body(zone.id));
    expect(await serialOf(zone.id)).toBe(before + 1);
    const second = await put(`/api/v1/records/${record.id}`, body(zone.id));
    expect(await serialOf(zone.id)).toBe(before + 1);
    expect(second.text).toBe(first.text);
  });

  it("keeps id and created; modified advances", async () => {
    const zone = await newZone();
    const record = await newRecord(zone.id, {});
    const made = Date.now();
    await until(() => Date.now() > made, { every: 1, what: () => "the next millisecond" });
    const { json } = await put(`/api/v1/records/${record.id}`, body(zone.id));
    expect(json.record).toMatchObject({ id: record.id, created: record.created });
    expect(json.record.modified > record.modified).toBe(true);
  });

  it("can change name and type", async () => {
    const zone = await newZone();
    const record = await newRecord(zone.id, {});
    const moved = await put(
      `/api/v1/records/${record.id}`,
      body(zone.id, { type: "AAAA", name: "six", value: "2001:DB8::1" }),
    );
    expect(moved.json.record).toMatchObject({ id: record.id, type: "AAAA", name: "six", value: "2001:DB8::1" });
    expect(await list(`zone_id=${zone.id}`)).toHaveLength(2);
  });

  it("is refused and changes nothing if it names another zone or a missing one", async () => {
    const [one, two] = [await newZone(), await newZone()];
    const record = await newRecord(one.id, {});
    const before = await serialOf(one.id);
    const messages = [];
    for (const zone of [two.id, "nope", ""]) {
      const { status, json } = await put(`/api/v1/records/${record.id}`, body(zone));
      expect([status, json.record.id, json.error.code]).toEqual([422, "", 422]);
      messages.push(json.error.message);
    }
    expect(new Set(messages).size).toBe(1);
    expect(messages[0]).toMatch(/records cannot be moved between zones/);
    expect((await call("GET", `/api/v1/records/${record.id}`)).json.record).toEqual(record);
    expect([await serialOf(one.id), (await list(`zone_id=${two.id}`)).length]).toEqual([before, 1]);
  });

  it("is a 404 for a missing record", async () => {
    const zone = await newZone();
    const { status, json } = await put("/api/v1/records/none", body(zone.id));
    expect([status, json.record.id, json.error]).toEqual([404, "", { message: "record not found", code: 404 }]);
  });
});

describe("one record", () => {
  it("is created, read and deleted", async () => {
    const zone = await newZone();
    const { status, json } = await post("/api/v1/records", {
      zone_id: zone.id,
      type: "TXT",
      name: "_acme-challenge",
      value: "token",
    });
    expect(status).toBe(200);
    expect((await call("GET", `/api/v1/records/${json.record.id}`)).json).toEqual({ record: json.record });
    expect((await call("DELETE", `/api/v1/records/${json.record.id}`)).text).toBe('{"error":{}}\n');
    const gone = await call("DELETE", `/api/v1/records/${json.record.id}`);
    expect([gone.status, gone.json]).toEqual([404, { error: { message: "record not found", code: 404 } }]);
  });
});
