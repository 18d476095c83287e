import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { builtInName, type HostedName, hostName } from "../rig/hosted-name.ts";
import { type Namespace, openNamespace } from "../rig/namespace.ts";

let inside: Namespace;
let name: HostedName;

beforeAll(async () => {
  inside = await openNamespace();
  name = await hostName(inside, mkdtempSync(join(tmpdir(), "moor-new-zone-")));
});
afterAll(() => inside.close());

it("a new zone has an SOA and three nameservers, which the vendor's clients count", async () => {
  const header = ["-H", `Authorization: Bearer ${name.token}`, "-H", "Content-Type: application/json"];
  const body = JSON.stringify({ name: "example.org", mode: "primary" });
  const url = `https://${builtInName}/v1/zones`;
  const { out } = await name.run(["curl", "-sS", "--cacert", name.caFile, ...header, "-d", body, url]);
  const { zone } = JSON.parse(out) as { zone: { authoritative_nameservers: { assigned: readonly string[] } } };
  expect(zone).toMatchObject({ record_count: 4, ttl: 3600, registrar: "other", status: "ok" });
  expect(zone.authoritative_nameservers.assigned).toHaveLength(3);
});
