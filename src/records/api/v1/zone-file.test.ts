import { describe, expect, it } from "vitest";
import { v1Service } from "../../../../test/rig/records/v1-service.ts";

const { call, post, newZone, newRecord, newToken } = v1Service();

const importInto = (id: string, body: string, headers: Record<string, string> = {}) =>
  call("POST", `/api/v1/zones/${id}/import`, { body, headers });
const exported = async (id: string) => (await call("GET", `/api/v1/zones/${id}/export`)).text;
const recordsOf = async (
  id: string,
): Promise<{ id: string; name: string; type: string; value: string; ttl?: number }[]> =>
  (await call("GET", `/api/v1/records?zone_id=${id}`)).json.records;
const texts = async (id: string) =>
  (await recordsOf(id)).filter((each) => each.type !== "SOA").map((each) => `${each.name} ${each.type} ${each.value}`);

const file = (zone: string, ...lines: readonly string[]) =>
  `$ORIGIN ${zone}.\n$TTL 600\n@ IN SOA ns1.example.net. dns.example.net. 7 86400 10800 3600000 3600\n${lines.join("\n")}\n`;

const manyTexts = (name: string) => Array.from({ length: 300 }, (_, i) => `${name} IN TXT "${i}${"x".repeat(250)}"`);

describe("POST /zones/{id}/import", () => {
  it("replaces everything in the zone, and answers 200 with the zone", async () => {
    const zone = await newZone();
    await newRecord(zone.id, { name: "old" });
    const { status, json } = await importInto(zone.id, file(zone.name, "www 900 IN A 192.0.2.1", "@ IN MX 10 www"));
    expect([status, json.zone.id, json.zone.records_count]).toEqual([200, zone.id, 3]);
    expect(await texts(zone.id)).toEqual(["@ MX 10 www", "www A 192.0.2.1"]);
  });

  it.each(["text/plain", "application/json", "application/octet-stream", "nonsense", ""])(
    "takes the body as is, whatever its content type: %j",
    async (type) => {
      const zone = await newZone();
      const headers: Record<string, string> = type === "" ? {} : { "content-type": type };
      const { status } = await importInto(zone.id, file(zone.name, "a IN A 192.0.2.1"), headers);
      expect(status).toBe(200);
      expect(await texts(zone.id)).toEqual(["a A 192.0.2.1"]);
    },
  );

  it("refuses a new NS record at a wildcard name, and reports its line", async () => {
    const zone = await newZone();
    const { status, json } = await importInto(zone.id, file(zone.name, "*.w IN NS ns1.example.net."));
    expect([status, json.error.message]).toEqual([
      422,
      expect.stringMatching(/line 4.*an NS record at the wildcard name \*\.w has no meaning/),
    ]);
  });

  it("is the way to change the SOA; the service keeps its serial", async () => {
    const zone = await newZone();
    const serial = async () =>
      Number((await recordsOf(zone.id)).find(({ type }) => type === "SOA")?.value.split(" ")[2]);
    const before = await serial();
    const soa = "@ IN SOA other.example.net. me.example.net. 7 1 2 3 4";
    expect((await importInto(zone.id, `$TTL 60\n${soa}\n`)).json.zone.ttl).toBe(60);
    const [record] = await recordsOf(zone.id);
    expect(record?.value).toBe(`other.example.net. me.example.net. ${before + 1} 1 2 3 4`);
  });

  it("keeps the SOA and the zone's TTL if the file has none", async () => {
    const zone = await newZone();
    const [before] = await recordsOf(zone.id);
    const { json } = await importInto(zone.id, "a IN A 192.0.2.1\n");
    expect([json.zone.ttl, json.zone.records_count]).toEqual([600, 2]);
    expect((await recordsOf(zone.id)).find(({ type }) => type === "SOA")?.id).toBe(before?.id);
  });

  it("is one write: the serial rises by one, and not at all if nothing changes", async () => {
    const zone = await newZone();
    const serial = async () => Number((await exported(zone.id)).match(/SOA\t\S+ \S+ (\d+)/)?.[1]);
    const before = await serial();
    const lines = Array.from({ length: 500 }, (_, i) => `h${i} IN A 192.0.2.${i % 250}`);
    await importInto(zone.id, file(zone.name, ...lines));
    expect(await serial()).toBe(before + 1);
    const records = await recordsOf(zone.id);
    await importInto(zone.id, await exported(zone.id));
    expect(await serial()).toBe(before + 1);
    expect(await recordsOf(zone.id)).toEqual(records);
  });

  it("keeps the spelling of records that stay, also of those that get a comment", async () => {
    const zone = await newZone();
    const sent = { name: `WWW.${zone.name}.`, type: "AAAA", value: "2001:DB8:0::1" };
    const before = await newRecord(zone.id, sent);
    await importInto(zone.id, file(zone.name, "www IN AAAA 2001:db8::1 ; the harbour"));
    const after = (await recordsOf(zone.id)).find(({ type }) => type === "AAAA");
    expect(after).toEqual({ ...before, modified: expect.any(String) });
    expect(after).toMatchObject(sent);
  });

  it("keeps the ids of records that stay", async () => {
    const zone = await newZone();
    const kept = await newRecord(zone.id, {});
    await importInto(zone.id, file(zone.name, "www IN A 192.0.2.1", "www IN A 192.0.2.2"));
    expect((await recordsOf(zone.id)).map(({ id }) => id)).toContain(kept.id);
  });

  it("reports all faults with their lines, and changes nothing", async () => {
    const zone = await newZone();
    await newRecord(zone.id, {});
    const before = await call("GET", `/api/v1/records?zone_id=${zone.id}`);
    const bad = file(
      zone.name,
      "a IN A 1.2.3.4.5",
      "good IN A 192.0.2.1",
      "x.other.example. IN A 192.0.2.1",
      "b IN NOPE x",
      "c IN CNAME d",
      "c IN A 192.0.2.1",
    );
    const { status, json } = await importInto(zone.id, bad);
    expect([status, json.zone.id, json.error.code]).toEqual([422, "", 422]);
    expect(json.error.message).toMatch(
      /^422 Unprocessable Entity: invalid: line 4: .*; line 6: .*; line 7: .*; line 8: .*; $/,
    );
    expect((await call("GET", `/api/v1/records?zone_id=${zone.id}`)).text).toBe(before.text);
  });

  it.each([
    ["a CNAME next to others", ["x IN CNAME y", "x IN A 192.0.2.1"], /line 4: x has a CNAME record/],
    ["nothing in it", undefined, /the file contains no records/],
  ])("refuses %s", async (_, lines, message) => {
    const zone = await newZone();
    const { status, json } = await importInto(zone.id, lines ? file(zone.name, ...lines) : "; nothing\n");
    expect([status, json.error.message]).toEqual([422, expect.stringMatching(message)]);
  });

  it("refuses bytes that are not UTF-8", async () => {
    const zone = await newZone();
    const body = Buffer.from([0x61, 0x20, 0xff, 0x0a]);
    const { status, json } = await call("POST", `/api/v1/zones/${zone.id}/import`, { body });
    expect([status, json.error.message]).toEqual([422, expect.stringMatching(/not UTF-8/)]);
  });

  it("accepts up to 16 MiB, and answers 413 to more", async () => {
    const zone = await newZone();
    const line = `; ${"x".repeat(1021)}\n`;
    const most = file(zone.name, "a IN A 192.0.2.1") + line.repeat(16 * 1023);
    expect(Buffer.byteLength(most)).toBeGreaterThan(15 * 1024 * 1024);
    expect((await importInto(zone.id, most)).status).toBe(200);
    expect((await importInto(zone.id, most + line.repeat(32))).status).toBe(413);
  });

  it("needs a token for the whole zone", async () => {
    const zone = await newZone();
    const body = file(zone.name, "a IN A 192.0.2.1");
    const path = `/api/v1/zones/${zone.id}/import`;
    const reader = await newToken("main", { access: "read" });
    expect((await call("POST", path, { body, token: reader })).status).toBe(403);
    const narrow = await newToken("main", { access: "write", sets: [{ owner: "a" }] });
    expect((await call("POST", path, { body, token: narrow })).status).toBe(403);
    expect((await call("POST", path, { body, token: await newToken("stranger") })).status).toBe(404);
    expect((await importInto("none", body)).json.error).toEqual({ message: "zone not found", code: 404 });
  });
});

