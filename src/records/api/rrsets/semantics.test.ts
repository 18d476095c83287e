import { describe, expect, it } from "vitest";
import { rrsetsService } from "../../../../test/rig/records/rrsets-service.ts";

const { call, get, newSet, newZone } = rrsetsService();

const values = (...list: string[]) => ({ records: list.map((value) => ({ value })) });
const refusal = ({ status, error }: { status: number; error: { code: string; message: string } }) => [
  status,
  error.code,
  error.message,
];

describe("writes on record sets", () => {
  it("create: creates the set; 409 if it exists", async () => {
    const { zone } = await newSet();
    const { status, error } = await call("POST", `/zones/${zone.id}/rrsets`, {
      name: "www",
      type: "A",
      ...values("192.0.2.2"),
    });
    expect([status, error.code]).toEqual([409, "uniqueness_error"]);
  });

  it("set_records: replaces records with their comments; TTL, labels and protection stay", async () => {
    const { path } = await newSet("A", ["192.0.2.1"], { ttl: 300, labels: { a: "b" } });
    const records = [{ value: "192.0.2.2", comment: "new" }, { value: "192.0.2.1" }];
    await call("POST", `${path}/actions/set_records`, { records });
    expect((await get(path)).rrset).toMatchObject({
      ttl: 300,
      labels: { a: "b" },
      records: [
        { value: "192.0.2.1", comment: "" },
        { value: "192.0.2.2", comment: "new" },
      ],
    });
    await call("POST", `${path}/actions/set_records`, values("192.0.2.2"));
    expect((await get(path)).rrset.records).toEqual([{ value: "192.0.2.2", comment: "" }]);
  });

  it.each(["set_records", "remove_records", "update_records", "change_ttl", "change_protection"])(
    "%s: a missing set is 404",
    async (action) => {
      const zone = await newZone();
      const body = { records: [{ value: "192.0.2.1", comment: "" }], ttl: 60, change: true };
      const answer = await call("POST", `/zones/${zone.id}/rrsets/none/A/actions/${action}`, body);
      expect(refusal(answer)).toEqual([404, "not_found", "RRSet not found"]);
    },
  );

  it("set_records: the same content again succeeds with an action, and changes no serial", async () => {
    const { zone, path } = await newSet();
    const serial = async () => (await get(`/zones/${zone.id}`)).zone.serial;
    const before = await serial();
    expect((await call("POST", `${path}/actions/set_records`, values("192.0.2.1"))).json.action.status).toBe("success");
    expect(await serial()).toBe(before);
  });

  it("add_records: creates a missing set with the TTL, appends to an existing one", async () => {
    const zone = await newZone();
    const path = `/zones/${zone.id}/rrsets/proof/TXT`;
    const add = (ttl: number | null | undefined, value: string) =>
      call("POST", `${path}/actions/add_records`, { ...values(value), ttl });
    await add(120, '"one"');
    await add(120, '"two"');
    await add(undefined, '"three"');
    await add(null, '"four"');
    const { rrset } = await get(path);
    expect([rrset.ttl, rrset.records.length]).toEqual([120, 4]);
    const answer = await add(60, '"five"');
    expect([answer.status, answer.error.code]).toEqual([422, "invalid_input"]);
    expect(answer.error.message).toContain("has differing record TTLs");
  });

  it("add_records: for a set without its own TTL, the zone's TTL is accepted", async () => {
    const { path } = await newSet();
    expect((await call("POST", `${path}/actions/add_records`, { ...values("192.0.2.2"), ttl: 3600 })).status).toBe(201);
    expect((await get(path)).rrset.ttl).toBeNull();
  });

  it("add_records: a value that already exists", async () => {
    const { path } = await newSet("TXT", ['"there"']);
    const { status, error } = await call("POST", `${path}/actions/add_records`, values('"new"', '"there"'));
    expect([status, error.code, error.message]).toEqual([422, "invalid_input", `duplicate value '"there"'`]);
    expect(error.details.fields[0]).toMatchObject({ name: "records[0].records[1].value" });
    expect((await get(path)).rrset.records).toHaveLength(1);
  });

  it("remove_records: by value whatever the comment; the set is deleted with its last record", async () => {
    const { path, values: left } = await newSet("A", ["192.0.2.1", "192.0.2.2"]);
    const remove = (value: string) =>
      call("POST", `${path}/actions/remove_records`, { records: [{ value, comment: "another" }] });
    expect((await remove("192.0.2.1")).status).toBe(201);
    expect(await left()).toEqual(["192.0.2.2"]);
    await remove("192.0.2.2");
    expect((await call("GET", path)).status).toBe(404);
  });

  it("remove_records: a missing value is a success without change", async () => {
    const { path, values: left } = await newSet();
    expect((await call("POST", `${path}/actions/remove_records`, values("192.0.2.9"))).json.action.status).toBe(
      "success",
    );
    expect(await left()).toEqual(["192.0.2.1"]);
  });

  it("values are compared by meaning: another spelling of an address is the same", async () => {
    const { path, values: left } = await newSet("AAAA", ["2001:db8::1"]);
    const again = await call("POST", `${path}/actions/add_records`, values("2001:0db8:0::1"));
    expect(again.error.message).toBe("duplicate value '2001:0db8:0::1'");
    await call("POST", `${path}/actions/add_records`, values("2001:db8::2"));
    await call("POST", `${path}/actions/remove_records`, values("2001:0db8:0::1"));
    expect(await left()).toEqual(["2001:db8::2"]);
  });

  it("update_records: comments only; an unknown value is refused", async () => {
    const { path } = await newSet("A", ["192.0.2.1", "192.0.2.2"]);
    const update = (value: string, comment: string) =>
      call("POST", `${path}/actions/update_records`, { records: [{ value, comment }] });
    expect((await update("192.0.2.2", "told")).status).toBe(200);
    expect((await get(path)).rrset.records).toEqual([
      { value: "192.0.2.1", comment: "" },
      { value: "192.0.2.2", comment: "told" },
    ]);
    expect((await update("192.0.2.3", "x")).error.code).toBe("invalid_input");
  });

  it("change_ttl without ttl means null for a set; for a zone it is refused", async () => {
    const { zone, path } = await newSet();
    for (const body of [{}, undefined]) {
      await call("POST", `${path}/actions/change_ttl`, { ttl: 120 });
      expect((await call("POST", `${path}/actions/change_ttl`, body)).status).toBe(201);
      expect((await get(path)).rrset.ttl).toBeNull();
    }
    expect((await call("POST", `/zones/${zone.id}/actions/change_ttl`, {})).error.message).toBe("ttl is missing");
  });

  it("change_ttl: a number, and null for the zone's; DELETE: removes, then 404", async () => {
    const { path } = await newSet();
    for (const ttl of [86_400, null]) {
      await call("POST", `${path}/actions/change_ttl`, { ttl });
      expect((await get(path)).rrset.ttl).toBe(ttl);
    }
    expect((await call("POST", `${path}/actions/change_ttl`, { ttl: 59 })).error.message).toBe("ttl is too small");
    expect([(await call("DELETE", path)).status, (await call("DELETE", path)).status]).toEqual([201, 404]);
  });

  it("PUT with records in the body is refused in the original's words", async () => {
    const { path } = await newSet();
    const { status, error } = await call("PUT", path, { ...values("192.0.2.9"), labels: {} });
    expect([status, error]).toEqual([
      422,
      { code: "invalid_input", message: "can't update records with this endpoint", details: null },
    ]);
  });

  it("a CNAME next to other data, and at the apex, is refused", async () => {
    const { zone } = await newSet();
    const cname = (name: string) =>
      call("POST", `/zones/${zone.id}/rrsets`, { name, type: "CNAME", ...values("other.example.") });
    for (const name of ["www", "@"]) {
      const { status, error } = await cname(name);
      expect([status, error.code]).toEqual([422, "invalid_input"]);
    }
    expect((await cname("alias")).status).toBe(201);
    expect((await call("PUT", `/zones/${zone.id}/rrsets/alias/A/records`, values("192.0.2.1"))).status).toBe(422);
    const second = await call("POST", `/zones/${zone.id}/rrsets/alias/CNAME/actions/add_records`, values("b.example."));
    expect(second.status).toBe(422);
  });
});

