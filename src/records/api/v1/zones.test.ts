import { describe, expect, it } from "vitest";
import { v1Service } from "../../../../test/rig/records/v1-service.ts";

const { call, post, put, newZone, newRecord, newToken } = v1Service();

describe("the zone object", () => {
  it("has every key in its order", async () => {
    const zone = await newZone();
    const { text } = await call("GET", `/api/v1/zones/${zone.id}`);
    const time = /"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} \+0000 UTC"/.source;
    expect(text).toMatch(
      new RegExp(
        `^\\{"zone":\\{"id":"[23456789A-HJ-NP-Za-km-z]{22}","name":"${zone.name}","ttl":600,"registrar":"",` +
          '"legacy_dns_host":"","legacy_ns":\\[\\],"ns":\\["ns1.example.net."\\],' +
          `"created":${time},"verified":"","modified":${time},"project":"","owner":"","permission":"",` +
          '"zone_type":\\{"id":"","name":"","description":"","prices":null\\},"status":"verified","paused":false,' +
          '"is_secondary_dns":false,"txt_verification":\\{"name":"","token":""\\},"records_count":1\\}\\}\n$',
      ),
    );
  });

  it("is zeroed in an error: lists are null, the type is as usual", async () => {
    const { text } = await call("GET", "/api/v1/zones/none");
    expect(text).toBe(
      '{"zone":{"id":"","name":"","ttl":0,"registrar":"","legacy_dns_host":"","legacy_ns":null,"ns":null,"created":"",' +
        '"verified":"","modified":"","project":"","owner":"","permission":"",' +
        '"zone_type":{"id":"","name":"","description":"","prices":null},"status":"","paused":false,' +
        '"is_secondary_dns":false,"txt_verification":{"name":"","token":""},"records_count":0},' +
        '"error":{"message":"zone not found","code":404}}\n',
    );
  });
});

describe("GET /zones", () => {
  it("finds by exact name in any case, and then ignores paging and other keys", async () => {
    const zone = await newZone();
    for (const query of [
      `name=${zone.name}`,
      `name=${zone.name.toUpperCase()}`,
      `name=${zone.name}.`,
      `name=${zone.name}&page=7&per_page=1`,
      `name=${zone.name}&searchName=nothing&zone=x`,
    ]) {
      const { json } = await call("GET", `/api/v1/zones?${query}`);
      expect(json.zones.map((each: { id: string }) => each.id)).toEqual([zone.id]);
      expect(json.meta.pagination).toMatchObject({ page: 1, last_page: 1, total_entries: 1 });
    }
    for (const name of [zone.name.slice(1), `${zone.name}..`, "."]) {
      expect((await call("GET", `/api/v1/zones?name=${name}`)).status).toBe(404);
    }
  });

  it("finds by a part of the name, and counts what it found", async () => {
    const account = { token: await newToken("searching") };
    for (const name of ["alpha.example", "alphabet.example", "beta.example"])
      await post("/api/v1/zones", { name }, account);
    const { json } = await call("GET", "/api/v1/zones?search_name=ALPHA", account);
    expect(json.zones.map((zone: { name: string }) => zone.name)).toEqual(["alpha.example", "alphabet.example"]);
    expect(json.meta.pagination.total_entries).toBe(2);
    expect((await call("GET", "/api/v1/zones?search_name=%25", account)).status).toBe(404);
  });

  it("pages, with neighbours clamped and never null; beyond the last is empty", async () => {
    const account = { token: await newToken("paging") };
    for (let i = 0; i < 5; i += 1) await post("/api/v1/zones", { name: `p${i}.example` }, account);
    const page = async (query: string) => (await call("GET", `/api/v1/zones?${query}`, account)).json;
    const pagination = { page: 2, per_page: 2, previous_page: 1, next_page: 3, last_page: 3, total_entries: 5 };
    expect((await page("page=2&per_page=2")).meta).toEqual({ pagination });
    expect((await page("page=3&per_page=2")).meta.pagination).toMatchObject({ previous_page: 2, next_page: 3 });
    expect((await page("page=1&per_page=100")).meta.pagination).toMatchObject({ previous_page: 1, next_page: 1 });
    const beyond = await call("GET", "/api/v1/zones?page=9&per_page=2", account);
    expect([beyond.status, beyond.json.zones, beyond.json.meta.pagination.total_entries]).toEqual([200, [], 5]);
    for (const bad of ["page=0", "page=-1", "page=x", "per_page=0", "per_page=x", "page=1e3"]) {
      expect((await page(bad)).meta.pagination).toMatchObject({ page: 1, per_page: 100 });
    }
    expect((await page("per_page=500")).meta.pagination.per_page).toBe(100);
  });
});

