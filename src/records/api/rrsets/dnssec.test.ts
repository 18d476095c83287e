import { expect, it } from "vitest";
import { parentWith } from "../../../../test/rig/records/parent-with.ts";
import { rrsetsService } from "../../../../test/rig/records/rrsets-service.ts";
import { wholeAccount } from "../../../core/may.ts";
import type { RecordType } from "../../../core/rdata/table.ts";
import { updateFromDns } from "../../commands/from-dns-update.ts";
import type { TransferKey } from "../../model.ts";
import { advanceStage, noteParentFault } from "../../signing/lifecycle/advance-stage.ts";

const { call, callV1, newToken, store } = rrsetsService();

async function makeZone(name: string, more: object = {}): Promise<string> {
  expect((await call("POST", "/zones", { name, mode: "primary", ...more })).status).toBe(201);
  return `/zones/${name}`;
}

const post = (path: string, body: object = {}, token?: string) =>
  call("POST", path, body, token === undefined ? {} : { token });

it("a zone is signed, shows what the parent needs, and moves on step by step", async () => {
  const zone = await makeZone("signed.test");
  const none = {
    signed: false,
    stage: null,
    stage_text: null,
    since: null,
    parent_since: null,
    parent_fault: null,
    denial: null,
    ignores_silent_servers: false,
  };
  expect((await call("GET", `${zone}/dnssec`)).json).toEqual({
    dnssec: { ...none, keys: [], other_keys: [], records: [] },
  });
  const plain = (await call("GET", zone)).json.zone;
  const signed = await post(`${zone}/actions/sign`, { algorithm: "ed25519", denial: "nsec3" });
  expect([signed.status, signed.json.action.command]).toEqual([201, "sign_zone"]);
  const { dnssec } = (await call("GET", `${zone}/dnssec`)).json;
  expect(signed.json.dnssec).toEqual(dnssec);
  const [key] = dnssec.keys;
  expect(dnssec).toMatchObject({
    signed: true,
    stage: "new",
    denial: "nsec3",
    keys: [{ published: true, signs: true, ds_wanted: true }],
  });
  expect(key.ds).toBe(`signed.test. 3600 IN DS ${key.key_tag} 15 2 ${key.digest}`);
  expect(key.dnskey).toMatch(/^signed\.test\. 3600 IN DNSKEY 257 3 15 \S{44}$/);
  expect(dnssec.records).toEqual([
    { name: "@", type: "DNSKEY", values: [key.dnskey.slice(key.dnskey.indexOf("257"))] },
  ]);
  // Once unsigned records have expired from caches, the parent is asked for the DS record.
  const held = await store().zoneHolding("signed.test");
  if (held === undefined) throw new Error("the zone is gone");
  const by = { store: store(), actor: "test", now: Date.now() + 7_200_000 };
  await advanceStage(by, held, parentWith([]), 3_000);
  expect((await call("GET", `${zone}/dnssec`)).json.dnssec).toMatchObject({
    stage: "new-parent",
    records: [
      dnssec.records[0],
      { name: "@", type: "CDS", values: [`${key.key_tag} 15 2 ${key.digest}`] },
      { name: "@", type: "CDNSKEY", values: [key.dnskey.slice(key.dnskey.indexOf("257"))] },
    ],
  });
  await noteParentFault(by, held, { kind: "unverified", text: "ns2.parent.test does not answer" });
  expect((await call("GET", `${zone}/dnssec`)).json.dnssec).toMatchObject({
    stage_text: "waiting for the DS record at the parent",
    parent_fault: {
      kind: "unverified",
      text: "ns2.parent.test does not answer; no key is removed until every server of the parent has answered",
      since: new Date(by.now).toISOString().replace(/\.\d+/, ""),
    },
  });
  const alone = await post(`${zone}/actions/ignore_silent_servers`);
  expect([alone.status, alone.json.action.command, alone.json.dnssec.ignores_silent_servers]).toEqual([
    ...[201, "ignore_silent_servers", true],
  ]);
  // The zone had no NS records, so it got those of the service.
  const { rrsets } = (await call("GET", `${zone}/rrsets?type=NS`)).json;
  expect(rrsets[0].records).toHaveLength(3);

  // The endpoints of the original are unchanged.
  expect(Object.keys((await call("GET", zone)).json.zone)).toEqual(Object.keys(plain));
  expect((await call("GET", `${zone}/zonefile`)).json.zonefile).not.toMatch(/DNSKEY|RRSIG|TYPE/);
  expect((await call("GET", `${zone}/rrsets`)).text).not.toMatch(/TYPE4|DNSKEY/);

  expect((await post(`${zone}/actions/sign`)).error.message).toBe("the zone signed.test is already signed");
  const early = await post(`${zone}/actions/roll_key`);
  expect([early.status, early.text]).toEqual([422, expect.stringContaining("give the DS record to the registrar")]);
  expect((await post(`${zone}/actions/sign`, { denial: "none" })).error.message).toContain("must be one of nsec");
  const named = await post(`${zone}/actions/change_denial`, { denial: "nsec" });
  expect([named.status, named.json.action.command, named.json.dnssec]).toMatchObject([
    ...[201, "change_denial"],
    { denial: "nsec", stage: "new-parent", keys: [{ key_tag: key.key_tag }] },
  ]);
  expect((await post(`${zone}/actions/change_denial`)).error.message).toContain("is missing");
  expect((await post(`${zone}/actions/change_denial`, { denial: "nsec" })).error.message).toBe(
    "the zone signed.test already uses NSEC",
  );
  expect((await post(`${zone}/actions/change_denial`, { denial: "nsec3" })).json.dnssec.denial).toBe("nsec3");
  const leaving = await post(`${zone}/actions/unsign`);
  expect(leaving.json.dnssec).toMatchObject({ signed: true, stage: "leaving", keys: [{ ds_wanted: false }] });
  expect(leaving.json.dnssec.records[1]).toEqual({ name: "@", type: "CDS", values: ["0 0 0 00"] });
  const kept = await post(`${zone}/actions/keep_signed`);
  expect([kept.status, kept.json.action.command, kept.json.dnssec.stage]).toEqual([201, "keep_signed", "new-parent"]);
  expect(kept.json.dnssec.records).toHaveLength(3);
  expect((await post(`${zone}/actions/keep_signed`)).error.message).toBe("the zone signed.test is not being unsigned");
  expect((await post(`${zone}/actions/unsign`, { immediately: true })).json.dnssec.signed).toBe(false);
  expect(await store().signedZones(0, 10)).toEqual([]);
});