describe("protection", () => {
  const protectedSet = async () => {
    const made = await newSet();
    await call("POST", `${made.path}/actions/change_protection`, { change: true });
    return made;
  };
  const text = [423, "protected", "RRSet(s) is/are change protected"];

  it("blocks DELETE, set, add, remove, update, change_ttl and the upsert", async () => {
    const { path, values: now } = await protectedSet();
    expect((await get(path)).rrset.protection).toEqual({ change: true });
    const tries: [string, string, unknown?][] = [
      ["DELETE", ""],
      ["POST", "/actions/set_records", values("192.0.2.9")],
      ["POST", "/actions/add_records", values("192.0.2.9")],
      ["POST", "/actions/remove_records", values("192.0.2.1")],
      ["POST", "/actions/update_records", { records: [{ value: "192.0.2.1", comment: "x" }] }],
      ["POST", "/actions/change_ttl", { ttl: 60 }],
      ["PUT", "/records", values("192.0.2.9")],
    ];
    for (const [method, at, body] of tries) {
      expect([at, ...refusal(await call(method, `${path}${at}`, body))]).toEqual([at, ...text]);
    }
    expect(await now()).toEqual(["192.0.2.1"]);
  });

  it("blocks deletion of the whole zone, and the import of a zone file", async () => {
    const { zone } = await protectedSet();
    expect(refusal(await call("DELETE", `/zones/${zone.id}`))).toEqual(text);
    const { zonefile } = await get(`/zones/${zone.id}/zonefile`);
    expect(refusal(await call("POST", `/zones/${zone.id}/actions/import_zonefile`, { zonefile }))).toEqual(text);
  });

  it("is removed in a separate call; labels can still be changed", async () => {
    const { path } = await protectedSet();
    expect((await call("PUT", path, { labels: { a: "b" } })).status).toBe(200);
    await call("POST", `${path}/actions/change_protection`, { change: false });
    expect((await call("DELETE", path)).status).toBe(201);
  });

  it("of a zone: DELETE is 423 protected; its sets can be written", async () => {
    const { zone, path } = await newSet();
    await call("POST", `/zones/${zone.id}/actions/change_protection`, { delete: true });
    expect(refusal(await call("DELETE", `/zones/${zone.id}`))).toEqual([423, "protected", "Zone is delete protected"]);
    expect((await call("DELETE", path)).status).toBe(201);
    await call("POST", `/zones/${zone.id}/actions/change_protection`, { delete: false });
    expect((await call("DELETE", `/zones/${zone.id}`)).status).toBe(201);
  });

  it("a new zone or set can be created protected", async () => {
    const zone = await newZone({ protection: { delete: true } });
    expect(zone.protection).toEqual({ delete: true });
    const body = { name: "a", type: "A", protection: { change: true }, ...values("192.0.2.1") };
    expect((await call("POST", `/zones/${zone.id}/rrsets`, body)).json.rrset.protection).toEqual({ change: true });
  });
});

