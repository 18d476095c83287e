import { describe, expect, it } from "vitest";
import { rrsetsService } from "../../../../test/rig/records/rrsets-service.ts";

const { call, callV1, get } = rrsetsService();

const values = (...list: string[]) => ({ records: list.map((value) => ({ value })) });

describe("one zone through both APIs in turn", () => {
  it("shows every change immediately in the other API, and keeps the ids of v1 records", async () => {
    const { json } = await callV1("POST", "/zones", { name: "both-apis.example", ttl: 600 });
    const zone: string = json.zone.id;
    const rrsets = "/zones/both-apis.example/rrsets";
    const v1 = async (): Promise<readonly Record<string, unknown>[]> =>
      (await callV1("GET", `/records?zone_id=${zone}`)).json.records.filter(
        (each: { type: string }) => each.type !== "SOA",
      );

    // v1 creates a record, rrsets sees a set.
    const made = (
      await callV1("POST", "/records", { zone_id: zone, type: "A", name: "dyn", value: "192.0.2.1", ttl: 60 })
    ).json.record;
    expect((await get(`${rrsets}/dyn/A`)).rrset).toMatchObject({ ttl: 60, records: [{ value: "192.0.2.1" }] });

    // rrsets changes the address; v1 knows the record by the same id.
    expect((await call("POST", `${rrsets}/dyn/A/actions/set_records`, values("192.0.2.2"))).status).toBe(201);
    expect((await callV1("GET", `/records/${made.id}`)).json.record).toMatchObject({ value: "192.0.2.2", ttl: 60 });

    // rrsets adds a second one and v1 changes the first; the set has both, under one TTL.
    await call("POST", `${rrsets}/dyn/A/actions/add_records`, values("192.0.2.3"));
    const body = { zone_id: zone, type: "A", name: "dyn", value: "192.0.2.9", ttl: 120 };
    expect((await callV1("PUT", `/records/${made.id}`, body)).status).toBe(200);
    expect((await get(`${rrsets}/dyn/A`)).rrset).toMatchObject({
      ttl: 120,
      records: [{ value: "192.0.2.3" }, { value: "192.0.2.9" }],
    });

    // v1 deletes one, rrsets the other: the set is gone in both APIs.
    await callV1("DELETE", `/records/${made.id}`);
    await call("POST", `${rrsets}/dyn/A/actions/remove_records`, values("192.0.2.3"));
    expect((await call("GET", `${rrsets}/dyn/A`)).status).toBe(404);
    expect(await v1()).toEqual([]);

    // The zone itself: its TTL and its deletion.
    await call("POST", "/zones/both-apis.example/actions/change_ttl", { ttl: 900 });
    expect((await callV1("GET", `/zones/${zone}`)).json.zone.ttl).toBe(900);
    expect((await callV1("DELETE", `/zones/${zone}`)).status).toBe(200);
    expect((await call("GET", "/zones/both-apis.example")).status).toBe(404);
  });

  it("shows unquoted TXT values of v1 in quotes, and vice versa", async () => {
    const { json } = await callV1("POST", "/zones", { name: "texts.example" });
    const body = { zone_id: json.zone.id, type: "TXT", name: "t", value: 'say "hi"; now' };
    await callV1("POST", "/records", body);
    const path = "/zones/texts.example/rrsets/t/TXT";
    const [record] = (await get(path)).rrset.records;
    expect(record.value).toBe('"say \\"hi\\"; now"');
    const again = await call("POST", `${path}/actions/add_records`, { records: [record] });
    expect(again.error.message).toContain("duplicate value");
    expect((await call("POST", `${path}/actions/set_records`, { records: [record] })).status).toBe(201);
    const { records } = (await callV1("GET", `/records?zone_id=${json.zone.id}`)).json;
    expect(records.find((each: { type: string }) => each.type === "TXT").value).toBe(record.value);
  });

  it("applies the protection of sets and zones to v1", async () => {
    const { json } = await callV1("POST", "/zones", { name: "held.example" });
    const zone = json.zone.id;
    const draft = { zone_id: zone, type: "A", name: "www", value: "192.0.2.1" };
    const { id } = (await callV1("POST", "/records", draft)).json.record;
    const protect = (change: boolean) =>
      call("POST", "/zones/held.example/rrsets/www/A/actions/change_protection", { change });
    await protect(true);
    const tries: [string, string, unknown?][] = [
      ["PUT", `/records/${id}`, { ...draft, value: "192.0.2.2" }],
      ["DELETE", `/records/${id}`],
      ["POST", "/records", { ...draft, value: "192.0.2.3" }],
      ["DELETE", `/zones/${zone}`],
    ];
    for (const [method, path, body] of tries)
      expect([path, (await callV1(method, path, body)).status]).toEqual([path, 422]);
    await protect(false);
    await call("POST", "/zones/held.example/actions/change_protection", { delete: true });
    expect((await callV1("DELETE", `/zones/${zone}`)).status).toBe(422);
    expect((await callV1("DELETE", `/records/${id}`)).status).toBe(200);
  });

  it("refuses a set that is too large for a DNS message, on every path", async () => {
    const { json } = await callV1("POST", "/zones", { name: "large.example" });
    const zone: string = json.zone.id;
    const long = (letter: string) => Array.from({ length: 130 }, () => `"${letter.repeat(255)}"`).join(" ");
    const set = { name: "t", type: "TXT", ...values(long("a")) };
    const lines = ["a", "b"].map((letter) => `t IN TXT ${long(letter)}\n`).join("");
    expect((await call("POST", "/zones/large.example/rrsets", set)).status).toBe(201);
    const sent = [
      await call("POST", "/zones/large.example/rrsets/t/TXT/actions/add_records", values(long("b"))),
      await call("POST", "/zones/large.example/actions/import_zonefile", { zonefile: lines }),
      await call("POST", "/zones", { name: "larger.example", mode: "primary", zonefile: lines }),
      await callV1("POST", "/records", { zone_id: zone, type: "TXT", name: "t", value: long("b") }),
    ];
    for (const { status, json: told } of sent)
      expect([status, told.error.message]).toEqual([
        422,
        expect.stringContaining("the TXT set at t would be too large for any DNS message"),
      ]);
    expect((await get("/zones/large.example/rrsets/t/TXT")).rrset.records).toHaveLength(1);
  });

  it("refuses a new NS record at a wildcard name on every path, and keeps existing ones", async () => {
    const { json } = await callV1("POST", "/zones", { name: "star.example" });
    const zone: string = json.zone.id;
    const set = { name: "*.w", type: "NS", ...values("ns1.example.net.") };
    const line = "*.w 3600 IN NS ns1.example.net.\n";
    const sent = [
      await call("POST", "/zones/star.example/rrsets", set),
      await call("POST", "/zones/star.example/changes", { changes: [set] }),
      await call("POST", "/zones/star.example/actions/import_zonefile", { zonefile: line }),
      await call("POST", "/zones", { name: "stars.example", mode: "primary", zonefile: line }),
      await callV1("POST", "/records", { zone_id: zone, type: "NS", name: "*", value: "ns1.example.net." }),
    ];
    for (const { status, json: told } of sent)
      expect([status, told.error.message]).toEqual([
        422,
        expect.stringMatching(/an NS record at the wildcard name \*/),
      ]);
    const kept = { name: "*.w", type: "TXT", ...values('"here"') };
    expect((await call("POST", "/zones/star.example/rrsets", kept)).status).toBe(201);
  });
});

