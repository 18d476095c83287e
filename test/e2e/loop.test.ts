import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Device, makeDevice } from "../rig/device.ts";
import { runMoor, startMoor } from "../rig/moor.ts";
import { type Namespace, openNamespace } from "../rig/namespace.ts";
import { openRecordsApi, type RecordsApi } from "../rig/records-api.ts";
import { type Services, startServices } from "../rig/services.ts";
import { until } from "../rig/until.ts";
import { makeUpdaterHome, type UpdaterHome } from "../rig/updater-home.ts";

/** The product as its users run it: three processes that know only each other's URL. */
let inside: Namespace;
let folder: string;
let services: Services;
let api: RecordsApi;
let zone: string;
let wan: Device;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "moor-e2e-loop-"));
  inside = await openNamespace();
  services = await startServices(inside, folder);
  api = openRecordsApi(inside, services, folder);
  zone = await api.makeZone("example.org");
  wan = await makeDevice(inside, "wan0");
});
afterAll(async () => {
  await inside?.close();
  rmSync(folder, { recursive: true, force: true });
});

async function makeName(name: string): Promise<UpdaterHome> {
  await api.makeRecord({ zone_id: zone, name, type: "A", value: "192.0.2.1", ttl: 77 });
  await api.makeRecord({ zone_id: zone, name, type: "AAAA", value: "2001:db8::1" });
  const { caFile, keyFile, tokenFile } = services;
  const urls = { firewall: services.firewall.url, records: services.records.url };
  return makeUpdaterHome(join(folder, name), {
    ...{ caFile, keyFile, tokenFile, ...urls },
    ...{ zone: "example.org", name, device: wan.name },
  });
}

describe("moor update, watching", () => {
  it("writes every change of an interface to the records, each family separately, and stops on request", async () => {
    const home = await makeName("watched");
    await wan.readdress({ ipv4: "9.9.1.1", ipv6: "2a00:1::1" });
    const updater = startMoor(inside, ["update", "--config", home.config]);
    const follows = async (A: string, AAAA: string) => {
      const found = async () => JSON.stringify(await api.addresses(zone, "watched"));
      await until(async () => (await found()) === JSON.stringify({ A, AAAA }), {
        every: 100,
        what: () => `${A} and ${AAAA} in the records; ${updater.err()}`,
      });
      // The record exists before the updater has received the answer and stored it.
      await until(() => JSON.stringify(home.stored()) === JSON.stringify({ A, AAAA }), {
        what: () => `${A} and ${AAAA} in ${JSON.stringify(home.stored())}`,
      });
    };
    await follows("9.9.1.1", "2a00:1::1");
    await wan.readdress({ ipv4: "9.9.1.2", ipv6: "2a00:1::1" });
    await follows("9.9.1.2", "2a00:1::1");
    await wan.readdress({ ipv4: "9.9.1.2", ipv6: "2a00:1::2" });
    await follows("9.9.1.2", "2a00:1::2");
    // Logged at the end of the round, after the state was written.
    await updater.says(/record replaced by 2a00:1::2/);
    expect(await updater.stop()).toMatchObject({ code: 0 });
    const replaced = updater.err().match(/record replaced by \S+/g);
    expect(replaced).toEqual([
      "record replaced by 9.9.1.1",
      "record replaced by 2a00:1::1",
      "record replaced by 9.9.1.2",
      "record replaced by 2a00:1::2",
    ]);
  });

  it("ignores an address that the firewall marks as link-local, and keeps the record if there is no other", async () => {
    const home = await makeName("lost");
    await wan.readdress({ ipv4: "9.9.1.3", ipv6: "2a00:1::3" });
    const updater = startMoor(inside, ["update", "--config", home.config]);
    await updater.says(/record replaced by 2a00:1::3/);
    await wan.readdress({});
    await updater.says(/no usable address: fe80::\S+ is link-local/);
    expect(await api.addresses(zone, "lost")).toEqual({ A: "9.9.1.3", AAAA: "2a00:1::3" });
    await updater.stop();
  });
});

describe("moor update --once", () => {
  it("writes what changed and nothing else, and says why", async () => {
    const home = await makeName("once");
    const once = async () => {
      const { code, out, err } = await runMoor(inside, ["update", "--once", "--config", home.config]);
      return { code, err, said: out.trim().split("\n") };
    };
    await wan.readdress({ ipv4: "9.9.1.5", ipv6: "2a00:1::5" });
    expect(await once()).toMatchObject({
      ...{ code: 0, err: "" },
      said: [/A: replaced by 9\.9\.1\.5: /, /AAAA: replaced by 2a00:1::5: /].map((text) => expect.stringMatching(text)),
    });
    expect(await api.addresses(zone, "once")).toEqual({ A: "9.9.1.5", AAAA: "2a00:1::5" });
    expect(await once()).toMatchObject({
      ...{ code: 0, err: "" },
      said: [/A: .* still 9\.9\.1\.5$/, /AAAA: .* still 2a00:1::5$/].map((text) => expect.stringMatching(text)),
    });
    await wan.readdress({ ipv4: "9.9.1.5", ipv6: "2a00:1::6" });
    expect(await once()).toMatchObject({
      code: 0,
      said: [/A: left as it is/, /AAAA: replaced by 2a00:1::6: /].map((text) => expect.stringMatching(text)),
    });
    expect(await api.addresses(zone, "once")).toEqual({ A: "9.9.1.5", AAAA: "2a00:1::6" });
  });

  it("keeps the TTL of the record, also if it has none", async () => {
    const home = await makeName("ttl");
    await wan.readdress({ ipv4: "9.9.1.7", ipv6: "2a00:1::7" });
    expect(await runMoor(inside, ["update", "--once", "--config", home.config])).toMatchObject({ code: 0 });
    const { body } = await api.ask("GET", `/records?zone_id=${zone}`);
    const ttls = body.records?.filter(({ name }) => name === "ttl").map((record) => ("ttl" in record ? record.ttl : 0));
    expect(ttls).toEqual([77, 0]);
  });

  it("renames a damaged state file, says so, and writes once more", async () => {
    const home = await makeName("damaged");
    await wan.readdress({ ipv4: "9.9.1.8", ipv6: "2a00:1::8" });
    writeFileSync(home.stateFile, '{"version":1,"entr');
    const { code, out, err } = await runMoor(inside, ["update", "--once", "--config", home.config]);
    expect(code).toBe(0);
    expect(err).toMatch(/warning: the state file \S+ was damaged: it is kept as \S+\.damaged-\d/);
    expect(out).toMatch(/replaced by 9\.9\.1\.8.*\n.*replaced by 2a00:1::8/);
    expect(home.stored()).toEqual({ A: "9.9.1.8", AAAA: "2a00:1::8" });
  });
});