describe("SOA", () => {
  const soaOf = async (zone: { id: number }) => {
    const { rrset } = await get(`/zones/${zone.id}/rrsets/@/SOA`);
    return { ttl: rrset.ttl, fields: rrset.records[0].value.split(" ") };
  };

  it("has the usual timers, a serial of YYYYMMDDnn that every change raises, and no TTL", async () => {
    const zone = await newZone();
    const before = await soaOf(zone);
    expect(before.ttl).toBeNull();
    expect(before.fields[2]).toMatch(/^20\d{6}00$/);
    expect(before.fields.slice(3)).toEqual(["3600", "300", "604800", "3600"]);
    await call("POST", `/zones/${zone.id}/rrsets`, { name: "a", type: "A", ...values("192.0.2.1") });
    expect(Number((await soaOf(zone)).fields[2])).toBe(Number(before.fields[2]) + 1);
  });

  it("can be changed with set_records except the serial; sending 0 is fine", async () => {
    const zone = await newZone();
    const before = await soaOf(zone);
    const path = `/zones/${zone.id}/rrsets/@/SOA`;
    const set = () =>
      call("POST", `${path}/actions/set_records`, values("ns1.example.net. me.example.net. 0 7200 900 1209600 300"));
    expect((await set()).status).toBe(201);
    const after = await soaOf(zone);
    expect(after.fields.slice(3)).toEqual(["7200", "900", "1209600", "300"]);
    expect(Number(after.fields[2])).toBe(Number(before.fields[2]) + 1);
    await set();
    expect(await soaOf(zone)).toEqual(after);
    const labelled = await call("PUT", path, { labels: { a: "b" } });
    expect(labelled.json.rrset.records[0].value).toBe((await soaOf(zone)).fields.join(" "));
  });

  it("is created and deleted with the zone, exists once, and only at the apex", async () => {
    const zone = await newZone();
    const path = `/zones/${zone.id}/rrsets/@/SOA`;
    const { fields } = await soaOf(zone);
    const soa = values("ns1.example.net. me.example.net. 0 1 2 3 4");
    expect((await call("DELETE", path)).error.code).toBe("invalid_input");
    expect((await call("POST", `${path}/actions/remove_records`, values(fields.join(" ")))).error.code).toBe(
      "invalid_input",
    );
    expect((await call("POST", `${path}/actions/add_records`, soa)).error.code).toBe("invalid_input");
    expect((await call("POST", `/zones/${zone.id}/rrsets`, { name: "@", type: "SOA", ...soa })).status).toBe(409);
    expect((await call("POST", `/zones/${zone.id}/rrsets`, { name: "a", type: "SOA", ...soa })).status).toBe(422);
  });
});
