import { describe, expect, it } from "vitest";
import { rrsetsService } from "../../../../test/rig/records/rrsets-service.ts";
import { parseNetwork } from "../../../core/addresses/network.ts";

const refused = ["127.0.0.1", "::ffff:127.0.0.1", "169.254.169.254", "fd00:ec2::254", "64:ff9b::a00:1", "100.64.0.1"];
const field = "primary_nameservers[0].address";

describe("addresses of primary servers without the operator's permission", () => {
  const { call, callV1, newZone } = rrsetsService();
  const secondary = (address: string) => ({ mode: "secondary", primary_nameservers: [{ address }] });

  it.each(refused.map((address, n) => ({ address, n })))("$address is refused by both APIs", async ({ address, n }) => {
    const made = await call("POST", "/zones", { name: "never.example", ...secondary(address) });
    expect([made.status, made.error.code, made.error.details.fields[0].name]).toEqual([422, "invalid_input", field]);
    const zone = await newZone(secondary("9.9.9.9"));
    const path = `/zones/${zone.id}/actions/change_primary_nameservers`;
    const changed = await call("POST", path, { primary_nameservers: [{ address: "9.9.9.9" }, { address }] });
    expect([changed.status, changed.error.details.fields[0].name]).toEqual([422, "primary_nameservers[1].address"]);
    const plain = (await callV1("POST", "/zones", { name: `plain${n}.example` })).json.zone;
    const added = await callV1("POST", "/primary_servers", { zone_id: plain.id, address, port: 53 });
    const words = "422 Unprocessable Entity: invalid is a private IP address";
    expect([added.status, added.error.message]).toEqual([422, words]);
    const good = await callV1("POST", "/primary_servers", { zone_id: plain.id, address: "9.9.9.9", port: 53 });
    const { id } = good.json.primary_server;
    const replaced = await callV1("PUT", `/primary_servers/${id}`, { zone_id: plain.id, address, port: 53 });
    expect([replaced.status, replaced.error.message]).toEqual([422, words]);
  });

  it.each(["", " ", "2130706433", "127.1", "::1%lo"])("%j is not an address", async (address) => {
    const made = await call("POST", "/zones", { name: "never.example", ...secondary(address) });
    expect([made.status, made.error?.details.fields[0].name]).toEqual([422, field]);
  });

  it.each([true, [53], "0x35", 0])("%j is not a port", async (port) => {
    const body = { name: "never.example", mode: "secondary", primary_nameservers: [{ address: "9.9.9.9", port }] };
    expect((await call("POST", "/zones", body)).status).toBe(422);
  });
});

describe("addresses of primary servers that the operator permits", () => {
  const allowedPrimaries = [parseNetwork("127.0.0.0/8")].flatMap((network) => network ?? []);
  const { call, callV1 } = rrsetsService({ allowedPrimaries });

  it("are accepted by both APIs, and others are still refused", async () => {
    const made = await call("POST", "/zones", {
      name: "here.example",
      mode: "secondary",
      primary_nameservers: [{ address: "127.0.0.1", port: 5300 }],
    });
    expect(made.status).toBe(201);
    const { zone } = (await callV1("POST", "/zones", { name: "v1.example" })).json;
    const added = await callV1("POST", "/primary_servers", { zone_id: zone.id, address: "127.0.0.1", port: 5300 });
    expect(added.status).toBe(200);
    const other = await callV1("POST", "/primary_servers", { zone_id: zone.id, address: "10.0.0.1", port: 53 });
    expect(other.status).toBe(422);
  });
});
