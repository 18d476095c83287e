import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Device, makeDevice } from "../rig/device.ts";
import { rowsOf } from "../rig/long-run.ts";
import { runEachMoor, startMoor } from "../rig/moor.ts";
import { type Namespace, openNamespace } from "../rig/namespace.ts";
import { openRecordsApi, type RecordsApi } from "../rig/records-api.ts";
import { type Services, startServices } from "../rig/services.ts";
import type { StartedProcess } from "../rig/started-process.ts";

/**
 * The product as its users run it: processes that know only each other's URL. The updaters poll only once per hour:
 * what arrives sooner was pushed. What the updater decides is tested in `src/updater`, and its output in
 * `src/cli/update`.
 */
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
  await wan.readdress({ ipv4: "9.9.1.1", ipv6: "2a00:1::1" });
});
afterAll(async () => {
  await inside?.close();
  rmSync(folder, { recursive: true, force: true });
});

function writeConfig(name: string, targetApi: string, more = "", source = firewallEntry()): string {
  const file = join(folder, `${name}.yaml`);
  const { records, tokenFile, caFile } = services;
  writeFileSync(
    file,
    `interval: 1h
sources: { wall: ${source} }
targets: { dns: { api: ${targetApi}, url: "${records.url}", token: { file: "${tokenFile}" }, ca: "${caFile}" } }
names: [{ name: ${name}, zone: example.org, ipv4: wan0, ipv6: wan0${more} }]
`,
  );
  return file;
}

const firewallEntry = () =>
  `{ url: "${services.firewall.url}", keyFile: "${services.keyFile}", ca: "${services.caFile}" }`;

/** It reports an address after it has written it. */
const follows = async (name: string, A: string, AAAA: string, updater: StartedProcess) => {
  for (const address of [A, AAAA]) await updater.says(new RegExp(`record replaced by ${address}\\b`));
  expect(await api.addresses(zone, name)).toEqual({ A, AAAA });
};

/** src/updater/targets holds what the two APIs have in common. */
const ways: readonly (readonly [string, string, string | undefined])[] = [
  ["v1", "v1", undefined],
  ["rrsets", "rrsets", undefined],
  ["v1, from this machine without a firewall service", "v1", "{ kind: interface }"],
];

describe.each(rowsOf(ways, "rrsets", "v1, from this machine without a firewall service"))(
  "a change of an interface, pushed and written by %s",
  (_, targetApi, source) => {
    it("is in the record immediately, and the record stays when there is no address", async () => {
      const name = source ? "own" : targetApi;
      await api.makeRecord({ zone_id: zone, name, type: "A", value: "192.0.2.1", ttl: 60 });
      await api.makeRecord({ zone_id: zone, name, type: "AAAA", value: "2001:db8::1", ttl: 60 });
      const updater = startMoor(inside, ["update", "--config", writeConfig(name, targetApi, "", source)]);
      for (const host of [2, 3]) {
        await wan.readdress({ ipv4: `9.9.1.${host}`, ipv6: `2a00:1::${host}` });
        await follows(name, `9.9.1.${host}`, `2a00:1::${host}`, updater);
      }
      // The interface still has the link-local address that the kernel gave it.
      await wan.readdress({});
      await updater.says(/no usable address: fe80::\S+ is link-local/);
      expect(await api.addresses(zone, name)).toEqual({ A: "9.9.1.3", AAAA: "2a00:1::3" });
      expect(await updater.stop()).toMatchObject({ code: 0 });
    });
  },
);

describe("create: true", () => {
  it("creates missing sets, and the client's commands use the API too, and say what is not there", async () => {
    await wan.readdress({ ipv4: "9.9.1.5", ipv6: "2a00:1::5" });
    const config = writeConfig("made", "rrsets", ", create: true, ttl: 120");
    const lines = ["update --once", "zones", "list example.org", "show example.org/made/A", "status --json"];
    const wrong = ["list nope.example", "show 0123456789abcdef"];
    const other = writeConfig("absent", "v1");
    const commands = [
      ...lines.map((line) => `${line} --config ${config}`),
      ...wrong.map((line) => `${line} --config ${other}`),
    ];
    const [once, zones, list, show, status, noZone, noRecord] = await runEachMoor(
      inside,
      commands.map((line) => line.split(" ")),
    );
    expect(once).toMatchObject({ code: 0, err: "" });
    expect(zones?.out).toMatch(/^example\.org +\d+ +\d+$/m);
    expect(list?.out).toMatch(/^made +A +120 +9\.9\.1\.\d +example\.org\/made\/A$/m);
    expect(show?.out).toMatch(/^value +9\.9\.1\.\d$/m);
    expect(status?.code).toBe(0);
    expect(JSON.parse(status?.out ?? "")).toMatchObject([{ name: "made.example.org A", ok: true }, { ok: true }]);
    expect(noZone).toMatchObject({ code: 1, out: "" });
    expect(noZone?.err).toMatch(/no zone nope\.example.*`[^`]*moor zone list[^`]*` lists/);
    expect(noRecord).toMatchObject({ code: 1, out: "" });
    expect(noRecord?.err).toMatch(
      /no record with the id 0123456789abcdef; `[^`]*moor zone list.*` and `[^`]*moor record list [^`]*ZONE`/,
    );
  });
});
