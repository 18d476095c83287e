import { describe, expect, it } from "vitest";
import { rrsetsService } from "../../../../test/rig/records/rrsets-service.ts";

const { call, get, newSet, newToken, newZone } = rrsetsService();

const values = (...list: string[]) => ({ records: list.map((value) => ({ value })) });
const serialOf = async (zone: { id: number }): Promise<number> => (await get(`/zones/${zone.id}`)).zone.serial;

describe("PUT …/records: create or replace in one call", () => {
  it("creates with 201, replaces with 200, and the same again changes nothing", async () => {
    const zone = await newZone();
    const path = `/zones/${zone.name}/rrsets/dyn/A`;
    const put = (body: object) => call("PUT", `${path}/records`, body);
    const made = await put({ ...values("192.0.2.1"), ttl: 60 });
    expect([made.status, made.json.action.command, made.json.rrset.ttl]).toEqual([201, "create_rrset", 60]);
    const serial = await serialOf(zone);
    const again = await put({ ...values("192.0.2.1"), ttl: 60 });
    expect([again.status, again.json.action.command, await serialOf(zone)]).toEqual([200, "set_rrset_records", serial]);
    expect((await put(values("192.0.2.2"))).json.rrset).toMatchObject({ ttl: 60, records: [{ value: "192.0.2.2" }] });
    expect((await put({ ...values("192.0.2.2"), ttl: null })).json.rrset.ttl).toBeNull();
    expect((await put({ ...values("192.0.2.2"), labels: { a: "b" } })).json.rrset.labels).toEqual({ a: "b" });
  });

  it("refuses what the other calls refuse", async () => {
    const zone = await newZone();
    const put = (at: string, body: object) => call("PUT", `/zones/${zone.name}/rrsets/${at}/records`, body);
    expect((await put("x/A", values("nonsense"))).status).toBe(422);
    expect((await put("x/NOPE", values("192.0.2.1"))).status).toBe(422);
    expect((await put("@/CNAME", values("a.example."))).status).toBe(422);
    expect((await put("x/A", { ...values("192.0.2.1"), ttl: 1 })).status).toBe(422);
    expect((await call("PUT", "/zones/none.example/rrsets/x/A/records", values("192.0.2.1"))).status).toBe(404);
  });
});

