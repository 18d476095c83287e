import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { startIdentityProvider } from "../../../test/rig/access/identity-provider.ts";
import { settingsFor } from "../../../test/rig/access/oidc-caller.ts";
import { noLog } from "../../process/log.ts";
import { createUpdaterPage, type PageOptions } from "./http-page.ts";
import { openPasskeyFile } from "./passkey-file.ts";
import { openPageSignIn } from "./sign-in.ts";

const origin = "https://updater.example:9053";

it("people from an identity provider may look at the page, or also change names, as the rules say", async () => {
  const provider = await startIdentityProvider(`${origin}/sign-in`);
  onTestFinished(provider.close);
  const allow = [
    { claim: "groups", value: "admins", role: "full" },
    { claim: "groups", value: "readers", role: "read" },
  ] as const;
  const signIn = openPageSignIn({ log: noLog, now: Date.now, oidc: settingsFor(provider, allow) });
  const ask = async (method: string, path: string, headers: Record<string, string> = {}, fields = {}) => {
    const own = { origin, host: new URL(origin).host, ...headers };
    const request = { method, path, headers: own, body: JSON.stringify(fields), from: "192.0.2.1" };
    const answer = await signIn.answer(request);
    const cookie = answer?.headers["set-cookie"]?.split(";", 1)[0] ?? "";
    return { request, cookie, body: answer?.body ? JSON.parse(answer.body) : {} };
  };
  const enter = async (group: string) => {
    provider.users.set("anna", { groups: [group] });
    const { body, cookie } = await ask("POST", "/console/oidc/begin");
    const query = await provider.walk(body.url);
    const entered = await ask("POST", "/console/oidc/finish", { cookie }, { query });
    const { csrf, privileges } = (await ask("GET", "/console/session", { cookie: entered.cookie })).body;
    return { privileges, headers: { cookie: entered.cookie, "x-csrf-token": csrf } };
  };
  const page = createUpdaterPage({
    config: { names: [] },
    check: () => undefined,
    now: Date.now,
  } as unknown as PageOptions);
  const check = async ({ headers }: { headers: Record<string, string> }) => {
    const { request } = await ask("POST", "/page/check", headers);
    return (await page(request, await signIn.admit(request)))?.status;
  };
  const [admin, reader] = [await enter("admins"), await enter("readers")];
  expect([admin.privileges, reader.privileges]).toEqual([["change-names"], []]);
  expect([await check(reader), await check(admin)]).toEqual([403, 202]);
});

it("passkeys for the page survive a restart, and are missing where they cannot be stored", async () => {
  const folder = mkdtempSync(join(tmpdir(), "moor-passkeys-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const config = { stateFile: join(folder, "moor-state.json") };
  const passkey = { id: "a", who: "updater", site: "updater.example", name: "Phone", publicKey: "k", counter: 0 };
  const first = openPasskeyFile(config, noLog);
  await first?.passkeys.add({ ...passkey, created: 1, used: 1 });
  first?.close();
  const second = openPasskeyFile(config, noLog);
  expect(await second?.passkeys.of("updater")).toMatchObject([passkey]);
  second?.close();
  expect(openPasskeyFile({ stateFile: join(folder, "missing", "moor-state.json") }, noLog)).toBeUndefined();
});