/** Of RFC 6605 section 6.1, and of cloudflare.com. */
const publicKeys = [
  "GojIhhXUN/u4v54ZQqGSnyhWJwaubCvTmeexv7bR6edbkrSqQpF64cYbcB7wNcP+e+MAnLr+Wi9xMWyQLc8NAA==",
  "mdsswUyr3DPW132mOi8V9xESWE8jTo0dxCjjnopKl+GqJxpVXckHAeF+KkxLbxILfDLUT0rAK9iUzy1L53eKGQ==",
] as const;

it("keys of another server are published and withdrawn", async () => {
  const zone = await makeZone("both.test");
  const other = (i: 0 | 1, flags: number) => `${flags} 3 13 ${publicKeys[i]}`;
  const first = await post(`${zone}/actions/sign`, { also_publish: [other(0, 257)] });
  const [own] = first.json.dnssec.keys;
  const second = await post(`${zone}/actions/publish_keys`, { dnskeys: [`both.test. IN DNSKEY ${other(1, 256)}`] });
  expect([second.status, second.json.action.command]).toEqual([201, "publish_keys"]);
  const { other_keys: others, records } = second.json.dnssec;
  expect(others).toMatchObject([{ ds_wanted: true }, { ds_wanted: false, ds: null }]);
  const ownKey = own.dnskey.slice(own.dnskey.indexOf("257"));
  expect(records).toMatchObject([
    { type: "DNSKEY", values: [ownKey, other(0, 257), other(1, 256)] },
    { type: "CDS", values: [own.ds, others[0].ds].map((ds: string) => ds.replace(/.* DS /, "")) },
    { type: "CDNSKEY", values: [ownKey, other(0, 257)] },
  ]);
  const [last] = (await call("GET", `${zone}/history`)).json.history;
  expect(last).toMatchObject({
    before: { dnssec: { denial: "nsec", parent_fault: null, keys: [own.key_tag, others[0].key_tag] } },
    after: { dnssec: { keys: [own.key_tag, others[0].key_tag, others[1].key_tag] } },
  });
  expect((await post(`${zone}/actions/publish_keys`, { dnskeys: ["none"] })).error.message).toContain(
    "no DNSKEY record",
  );
  expect((await post(`${zone}/actions/publish_keys`)).error.message).toContain("is missing");
  const left = await post(`${zone}/actions/withdraw_keys`, { key_tags: [others[0].key_tag] });
  expect(left.json.dnssec.other_keys).toEqual([others[1]]);
  expect((await post(`${zone}/actions/withdraw_keys`)).json.dnssec.other_keys).toEqual([]);
});