describe("POST …/changes: many sets in one transaction", () => {
  const change = (zone: { id: number }, changes: readonly object[], expected_serial?: number) =>
    call("POST", `/zones/${zone.id}/changes`, { changes, expected_serial });

  it("swaps a CNAME and an A in one step, under one serial", async () => {
    const { zone } = await newSet("CNAME", ["other.example."]);
    const before = await serialOf(zone);
    const { status, json } = await change(zone, [
      { name: "www", type: "A", ttl: 60, ...values("192.0.2.1") },
      { name: "www", type: "AAAA", ...values("2001:db8::1") },
      { name: "www", type: "CNAME", delete: true },
      { name: "absent", type: "A", delete: true },
    ]);
    expect([status, json.serial, json.action.command, json.action.status]).toEqual([
      201,
      before + 1,
      "change_rrsets",
      "success",
    ]);
    const { rrsets } = await get(`/zones/${zone.id}/rrsets?name=www`);
    expect(rrsets.map((set: { id: string; ttl: number | null }) => `${set.id} ${set.ttl}`)).toEqual([
      "www/A 60",
      "www/AAAA null",
    ]);
  });

  it("does all or nothing, and reports all faults with their places", async () => {
    const { zone, values: now } = await newSet();
    const before = await serialOf(zone);
    const { status, error } = await change(zone, [
      { name: "www", type: "A", ...values("192.0.2.9") },
      { name: "x", type: "A", ...values("nonsense") },
      { name: "y.", type: "A", ...values("192.0.2.1") },
      { name: "@", type: "SOA", delete: true },
      { name: "www", type: "A", delete: true },
    ]);
    expect([status, error.code]).toEqual([422, "invalid_input"]);
    const places = error.details.fields.map((field: { name: string }) => field.name);
    expect(places).toEqual(["changes[1].records[0].value", "changes[2].name", "changes[3].type", "changes[4].name"]);
    expect([await now(), await serialOf(zone)]).toEqual([["192.0.2.1"], before]);
  });

  it("is refused with 409 if the zone does not have the expected serial", async () => {
    const { zone } = await newSet();
    const serial = await serialOf(zone);
    const put = (value: string) => change(zone, [{ name: "www", type: "A", ...values(value) }], serial);
    expect((await put("192.0.2.2")).json.serial).toBe(serial + 1);
    const { status, error } = await put("192.0.2.3");
    expect([status, error.code]).toEqual([409, "conflict"]);
    expect(error.message).toContain(`its serial is ${serial + 1}, not ${serial}`);
  });

  it("returns the serial of its own write, not of a later one", async () => {
    const zone = await newZone();
    const names = ["a", "b", "c", "d", "e", "f"];
    const answers = await Promise.all(names.map((name) => change(zone, [{ name, type: "A", ...values("192.0.2.1") }])));
    const { history } = await get(`/zones/${zone.id}/history`);
    const logged = names.map((name) => history.find((row: { name: string }) => row.name === name).serial);
    expect(answers.map(({ json }) => json.serial)).toEqual(logged);
  });

  it.each([
    ["no changes", { changes: [] }, "changes"],
    ["no list", {}, "changes"],
    ["records and delete", { changes: [{ name: "a", type: "A", delete: true, ...values("x") }] }, "changes[0].records"],
    ["neither records nor delete", { changes: [{ name: "a", type: "A" }] }, "changes[0].records"],
    [
      "an invalid serial",
      { expected_serial: "x", changes: [{ name: "a", type: "A", delete: true }] },
      "expected_serial",
    ],
    [
      "too many changes",
      { changes: Array.from({ length: 501 }, () => ({ name: "a", type: "A", delete: true })) },
      "changes",
    ],
  ])("refuses %s", async (_, body, field) => {
    const zone = await newZone();
    const { status, error } = await call("POST", `/zones/${zone.id}/changes`, body);
    expect([status, error.details.fields[0].name]).toEqual([422, field]);
  });

  it("reports each fault of an entry once", async () => {
    const zone = await newZone();
    const { error } = await call("POST", `/zones/${zone.id}/changes`, { changes: [{}, { delete: true }] });
    const missing = ["[0].name", "[0].type", "[0].records", "[1].name", "[1].type"];
    expect(error.details.fields).toEqual(missing.map((at) => ({ name: `changes${at}`, messages: ["is missing"] })));
  });

  it("respects protection and the scope of the token", async () => {
    const { zone, path } = await newSet();
    await call("POST", `${path}/actions/change_protection`, { change: true });
    const both = [
      { name: "new", type: "A", ...values("192.0.2.1") },
      { name: "www", type: "A", delete: true },
    ];
    expect((await change(zone, both)).error.code).toBe("protected");
    const token = await newToken("main", { access: "write", sets: [{ owner: "new" }] });
    const refused = await call("POST", `/zones/${zone.id}/changes`, { changes: both }, { token });
    expect(refused.error.code).toBe("forbidden");
    expect((await call("GET", `/zones/${zone.id}/rrsets/new/A`)).status).toBe(404);
  });
});

