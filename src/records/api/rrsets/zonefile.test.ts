import { describe, expect, it } from "vitest";
import { rrsetsService } from "../../../../test/rig/records/rrsets-service.ts";

const { call, get, newSet, newZone } = rrsetsService();

type Zone = { readonly id: number; readonly name: string };
type Set = { readonly id: string; readonly ttl: number | null; readonly records: readonly object[] };

const importInto = (zone: Zone, zonefile: string) =>
  call("POST", `/zones/${zone.id}/actions/import_zonefile`, { zonefile });
const setsOf = async (zone: Zone): Promise<readonly Set[]> => (await get(`/zones/${zone.id}/rrsets`)).rrsets;
const ids = async (zone: Zone) => (await setsOf(zone)).map((set) => set.id);

const head = "@ IN SOA ns1.example.net. me.example.net. 1 7200 900 1209600 300\n";
const servers = "@ IN NS ns1.example.net.\n@ IN NS ns2.example.net.\n@ IN NS ns3.example.net.\n";

it("a file with rarer types is imported, and exported by their names; the API itself keeps the vendor's list", async () => {
  const zone = await newZone();
  const fingerprint = "22".repeat(32);
  const lines = [
    `host IN SSHFP 4 2 ${fingerprint}`,
    'e164 IN NAPTR 100 10 "u" "E2U+sip" "!^.*$!sip:x@y!" .',
    "old IN DNAME new",
  ];
  expect((await importInto(zone, `${head}${servers}${lines.join("\n")}\n`)).status).toBe(201);
  expect(await ids(zone)).toEqual(expect.arrayContaining(["host/TYPE44", "e164/TYPE35", "old/TYPE39"]));
  const { zonefile } = await get(`/zones/${zone.id}/zonefile`);
  expect(zonefile).toContain(`host\tIN\tSSHFP\t4 2 ${fingerprint}\n`);
  expect(zonefile).toContain('e164\tIN\tNAPTR\t100 10 "u" "E2U+sip" "!^.*$!sip:x@y!" .\n');
  expect(zonefile).toContain(`old\tIN\tDNAME\tnew.${zone.name}.\n`);
  expect((await importInto(zone, zonefile)).status).toBe(201);
  const named = { name: "b", type: "SSHFP", records: [{ value: `4 2 ${fingerprint}` }] };
  expect((await call("POST", `/zones/${zone.id}/rrsets`, named)).status).toBe(422);
  expect((await call("POST", `/zones/${zone.id}/rrsets`, { ...named, type: "TYPE44" })).status).toBe(201);
});

describe("zone creation", () => {
  it("SOA and NS are added; rrsets with TTL, labels and comments are accepted", async () => {
    const zone = await newZone({
      ttl: 7200,
      labels: { team: "ops" },
      rrsets: [
        { name: "@", type: "MX", ttl: 900, labels: { a: "b" }, records: [{ value: "10 mx1", comment: "main" }] },
      ],
    });
    expect([zone.ttl, zone.labels, zone.record_count]).toEqual([7200, { team: "ops" }, 5]);
    expect((await setsOf(zone))[0]).toMatchObject({
      id: "@/MX",
      ttl: 900,
      labels: { a: "b" },
      records: [{ value: "10 mx1", comment: "main" }],
    });
    expect(await ids(zone)).toEqual(["@/MX", "@/NS", "@/SOA"]);
  });

  it("faults in the sets are reported with their places, and no zone is created", async () => {
    const rrsets = [
      { name: "a", type: "A", records: [{ value: "192.0.2.1" }] },
      { name: "b", type: "A", records: [{ value: "192.0.2.1" }, { value: "nonsense" }] },
    ];
    const { status, error } = await call("POST", "/zones", { name: "faulty.example", mode: "primary", rrsets });
    expect([status, error.details.fields[0].name]).toEqual([422, "rrsets[1].records[1].value"]);
    expect((await call("GET", "/zones/faulty.example")).status).toBe(404);
  });

  it("rrsets and zonefile cannot be combined, but either may be empty", async () => {
    const rrsets = [{ name: "set", type: "A", records: [{ value: "192.0.2.1" }] }];
    const zonefile = "file IN A 192.0.2.2\n";
    const body = { name: "both.example", mode: "primary", rrsets, zonefile };
    expect((await call("POST", "/zones", body)).error.details.fields[0].name).toBe("zonefile");
    expect((await ids(await newZone({ rrsets, zonefile: "" })))[0]).toBe("set/A");
    expect((await ids(await newZone({ rrsets: [], zonefile })))[0]).toBe("file/A");
    expect(await ids(await newZone({ rrsets: [], zonefile: "" }))).toEqual(["@/NS", "@/SOA"]);
  });

  it("primary_nameservers are ignored for primary, rrsets and zonefile for secondary zones", async () => {
    const primary = await newZone({ primary_nameservers: [{ address: "nonsense" }] });
    expect(primary.primary_nameservers).toEqual([]);
    const secondary = await newZone({ mode: "secondary", rrsets: "nonsense", zonefile: 5 });
    expect(secondary.mode).toBe("secondary");
  });

  it("with a zonefile, in which SOA and NS may be missing; $TTL becomes the zone's", async () => {
    const zone = await newZone({ zonefile: "$TTL 1800\nwww IN A 192.0.2.1 ; the web\nmail 300 IN A 192.0.2.2\n" });
    expect([zone.ttl, zone.record_count]).toEqual([1800, 6]);
    const [mail, www] = await setsOf(zone);
    expect(www).toMatchObject({ id: "www/A", ttl: null, records: [{ value: "192.0.2.1", comment: "the web" }] });
    expect(mail).toMatchObject({ id: "mail/A", ttl: 300 });
  });
});

