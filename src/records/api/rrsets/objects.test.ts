import { describe, expect, it } from "vitest";
import { rrsetsService } from "../../../../test/rig/records/rrsets-service.ts";
import { recordTypes } from "../../../core/rdata/table.ts";

const { call, get, newSet, newToken, newZone } = rrsetsService();

const secondary = { mode: "secondary", primary_nameservers: [{ address: "192.0.2.53" }] };

describe("zone", () => {
  it("every field of a new zone, with id and name first", async () => {
    const zone = await newZone();
    expect(zone).toEqual({
      id: expect.any(Number),
      name: expect.stringMatching(/\.example$/),
      created: expect.any(String),
      mode: "primary",
      ttl: 3600,
      labels: {},
      primary_nameservers: [],
      protection: { delete: false },
      status: "ok",
      record_count: 4,
      authoritative_nameservers: {
        assigned: ["ns1.example.net.", "ns3.example.net.", "ns2.example.net."],
        delegated: [],
        delegation_last_check: null,
        delegation_status: "unknown",
      },
      registrar: "other",
      serial: expect.any(Number),
      dnssec: null,
    });
    const { text } = await call("GET", `/zones/${zone.id}`);
    expect(text.startsWith(`{\n    "zone": {\n        "id": ${zone.id},\n        "name": "${zone.name}",\n`)).toBe(
      true,
    );
  });

  it("name: folded to lower case, without a trailing dot, in punycode", async () => {
    expect((await newZone({ name: "Folded.EXAMPLE." })).name).toBe("folded.example");
    expect((await newZone({ name: "xn--gre-6ka8i.example" })).name).toBe("xn--gre-6ka8i.example");
  });

  it("ttl: 60 to 2147483647", async () => {
    expect((await newZone({ ttl: 60 })).ttl).toBe(60);
    expect((await newZone({ ttl: 2_147_483_647 })).ttl).toBe(2_147_483_647);
    const { status, error } = await call("POST", "/zones", { name: "low.example", mode: "primary", ttl: 59 });
    expect([status, error.message, error.details]).toEqual([
      422,
      "ttl is too small",
      { fields: [{ name: "ttl", messages: ["is too small"] }] },
    ]);
  });

  it("record_count: records, not sets", async () => {
    const { zone, path } = await newSet("A", ["192.0.2.1", "192.0.2.2", "192.0.2.3"]);
    expect((await get(`/zones/${zone.id}`)).zone.record_count).toBe(7);
    await call("DELETE", path);
    expect((await get(`/zones/${zone.id}`)).zone.record_count).toBe(4);
  });

  it("mode secondary: with assigned servers too, and fixed from creation", async () => {
    const zone = await newZone(secondary);
    expect(zone).toMatchObject({ mode: "secondary", primary_nameservers: [{ address: "192.0.2.53", port: 53 }] });
    expect(zone.authoritative_nameservers.assigned).toHaveLength(3);
    expect((await call("PUT", `/zones/${zone.id}`, { mode: "primary" })).json.zone.mode).toBe("secondary");
  });

  it("status: ok for a primary zone, and updating for a secondary zone that has not been transferred yet", async () => {
    const [primary, zone] = [await newZone(), await newZone(secondary)];
    expect([primary.status, zone.status]).toEqual(["ok", "updating"]);
    expect((await get(`/zones/${zone.id}`)).zone.status).toBe("updating");
    const { zones } = await get(`/zones?name=${zone.name}`);
    expect(zones.map((each: { status: string }) => each.status)).toEqual(["updating"]);
  });

  it("primary nameservers: in order, port 53 by default, TSIG if there is one", async () => {
    const primary_nameservers = [
      { address: "2001:db8::2", port: 5300 },
      { address: "192.0.2.1", tsig_algorithm: "hmac-sha256", tsig_key: "c2VjcmV0" },
    ];
    expect((await newZone({ mode: "secondary", primary_nameservers })).primary_nameservers).toEqual([
      { address: "2001:db8::2", port: 5300 },
      { address: "192.0.2.1", port: 53, tsig_algorithm: "hmac-sha256", tsig_key: "c2VjcmV0" },
    ]);
  });

  it.each([
    ["that is read-only", { access: "read" }],
    ["for some sets", { access: "write", sets: [{ types: ["TXT"] }] }],
  ] as const)("primary nameservers: without TSIG keys for a token %s", async (_, scope) => {
    const server = { address: "192.0.2.1", tsig_algorithm: "hmac-sha256", tsig_key: "c2VjcmV0" };
    const zone = await newZone({ mode: "secondary", primary_nameservers: [server] });
    const token = await newToken("main", scope);
    const { json: one } = await call("GET", `/zones/${zone.id}`, undefined, { token });
    const { json: list } = await call("GET", `/zones?name=${zone.name}`, undefined, { token });
    const shown = [{ address: "192.0.2.1", port: 53 }];
    expect([one.zone.primary_nameservers, list.zones[0].primary_nameservers]).toEqual([shown, shown]);
  });

  it.each([
    [{ address: "ns1.example.net" }, "address"],
    [{}, "address"],
    [{ address: "192.0.2.1", port: 0 }, "port"],
    [{ address: "192.0.2.1", tsig_algorithm: "hmac-sha3", tsig_key: "c2VjcmV0" }, "tsig_algorithm"],
    [{ address: "192.0.2.1", tsig_algorithm: "hmac-sha256", tsig_key: "not base64" }, "tsig_key"],
  ])("primary nameserver %j: a fault in %s", async (server, field) => {
    const body = { name: "never.example", mode: "secondary", primary_nameservers: [server] };
    const { status, error } = await call("POST", "/zones", body);
    expect([status, error.details.fields[0].name]).toEqual([422, `primary_nameservers[0].${field}`]);
  });
});

