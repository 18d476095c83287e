import { describe, expect, it } from "vitest";
import { rrsetsService } from "../../../../test/rig/records/rrsets-service.ts";

const { call, get, newSet, newZone } = rrsetsService();

const records = [{ value: "192.0.2.7", comment: "seven" }];

const finished = (command: string, zone: number) => ({
  id: expect.any(Number),
  command,
  status: "success",
  progress: 100,
  started: expect.stringMatching(/Z$/),
  finished: expect.stringMatching(/Z$/),
  resources: [{ id: zone, type: "zone" }],
  error: null,
});

describe("endpoints", () => {
  it("GET /zones, by name, mode and labels", async () => {
    const zone = await newZone({ labels: { endpoint: "one" } });
    const names = async (query: string) =>
      (await get(`/zones?${query}`)).zones.map((each: { name: string }) => each.name);
    expect(await names(`name=${zone.name}`)).toEqual([zone.name]);
    expect(await names(`name=${zone.name.toUpperCase()}&mode=primary`)).toEqual([zone.name]);
    expect(await names(`name=${zone.name}&mode=secondary`)).toEqual([]);
    expect(await names("label_selector=endpoint=one")).toEqual([zone.name]);
    expect(await names("name=example")).toEqual([]);
  });

  it("POST /zones returns zone and create_zone with 201", async () => {
    const { status, json } = await call("POST", "/zones", { name: "two.example", mode: "primary" });
    expect(status).toBe(201);
    expect(Object.keys(json)).toEqual(["zone", "action"]);
    expect(json.action).toEqual(finished("create_zone", json.zone.id));
  });

  it("GET /zones/{z} by id or name", async () => {
    const zone = await newZone();
    const byId = await get(`/zones/${zone.id}`);
    expect(byId).toEqual({ zone });
    expect(await get(`/zones/${zone.name}`)).toEqual(byId);
    expect(await get(`/zones/${zone.name.toUpperCase()}`)).toEqual(byId);
  });

  it("PUT /zones/{z} returns the zone and no action; an empty object succeeds", async () => {
    const zone = await newZone({ labels: { a: "b" } });
    const { status, json } = await call("PUT", `/zones/${zone.name}`, {});
    expect([status, json]).toEqual([200, { zone }]);
    expect((await call("PUT", `/zones/${zone.id}`, { labels: { c: "d" } })).json.zone.labels).toEqual({ c: "d" });
    expect((await get(`/zones/${zone.id}/actions`)).actions).toHaveLength(1);
  });

  it("DELETE /zones/{z} is 201 with delete_zone, which can be read afterwards", async () => {
    const zone = await newZone();
    const { status, json } = await call("DELETE", `/zones/${zone.name}`);
    expect([status, json]).toEqual([201, { action: finished("delete_zone", zone.id) }]);
    expect((await call("GET", `/zones/${zone.id}`)).status).toBe(404);
    expect(await get(`/actions/${json.action.id}`)).toEqual(json);
  });

  it("GET /zones/{z}/zonefile is a JSON string", async () => {
    const zone = await newZone();
    const { zonefile } = await get(`/zones/${zone.name}/zonefile`);
    expect(zonefile).toMatch(new RegExp(`^\\$ORIGIN\t${zone.name}\\.\n`));
  });

  it("actions by id, and never fewer than requested", async () => {
    const { path } = await newSet();
    const ids: number[] = [];
    for (let i = 0; i < 40; i += 1) {
      const { json } = await call("POST", `${path}/actions/change_ttl`, { ttl: 60 + i });
      ids.push(json.action.id);
    }
    const query = ids.map((id) => `id=${id}`).join("&");
    const all = await get(`/actions?${query}&sort=status&sort=id&page=1`);
    expect(Object.keys(all)).toEqual(["actions"]);
    expect(all.actions.map((action: { id: number }) => action.id)).toEqual(ids);
    const paged = await get(`/zones/actions?${query}&sort=id:desc&per_page=50&status=success&status=running`);
    expect(paged.actions.map((action: { id: number }) => action.id)).toEqual(ids.toReversed());
    expect(paged.meta.pagination.total_entries).toBe(40);
    expect((await get(`/zones/actions?${query}&status=running`)).actions).toEqual([]);
  });

  it("one action is the same in every place; /zones/actions wins over /zones/{z}", async () => {
    const { zone, path } = await newSet();
    const { json } = await call("POST", `${path}/actions/set_records`, { records });
    const { id } = json.action;
    for (const at of [`/zones/actions/${id}`, `/zones/${zone.name}/actions/${id}`, `/actions/${id}`]) {
      expect([at, await get(at)]).toEqual([at, json]);
    }
    const { actions, meta } = await get(`/zones/${zone.id}/actions?sort=id:desc`);
    expect(actions.map((action: { command: string }) => action.command)).toEqual([
      "set_rrset_records",
      "create_rrset",
      "create_zone",
    ]);
    expect(meta.pagination.total_entries).toBe(3);
    const other = await newZone();
    expect((await call("GET", `/zones/${other.name}/actions/${id}`)).status).toBe(404);
  });

  it("change_primary_nameservers, for secondary zones only", async () => {
    const primary_nameservers = [{ address: "198.51.100.9" }, { address: "2001:db8::9", port: 5353 }];
    const zone = await newZone({ mode: "secondary", primary_nameservers: [{ address: "192.0.2.53" }] });
    const at = (z: string | number) => `/zones/${z}/actions/change_primary_nameservers`;
    const { status, json } = await call("POST", at(zone.id), { primary_nameservers });
    expect([status, json.action]).toEqual([201, finished("change_primary_nameservers", zone.id)]);
    expect((await get(`/zones/${zone.id}`)).zone.primary_nameservers).toEqual([
      { address: "198.51.100.9", port: 53 },
      { address: "2001:db8::9", port: 5353 },
    ]);
    const primary = await newZone();
    const refused = await call("POST", at(primary.id), { primary_nameservers });
    expect([refused.status, refused.error.code]).toEqual([422, "incorrect_zone_mode"]);
  });

  it("change_protection; without `delete` it changes nothing", async () => {
    const zone = await newZone();
    const protect = (body: object) => call("POST", `/zones/${zone.name}/actions/change_protection`, body);
    expect((await protect({ delete: true })).json.action).toEqual(finished("change_protection", zone.id));
    expect((await protect({})).status).toBe(201);
    expect((await get(`/zones/${zone.id}`)).zone.protection).toEqual({ delete: true });
    expect((await protect({ delete: "yes" })).status).toBe(422);
  });

  it("change_ttl, for both kinds of zones", async () => {
    const secondary = { mode: "secondary", primary_nameservers: [{ address: "192.0.2.53" }] };
    for (const zone of [await newZone(), await newZone(secondary)]) {
      const { status, json } = await call("POST", `/zones/${zone.id}/actions/change_ttl`, { ttl: 600 });
      expect([status, json.action]).toEqual([201, finished("change_ttl", zone.id)]);
      expect((await get(`/zones/${zone.id}`)).zone.ttl).toBe(600);
    }
    expect((await call("POST", "/zones/none.example/actions/change_ttl", {})).status).toBe(422);
  });

  it("import_zonefile", async () => {
    const zone = await newZone();
    const { zonefile } = await get(`/zones/${zone.id}/zonefile`);
    const { status, json } = await call("POST", `/zones/${zone.id}/actions/import_zonefile`, {
      zonefile: `${zonefile}www IN A 192.0.2.1\n`,
    });
    expect([status, json.action]).toEqual([201, finished("import_zonefile", zone.id)]);
  });

  it("GET rrsets, by exact name and by types", async () => {
    const { zone } = await newSet();
    const ids = async (query: string) =>
      (await get(`/zones/${zone.name}/rrsets?${query}`)).rrsets.map((set: { id: string }) => set.id);
    expect(await ids("")).toEqual(["www/A", "@/NS", "@/SOA"]);
    expect(await ids("name=www")).toEqual(["www/A"]);
    expect(await ids("name=WWW&type=A&type=NS")).toEqual(["www/A"]);
    expect(await ids("name=www&type=A&type=TYPE65280")).toEqual(["www/A"]);
    expect(await ids("name=ww")).toEqual([]);
    expect(await ids("sort=id:desc")).toEqual(["www/A", "@/SOA", "@/NS"]);
    expect(await ids("sort=created")).toEqual(["www/A", "@/NS", "@/SOA"]);
  });

  it("POST rrsets returns the set and create_rrset", async () => {
    const zone = await newZone();
    const { status, json } = await call("POST", `/zones/${zone.id}/rrsets`, {
      name: "a",
      type: "A",
      ttl: 300,
      records,
    });
    expect(status).toBe(201);
    expect(Object.keys(json)).toEqual(["rrset", "action"]);
    expect(json.action).toEqual(finished("create_rrset", zone.id));
    expect(await get(`/zones/${zone.id}/rrsets/a/A`)).toEqual({ rrset: json.rrset });
  });

  it("GET and PUT of one set; PUT returns it and no action", async () => {
    const { zone, path } = await newSet();
    const { rrset } = await get(path);
    const { status, json } = await call("PUT", path, {});
    expect([status, json]).toEqual([200, { rrset }]);
    expect((await call("PUT", path, { labels: { x: "y" } })).json).toEqual({ rrset: { ...rrset, labels: { x: "y" } } });
    expect((await get(`/zones/${zone.id}/actions`)).actions).toHaveLength(2);
  });

  it.each([
    ["DELETE", "", undefined, "delete_rrset", 201],
    ["POST", "/actions/change_protection", { change: true }, "change_rrset_protection", 201],
    ["POST", "/actions/change_ttl", { ttl: null }, "change_rrset_ttl", 201],
    ["POST", "/actions/set_records", { records }, "set_rrset_records", 201],
    ["POST", "/actions/add_records", { records }, "add_rrset_records", 201],
    ["POST", "/actions/remove_records", { records }, "remove_rrset_records", 201],
    [
      "POST",
      "/actions/update_records",
      { records: [{ value: "192.0.2.1", comment: "x" }] },
      "update_rrset_records",
      200,
    ],
  ])("%s …%s", async (method, at, body, command, code) => {
    const { zone, path } = await newSet();
    const { status, json } = await call(method, `${path}${at}`, body);
    expect([status, json]).toEqual([code, { action: finished(command, zone.id) }]);
  });

  it.each([
    ["change_protection", {}, "change"],
    ["change_protection", { change: "yes" }, "change"],
    ["update_records", { records: [{ value: "192.0.2.1" }] }, "records[0].comment"],
    ["update_records", { records: [{ value: "192.0.2.1", comment: null }] }, "records[0].comment"],
  ])("%s with %j lacks %s", async (action, body, field) => {
    const { path } = await newSet();
    const { status, error } = await call("POST", `${path}/actions/${action}`, body);
    expect([status, error.details.fields[0].name]).toEqual([422, field]);
  });

  it("the zone file and the sets of a secondary zone answer incorrect_zone_mode", async () => {
    const zone = await newZone({ mode: "secondary", primary_nameservers: [{ address: "192.0.2.53" }] });
    const [all, one] = [`/zones/${zone.id}/rrsets`, `/zones/${zone.id}/rrsets/www/A`];
    const tries: [string, string, unknown?][] = [
      ["GET", `/zones/${zone.id}/zonefile`],
      ["POST", `/zones/${zone.id}/actions/import_zonefile`, { zonefile: "x" }],
      ["GET", all],
      ["POST", all, { name: "www", type: "A", records }],
      ["GET", one],
      ["PUT", one, {}],
      ["DELETE", one],
      ["POST", `${one}/actions/change_protection`, { change: true }],
      ["POST", `${one}/actions/change_ttl`, { ttl: 60 }],
      ["PUT", `${one}/records`, { records }],
      ...["set", "add", "remove", "update"].map((verb): [string, string, unknown] => [
        "POST",
        `${one}/actions/${verb}_records`,
        { records },
      ]),
    ];
    for (const [method, at, body] of tries) {
      const { status, error } = await call(method, at, body);
      expect([method, at, status, error.code]).toEqual([method, at, 422, "incorrect_zone_mode"]);
    }
  });

  it("no answer has status 204", async () => {
    const { zone, path } = await newSet();
    for (const at of [path, `/zones/${zone.id}`]) expect((await call("DELETE", at)).status).toBe(201);
  });
});
