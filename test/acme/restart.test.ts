import { Resolver } from "node:dns/promises";
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import { recordsDatabase } from "../../src/records/open-store.ts";
import { openSqliteStore } from "../../src/records/store/sqlite/store.ts";
import { builtProgram } from "../rig/bundle.ts";
import { freePort } from "../rig/free-port.ts";
import { environment, node } from "../rig/namespace.ts";
import { type Pebble, startPebble } from "../rig/pebble.ts";
import { startProcess } from "../rig/started-process.ts";
import { until } from "../rig/until.ts";
import { connectTo, ensureZone, hostName, startAcmeService } from "./acme-service.ts";
import { openRelay } from "./dns-relay.ts";

/** The service is stopped while the authority checks the name. */

let pebble: Pebble;
beforeAll(async () => {
  pebble = await startPebble();
  builtProgram();
});
afterAll(() => pebble.close());

it("a restarted service continues the same order", async () => {
  const folder = await mkdtemp(join(tmpdir(), "moor-acme-restart-"));
  const dnsPort = await freePort();
  const relay = await openRelay(pebble.dnsPort, () => dnsPort);
  const first = await startAcmeService(pebble, { folder, dnsPort });
  first.lead();
  await relay.asked;
  await first.stop();
  const orders = pebble.orders();
  expect(first.acme.expires()).toBeUndefined();
  const second = await startAcmeService(pebble, { folder, dnsPort });
  second.lead();
  await until(async () => (await second.challenges()).length === 1);
  // On a busy machine, pebble gives up an order whose check takes it too long.
  expect([orders, pebble.orders() - pebble.ordersGivenUp()]).toEqual([1, 1]);
  relay.open();
  // On a busy machine, pebble may have given up the order before the relay was opened; the next try is a day away.
  let failures = 0;
  const refused = () => second.logged().filter(({ level }) => level === "warn").length;
  await until(() => {
    if (refused() > failures) {
      failures = refused();
      second.pass(24 * 3_600_000);
    }
    return second.acme.expires() !== undefined;
  });
});

it("moor records --acme gets its certificate after it was killed, and leaves nothing behind in the zone", async () => {
  const folder = await mkdtemp(join(tmpdir(), "moor-acme-kill-"));
  await writeFile(join(folder, "trust.pem"), pebble.trust);
  const store = openSqliteStore(recordsDatabase(folder));
  await ensureZone(store);
  store.close();
  const [port, dnsPort] = [await freePort(), await freePort()];
  const relay = await openRelay(pebble.dnsPort, () => dnsPort);
  const start = () => {
    const at = ["--listen", `127.0.0.1:${port}`, "--dns", `127.0.0.1:${dnsPort}`];
    const acme = ["--acme", "you@example.org", "--acme-directory", pebble.directory, "--acme-ca", "trust.pem"];
    const service = startProcess(
      [node, builtProgram(), "records", "--data", folder, "--name", hostName, ...at, ...acme],
      { cwd: folder, env: environment },
    );
    onTestFinished(async () => void (await service.stop("SIGKILL")));
    return service;
  };

  const killed = start();
  await relay.asked;
  await killed.stop("SIGKILL");
  expect(killed.out()).toContain(`Clients of https://${hostName}:${port} will need no ca.pem once the log says`);
  expect(killed.err()).not.toContain("is in use");

  const service = start();
  await service.says(/The nameserver listens/);
  relay.open();
  await service.says(/the ACME certificate is in use/);
  await connectTo(`https://127.0.0.1:${port}`, hostName, await pebble.root());
  const resolver = new Resolver();
  resolver.setServers([`127.0.0.1:${dnsPort}`]);
  await expect(resolver.resolveTxt(`_acme-challenge.${hostName}`)).rejects.toThrow(/ENOTFOUND/);
  expect(killed.err() + service.err()).not.toMatch(/PRIVATE KEY/);
});
