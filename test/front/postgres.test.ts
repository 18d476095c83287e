import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { signingKeyFile } from "../../src/records/open-store.ts";
import { addressOf, type PostgresRig, startPostgresRig } from "../rig/records/postgres.ts";
import { Moor } from "./two-moors.ts";

/** Two nodes on one database publish at a third moor. */
const zone = "example.org";
let postgres: PostgresRig;
let there: Moor;
let nodes: [Moor, Moor];
beforeAll(async () => {
  postgres = await startPostgresRig();
  there = await Moor.start();
  const keyFile = signingKeyFile(await mkdtemp(join(tmpdir(), "moor-front-key-")));
  const database = { kind: "postgres", address: addressOf(await postgres.preparedUrl()), keyFile } as const;
  nodes = [await Moor.start({ database }), await Moor.start({ database })];
  await there.ok("POST", "/zones", { name: zone, mode: "primary" });
  await there.put(zone, "www", "A", ["192.0.2.1"]);
});
afterAll(async () => {
  // The first node ends in the test.
  for (const moor of [nodes[1], there]) await moor.service.close();
  await postgres.stop();
});

const published = async (node: Moor, value: string): Promise<void> => {
  await expect.poll(() => there.lines(zone)).toEqual([`www 300 A ${value}`]);
  await expect.poll(async () => (await node.state(zone, "www"))?.state).toBe("published");
};

test("each node can publish a zone and write to it; when the one that publishes ends, the other goes on", async () => {
  const [first, second] = nodes;
  await second.ok("POST", "/zones", { name: zone, mode: "primary" });
  await second.ok("POST", "/providers", { name: "h", kind: "hetzner", url: there.service.url, token: there.token });
  const { preview } = await second.ok("GET", `/zones/${zone}/publication/preview?provider=h`);
  await second.ok("POST", `/zones/${zone}/actions/publish`, { provider: "h", digest: preview.digest, fill: "theirs" });
  await first.put(zone, "www", "A", ["192.0.2.2"]);
  await published(second, "192.0.2.2");
  const path = `/zones/${zone}/rrsets/www/A/actions/set_records?confirm=provider`;
  await second.ok("POST", path, { records: [{ value: "192.0.2.3" }] });
  expect(await there.lines(zone)).toEqual(["www 300 A 192.0.2.3"]);
  await first.service.close();
  const { action } = await second.put(zone, "www", "A", ["192.0.2.4"]);
  await published(second, "192.0.2.4");
  await expect.poll(async () => (await second.action(action.id)).status).toBe("success");
});
