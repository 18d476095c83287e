import { describe, expect, it } from "vitest";
import { cpuTime } from "../../../../test/rig/cpu-time.ts";
import { isLongRun } from "../../../../test/rig/long-run.ts";
import { rrsetsService } from "../../../../test/rig/records/rrsets-service.ts";

const { call, callV1, get, newSet, newToken, newZone } = rrsetsService();

const values = (...list: string[]) => ({ records: list.map((value) => ({ value })) });
const serialOf = async (zone: { id: number }): Promise<number> => (await get(`/zones/${zone.id}`)).zone.serial;
const undo = (zone: { id: number }, serial: number | string, sent = {}) =>
  call("POST", `/zones/${zone.id}/history/${serial}/undo`, undefined, sent);

type Row = { id: number; serial: number; kind: string; name: string; type: string; before: unknown; after: unknown };
type Page = { history: Row[]; meta: { next_before: number; rest_of_write: number | null } };
const history = async (zone: { id: number }, query = ""): Promise<Page> =>
  await get(`/zones/${zone.id}/history?${query}`);

describe("GET …/history", () => {
  it("shows who, when, before and after, newest first", async () => {
    const { zone, path } = await newSet();
    await call("POST", `${path}/actions/set_records`, { records: [{ value: "192.0.2.2", comment: "moved" }] });
    await call("POST", `/zones/${zone.id}/actions/change_ttl`, { ttl: 600 });
    const [settings, replaced] = (await history(zone)).history;
    expect(settings).toMatchObject({ kind: "settings", name: null, before: { ttl: 3600 }, after: { ttl: 600 } });
    expect(replaced).toEqual({
      id: expect.any(Number),
      zone: { id: zone.id, name: zone.name },
      serial: (settings?.serial ?? 0) - 1,
      at: expect.stringMatching(/Z$/),
      by: expect.stringMatching(/^token \d+ \(test\)$/),
      kind: "replace",
      name: "www",
      type: "A",
      before: { ttl: null, labels: {}, protection: { change: false }, records: [{ value: "192.0.2.1", comment: "" }] },
      after: {
        ttl: null,
        labels: {},
        protection: { change: false },
        records: [{ value: "192.0.2.2", comment: "moved" }],
      },
    });
  });

  it("comes in pages, each continuing after the previous one", async () => {
    const { zone, path } = await newSet();
    for (let i = 0; i < 5; i += 1) await call("POST", `${path}/actions/change_ttl`, { ttl: 60 + i });
    const seen: number[] = [];
    for (let query = "per_page=3"; query !== ""; ) {
      const page = await history(zone, query);
      seen.push(...page.history.map((row) => row.id));
      query = page.meta.next_before === null ? "" : `per_page=3&before=${page.meta.next_before}`;
    }
    expect(seen).toHaveLength(8);
    expect(seen).toEqual(seen.toSorted((a, b) => b - a));
  });

  it("tells a token that sees everything how many changes of the last write are on the next pages", async () => {
    const zone = await newZone();
    const changes = ["a", "b", "c", "d"].map((name) => ({ name, type: "A", ...values("192.0.2.1") }));
    await call("POST", `/zones/${zone.id}/changes`, { changes });
    expect((await history(zone, "per_page=1")).meta.rest_of_write).toBe(3);
    expect((await history(zone, "per_page=4")).meta.rest_of_write).toBe(0);
    expect((await history(zone)).meta).toEqual({ next_before: null, rest_of_write: null });
    const token = await newToken("main", { access: "read", zones: [zone.name], sets: [{ owner: "a" }] });
    const { json } = await call("GET", `/zones/${zone.id}/history?per_page=1`, undefined, { token });
    expect(json.meta.rest_of_write).toBe(null);
  });

  it("shows a token only what it may see, and TSIG keys to nobody", async () => {
    const { zone } = await newSet();
    const token = await newToken("main", { access: "read", zones: [zone.name], sets: [{ owner: "www" }] });
    const { json } = await call("GET", `/zones/${zone.id}/history`, undefined, { token });
    expect(json.history.map((row: Row) => row.name)).toEqual(["www"]);
    expect((await call("GET", `/zones/${zone.id}/history`, undefined, { token: await newToken("other") })).status).toBe(
      404,
    );
    const tsig = { address: "192.0.2.1", tsig_algorithm: "hmac-sha256", tsig_key: "c2VjcmV0" };
    const secondary = await newZone({ mode: "secondary", primary_nameservers: [{ address: "192.0.2.2" }] });
    await call("POST", `/zones/${secondary.id}/actions/change_primary_nameservers`, { primary_nameservers: [tsig] });
    expect(JSON.stringify(await history(secondary))).not.toContain("c2VjcmV0");
  });
});