describe("import", () => {
  it("replaces all sets; labels are lost", async () => {
    const { zone, path } = await newSet();
    await call("PUT", path, { labels: { a: "b" } });
    expect((await importInto(zone, `${head}${servers}www IN A 192.0.2.1\nnew IN A 192.0.2.2\n`)).status).toBe(201);
    expect((await get(path)).rrset.labels).toEqual({});
    expect((await importInto(zone, `${head}${servers}only IN A 192.0.2.3\n`)).status).toBe(201);
    expect(await ids(zone)).toEqual(["only/A", "@/NS", "@/SOA"]);
  });

  it("needs a SOA and the assigned NS records", async () => {
    const zone = await newZone();
    for (const file of [servers, head, `${head}@ IN NS ns1.example.net.\n`]) {
      const { status, error } = await importInto(zone, file);
      expect([status, error.code]).toEqual([422, "invalid_input"]);
    }
    expect((await importInto(zone, `${head}${servers}@ IN NS own.example.\n`)).status).toBe(201);
  });

  it("takes other nameservers if that is asked for, beyond the original API", async () => {
    const zone = await newZone();
    const body = { zonefile: `${head}@ IN NS other.example.\n`, other_nameservers: true };
    expect((await call("POST", `/zones/${zone.id}/actions/import_zonefile`, body)).status).toBe(201);
    expect((await get(`/zones/${zone.id}/rrsets/@/NS`)).rrset.records).toMatchObject([{ value: "other.example." }]);
  });

  it("merges beyond the original API: other sets stay with their labels and protection, and the zone keeps its TTL", async () => {
    const { zone, path } = await newSet();
    await call("PUT", path, { labels: { a: "b" } });
    await call("POST", `/zones/${zone.id}/rrsets`, { name: "kept", type: "A", records: [{ value: "192.0.2.7" }] });
    await call("POST", `/zones/${zone.id}/rrsets/kept/A/actions/change_protection`, { change: true });
    const merge = (zonefile: string) =>
      call("POST", `/zones/${zone.id}/actions/import_zonefile`, { zonefile, merge: true });
    expect((await merge("$TTL 900\nwww IN A 192.0.2.9\nnew 300 IN A 192.0.2.2\n")).status).toBe(201);
    expect(await ids(zone)).toEqual(["kept/A", "new/A", "www/A", "@/NS", "@/SOA"]);
    expect((await get(path)).rrset).toMatchObject({ labels: { a: "b" }, ttl: 900, records: [{ value: "192.0.2.9" }] });
    expect((await get(`/zones/${zone.id}`)).zone.ttl).toBe(3_600);
    expect((await merge("kept IN A 192.0.2.8\n")).status).not.toBe(201);
  });

  it("requires no NS records that the zone does not have", async () => {
    const zone = await newZone();
    await call("POST", `/zones/${zone.id}/rrsets/@/NS/actions/set_records`, { records: [{ value: "own.example." }] });
    expect((await importInto(zone, `${head}@ IN NS other.example.\n`)).status).toBe(201);
  });

  it("$ORIGIN must be the zone's, $TTL becomes its TTL, and may come after records", async () => {
    const zone = await newZone();
    const file = `${head}${servers}a IN 300 A 192.0.2.1\nb 300 IN A 192.0.2.2\nc A 192.0.2.3\n`;
    expect((await importInto(zone, `$ORIGIN other.example.\n${file}`)).status).toBe(422);
    expect((await importInto(zone, `$ORIGIN ${zone.name}.\n$TTL 900\n${file}`)).status).toBe(201);
    expect((await get(`/zones/${zone.id}`)).zone.ttl).toBe(900);
    expect((await setsOf(zone)).slice(0, 3).map((set) => `${set.id} ${set.ttl}`)).toEqual([
      "a/A 300",
      "b/A 300",
      "c/A null",
    ]);
    expect((await importInto(zone, `${file}$TTL 1200\n`)).status).toBe(201);
    expect((await get(`/zones/${zone.id}`)).zone.ttl).toBe(1200);
  });

  it("a comment after a record becomes its comment; full-line comments are dropped", async () => {
    const zone = await newZone();
    await importInto(zone, `; about\n${head}${servers}a IN A 192.0.2.1 ; told here\n; the end\n`);
    expect((await get(`/zones/${zone.id}/rrsets/a/A`)).rrset.records).toEqual([
      { value: "192.0.2.1", comment: "told here" },
    ]);
  });

  it("reports all faults with their lines, and changes nothing", async () => {
    const { zone } = await newSet();
    const clash = "c IN CNAME d\nc IN A 192.0.2.1\n";
    const { status, error } = await importInto(zone, `${head}${servers}a IN A nonsense\nb IN NOPE x\n${clash}`);
    expect([status, error.code]).toEqual([422, "invalid_input"]);
    const placesOf = (refusal: typeof error) => refusal.details.fields.map((field: { name: string }) => field.name);
    expect(placesOf(error)).toEqual(["line 5", "line 6", "line 7"]);
    expect(placesOf((await importInto(zone, `${head}${servers}${clash}`)).error)).toEqual(["line 5"]);
    const made = await call("POST", "/zones", { name: "clash.example", mode: "primary", zonefile: clash });
    expect([made.status, placesOf(made.error)]).toEqual([422, ["line 1"]]);
    expect(await ids(zone)).toEqual(["www/A", "@/NS", "@/SOA"]);
  });

  it("refuses a CNAME next to other data", async () => {
    const zone = await newZone();
    expect((await importInto(zone, `${head}${servers}a CNAME b\na A 192.0.2.1\n`)).status).toBe(422);
  });

  it("raises TTLs under 60, and says so; a preview says it before, and writes nothing", async () => {
    const low = `$TTL 30\n${head}${servers}a 59 IN A 192.0.2.1\nb 60 A 192.0.2.1\n`;
    const notes = ["TTLs below 60 seconds are raised to 60: the default, a A"];
    const zone = await newZone();
    const preview = (body: object) => call("POST", `/zones/${zone.name}/zonefile/preview`, body);
    const before = await ids(zone);
    expect(await preview({ zonefile: low })).toMatchObject({ status: 200, json: { notes } });
    expect(await ids(zone)).toEqual(before);
    expect((await call("POST", `/zones/${zone.name}/actions/import_zonefile`, { zonefile: low })).json).toMatchObject({
      notes,
    });
    const lines = (await call("GET", `/zones/${zone.name}/zonefile`)).json.zonefile;
    expect(lines).toMatch(/^\$TTL\t60$[\s\S]*^a\tIN\t60\tA/m);
    const made = { name: "low.example", mode: "primary", zonefile: low };
    expect((await call("POST", "/zones/low.example/zonefile/preview", { zonefile: low, create: true })).json).toEqual({
      notes,
    });
    expect((await call("GET", "/zones/low.example")).status).toBe(404);
    expect((await call("POST", "/zones", made)).json).toMatchObject({ notes });
  });

  it("keeps the zone's own SOA and NS sets, with their TTLs, if asked to", async () => {
    const { zone } = await newSet();
    const foreign =
      "$TTL 900\n@ SOA ns1.else.example. h.else.example. 1 2 3 4 5\n@ NS ns1.else.example.\nnew A 192.0.2.9\n";
    const own = async () => (await setsOf(zone)).filter(({ id }) => /^@\/(SOA|NS)$/.test(id));
    const records = async () =>
      (await own()).map((set) => set.records.map((record) => JSON.stringify(record).replace(/ \d{10} /, " ")));
    const before = await records();
    const into = (body: object) =>
      call("POST", `/zones/${zone.name}/actions/import_zonefile`, { zonefile: foreign, ...body });
    expect((await into({ own_records: "zone" })).status).toBe(201);
    expect(await ids(zone)).toEqual(["new/A", "@/NS", "@/SOA"]);
    expect(await records()).toEqual(before);
    expect((await own()).map(({ ttl }) => ttl)).toEqual([3600, 3600]);
    expect((await into({ own_records: "file", zonefile: "@ NS ns1.else.example.\n" })).status).toBe(201);
    expect(await ids(zone)).toEqual(["@/NS", "@/SOA"]);
    expect(JSON.stringify(await own())).toContain("ns1.else.example.");
    expect((await into({ own_records: "mine" })).status).toBe(422);
    const alias = { own_records: "zone", zonefile: "@ CNAME other.example.\n" };
    expect((await into(alias)).status).toBe(422);
    const made = { name: "own.example", mode: "primary", zonefile: foreign, own_records: "zone" };
    expect((await call("POST", "/zones", made)).status).toBe(201);
    expect((await call("GET", "/zones/own.example/zonefile")).json.zonefile).not.toContain("else.example");
  });

  it("refuses a merge with a CNAME next to what the zone has", async () => {
    const { zone } = await newSet();
    const into = (zonefile: string) =>
      call("POST", `/zones/${zone.name}/actions/import_zonefile`, { zonefile, merge: true });
    expect((await into("www CNAME other.example.\n")).status).toBe(422);
    expect((await into("@ CNAME other.example.\n")).status).toBe(422);
  });

  it("is refused by a preview for the same reasons", async () => {
    const { zone } = await newSet();
    const clash = { zonefile: `${head}${servers}c CNAME d\nc A 192.0.2.1\n` };
    for (const body of [clash, { zonefile: "www A 192.0.2.1\n" }, { zonefile: `${head}a A 192.0.2.1` }]) {
      const [tried, written] = [
        await call("POST", `/zones/${zone.name}/zonefile/preview`, body),
        await call("POST", `/zones/${zone.name}/actions/import_zonefile`, body),
      ];
      expect([tried.status, tried.error]).toEqual([written.status, written.error]);
      expect(tried.status).toBeGreaterThan(399);
    }
    expect((await call("POST", "/zones/no.such.example/zonefile/preview", clash)).status).toBe(404);
  });
});