describe("Idempotency-Key", () => {
  const keyed = (key: string) => ({ headers: { "idempotency-key": key } });

  it("makes a POST count once: the same answer again, also for simultaneous requests", async () => {
    const { path, values: now } = await newSet("TXT", ['"zero"']);
    const add = () => call("POST", `${path}/actions/add_records`, values('"one"'), keyed("add-one"));
    const answers = await Promise.all([add(), add(), add()]);
    expect(new Set(answers.map((answer) => `${answer.status} ${answer.text}`)).size).toBe(1);
    expect(answers[0]?.status).toBe(201);
    expect(await now()).toEqual(['"one"', '"zero"']);
  });

  it("works for every POST: zones, sets, changes, protection, undo, files; also if the zone has been deleted since", async () => {
    const zone = await newZone();
    const posts: [string, object][] = [
      ["/zones", { name: "once.example", mode: "primary" }],
      [`/zones/${zone.id}/rrsets`, { name: "a", type: "A", ...values("192.0.2.1") }],
      [
        `/zones/${zone.id}/changes`,
        { expected_serial: zone.serial + 1, changes: [{ name: "a", type: "A", delete: true }] },
      ],
      [`/zones/${zone.id}/actions/change_ttl`, { ttl: 600 }],
      [`/zones/${zone.id}/history/${zone.serial + 3}/undo`, {}],
      [`/zones/${zone.id}/actions/import_zonefile`, await get(`/zones/${zone.id}/zonefile`)],
    ];
    const first: string[] = [];
    for (const [at, body] of posts) {
      const { status, text } = await call("POST", at, body, keyed(at));
      expect([at, status]).toEqual([at, 201]);
      first.push(text);
    }
    const answeredAgain = async () => {
      for (const [i, [at, body]] of posts.entries()) {
        const { status, text } = await call("POST", at, body, keyed(at));
        expect([at, status, text]).toEqual([at, 201, first[i]]);
      }
    };
    await answeredAgain();
    for (const gone of [zone.id, "once.example"]) expect((await call("DELETE", `/zones/${gone}`)).status).toBe(201);
    await answeredAgain();
    expect((await call("POST", `/zones/${zone.id}/actions/change_ttl`, { ttl: 600 }, keyed("new"))).status).toBe(404);
  });

  it("also answers a repeated undo if the zone has been created again since", async () => {
    const { name, id } = await newZone();
    await call("POST", `/zones/${id}/actions/change_ttl`, { ttl: 600 });
    const { serial } = (await get(`/zones/${name}`)).zone;
    const undo = (key: string) => call("POST", `/zones/${name}/history/${serial}/undo`, {}, keyed(key));
    const { text } = await undo("undo");
    await call("DELETE", `/zones/${name}`);
    await newZone({ name });
    expect((await undo("undo")).text).toBe(text);
    expect((await undo("another")).error.message).toBe("there is no write with this serial");
  });

  it("is refused for a different request, is separate per token, and is not used up by a refusal", async () => {
    const { path } = await newSet();
    const set = (value: string, key: string, sent = {}) =>
      call("POST", `${path}/actions/set_records`, values(value), { ...keyed(key), ...sent });
    await set("192.0.2.2", "k");
    const other = await set("192.0.2.3", "k");
    expect([other.status, other.error.code, other.error.details.fields[0].name]).toEqual([
      422,
      "invalid_input",
      "Idempotency-Key",
    ]);
    expect((await set("192.0.2.3", "k", { token: await newToken("main") })).status).toBe(201);
    expect((await set("nonsense", "k2")).status).toBe(422);
    expect((await set("192.0.2.4", "k2")).status).toBe(201);
  });

  it("is refused with a body that is nested too deeply", async () => {
    const zone = await newZone();
    const deep = 60_000;
    const text = `{"name":"a","type":"A","records":[{"value":"192.0.2.1"}],"x":${"[".repeat(deep)}${"]".repeat(deep)}}`;
    const { status, error } = await call("POST", `/zones/${zone.id}/rrsets`, undefined, { ...keyed("deep"), text });
    expect([status, error.details.fields[0].name]).toEqual([422, "body"]);
  });

  it("has 1 to 255 characters", async () => {
    const { path } = await newSet();
    const set = (key: string) => call("POST", `${path}/actions/change_ttl`, { ttl: 60 }, keyed(key));
    expect([(await set("")).status, (await set("k".repeat(256))).status]).toEqual([422, 422]);
    expect((await set("k".repeat(255))).status).toBe(201);
  });
});

describe("GET /zones?owns=NAME", () => {
  it("returns the zone that contains a name: the closest enclosing one", async () => {
    await newZone({ name: "owner.example" });
    await newZone({ name: "sub.owner.example" });
    const owns = async (name: string) =>
      (await get(`/zones?owns=${name}`)).zones.map((zone: { name: string }) => zone.name);
    expect(await owns("_acme-challenge.www.owner.example")).toEqual(["owner.example"]);
    expect(await owns("A.B.Sub.Owner.example.")).toEqual(["sub.owner.example"]);
    expect(await owns("sub.owner.example")).toEqual(["sub.owner.example"]);
    expect(await owns("*.owner.example")).toEqual(["owner.example"]);
    expect(await owns("sub%5C.owner.example")).toEqual([]);
    expect(await owns("xowner.example")).toEqual([]);
    expect(await owns("..")).toEqual([]);
    // As from a script with an unset variable: any zone would be wrong.
    expect(await owns("")).toEqual([]);
  });

  it("returns that zone only if it also matches the other parameters", async () => {
    await newZone({ name: "beside.example", labels: { env: "prod" } });
    const count = async (more: string) =>
      (await get(`/zones?owns=www.beside.example&${more}`)).meta.pagination.total_entries;
    expect(await count("mode=primary&label_selector=env=prod&name=beside.example&search=side")).toBe(1);
    for (const other of ["mode=secondary", "label_selector=env=test", "name=owner.example"])
      expect([other, await count(other)]).toEqual([other, 0]);
  });

  it("returns nothing of other accounts, and does not reveal zones that the token does not cover", async () => {
    await newZone({ name: "hidden.example" });
    await newZone({ name: "deep.hidden.example" });
    const owns = async (token: string) =>
      (await call("GET", "/zones?owns=x.deep.hidden.example", undefined, { token })).json.zones;
    expect(await owns(await newToken("others"))).toEqual([]);
    const limited = await newToken("main", { access: "read", zones: ["hidden.example"] });
    expect(await owns(limited)).toMatchObject([{ name: "hidden.example" }]);
    expect(await owns(await newToken("main", { access: "read", zones: ["other.example"] }))).toEqual([]);
  });
});