describe("POST …/history/{serial}/undo", () => {
  it("puts back what one write changed, under a new serial, and can itself be undone", async () => {
    const { zone, path, values: now } = await newSet("A", ["192.0.2.1"], { ttl: 300 });
    await call("PUT", `${path}/records`, { ...values("192.0.2.2", "192.0.2.3"), ttl: 60 });
    const serial = await serialOf(zone);
    const { status, json } = await undo(zone, serial);
    expect([status, json.serial, json.action.command]).toEqual([201, serial + 1, "undo_changes"]);
    expect([await now(), (await get(path)).rrset.ttl]).toEqual([["192.0.2.1"], 300]);
    await undo(zone, json.serial);
    expect(await now()).toEqual(["192.0.2.2", "192.0.2.3"]);
  });

  it("restores a deleted set with the v1 ids of its records", async () => {
    const { zone, path } = await newSet();
    const idOf = async () => {
      const { json } = await callV1("GET", `/zones?name=${zone.name}`);
      const { records } = (await callV1("GET", `/records?zone_id=${json.zones[0].id}`)).json;
      return records.find((record: { type: string }) => record.type === "A")?.id;
    };
    const before = await idOf();
    await call("DELETE", path);
    expect(await idOf()).toBeUndefined();
    await undo(zone, await serialOf(zone));
    expect(await idOf()).toBe(before);
  });

  it("undoes many sets and settings of one write together", async () => {
    const { zone } = await newSet();
    const { zonefile } = await get(`/zones/${zone.id}/zonefile`);
    const other = zonefile.replace("$TTL\t3600", "$TTL\t900").replace("192.0.2.1", "192.0.2.9");
    await call("POST", `/zones/${zone.id}/actions/import_zonefile`, { zonefile: `${other}x IN A 192.0.2.8\n` });
    expect((await undo(zone, await serialOf(zone))).status).toBe(201);
    const strip = (text: string) => text.replace(/\d{10}/, "");
    expect(strip((await get(`/zones/${zone.id}/zonefile`)).zonefile)).toBe(strip(zonefile));
  });

  it("undoes a write of very many sets in time that grows with their number, not with its square", async () => {
    const many = isLongRun ? 9_900 : 4_000;
    const hosts = Array.from({ length: many }, (_, i) => `h${i} IN A 192.0.2.1`);
    const zone = await newZone({ zonefile: hosts.join("\n") });
    const { zonefile } = await get(`/zones/${zone.id}/zonefile`);
    const few = (zonefile as string).split("\n").filter((line) => !line.startsWith("h"));
    const begun = cpuTime();
    await call("POST", `/zones/${zone.id}/actions/import_zonefile`, { zonefile: few.join("\n") });
    const written = cpuTime();
    expect((await undo(zone, await serialOf(zone))).status).toBe(201);
    expect(cpuTime() - written).toBeLessThan(8 * (written - begun));
    expect((await get(`/zones/${zone.id}`)).zone.record_count).toBe(many + 4);
  });

  it("is 409 if something has changed since", async () => {
    const { zone, path } = await newSet();
    await call("POST", `${path}/actions/change_ttl`, { ttl: 60 });
    const serial = await serialOf(zone);
    await call("POST", `${path}/actions/change_ttl`, { ttl: 90 });
    const { status, error } = await undo(zone, serial);
    expect([status, error.code, error.message]).toEqual([409, "conflict", "www A changed again after this write"]);
    await call("POST", `/zones/${zone.id}/actions/change_ttl`, { ttl: 600 });
    const settings = await serialOf(zone);
    await call("POST", `/zones/${zone.id}/actions/change_ttl`, { ttl: 700 });
    expect((await undo(zone, settings)).status).toBe(409);
  });

  it("undoes protection, and is refused by it", async () => {
    const { zone, path } = await newSet();
    const created = await serialOf(zone);
    await call("POST", `${path}/actions/change_protection`, { change: true });
    expect((await undo(zone, created)).status).toBe(409);
    expect((await undo(zone, await serialOf(zone))).status).toBe(201);
    expect((await get(path)).rrset.protection).toEqual({ change: false });
    const fresh = await call("POST", `/zones/${zone.id}/rrsets`, {
      name: "locked",
      type: "A",
      protection: { change: true },
      ...values("192.0.2.1"),
    });
    expect(fresh.status).toBe(201);
    expect((await undo(zone, await serialOf(zone))).error.code).toBe("protected");
  });

  it("does not undo the creation of the zone", async () => {
    const zone = await newZone();
    expect((await undo(zone, zone.serial)).error.code).toBe("invalid_input");
  });

  it("undoes a change of the SOA although its serial has changed since", async () => {
    const zone = await newZone();
    const path = `/zones/${zone.id}/rrsets/@/SOA`;
    await call("POST", `${path}/actions/set_records`, values("ns9.example.net. me.example.net. 0 1 2 3 4"));
    const serial = await serialOf(zone);
    await call("POST", `/zones/${zone.id}/rrsets`, { name: "a", type: "A", ...values("192.0.2.1") });
    expect((await undo(zone, serial)).status).toBe(201);
    expect((await get(path)).rrset.records[0].value).toMatch(/^ns1\.example\.net\. /);
  });

  it("gives a record a new id if another one has its old id by now", async () => {
    const { zone, path } = await newSet();
    const zoneId = (await callV1("GET", `/zones?name=${zone.name}`)).json.zones[0].id;
    await call("DELETE", path);
    const deleted = await serialOf(zone);
    await undo(zone, deleted);
    const { records } = (await callV1("GET", `/records?zone_id=${zoneId}`)).json;
    const { id } = records.find((record: { type: string }) => record.type === "A");
    const move = { zone_id: zoneId, type: "A", name: "moved", value: "192.0.2.1" };
    expect((await callV1("PUT", `/records/${id}`, move)).status).toBe(200);
    expect((await undo(zone, deleted)).status).toBe(201);
    expect((await get(`/zones/${zone.id}/rrsets?type=A`)).rrsets).toHaveLength(2);
  });

  it("gives a record that returns to an existing set a new id if another one has its old id by now", async () => {
    const { zone, path } = await newSet("A", ["192.0.2.1", "192.0.2.2"]);
    const zoneId = (await callV1("GET", `/zones?name=${zone.name}`)).json.zones[0].id;
    await call("POST", `${path}/actions/remove_records`, values("192.0.2.2"));
    const removed = await serialOf(zone);
    await undo(zone, removed);
    const { records } = (await callV1("GET", `/records?zone_id=${zoneId}`)).json;
    const { id } = records.find((record: { value: string }) => record.value === "192.0.2.2");
    const move = { zone_id: zoneId, type: "A", name: "moved", value: "192.0.2.2" };
    expect((await callV1("PUT", `/records/${id}`, move)).status).toBe(200);
    expect((await undo(zone, removed)).status).toBe(201);
    expect((await get(path)).rrset.records).toHaveLength(2);
    expect((await callV1("GET", `/records/${id}`)).json.record.name).toBe("moved");
  });

  it("does not take back the id of a moved record if a new one with its old content has replaced it", async () => {
    const { zone, path } = await newSet();
    const zoneId = (await callV1("GET", `/zones?name=${zone.name}`)).json.zones[0].id;
    await call("POST", `${path}/actions/change_ttl`, { ttl: 600 });
    const changed = await serialOf(zone);
    const { records } = (await callV1("GET", `/records?zone_id=${zoneId}`)).json;
    const { id, name, value } = records.find((record: { type: string }) => record.type === "A");
    const content = { zone_id: zoneId, type: "A", name, value, ttl: 600 };
    await callV1("PUT", `/records/${id}`, { ...content, name: "moved" });
    await callV1("POST", "/records", content);
    expect((await undo(zone, changed)).status).toBe(201);
    expect((await get(path)).rrset.records).toHaveLength(1);
    expect((await callV1("GET", `/records/${id}`)).json.record.name).toBe("moved");
  });

  it("keeps a record's id when it gets its old name back", async () => {
    const { zone } = await newSet();
    const zoneId = (await callV1("GET", `/zones?name=${zone.name}`)).json.zones[0].id;
    const { records } = (await callV1("GET", `/records?zone_id=${zoneId}`)).json;
    const { id, name } = records.find((record: { type: string }) => record.type === "A");
    await callV1("PUT", `/records/${id}`, { zone_id: zoneId, type: "A", name: "moved", value: "192.0.2.1" });
    expect((await undo(zone, await serialOf(zone))).status).toBe(201);
    expect((await callV1("GET", `/records/${id}`)).json.record).toMatchObject({ id, name });
  });

  it("is 404 for a serial that never existed, and for what the token may not see", async () => {
    const { zone } = await newSet();
    for (const serial of [1, "x", "99999999999"]) expect((await undo(zone, serial)).status).toBe(404);
    const token = await newToken("main", { access: "write", sets: [{ owner: "other" }] });
    expect((await undo(zone, await serialOf(zone), { token })).status).toBe(404);
    expect((await undo({ id: 999_999 }, 1)).error.message).toBe("Zone not found");
  });
});