describe("GET /zones/{id}/export", () => {
  it("has the layout of the original", async () => {
    const zone = await newZone();
    await newRecord(zone.id, { name: "www", value: "8.8.8.8", ttl: 900 });
    await newRecord(zone.id, { name: "@", type: "NS", value: "ns1.example.net." });
    await newRecord(zone.id, { name: "mail" });
    const { status, headers, text } = await call("GET", `/api/v1/zones/${zone.id}/export`);
    expect([status, headers["content-type"]]).toEqual([200, "text/plain; charset=utf-8"]);
    expect(text.replace(/\d{10}/, "SERIAL").split("\n")).toEqual([
      `$ORIGIN ${zone.name}.`,
      "$TTL 600",
      "; SOA Records",
      "@\t\tIN\tSOA\tns1.example.net. hostmaster.ns1.example.net. SERIAL 3600 300 604800 3600",
      "; NS Records",
      "@\t\tIN\tNS\tns1.example.net.",
      "; A Records",
      "mail\t\tIN\tA\t192.0.2.1",
      "www\t900\tIN\tA\t8.8.8.8",
      "",
    ]);
  });

  it("shows a token only the sets that it may see", async () => {
    const zone = await newZone();
    await newRecord(zone.id, { name: "mine" });
    await newRecord(zone.id, { name: "other" });
    const narrow = await newToken("main", { access: "read", sets: [{ owner: "mine" }] });
    const { text } = await call("GET", `/api/v1/zones/${zone.id}/export`, { token: narrow });
    expect(text).toContain("mine\t");
    expect(text).not.toContain("other");
  });

  it("is a 404 for a missing zone", async () => {
    const { status, json } = await call("GET", "/api/v1/zones/none/export");
    expect([status, json.error]).toEqual([404, { message: "zone not found", code: 404 }]);
  });
});

