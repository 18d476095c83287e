import { describe, expect, it } from "vitest";
import { v1Service } from "../../../../test/rig/records/v1-service.ts";

const { call, post, put, newZone, newRecord, newToken } = v1Service();

const path = "/api/v1/primary_servers";
const server = (zoneId: string, fields: Record<string, unknown> = {}) => ({
  address: "198.51.100.7",
  port: 53,
  zone_id: zoneId,
  ...fields,
});
const isSecondary = async (id: string) => (await call("GET", `/api/v1/zones/${id}`)).json.zone.is_secondary_dns;

describe("primary servers", () => {
  it("is created with 200 and every key in its order, and makes its zone secondary", async () => {
    const zone = await newZone();
    const { status, json } = await post(path, server(zone.id));
    expect(status).toBe(200);
    expect(Object.keys(json.primary_server)).toEqual(["id", "port", "created", "modified", "zone_id", "address"]);
    expect(json.primary_server).toMatchObject({ port: 53, zone_id: zone.id, address: "198.51.100.7" });
    expect(await isSecondary(zone.id)).toBe(true);
  });

  it("is listed, read, replaced and deleted; without its last one a zone is primary again", async () => {
    const zone = await newZone();
    const first = (await post(path, server(zone.id))).json.primary_server;
    const second = (await post(path, server(zone.id, { address: "2001:DB8::7", port: 5353 }))).json.primary_server;
    expect(second.address).toBe("2001:db8::7");
    expect((await call("GET", `${path}?zone_id=${zone.id}`)).json).toEqual({ primary_servers: [first, second] });
    expect((await call("GET", path)).json.primary_servers).toEqual(expect.arrayContaining([first, second]));
    expect((await call("GET", `${path}/${first.id}`)).json).toEqual({ primary_server: first });
    const changed = await put(`${path}/${first.id}`, server(zone.id, { port: 54 }));
    expect([changed.status, changed.json.primary_server]).toMatchObject([
      200,
      { id: first.id, port: 54, created: first.created },
    ]);
    expect((await call("DELETE", `${path}/${first.id}`)).text).toBe('{"error":{}}\n');
    expect(await isSecondary(zone.id)).toBe(true);
    await call("DELETE", `${path}/${second.id}`);
    expect(await isSecondary(zone.id)).toBe(false);
  });

  it("an empty list is a 404", async () => {
    const zone = await newZone();
    for (const id of [zone.id, "none"]) {
      const { status, json } = await call("GET", `${path}?zone_id=${id}`);
      expect([status, json]).toEqual([
        404,
        { primary_servers: [], error: { message: "no primary server found", code: 404 } },
      ]);
    }
  });

  it.each(["none", "none-none", "-"])("a missing primary server is a 404: %s", async (id) => {
    const zone = await newZone();
    const error = { message: "primary server not found", code: 404 };
    const zero = { id: "", port: 0, created: "", modified: "", zone_id: "", address: "" };
    expect((await call("GET", `${path}/${id}`)).json).toEqual({ primary_server: zero, error });
    expect((await put(`${path}/${id}`, server(zone.id))).json).toEqual({ primary_server: zero, error });
    expect((await call("DELETE", `${path}/${id}`)).json).toEqual({ error });
  });

  it.each([
    ["a private address", { address: "192.168.1.1" }, "422 Unprocessable Entity: invalid is a private IP address"],
    ["a private IPv6 address", { address: "fd00::1" }, "422 Unprocessable Entity: invalid is a private IP address"],
    ["no address", { address: undefined }, "422 Unprocessable Entity: missing: address; "],
    ["a name for an address", { address: "ns.example.org" }, /neither IPv4 nor IPv6/],
    ["no port", { port: undefined }, "422 Unprocessable Entity: missing: port; "],
    ["port 0", { port: 0 }, /from 1 to 65535/],
    ["port 65536", { port: 65_536 }, /from 1 to 65535/],
    ["half a port", { port: 53.5 }, /from 1 to 65535/],
    ["an unknown zone", { zone_id: "none" }, "zone not found"],
  ])("refuses %s", async (_, fields, message) => {
    const zone = await newZone();
    const { status, json } = await post(path, server(zone.id, fields));
    expect([status, json.primary_server.id, json.error.code]).toEqual([422, "", 422]);
    expect(json.error.message).toEqual(typeof message === "string" ? message : expect.stringMatching(message));
    expect(await isSecondary(zone.id)).toBe(false);
  });

  it("refuses the same server twice", async () => {
    const zone = await newZone();
    await post(path, server(zone.id));
    const again = await post(path, server(zone.id));
    expect([again.status, again.json.error.message]).toEqual([422, "422 Unprocessable Entity: taken "]);
  });

  it("cannot be added to a zone with records; a secondary zone accepts no records", async () => {
    const zone = await newZone();
    const record = await newRecord(zone.id, {});
    expect((await post(path, server(zone.id))).json.error.message).toMatch(/the zone already has records/);
    await call("DELETE", `/api/v1/records/${record.id}`);
    expect((await post(path, server(zone.id))).status).toBe(200);
    const write = await post("/api/v1/records", { zone_id: zone.id, type: "A", name: "a", value: "192.0.2.1" });
    expect([write.status, write.json.error.message]).toEqual([
      422,
      expect.stringMatching(/come from its primary servers/),
    ]);
    const file = await call("POST", `/api/v1/zones/${zone.id}/import`, { body: "a IN A 192.0.2.1\n" });
    expect(file.json.error.message).toMatch(/come from its primary servers/);
  });

  it("is not for tokens that are read-only or for certain names", async () => {
    const zone = await newZone();
    const reader = { token: await newToken("main", { access: "read" }) };
    expect((await post(path, server(zone.id), reader)).status).toBe(403);
    const narrow = { token: await newToken("main", { access: "write", sets: [{ owner: "a" }] }) };
    expect((await post(path, server(zone.id), narrow)).status).toBe(403);
    const stranger = { token: await newToken("stranger") };
    expect((await post(path, server(zone.id), stranger)).json.error.message).toBe("zone not found");
  });
});