describe("POST /zones", () => {
  it("creates the SOA and nothing else; the second record is the one that is added", async () => {
    const zone = await newZone();
    const list = async () => (await call("GET", `/api/v1/records?zone_id=${zone.id}`)).json.records;
    expect(await list()).toMatchObject([{ type: "SOA", name: "@" }]);
    await newRecord(zone.id, {});
    expect(await list()).toHaveLength(2);
    expect((await call("GET", `/api/v1/zones/${zone.id}`)).json.zone.records_count).toBe(2);
  });

  it("the SOA has the timers of existing zones", async () => {
    const zone = await newZone();
    const { json } = await call("GET", `/api/v1/records?zone_id=${zone.id}`);
    expect(json.records[0].value).toMatch(
      /^ns1\.example\.net\. hostmaster\.ns1\.example\.net\. \d{10} 3600 300 604800 3600$/,
    );
  });

  it("as in recordings of 2024, ns has trailing dots, and records_count is 0 only in this answer", async () => {
    const { json } = await post("/api/v1/zones", { name: "recorded.example" });
    expect([json.zone.ns, json.zone.records_count]).toEqual([["ns1.example.net."], 0]);
    const read = (await call("GET", `/api/v1/zones/${json.zone.id}`)).json.zone;
    expect([read.ns, read.records_count]).toEqual([["ns1.example.net."], 1]);
  });

  it.each([[undefined], [null]])("uses a TTL of 86400 if it is %s", async (ttl) => {
    const { json } = await post("/api/v1/zones", { name: `ttl-${String(ttl)}.example`, ttl });
    expect(json.zone.ttl).toBe(86_400);
  });

  it("accepts a name in upper case, with a trailing dot, in punycode, and below another zone", async () => {
    const { json } = await post("/api/v1/zones", { name: "Capital.EXAMPLE." });
    expect(json.zone.name).toBe("capital.example");
    expect((await post("/api/v1/zones", { name: "xn--bcher-kva.example" })).status).toBe(200);
    expect((await post("/api/v1/zones", { name: "sub.capital.example" })).status).toBe(200);
    expect((await post("/api/v1/zones", { name: "no-such-tld.lan" })).status).toBe(200);
  });
});

describe("GET /zones/{id}", () => {
  it("also accepts the name of a zone that the token may see", async () => {
    const zone = await newZone();
    for (const name of [zone.name, zone.name.toUpperCase(), `${zone.name}.`]) {
      const { status, json } = await call("GET", `/api/v1/zones/${name}`);
      expect([status, json.zone.id]).toEqual([200, zone.id]);
    }
    const narrow = { token: await newToken("main", { access: "write", zones: ["other.example"] }) };
    for (const sent of [{ token: await newToken("a stranger") }, narrow]) {
      expect((await call("GET", `/api/v1/zones/${zone.name}`, sent)).status).toBe(404);
    }
    expect((await call("GET", `/api/v1/zones/${zone.name}.none`)).json.error).toEqual({
      message: "zone not found",
      code: 404,
    });
  });
});

describe("PUT /zones/{id}", () => {
  it.each([66, 0, 86_399, "120"])("sets the TTL to %j", async (ttl) => {
    const zone = await newZone();
    const { status, json } = await put(`/api/v1/zones/${zone.id}`, { name: zone.name, ttl });
    expect([status, json.zone.id, json.zone.ttl]).toEqual([200, zone.id, Number(ttl)]);
    expect((await call("GET", `/api/v1/zones/${zone.id}`)).json.zone.ttl).toBe(Number(ttl));
  });

  it("keeps the TTL if it is omitted or null, and ignores other keys", async () => {
    const zone = await newZone();
    const keys = { name: zone.name, id: "x", ns: ["a"], created: 7 };
    for (const body of [keys, { ...keys, ttl: null }]) {
      expect((await put(`/api/v1/zones/${zone.id}`, body)).json.zone).toMatchObject({ id: zone.id, ttl: 600 });
    }
  });

  it.each([
    ["another name", { name: "renamed.example", ttl: 60 }, /cannot be renamed/],
    ["no name", { ttl: 60 }, /missing: name/],
    ["a bad TTL", { ttl: -1 }, /invalid: a TTL/],
  ])("refuses %s", async (_, fields, message) => {
    const zone = await newZone();
    const name = "ttl" in fields && fields.ttl === -1 ? { name: zone.name } : {};
    const { status, json } = await put(`/api/v1/zones/${zone.id}`, { ...name, ...fields });
    expect([status, json.zone.id, json.error.message]).toEqual([422, "", expect.stringMatching(message)]);
    expect((await call("GET", `/api/v1/zones/${zone.id}`)).json.zone.ttl).toBe(600);
  });

  it("is a 404 for a missing zone", async () => {
    const { status, json } = await put("/api/v1/zones/none", { name: "a.example", ttl: 60 });
    expect([status, json.error]).toEqual([404, { message: "zone not found", code: 404 }]);
  });
});

describe("DELETE /zones/{id}", () => {
  it("removes the zone with all its records, and the name is free again", async () => {
    const zone = await newZone();
    const record = await newRecord(zone.id, {});
    expect((await call("DELETE", `/api/v1/zones/${zone.id}`)).text).toBe('{"error":{}}\n');
    expect((await call("GET", `/api/v1/records/${record.id}`)).status).toBe(404);
    expect((await post("/api/v1/zones", { name: zone.name })).status).toBe(200);
  });

  it("is a 404 the second time", async () => {
    const zone = await newZone();
    await call("DELETE", `/api/v1/zones/${zone.id}`);
    const { status, json } = await call("DELETE", `/api/v1/zones/${zone.id}`);
    expect([status, json.error]).toEqual([404, { message: "zone not found", code: 404 }]);
  });
});
