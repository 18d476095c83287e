import { afterAll, beforeAll, expect, it } from "vitest";
import { freePort } from "../rig/free-port.ts";
import { type Pebble, startPebble } from "../rig/pebble.ts";
import { addressOf, type PostgresRig, startPostgresRig } from "../rig/records/postgres.ts";
import { until } from "../rig/until.ts";
import { connectTo, hostName, serialOf, startAcmeService } from "./acme-service.ts";
import { openRelay } from "./dns-relay.ts";

let pebble: Pebble;
let postgres: PostgresRig;
beforeAll(async () => {
  [pebble, postgres] = await Promise.all([startPebble(), startPostgresRig()]);
});
afterAll(() => Promise.all([pebble.close(), postgres.stop()]));

it("of several nodes on one database, one orders the certificate and all use it; when that node is gone, another renews it", async () => {
  const database = { kind: "postgres", address: addressOf(await postgres.freshUrl()) } as const;
  const ports = [await freePort(), await freePort()] as const;
  const first = await startAcmeService(pebble, { database, dnsPort: ports[0] });
  const second = await startAcmeService(pebble, { database, dnsPort: ports[1] });
  let [answering] = ports;
  (await openRelay(pebble.dnsPort, () => answering)).open();
  first.lead();
  second.lead();
  await Promise.all([first.issued(), second.issued()]);
  const root = await pebble.root();
  const shown = async (url: string) => serialOf(await connectTo(url, hostName, root));
  const serial = await shown(first.url);
  expect([await shown(second.url), pebble.orders()]).toEqual([serial, 1]);

  const [leader, other, port] = first.duties.isLeading() ? [first, second, ports[1]] : [second, first, ports[0]];
  answering = port;
  await leader.stop();
  await until(() => other.duties.isLeading());
  other.pass(1_300 * 86_400_000);
  await until(async () => (await shown(other.url)) !== serial);
});
