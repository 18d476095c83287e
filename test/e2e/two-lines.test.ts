import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { administer, startMoor } from "../rig/moor.ts";
import { type Namespace, openNamespace } from "../rig/namespace.ts";
import { openRecordsApi } from "../rig/records-api.ts";
import { startService } from "../rig/services.ts";
import type { StartedProcess } from "../rig/started-process.ts";

/** A machine with two lines, each with a router at its other end: three network namespaces. */
let machine: Namespace;
let folder: string;
let routers: readonly [StartedProcess, StartedProcess];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "moor-two-lines-"));
  machine = await openNamespace();
  routers = [await lay("wan0", "9.9.1"), await lay("wan1", "9.9.2")];
});
afterEach(async () => {
  await machine?.close();
  rmSync(folder, { recursive: true, force: true });
});

async function lay(device: string, network: string): Promise<StartedProcess> {
  const router = machine.start(["unshare", "--net", "sh", "-c", "echo ready; exec sleep infinity"]);
  await router.says(/ready/);
  await machine.ip(
    ...[`link add ${device} type veth peer name line`, `link set line netns ${router.pid}`],
    ...[`addr add ${network}.7/24 dev ${device}`, `link set ${device} up`],
  );
  await on(router, `ip addr add ${network}.1/24 dev line; ip link set line up`);
  await machine.ip(`route add default via ${network}.1 dev ${device} metric ${device === "wan0" ? 100 : 200}`);
  return router;
}

async function on(router: StartedProcess, script: string): Promise<void> {
  const { code, err } = await machine.run(["nsenter", "--net", "--target", String(router.pid), "sh", "-ec", script]);
  if (code !== 0) throw new Error(err);
}

/** The link stays up and the address stays; only nothing comes back. */
const silence = (router: StartedProcess, is: boolean) =>
  on(router, `echo ${is ? 1 : 0} > /proc/sys/net/ipv4/icmp_echo_ignore_all`);

it("a name leaves the line whose router is silent, and returns when it answers again", async () => {
  const data = join(folder, "data");
  const [tokenFile, keyFile] = [join(folder, "token"), join(folder, "key")];
  const privileges = ["--privilege", "interface-status", "--privilege", "gateways"];
  await administer(["token", "add", "--new", "--data", data, "--to", tokenFile]);
  await administer(["key", "add", "--new", "--data", data, "--to", keyFile, ...privileges]);
  const records = await startService(machine, "records", data, "127.0.0.1:8053");
  const firewall = startMoor(machine, ["firewall", "--data", data, "--listen", "127.0.0.1:8443", "--probe-gateways"]);
  await firewall.says(/ listens on https:.*\n/);
  const caFile = join(data, "ca.pem");
  const api = openRecordsApi(machine, { records, tokenFile, caFile }, folder);
  const zone = await api.makeZone("example.org");
  const config = join(folder, "moor.yaml");
  writeFileSync(
    config,
    `interval: 1s
sources: { wall: { url: "https://127.0.0.1:8443", keyFile: "${keyFile}", ca: "${caFile}", gateways: true } }
targets: { dns: { api: rrsets, url: "${records.url}", token: { file: "${tokenFile}" }, ca: "${caFile}" } }
names: [{ name: home, zone: example.org, ipv4: [wan0, wan1], create: true }]
`,
  );
  const updater = startMoor(machine, ["update", "--config", config]);
  const seen: string[] = [];
  const isAt = async (address: string) => {
    seen.push(`record replaced by ${address.replaceAll(".", "\\.")}\\b`);
    await updater.says(new RegExp(seen.join("[^]*")));
    expect((await api.addresses(zone, "home")).A).toBe(address);
  };
  await isAt("9.9.1.7");
  await silence(routers[0], true);
  await isAt("9.9.2.7");
  await silence(routers[0], false);
  await isAt("9.9.1.7");
  expect(await updater.stop()).toMatchObject({ code: 0 });
});
