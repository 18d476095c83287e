import { describe, expect, it } from "vitest";
import { v1Service } from "../../../../test/rig/records/v1-service.ts";

const { call, post, put, newZone, newRecord } = v1Service();

const create = async (zoneId: string, fields: object) =>
  await post("/api/v1/records", { zone_id: zoneId, type: "A", name: "www", value: "192.0.2.1", ...fields });
const exported = async (zoneId: string) => (await call("GET", `/api/v1/zones/${zoneId}/export`)).text;

describe("types", () => {
  it.each([
    ["A", "192.0.2.1"],
    ["A", "127.0.0.1"],
    ["AAAA", "2001:db8::1"],
    ["CAA", '0 issue "ca.example; account=7"'],
    ["CNAME", "target"],
    ["DS", "60485 5 1 2BB183AF5F22588179A53B0A98631FAD1A292118"],
    ["HINFO", '"PC" "Linux"'],
    ["HTTPS", "1 . alpn=h2"],
    ["MX", "10 mail"],
    ["NS", "ns1.example.net."],
    ["PTR", "host.example.net."],
    ["RP", "admin.example.net. ."],
    ["SRV", "10 20 5060 sip"],
    ["SVCB", "1 svc.example.net. port=8443"],
    ["TLSA", "3 1 1 0C72AC70B745AC19998811B131D662C9AC69DBDBE7CB23E5B514B56664C5D3D6"],
    ["TXT", "v=spf1 -all"],
  ])("%s %s is accepted and returned as sent", async (type, value) => {
    const zone = await newZone();
    const { status, json } = await create(zone.id, { type, value });
    expect([status, json.record?.type, json.record?.value]).toEqual([200, type, value]);
    const read = await call("GET", `/api/v1/records/${json.record.id}`);
    expect(read.json.record).toEqual(json.record);
  });

  it.each(["SOA", "DANE", "NOPE", "", "a", "TYPE65280", "ANY"])("%j cannot be created", async (type) => {
    const zone = await newZone();
    const { status, json } = await create(zone.id, { type });
    expect([status, json.error]).toEqual([422, { message: "record type not allowed", code: 422 }]);
  });

  it("the SOA is neither edited nor deleted; its serial counts changes as YYYYMMDDnn and modified follows", async () => {
    const zone = await newZone();
    const soa = async () => (await call("GET", `/api/v1/records?zone_id=${zone.id}&type=SOA`)).json.records[0];
    const before = await soa();
    expect(before.value.split(" ")[2]).toMatch(/^20\d{8}$/);
    const body = { zone_id: zone.id, type: "A", name: "@", value: "192.0.2.1" };
    expect((await put(`/api/v1/records/${before.id}`, body)).json.error.message).toBe("record type not allowed");
    expect((await call("DELETE", `/api/v1/records/${before.id}`)).json.error.message).toBe("record type not allowed");
    expect(await soa()).toEqual(before);
    const record = await newRecord(zone.id, {});
    const after = await soa();
    expect(Number(after.value.split(" ")[2])).toBe(Number(before.value.split(" ")[2]) + 1);
    expect(after.modified).toBe(record.modified);
  });
});

describe("names", () => {
  it.each([
    ["@", "@"],
    ["", "@"],
    ["www", "www"],
    ["WWW", "www"],
    ["*", "*"],
    ["*.sub", "*.sub"],
    ["_acme-challenge.sub", "_acme-challenge.sub"],
    ["a.ZONE.", "a"],
    ["ZONE.", "@"],
    ["ZONE", "@"],
    ["x.ZONE", "x.ZONE"],
    ["xn--bcher-kva", "xn--bcher-kva"],
  ])("%j is returned as sent, and means the owner %j", async (text, means) => {
    const zone = await newZone();
    const name = text.replace("ZONE", zone.name);
    const { json } = await create(zone.id, { name });
    expect(json.record.name).toBe(name);
    expect(await exported(zone.id)).toContain(`\n${means.replace("ZONE", zone.name)}\t\tIN\tA\t192.0.2.1\n`);
    const found = await call("GET", `/api/v1/records?zone_id=${zone.id}&type=A&name=${encodeURIComponent(name)}`);
    expect(found.json.records).toHaveLength(1);
  });

  it("an absolute name outside the zone is refused", async () => {
    const zone = await newZone();
    expect((await create(zone.id, { name: "www.example.com." })).json.error.message).toBe(
      "422 Unprocessable Entity: invalid: out of zone data .; ",
    );
  });
});

describe("TTL", () => {
  it.each([0, 1, 59, 60, 86_400, 2_147_483_647])("%d is accepted", async (ttl) => {
    const zone = await newZone();
    expect((await newRecord(zone.id, { ttl })).ttl).toBe(ttl);
    expect(await exported(zone.id)).toContain(`\nwww\t${ttl}\tIN\tA\t`);
  });

  it.each([-1, 1.5, 2_147_483_648, "x", "-1", "1.5", true, [], {}])("%j is refused", async (ttl) => {
    const zone = await newZone();
    expect((await create(zone.id, { ttl })).status).toBe(422);
  });

  it("applies to the whole set", async () => {
    const zone = await newZone();
    const first = await newRecord(zone.id, { ttl: 60 });
    await newRecord(zone.id, { value: "192.0.2.2", ttl: 300 });
    expect((await call("GET", `/api/v1/records/${first.id}`)).json.record.ttl).toBe(300);
    expect((await newRecord(zone.id, { value: "192.0.2.3" })).ttl).toBe(300);
  });
});

