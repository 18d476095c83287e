import { Resolver } from "node:dns/promises";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { freePort } from "../rig/free-port.ts";
import { node, repository } from "../rig/namespace.ts";
import { type StartedProcess, startProcess } from "../rig/started-process.ts";

/** On a store in a file kysely is loaded with the first list: here it cannot be. */
const refuse =
  'import { registerHooks } from "node:module"; registerHooks({ resolve: (name, context, next) => { ' +
  'if (name === "kysely") throw new Error("kysely was asked for"); return next(name, context); } });';

const moor = (...words: readonly string[]): StartedProcess =>
  startProcess([node, "--import", `data:text/javascript,${refuse}`, join(repository, "bin/moor.ts"), ...words], {});

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "moor-without-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it("tokens are made and revoked without kysely, and listed by it", async () => {
  const data = ["--data", join(folder, "tokens")];
  expect(await moor("token", "add", ...data).ended).toMatchObject({ code: 0 });
  expect(await moor("token", "revoke", "1", ...data).ended).toMatchObject({ code: 0 });
  expect((await moor("token", "list", ...data).ended).err).toContain("kysely was asked for");
});

it("a service starts, is written to and answers without kysely, and lists by it", async () => {
  const data = ["--data", join(folder, "service")];
  const token = (await moor("token", "add", ...data).ended).out.trim();
  const [http, dns] = [`127.0.0.1:${await freePort()}`, `127.0.0.1:${await freePort()}`];
  const service = moor("records", ...data, "--plain-http", "--listen", http, "--dns", dns);
  await service.says(/signs in to its console/);
  const call = (method: string, path: string, body?: unknown) =>
    fetch(`http://${http}${path}`, {
      method,
      headers: { "auth-api-token": token, authorization: `Bearer ${token}`, "content-type": "application/json" },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  const made = await call("POST", "/api/v1/zones", { name: "example.org", ttl: 60 });
  const { zone } = (await made.json()) as { zone: { id: string } };
  const record = { zone_id: zone.id, name: "www", type: "A", value: "192.0.2.1" };
  const records = [{ value: "192.0.2.2" }];
  const calls = [
    ["POST", "/api/v1/records", record],
    ["GET", `/api/v1/records?zone_id=${zone.id}`],
    ["GET", "/api/v1/zones?name=example.org"],
    ["GET", "/v1/zones/example.org/rrsets/www/A"],
    ["POST", "/v1/zones/example.org/rrsets/www/A/actions/set_records", { records }],
  ] as const;
  for (const [method, path, body] of calls) expect([path, (await call(method, path, body)).ok]).toEqual([path, true]);
  const resolver = new Resolver();
  resolver.setServers([dns]);
  expect(await resolver.resolve4("www.example.org")).toEqual(["192.0.2.2"]);
  expect((await call("GET", "/v1/zones")).status).toBe(500);
  expect(service.err()).toContain("kysely was asked for");
  expect(await service.stop()).toMatchObject({ code: 0 });
});
