import { once } from "node:events";
import { createServer } from "node:http";
import { expect, it, onTestFinished } from "vitest";
import { startIdentityProvider } from "../../../test/rig/access/identity-provider.ts";
import { settingsFor, signInThere } from "../../../test/rig/access/oidc-caller.ts";
import { freePort } from "../../../test/rig/free-port.ts";
import { noLog } from "../../process/log.ts";
import { openAccess } from "../access/store.ts";
import { createFirewallConsole } from "./console.ts";
import type { Listener } from "./events.ts";

/** What people from an identity provider may do on the firewall's pages. The service is behind TLS, the test is not. */
async function rig() {
  const port = await freePort();
  const [url, origin] = [`http://127.0.0.1:${port}`, `https://127.0.0.1:${port}`];
  const provider = await startIdentityProvider(`${origin}/sign-in`);
  onTestFinished(provider.close);
  const access = openAccess(":memory:");
  onTestFinished(access.close);
  const listeners: Listener[] = [];
  const clock = { ahead: 0 };
  const { handle } = createFirewallConsole({
    access,
    streams: {
      open: async (_request, _response, listener) => {
        listeners.push(listener);
        return { kind: "full", holder: { name: "session 1", most: 0 } };
      },
    },
    log: noLog,
    now: () => new Date(Date.now() + clock.ahead),
    readTraffic: async () => ({ at: 0, devices: {}, defaultRoutes: [] }),
    caFile: undefined,
    pages: undefined,
    oidc: settingsFor(provider, [
      { claim: "groups", value: "admins", role: "full" },
      { claim: "groups", value: "family", account: "family", role: "read" },
      { claim: "groups", value: "readers", account: "root", role: "read" },
    ]),
  });
  const server = createServer((request, response) => void handle(request, response));
  onTestFinished(() => void server.close());
  await once(server.listen(port, "127.0.0.1"), "listening");
  return {
    access,
    provider,
    listeners,
    clock,
    enter: (group: string) => signInThere(provider, group, { url, origin }),
  };
}

it("creates users with the privileges of their role, and notes it", async () => {
  const { access, enter } = await rig();
  expect((await enter("admins")).session).toMatchObject({ name: "root", privileges: ["all"] });
  expect((await enter("family")).session).toMatchObject({ name: "family", privileges: ["interface-status"] });
  const added = access.audit.latest(10).map(({ action, subject }) => `${action}: ${subject}`);
  expect(added).toEqual(["user added: family, privileges: interface-status", "user added: root, privileges: all"]);
});

it("limits a session of an administrator to looking, if the role says so", async () => {
  const { enter } = await rig();
  const admin = await enter("admins");
  const reader = await enter("readers");
  expect(reader.session).toMatchObject({ name: "root", readOnly: true, privileges: ["interface-status"] });
  expect(await reader.status("GET", "/console/traffic")).toBe(200);
  expect(await reader.status("GET", "/console/people")).toBe(403);
  expect(await reader.status("POST", "/console/users/root/keys")).toBe(403);
  expect(await admin.status("GET", "/console/people")).toBe(200);
});

it("does not leave the passkeys of a removed user to the next one of that name", async () => {
  const { access, enter } = await rig();
  const admin = await enter("admins");
  await enter("family");
  const passkey = { id: "a", who: "family", site: "router.example", name: "Phone", publicKey: "", counter: 0 };
  await access.passkeys.add({ ...passkey, created: 0, used: 0 });
  expect(await admin.status("DELETE", "/console/users/family")).toBe(204);
  expect(await access.passkeys.of("family")).toEqual([]);
});

it("may not stay at an event stream when the provider no longer knows the user", async () => {
  const { provider, listeners, clock, enter } = await rig();
  await (await enter("admins")).status("GET", "/console/events");
  provider.users.delete("anna");
  expect(await listeners[0]?.mayStay()).toBe(true);
  clock.ahead += 5 * 60_000;
  expect(await listeners[0]?.mayStay()).toBe(false);
});