describe("record set", () => {
  it("every field; the id is name/TYPE", async () => {
    const { zone, path } = await newSet("AAAA", ["2001:db8::1"]);
    expect((await get(path)).rrset).toEqual({
      id: "www/AAAA",
      name: "www",
      type: "AAAA",
      ttl: null,
      labels: {},
      protection: { change: false },
      records: [{ value: "2001:db8::1", comment: "" }],
      zone: zone.id,
    });
  });

  it("name: relative, folded to lower case, @ for the zone itself, * for any", async () => {
    const zone = await newZone();
    for (const [sent, name] of [
      ["@", "@"],
      ["*", "*"],
      ["WWW", "www"],
      ["a.B", "a.b"],
      ["_acme-challenge", "_acme-challenge"],
    ] as const) {
      const body = { name: sent, type: "TXT", records: [{ value: '"x"' }] };
      expect((await call("POST", `/zones/${zone.id}/rrsets`, body)).json.rrset.name).toBe(name);
      expect((await get(`/zones/${zone.id}/rrsets/${sent}/TXT`)).rrset.id).toBe(`${name}/TXT`);
    }
  });

  it("type: sixteen of them", () => {
    expect(recordTypes.join(" ")).toBe("A AAAA CAA CNAME DS HINFO HTTPS MX NS PTR RP SOA SRV SVCB TLSA TXT");
  });

  it("comment and ttl of null mean none; the comment in an answer is always a string", async () => {
    const zone = await newZone();
    const body = { name: "a", type: "A", ttl: null, records: [{ value: "192.0.2.1", comment: null }] };
    const { json } = await call("POST", `/zones/${zone.id}/rrsets`, body);
    expect([json.rrset.ttl, json.rrset.records]).toEqual([null, [{ value: "192.0.2.1", comment: "" }]]);
  });

  it("comment: up to 1000 bytes", async () => {
    const { path } = await newSet();
    const set = (comment: string) =>
      call("POST", `${path}/actions/set_records`, { records: [{ value: "192.0.2.1", comment }] });
    expect((await set("ü".repeat(500))).status).toBe(201);
    expect((await get(path)).rrset.records[0].comment).toBe("ü".repeat(500));
    const { status, error } = await set("ü".repeat(501));
    expect([status, error.details.fields[0].name]).toEqual([422, "records[0].comment"]);
  });

  it("records: 1 to 50 per call, and more than 50 in a set", async () => {
    const { path, values } = await newSet();
    const some = (from: number) => Array.from({ length: 50 }, (_, i) => ({ value: `198.51.100.${from + i}` }));
    await call("POST", `${path}/actions/set_records`, { records: some(0) });
    expect((await call("POST", `${path}/actions/add_records`, { records: some(50) })).status).toBe(201);
    expect(await values()).toHaveLength(100);
  });

  it("order: sets by type, then name, @ first; records by value", async () => {
    const zone = await newZone({
      rrsets: [
        { name: "b", type: "TXT", records: [{ value: '"x"' }] },
        { name: "b", type: "A", records: [{ value: "192.0.2.9" }, { value: "192.0.2.1" }] },
        { name: "a", type: "A", records: [{ value: "192.0.2.1" }] },
        { name: "@", type: "A", records: [{ value: "192.0.2.1" }] },
      ],
    });
    const { rrsets } = await get(`/zones/${zone.id}/rrsets`);
    expect(rrsets.map((set: { id: string }) => set.id)).toEqual(["@/A", "a/A", "b/A", "@/NS", "@/SOA", "b/TXT"]);
    expect(rrsets[2].records[0].value).toBe("192.0.2.1");
    const servers = rrsets[3].records.map((record: { value: string }) => record.value);
    expect(servers).toEqual(["ns1.example.net.", "ns2.example.net.", "ns3.example.net."]);
  });
});

describe("action", () => {
  it("all keys always present; one resource, the zone", async () => {
    const { zone, path } = await newSet();
    const { json } = await call("POST", `${path}/actions/change_ttl`, { ttl: 60 });
    expect(Object.keys(json.action).sort()).toEqual([
      "command",
      "error",
      "finished",
      "id",
      "progress",
      "resources",
      "started",
      "status",
    ]);
    expect(json.action.resources).toEqual([{ id: zone.id, type: "zone" }]);
  });

  it("finished at the first poll, and its effect can be read (docs/decisions/0004)", async () => {
    const { path, values } = await newSet();
    const { json } = await call("POST", `${path}/actions/set_records`, { records: [{ value: "192.0.2.2" }] });
    const { action } = await get(`/actions/${json.action.id}`);
    expect(action).toMatchObject({ status: "success", progress: 100, error: null });
    expect(action.finished).not.toBeNull();
    expect(await values()).toEqual(["192.0.2.2"]);
  });

  it("ids grow", async () => {
    const { path } = await newSet();
    const next = async () => (await call("POST", `${path}/actions/change_ttl`, { ttl: 60 })).json.action.id;
    const [one, two] = [await next(), await next()];
    expect(two).toBeGreaterThan(one);
  });
});