describe("TXT", () => {
  const long = "x".repeat(300);
  it.each([
    ["simple text", "abc_DEF-123", "abc_DEF-123", '"abc_DEF-123"'],
    ["blanks and a semicolon", "v=DMARC1; p=none", "v=DMARC1; p=none", '"v=DMARC1; p=none"'],
    ["a quoted string", '"a b"', '"a b"', '"a b"'],
    ["two strings", '"a" "b"', '"a" "b"', '"a" "b"'],
    ["254 quoted bytes", `"${"y".repeat(254)}"`, `"${"y".repeat(254)}"`, `"${"y".repeat(254)}"`],
    ["255 quoted bytes", `"${"y".repeat(255)}"`, `"${"y".repeat(255)}"`, `"${"y".repeat(255)}"`],
    ["300 bytes", long, `"${"x".repeat(255)}" "${"x".repeat(45)}"`, `"${"x".repeat(255)}" "${"x".repeat(45)}"`],
    ["an empty string", '""', '""', '""'],
    ["beyond ASCII", "grün", "grün", '"gr\\195\\188n"'],
    ["escaped quotes, not quoted", '{\\"a\\":\\"b\\"}', '{\\"a\\":\\"b\\"}', '"{\\"a\\":\\"b\\"}"'],
    ["an escaped backslash, not quoted", "back\\\\slash", "back\\\\slash", '"back\\\\slash"'],
    ["an escaped semicolon", "a\\;b", '"a;b"', '"a;b"'],
    ["a lone quote", 'say "hi"', '"say \\"hi\\""', '"say \\"hi\\""'],
    ["a word of 255 bytes and another", `${"y".repeat(255)} z`, `"${"y".repeat(255)}" "z"`, `"${"y".repeat(255)}" "z"`],
  ])("%s", async (_, sent, echoed, meaning) => {
    const zone = await newZone();
    const { id } = await newRecord(zone.id, { type: "TXT", value: sent });
    expect((await call("GET", `/api/v1/records/${id}`)).json.record.value).toBe(echoed);
    expect(await exported(zone.id)).toContain(`\nwww\t\tIN\tTXT\t${meaning}\n`);
  });

  it("an empty value is refused", async () => {
    const zone = await newZone();
    expect((await create(zone.id, { type: "TXT", value: "" })).json.error.message).toBe("invalid TXT record");
  });
});

describe("targets", () => {
  it.each([
    ["CNAME", "other", "other.ZONE."],
    ["CNAME", "other.example.", "other.example."],
    ["MX", "10 @", "10 ZONE."],
    ["NS", "NS1.Example.NET.", "ns1.example.net."],
    ["SRV", "0 0 443 a.b", "0 0 443 a.b.ZONE."],
  ])("%s %s is returned as sent, and means %s", async (type, value, means) => {
    const zone = await newZone();
    expect((await newRecord(zone.id, { type, value })).value).toBe(value);
    expect(await exported(zone.id)).toContain(`\tIN\t${type}\t${means.replace("ZONE", zone.name)}\n`);
  });
});

describe("values that cannot be right", () => {
  it.each([
    ["MX", "10 192.0.2.1", /^invalid MX record: 192\.0\.2\.1 is an address/],
    ["MX", "10 192.0.2.1.", /^invalid MX record: 192\.0\.2\.1 is an address/],
    ["NS", "2001:db8::1", /^invalid NS record: 2001:db8::1 is an address/],
    ["CNAME", "192.0.2.1", /^invalid CNAME record: 192\.0\.2\.1 is an address/],
    ["CAA", '0 isue "ca.example"', /isue is not a CAA property/],
  ])("%s %s is refused with the reason", async (type, value, message) => {
    const zone = await newZone();
    const { status, json } = await create(zone.id, { type, value });
    expect([status, json.error.message]).toEqual([422, expect.stringMatching(message)]);
    const file = `$ORIGIN ${zone.name}.\n$TTL 60\nx IN ${type} ${value}\n`;
    expect((await call("POST", `/api/v1/zones/${zone.id}/import`, { body: file })).status).toBe(422);
  });
});

describe("duplicates", () => {
  it("with the same meaning are `taken`, also in another spelling", async () => {
    const zone = await newZone();
    await newRecord(zone.id, { type: "AAAA", value: "2001:db8::1" });
    const again = await create(zone.id, { type: "AAAA", name: "WWW", value: "2001:DB8:0::1" });
    expect([again.status, again.json.error.message]).toEqual([422, "422 Unprocessable Entity: taken: 2001:DB8:0::1; "]);
  });

  it("another value is another record of the set", async () => {
    const zone = await newZone();
    await newRecord(zone.id, {});
    expect((await create(zone.id, { value: "192.0.2.2" })).status).toBe(200);
  });
});
