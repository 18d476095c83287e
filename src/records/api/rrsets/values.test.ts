import { describe, expect, it } from "vitest";
import { rrsetsService } from "../../../../test/rig/records/rrsets-service.ts";

const { call, get, newZone } = rrsetsService();

describe("value formats: returned exactly as sent", () => {
  it.each([
    ["A", "192.0.2.1"],
    ["AAAA", "2001:DB8:0:0::1"],
    ["CNAME", "docs.example.com"],
    ["CNAME", "Docs.Example.com."],
    ["NS", "ns1"],
    ["PTR", "host.example."],
    ["MX", "10 mail.example."],
    ["SRV", "0 5 5060 sip.example."],
    ["TXT", '"v=spf1 -all"'],
    ["TXT", '"one" "two"'],
    ["TXT", '"a \\"quoted\\" word; and a \\\\ backslash"'],
    ["TXT", '""'],
    ["TXT", `"${"x".repeat(255)}" "${"y".repeat(255)}"`],
    ["CAA", '0 issue "ca.example"'],
    ["TLSA", `3 1 1 ${"ab".repeat(32)}`],
    ["DS", `12345 13 2 ${"AB".repeat(32)}`],
    ["HINFO", '"amd64" "linux"'],
    ["RP", "admin.example. info.example."],
    ["HTTPS", "1 . alpn=h2,h3"],
    ["SVCB", "0 other.example."],
    ["TYPE65280", "\\# 2 ABCD"],
  ])("%s: %s", async (type, value) => {
    const zone = await newZone();
    const body = { name: "x", type, records: [{ value }] };
    const { status, json } = await call("POST", `/zones/${zone.id}/rrsets`, body);
    expect([status, json.rrset?.records]).toEqual([201, [{ value, comment: "" }]]);
    expect((await get(`/zones/${zone.id}/rrsets/x/${type}`)).rrset.records).toEqual([{ value, comment: "" }]);
  });

  it.each([
    ["A", "192.0.2.256", "invalid value '192.0.2.256'"],
    ["A", "192.0.2.1 ; x", "invalid value '192.0.2.1 ; x'"],
    ["AAAA", "192.0.2.1", "invalid value '192.0.2.1'"],
    ["MX", "mail.example.", "invalid value 'mail.example.'"],
    ["CNAME", "größe.example.", "invalid value 'größe.example.'"],
    ["TLSA", "3 1 1 xyz", "invalid value '3 1 1 xyz'"],
    ["TXT", "bare", "TXT records must be fully escaped with double quotes"],
    ["TXT", "two words", "TXT records must be fully escaped with double quotes"],
    ["TXT", '"half', "TXT records must be fully escaped with double quotes"],
    ["TXT", '"one" two', "TXT records must be fully escaped with double quotes"],
    ["TXT", '"one" two "three"', "TXT records must be fully escaped with double quotes"],
    ["TXT", `"${"x".repeat(256)}"`, "a TXT string exceeds 255 characters"],
  ])("%s: %s is refused", async (type, value, message) => {
    const zone = await newZone();
    const body = { name: "x", type, records: [{ value }] };
    const { status, error } = await call("POST", `/zones/${zone.id}/rrsets`, body);
    expect([status, error.code]).toEqual([422, "invalid_input"]);
    expect(error.message).toContain(message);
    expect(error.details.fields[0].name).toBe("rrsets[0].records[0].value");
  });

  it("names in Unicode are refused, in punycode accepted", async () => {
    const zone = await newZone();
    const add = (name: string) =>
      call("POST", `/zones/${zone.id}/rrsets`, { name, type: "A", records: [{ value: "192.0.2.1" }] });
    expect((await add("größe")).status).toBe(422);
    expect((await add("xn--gre-6ka8i")).json.rrset.name).toBe("xn--gre-6ka8i");
  });
});

describe("values that cannot be right", () => {
  it.each([
    ["MX", "10 192.0.2.1", "192.0.2.1 is an address, and this must be a name"],
    ["NS", "192.0.2.1.", "192.0.2.1 is an address, and this must be a name"],
    ["CAA", '0 isue "ca.example"', "isue is not a CAA property"],
  ])("%s %s is refused with the reason", async (type, value, message) => {
    const zone = await newZone();
    const { status, error } = await call("POST", `/zones/${zone.id}/rrsets`, { name: "x", type, records: [{ value }] });
    expect([status, error.code, error.message]).toEqual([422, "invalid_input", expect.stringContaining(message)]);
  });
});