it("a name below a DNAME record is refused by both APIs, whichever of the two stood there first", async () => {
  const { json } = await callV1("POST", "/zones", { name: "dname.example" });
  const rrsets = "/zones/dname.example/rrsets";
  const target = values("\\# 3 016100");
  const v1 = (name: string, type: string, value: string) =>
    callV1("POST", "/records", { zone_id: json.zone.id, name, type, value });
  expect((await call("POST", rrsets, { name: "old", type: "TYPE39", ...target })).status).toBe(201);
  const below = await call("POST", rrsets, { name: "x.y.old", type: "A", ...values("192.0.2.1") });
  expect([below.status, below.error.message]).toEqual([422, expect.stringContaining("x.y.old is below old")]);
  expect((await v1("z.old", "A", "192.0.2.1")).status).toBe(422);
  expect((await v1("old", "NS", "ns1.example.net.")).status).toBe(422);
  expect((await v1("old", "TXT", "beside")).status).toBe(200);

  expect((await v1("www.new", "A", "192.0.2.1")).status).toBe(200);
  const above = await call("POST", rrsets, { name: "new", type: "TYPE39", ...target });
  expect([above.status, above.error.message]).toEqual([422, expect.stringContaining("www.new is below new")]);
  // In one transaction, one can replace the other.
  const changes = [
    { name: "www.new", type: "A", delete: true },
    { name: "new", type: "TYPE39", ...target },
  ];
  expect((await call("POST", "/zones/dname.example/changes", { changes })).status).toBe(201);
});
