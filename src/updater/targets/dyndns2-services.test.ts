import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import {
  answerDyndns2,
  dyndns2Services,
  type StoredAddresses,
} from "../../../test/rig/updater/fakes/dyndns2-services.ts";
import { startServer, type TestServer } from "../../../test/rig/updater/services.ts";
import { type Family, recordTypeOf } from "../../core/addresses/address.ts";
import { readConfig } from "../read-config.ts";
import type { RecordTarget, ReplaceRequest } from "./target.ts";
import { openTarget } from "./targets.ts";

/** Services that differ from the protocol, as their own pages describe them. */

const never = new AbortController().signal;
const right = { host: "home.example.org", user: "me", password: "p4ss & wörd" };
const before: StoredAddresses = { A: "192.0.2.1", AAAA: "2001:db8::1" };

let server: TestServer | undefined;
let target: RecordTarget | undefined;
afterEach(async () => {
  target?.close();
  await server?.close();
});

type Name = keyof typeof dyndns2Services;

/** The target of that service, at a stand-in, and what it holds. */
async function open(service: Name, password = right.password): Promise<StoredAddresses> {
  const held = { ...before };
  server = await startServer(answerDyndns2(dyndns2Services[service], right, held));
  const folder = mkdtempSync(join(tmpdir(), "moor-dyndns2-"));
  writeFileSync(join(folder, "k"), "key=k\nsecret=s\n", { mode: 0o600 });
  writeFileSync(
    join(folder, "moor.yaml"),
    `sources: { home: { url: "http://127.0.0.1:1", keyFile: k } }
targets: { dns: { api: dyndns2, service: ${service}, user: ${right.user}, password: { env: PASSWORD } } }
names: [{ name: home, zone: example.org, ipv4: wan0 }]
`,
  );
  const read = readConfig("moor.yaml", { PASSWORD: password }, folder);
  rmSync(folder, { recursive: true });
  if (!read.ok) throw new Error(JSON.stringify(read.faults));
  const config = read.value.targets.get("dns");
  if (!config) throw new Error("no target");
  target = await openTarget({ ...config, url: new URL(config.url.pathname, server.url) });
  return held;
}

const requests: Readonly<Record<Family, ReplaceRequest>> = {
  ipv4: { zone: "example.org", name: "home", family: "ipv4", value: "9.9.9.9" },
  ipv6: { zone: "example.org", name: "home", family: "ipv6", value: "2a00::9" },
};
const replace = (request: ReplaceRequest) => target?.replace(request, never);

const names = Object.keys(dyndns2Services) as Name[];

describe.each(names)("%s", (service) => {
  // selfHOST's description knows IPv4 addresses only.
  const families = service === "selfhost" ? (["ipv4"] as const) : (["ipv4", "ipv6"] as const);

  it.each(families)("stores an %s address, and nothing else; a second time, it knows it already", async (family) => {
    const held = await open(service);
    expect(await replace(requests[family])).toMatchObject({ kind: "done" });
    expect(held).toEqual({ ...before, [recordTypeOf(family)]: requests[family].value });
    const again = await replace(requests[family]);
    expect(again).toMatchObject({ kind: "done", ...(!["desec", "ydns"].includes(service) && { already: true }) });
  });

  it("rejects a wrong password, which is not shown, and is not asked again for a day", async () => {
    const held = await open(service, "wr0ng-password");
    const outcome = await replace(requests.ipv4);
    expect(outcome).toMatchObject({ kind: "refused", fault: { kind: "unauthorised", retryAfter: 86_400_000 } });
    expect(JSON.stringify(outcome)).not.toContain("wr0ng");
    expect(held).toEqual(before);
  });

  it("has no other host, and is not asked again for a day", async () => {
    await open(service);
    const outcome = await replace({ ...requests.ipv4, name: "other" });
    expect(outcome).toMatchObject({ kind: "refused", fault: { kind: "missing", retryAfter: 86_400_000 } });
  });
});

it.each(["dynu", "he"] as const)("%s signs in with parameters only", async (service) => {
  await open(service);
  await replace(requests.ipv4);
  expect(server?.asked.map(({ headers }) => headers.authorization)).toEqual([undefined]);
});

it.each(["ipv4", "ipv6"] as const)("Dynu gets both addresses with %s, if both are known", async (family) => {
  const held = await open("dynu");
  const otherAddress = requests[family === "ipv4" ? "ipv6" : "ipv4"].value;
  expect(await replace({ ...requests[family], otherAddress })).toMatchObject({ kind: "done" });
  expect(held).toEqual({ A: "9.9.9.9", AAAA: "2a00::9" });
  expect(server?.asked).toHaveLength(1);
});