it("signing needs a token for the whole zone", async () => {
  const zone = await makeZone("limited.test");
  const some = await newToken("main", { ...wholeAccount, sets: [{ owner: "www" }] });
  const other = await newToken("main", { ...wholeAccount, zones: ["other.test"] });
  const reader = await newToken("main", { access: "read" });
  const body = { dnskeys: [`257 3 13 ${publicKeys[0]}`] };
  for (const action of ["sign", "roll_key", "unsign", "publish_keys", "withdraw_keys"]) {
    const statuses = await Promise.all(
      [some, other, reader].map(async (token) => (await post(`${zone}/actions/${action}`, body, token)).status),
    );
    expect(statuses).toEqual([403, 404, 401]);
  }
  expect((await call("GET", `${zone}/dnssec`, undefined, { token: other })).status).toBe(404);
  expect((await call("GET", `${zone}/dnssec`)).json.dnssec.signed).toBe(false);
});

it("a request repeated with the same idempotency key signs once", async () => {
  const zone = await makeZone("once.test");
  const sent = { headers: { "idempotency-key": "sign it" } };
  const [first, second] = [
    await call("POST", `${zone}/actions/sign`, {}, sent),
    await call("POST", `${zone}/actions/sign`, {}, sent),
  ];
  expect([first.status, second.status]).toEqual([201, 201]);
  expect(second.json).toEqual(first.json);
});

