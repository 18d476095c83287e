import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { startIdentityProvider } from "../../../test/rig/access/identity-provider.ts";
import { settingsFor, signInThere } from "../../../test/rig/access/oidc-caller.ts";
import { freePort } from "../../../test/rig/free-port.ts";
import { readEvents } from "../../../test/rig/records/event-reader.ts";
import { noLog } from "../../process/log.ts";
import { type RunningRecords, startRecords } from "../start.ts";

/** What people from an identity provider may do in the record service. */

let folder: string;
let provider: Awaited<ReturnType<typeof startIdentityProvider>>;
let service: RunningRecords;
/** Milliseconds by which the service's clock is ahead. */
let ahead = 0;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "moor-oidc-"));
  const port = await freePort();
  provider = await startIdentityProvider(`http://127.0.0.1:${port}/sign-in`);
  service = await startRecords({
    dataFolder: folder,
    names: [],
    nameservers: ["ns1.example.net"],
    plainHttp: true,
    listen: { host: "127.0.0.1", port },
    log: noLog,
    now: () => Date.now() + ahead,
    heartbeat: 50,
    oidc: settingsFor(provider, [
      { claim: "groups", value: "admins", role: "full" },
      { claim: "groups", value: "readers", role: "read" },
      { claim: "groups", value: "crew", account: "crew", role: "full" },
    ]),
  });
});
afterAll(async () => {
  await service?.close();
  await provider?.close();
  await rm(folder, { recursive: true });
});

const signedInWith = (group: string) => signInThere(provider, group, service);

it("without an account in the rule, they are the owner; an account that does not exist is created", async () => {
  expect((await signedInWith("admins")).session).toMatchObject({ name: "main", readOnly: false });
  expect((await signedInWith("crew")).session).toMatchObject({ name: "crew", readOnly: false });
});

it("with the role read, they see everything and change nothing", async () => {
  const admin = await signedInWith("admins");
  expect(await admin.status("POST", "/v1/zones", { name: "harbour.example", mode: "primary" })).toBe(201);
  const reader = await signedInWith("readers");
  expect(reader.session).toMatchObject({ name: "main", readOnly: true });
  for (const path of ["/v1/zones/harbour.example", "/console/tokens", "/console/overview"])
    expect(await reader.status("GET", path)).toBe(200);
  const token = { name: "mine", scope: { access: "write" }, allZones: true };
  const refused: [method: string, path: string, body?: unknown][] = [
    ["POST", "/v1/zones", { name: "other.example", mode: "primary" }],
    ["DELETE", "/v1/zones/harbour.example"],
    ["POST", "/v1/zones/harbour.example/rrsets", { name: "www", type: "A", records: [{ value: "192.0.2.1" }] }],
    ["POST", "/console/tokens", token],
    ["DELETE", "/console/tokens/1"],
    ["PUT", "/console/password", { next: "four unrelated words" }],
    ["POST", "/console/passkeys/new", {}],
  ];
  for (const [method, path, body] of refused)
    expect([path, await reader.status(method, path, body)]).toEqual([path, 403]);
  expect(await admin.status("POST", "/console/tokens", token)).toBe(201);
});

describe("the event stream of somebody from an identity provider", () => {
  it.each([
    ["the provider removes the user", async () => void provider.users.delete("anna")],
    ["the user loses the group there", async () => void provider.users.set("anna", { groups: ["family"] })],
    ["the tokens of the session are revoked there", () => provider.revokeGrants()],
  ])("ends within five minutes, although nothing happens, after %s", async (_, revoke) => {
    const { cookie } = await signedInWith("admins");
    const reader = await readEvents(`${service.url}/v1/events`, { cookie });
    onTestFinished(reader.close);
    const beats = () => reader.text().split("still here").length - 1;
    await reader.until(() => beats() > 1);
    await revoke();
    const before = beats();
    await reader.until(() => beats() > before + 1);
    expect(reader.ended(), "before the session is confirmed again").toBe(false);
    ahead += 5 * 60_000;
    await reader.until(() => reader.ended());
    expect((await readEvents(`${service.url}/v1/events`, { cookie })).status).toBe(401);
  });

  it("goes on while the provider confirms the session", async () => {
    const { cookie } = await signedInWith("admins");
    const reader = await readEvents(`${service.url}/v1/events`, { cookie });
    onTestFinished(reader.close);
    const confirmed = () => provider.asked.filter((each) => each === "POST /token").length;
    const before = confirmed();
    ahead += 5 * 60_000;
    await reader.until(() => confirmed() > before);
    const beats = reader.text().length;
    await reader.until(() => reader.text().length > beats);
    expect(reader.ended()).toBe(false);
  });
});