describe("export", () => {
  it("origin, TTL, a blank line, SOA, then records with tabs, TTLs where set, and comments", async () => {
    const zone = await newZone({
      rrsets: [
        { name: "www", type: "A", ttl: 300, records: [{ value: "192.0.2.1", comment: "the web" }] },
        { name: "@", type: "TXT", records: [{ value: '"x; y"' }] },
      ],
    });
    const { zonefile } = await get(`/zones/${zone.id}/zonefile`);
    expect(zonefile.split("\n").map((line: string) => line.replace(/\d{10}/, "SERIAL"))).toEqual([
      `$ORIGIN\t${zone.name}.`,
      "$TTL\t3600",
      "",
      "@\tIN\tSOA\tns1.example.net. hostmaster.ns1.example.net. SERIAL 3600 300 604800 3600",
      "",
      "@\tIN\tNS\tns1.example.net.",
      "@\tIN\tNS\tns3.example.net.",
      "@\tIN\tNS\tns2.example.net.",
      "www\tIN\t300\tA\t192.0.2.1 ; the web",
      '@\tIN\tTXT\t"x; y"',
      "",
    ]);
  });

  it("imported again changes nothing: values stay as sent, although the file spells them differently", async () => {
    const zone = await newZone();
    const sent = [
      ["a", "AAAA", "2001:DB8:0::1"],
      ["b", "CNAME", "Docs"],
      ["c", "MX", "10  mail"],
      ["d", "TXT", '"é"'],
    ] as const;
    for (const [name, type, value] of sent) {
      await call("POST", `/zones/${zone.id}/rrsets`, { name, type, records: [{ value, comment: "kept" }] });
    }
    const before = [await setsOf(zone), (await get(`/zones/${zone.id}`)).zone.serial];
    const { zonefile } = await get(`/zones/${zone.id}/zonefile`);
    expect((await importInto(zone, zonefile)).status).toBe(201);
    expect([await setsOf(zone), (await get(`/zones/${zone.id}`)).zone.serial]).toEqual(before);
  });

  it("can be imported again, with the same result", async () => {
    const zone = await newZone({
      rrsets: [
        { name: "www", type: "A", ttl: 300, records: [{ value: "192.0.2.1", comment: "the web" }] },
        { name: "long", type: "TXT", records: [{ value: `"${"x".repeat(255)}" "y\\"z"` }] },
        { name: "alias", type: "CNAME", records: [{ value: "www" }] },
      ],
    });
    const file = async () => (await get(`/zones/${zone.id}/zonefile`)).zonefile;
    const before = await file();
    expect((await importInto(zone, before)).status).toBe(201);
    const strip = (text: string) => text.replace(/\d{10}/, "");
    expect(strip(await file())).toBe(strip(before));
  });
});