describe("POST /zones/file/validate", () => {
  const validate = (body: string) => call("POST", "/api/v1/zones/file/validate", { body });

  it("counts the records; the list of them is empty, as in the original", async () => {
    const { status, text } = await validate(file("example.org", "www IN A 192.0.2.1", "www IN A 192.0.2.2"));
    expect([status, text]).toEqual([200, '{"parsed_records":3,"valid_records":[]}\n']);
  });

  it.each([
    ["a fault", file("example.org", "www IN A nope"), /line 4: /],
    ["no zone", "www IN A 192.0.2.1\n", /which zone it is for/],
    ["nothing", "", /which zone it is for/],
    ["two SOA records", file("example.org", "@ IN SOA a. b. 1 2 3 4 5"), /line 3: .*exactly one SOA/],
    [
      "an NS record at a wildcard name",
      file("example.org", "*.w IN NS ns1.example.net."),
      /line 4: .*the wildcard name/,
    ],
    ["a set that DNS cannot hold", file("example.org", ...manyTexts("www")), /line 4: .*too large for any DNS message/],
  ])("refuses a file with %s", async (_, body, message) => {
    const { status, json } = await validate(body);
    expect([status, json.parsed_records, json.valid_records]).toEqual([422, 0, []]);
    expect(json.error).toEqual({ message: expect.stringMatching(message), code: 422 });
  });

  it("refuses a file with more faults than fit on the stack", async () => {
    const clashes = Array.from({ length: 150_000 }, (_, i) => `h${i} IN A 192.0.2.1\nh${i} IN CNAME a`);
    expect((await validate(file("example.org", clashes.join("\n")))).status).toBe(422);
  });

  it("stores nothing", async () => {
    const zone = await newZone();
    await validate(file(zone.name, "www IN A 192.0.2.1"));
    expect(await texts(zone.id)).toEqual([]);
    expect((await post("/api/v1/zones", { name: zone.name })).status).toBe(422);
  });
});