/** Valid for an RRSIG record, and for a DNSKEY record. */
const madeText = "\\# 20 0001 0d 01 0000003c 70000000 60000000 1267 00 ff".replaceAll(/(?<=# 20 .*) /g, "");

it("records that signing generates cannot be written, and are replaced when a zone is signed", async () => {
  const rrsets = [
    { name: "@", type: "TYPE48", records: [{ value: madeText }] },
    { name: "www", type: "TYPE46", records: [{ value: madeText }] },
    { name: "www", type: "A", records: [{ value: "192.0.2.1" }] },
  ];
  const file = rrsets.map(({ name, type, records }) => `${name} 60 IN ${type} ${records[0]?.value}`).join("\n");
  const zone = await makeZone("made.test", { zonefile: `$TTL 60\n${file}\n` });
  expect((await call("GET", `${zone}/zonefile`)).json.zonefile).toContain("\tRRSIG\tA 13 1 60 ");
  expect((await post(`${zone}/actions/sign`)).status).toBe(201);
  const exported = (await call("GET", `${zone}/zonefile`)).json.zonefile;
  expect(exported).not.toMatch(/TYPE4|RRSIG|DNSKEY/);
  expect(exported).toContain("192.0.2.1");
  const message = "made.test is signed, so its RRSIG records are generated automatically";
  const soaAndServers = exported
    .split("\n")
    .filter((line: string) => !line.includes("192.0.2.1"))
    .join("\n");
  const imported = await post(`${zone}/actions/import_zonefile`, {
    zonefile: `${soaAndServers}\nwww 60 IN TYPE46 ${madeText}\n`,
  });
  expect([imported.status, imported.text]).toEqual([422, expect.stringContaining(message)]);
  const v1 = await callV1(
    "POST",
    `/zones/${(await callV1("GET", "/zones?name=made.test")).json.zones[0].id}/import`,
    undefined,
    {
      text: `${soaAndServers}\nwww 60 IN TYPE46 ${madeText}\n`,
    },
  );
  expect([v1.status, v1.text]).toEqual([422, expect.stringContaining(message)]);
  const [signed] = await store().signedZones(0, 100);
  const account = signed?.account;
  const key = await keyOf(account);
  const updated = await updateFromDns(store(), {
    zone: "made.test",
    prerequisites: [],
    key,
    from: "192.0.2.1",
    signature: "s",
    now: Date.now(),
    updates: [{ kind: "add", owner: "www", type: "TYPE46", ttl: 60, rdata: madeText }],
  });
  expect(updated).toMatchObject({ kind: "refused", faults: [{ message }] });
});

async function keyOf(account: number | undefined): Promise<TransferKey> {
  const key = { name: "key", algorithm: "hmac-sha256", secret: "", account, scope: wholeAccount, created: 0 } as const;
  const added = await store().addTransferKey(key);
  const stored = typeof added === "string" ? await store().transferKey(key.name) : added;
  if (stored === undefined) throw new Error("the key was revoked");
  return stored;
}

it("a prerequisite of a DNS UPDATE finds the records that signing generates", async () => {
  const zone = await makeZone("asked.test");
  const met = async (owner: string, type: RecordType) => {
    const held = await store().zoneHolding("asked.test");
    const key = await keyOf(held?.account);
    const prerequisites = [{ kind: "set-exists" as const, owner, type }];
    const by = { key, from: "192.0.2.1", signature: `${owner} ${type} ${Math.random()}`, now: Date.now() };
    return (await updateFromDns(store(), { zone: "asked.test", prerequisites, updates: [], ...by })).kind;
  };
  expect(await met("@", "TYPE48")).toBe("unmet");
  expect((await post(`${zone}/actions/sign`)).status).toBe(201);
  expect(await Promise.all([met("@", "TYPE48"), met("@", "TYPE46"), met("@", "TYPE47")])).toEqual([
    "done",
    "done",
    "done",
  ]);
  expect(await Promise.all([met("www", "TYPE46"), met("@", "TYPE51"), met("@", "TYPE59")])).toEqual([
    "unmet",
    "unmet",
    "unmet",
  ]);
});

it("a name below which no wildcard fits comes only in a file without NSEC3; signing leaves out what BIND notes for itself", async () => {
  const name = [60, 60, 60, 60].map((count) => "a".repeat(count)).join(".");
  const zone = await makeZone("long.test", { zonefile: `$TTL 60\n${name} A 192.0.2.1\n` });
  expect((await post(`${zone}/rrsets`, { name: "a", type: "A", records: [{ value: "192.0.2.1" }] })).status).toBe(201);
  const chain = `$TTL 60\n@ TYPE51 \\# 5 0100000000\n${name} A 192.0.2.1\n`;
  expect((await post(`${zone}/actions/import_zonefile`, { zonefile: chain })).text).toContain("some nameservers crash");
  const written = await post(`${zone}/rrsets`, {
    name: `b${name.slice(1)}`,
    type: "A",
    records: [{ value: "192.0.2.1" }],
  });
  expect([written.status, written.text]).toEqual([422, expect.stringContaining("some nameservers crash")]);
  const refused = await post(`${zone}/actions/sign`, { denial: "nsec3" });
  expect([refused.status, refused.text]).toEqual([422, expect.stringContaining("some nameservers crash")]);
  const moved = await makeZone("moved.test", { zonefile: "$TTL 60\n@ TYPE65534 \\# 5 0d12340001\nwww A 192.0.2.1\n" });
  expect((await call("GET", `${moved}/zonefile`)).json.zonefile).toContain("TYPE65534");
  expect((await post(`${moved}/actions/sign`, { denial: "nsec3" })).status).toBe(201);
  expect((await call("GET", `${moved}/zonefile`)).json.zonefile).not.toContain("TYPE65534");
});

it("undo does not restore keys, and a signed zone cannot become secondary", async () => {
  const zone = await makeZone("past.test");
  const serialAfter = async (path: string, body: object) => {
    expect((await post(`${zone}${path}`, body)).status).toBe(201);
    return (await call("GET", zone)).json.zone.serial;
  };
  const ttlChanged = await serialAfter("/actions/change_ttl", { ttl: 600 });
  const signed = await serialAfter("/actions/sign", {});
  const undo = (serial: number) => post(`${zone}/history/${serial}/undo`);
  const keys = async () => (await call("GET", `${zone}/dnssec`)).json.dnssec.keys;
  const before = await keys();
  const refused = await undo(signed);
  expect([refused.status, refused.text]).toEqual([422, expect.stringContaining("cannot be undone")]);
  expect((await undo(ttlChanged)).status).toBe(201);
  expect((await call("GET", zone)).json.zone.ttl).toBe(3600);
  expect(await keys()).toEqual(before);
  expect((await call("GET", `${zone}/history`)).text).not.toContain("publicKey");

  const { id } = (await callV1("GET", "/zones?name=past.test")).json.zones[0];
  const server = await callV1("POST", "/primary_servers", { address: "192.0.2.9", port: 53, zone_id: id });
  expect([server.status, server.text]).toEqual([422, expect.stringContaining("is signed here")]);
});

it("a signed zone keeps NS records at its apex, and has DS records only at delegations", async () => {
  const zone = await makeZone("whole.test");
  const ns = { name: "@", type: "NS", records: [{ value: "ns1.whole.test." }] };
  const ds = { name: "sub", type: "DS", records: [{ value: `1 13 2 ${"ab".repeat(32)}` }] };
  const sub = { name: "sub", type: "NS", records: [{ value: "ns.sub.whole.test." }] };
  const statuses: number[] = [];
  // An unsigned zone without NS records is served with the nameservers of the service.
  for (const set of [ns, ds]) {
    statuses.push((await call("DELETE", `${zone}/rrsets/${set.name}/${set.type}`)).status);
    statuses.push((await post(`${zone}/rrsets`, set)).status);
  }
  statuses.push((await call("DELETE", `${zone}/rrsets/${ds.name}/${ds.type}`)).status);
  expect(statuses).toEqual([201, 201, 404, 201, 201]);
  expect((await post(`${zone}/actions/sign`)).status).toBe(201);
  const lost = expect.stringContaining("whole.test is signed, so it needs NS records at its apex");
  const deleted = await call("DELETE", `${zone}/rrsets/@/NS`);
  expect([deleted.status, deleted.text]).toEqual([422, lost]);
  const { id } = (await callV1("GET", "/zones?name=whole.test")).json.zones[0];
  const { records } = (await callV1("GET", `/records?zone_id=${id}`)).json;
  const servers = records.filter((record: { type: string; name: string }) => record.type === "NS");
  const answers = [];
  for (const server of servers) answers.push(await callV1("DELETE", `/records/${server.id}`));
  expect(answers.map(({ status }) => status)).toEqual([...servers.slice(1).map(() => 200), 422]);
  expect(answers.at(-1)?.text).toEqual(lost);

  const early = await post(`${zone}/rrsets`, ds);
  expect([early.status, early.text]).toEqual([422, expect.stringContaining("no NS records at sub")]);
  expect((await post(`${zone}/rrsets`, sub)).status).toBe(201);
  expect((await post(`${zone}/rrsets`, ds)).status).toBe(201);
  expect((await call("DELETE", `${zone}/rrsets/sub/NS`)).text).toContain("no NS records at sub");
});

it("secondaries never serve a signed zone for longer than its signatures are valid", async () => {
  const zone = await makeZone("expire.test");
  const soa = async () => (await call("GET", `${zone}/rrsets/@/SOA`)).json.rrset.records[0].value as string;
  const unsigned = await soa();
  expect(unsigned).toMatch(/ 3600 300 604800 3600$/);
  await post(`${zone}/actions/sign`);
  const records = [{ value: unsigned.replace(" 604800 ", " 604801 ") }];
  const put = await post(`${zone}/rrsets/@/SOA/actions/set_records`, { records });
  expect([put.status, put.error.message]).toEqual([422, expect.stringContaining("can be at most 604800 seconds")]);
  // A file may be from before the zone was signed.
  const file = (await call("GET", `${zone}/zonefile`)).json.zonefile.replace(" 604800 ", " 3600000 ");
  expect((await post(`${zone}/actions/import_zonefile`, { zonefile: `${file}\nnew 60 IN A 192.0.2.9\n` })).status).toBe(
    201,
  );
  expect(await soa()).toMatch(/ 604800 3600$/);
  await post(`${zone}/actions/unsign`, { immediately: true });
  expect((await post(`${zone}/rrsets/@/SOA/actions/set_records`, { records })).status).toBe(201);
});
