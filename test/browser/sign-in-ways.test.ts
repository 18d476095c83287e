import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { BrowserContext } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { noLog } from "../../src/process/log.ts";
import { type RunningRecords, startRecords } from "../../src/records/start.ts";
import { client, startIdentityProvider } from "../rig/access/identity-provider.ts";
import { builtPages } from "../rig/bundle.ts";
import { freePort } from "../rig/free-port.ts";
import { axeFinds, axeFindsInLongRun } from "./axe.ts";
import { type OpenBrowser, openBlankPage, openBrowser, openContext, type WatchedPage } from "./browser.ts";
import { signInByLink } from "./records-rig.ts";

/** Over plain HTTP on localhost, because Chromium uses passkeys only on pages whose certificate it trusts. */

let folder: string;
let provider: Awaited<ReturnType<typeof startIdentityProvider>>;
let service: RunningRecords;
let browser: OpenBrowser;
/** For all tests, each of which begins without a session: another one would need a process. */
let context: BrowserContext;
let page: WatchedPage;
let url: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "moor-sign-in-ways-"));
  const port = await freePort();
  url = `http://localhost:${port}`;
  provider = await startIdentityProvider(`${url}/sign-in`);
  service = await startRecords({
    dataFolder: folder,
    listen: { host: "127.0.0.1", port },
    names: [],
    nameservers: ["ns1.example.net"],
    plainHttp: true,
    log: noLog,
    pages: builtPages(),
    oidc: {
      name: "Harbour ID",
      issuer: new URL(provider.issuer),
      client: client.id,
      secret: () => client.secret,
      scopes: ["openid", "groups"],
      allow: [{ claim: "groups", value: "dns-readers", account: "main", role: "read" }],
      trust: { kind: "system" },
    },
  });
  browser = await openBrowser();
  context = await openContext(browser);
  page = await openBlankPage(context, url);
});
afterEach(() => context.clearCookies());
afterAll(async () => {
  await browser?.close();
  await service?.close();
  await provider?.close();
  await rm(folder, { recursive: true, force: true });
});

it("a passkey is added on the account page, signs in without a name, and is removed", async () => {
  const devtools = await context.newCDPSession(page);
  await devtools.send("WebAuthn.enable");
  await devtools.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      protocol: "ctap2",
      transport: "internal",
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  await signInByLink(page, await service.createSignInLink("captain", url));
  await page.getByRole("link", { name: "Account", exact: true }).click();
  await page.getByLabel("Name of the new passkey").fill("Bridge");
  await page.getByRole("button", { name: "Add passkey" }).click();
  await page.getByText("Passkey added.").waitFor();
  await page.getByRole("cell", { name: "never" }).waitFor();
  expect(await axeFindsInLongRun(page)).toEqual([]);
  await page.getByRole("button", { name: "Sign out", exact: true }).first().click();

  await page.getByRole("button", { name: "Sign in with a passkey" }).click();
  await page.getByRole("link", { name: "Account", exact: true }).click();
  await page.getByText("Account: captain").waitFor();
  expect(await page.getByText("You have no password yet").count()).toBe(0);
  await page.getByRole("button", { name: "Remove the passkey Bridge" }).click();
  await expect.poll(() => page.getByRole("cell", { name: "Bridge" }).count()).toBe(0);
  await page.getByRole("button", { name: "Sign out", exact: true }).first().click();
  await page.getByRole("button", { name: "Sign in with a passkey" }).click();
  await page.getByText("This passkey is not known here").waitFor();
  expect(await axeFinds(page)).toEqual([]);
  expect(page.complaints).toEqual([]);
});

it("the identity provider sends people back to the page they wanted, with nothing left in the address bar", async () => {
  provider.users.set("anna", { groups: ["dns-readers"] });
  await page.goto(`${url}/account`);
  await page.getByRole("button", { name: "Sign in with Harbour ID" }).click();
  await page.getByText("You signed in with Harbour ID").waitFor();
  expect(page.url()).toBe(`${url}/account`);
  await page.getByText("change nothing").waitFor();
  expect(await page.getByRole("heading", { name: "Passkeys" }).count()).toBe(0);
  const back = await page.goBack();
  expect(back?.url() ?? "").not.toContain("code=");
});

it("a user whom no rule allows reads why, and can try another way", async () => {
  provider.users.set("anna", { groups: [] });
  await page.goto(url);
  await page.getByRole("button", { name: "Sign in with Harbour ID" }).click();
  await page.getByText("you may not sign in here").waitFor();
  expect(page.url()).toBe(`${url}/sign-in`);
  await page.getByRole("button", { name: "Back to the sign-in" }).click();
  await page.getByRole("button", { name: "Sign in", exact: true }).waitFor();
});
