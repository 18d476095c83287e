import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { builtPages } from "../rig/bundle.ts";
import { until } from "../rig/until.ts";
import { type Loop, openLoop } from "../rig/updater/loop.ts";
import { startWatcher, type Watcher } from "../updater/watcher.ts";
import { axeFinds } from "./axe.ts";
import { type OpenBrowser, openBrowser, openContext, openPage, type WatchedPage } from "./browser.ts";

let browser: OpenBrowser;
let loop: Loop;
let watcher: Watcher;
let page: WatchedPage;
const password = "a ship in the harbour";

beforeAll(async () => {
  browser = await openBrowser();
  const control = '{ listen: "0.0.0.0:0", token: { file: t }, password: { file: page-password } }';
  loop = await openLoop("  - { name: home, zone: example.org, ipv4: wan0 }", undefined, {
    settings: `interval: 1s\ncontrol: ${control}`,
    before: (folder) => writeFileSync(join(folder, "page-password"), `${password}\n`, { mode: 0o600 }),
  });
  watcher = await startWatcher(loop, { pages: builtPages() });
  await until(() => loop.stored().A === "9.9.9.9");
  // Another address of this machine, as seen from the LAN.
  page = await openPage(await openContext(browser), watcher.page().replace("127.0.0.1", "127.0.0.2"));
});
afterAll(async () => {
  await browser?.close();
  await watcher?.stop();
  await loop?.close();
});

describe("the updater's page for other machines", () => {
  it("shows nothing without the password, refuses a wrong one, and lets the right one in", async () => {
    await page.getByRole("heading", { name: "moor updater" }).waitFor();
    expect(await axeFinds(page)).toEqual([]);
    const { origin } = new URL(page.url());
    expect(origin).toMatch(/^https:/);
    expect((await page.request.get(`${origin}/page/state`)).status()).toBe(401);
    await page.getByLabel("Password", { exact: true }).fill("a ship in the sky");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByText("Name or password is wrong.").waitFor();
    await page.getByLabel("Password", { exact: true }).fill(password);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("region", { name: "home.example.org A" }).waitFor();
    expect(page.complaints).toEqual([]);
  });

  it("refuses what a page of another origin sends with the session", async () => {
    const { origin } = new URL(page.url());
    const asked = await page.request.post(`${origin}/page/check`, { headers: { origin } });
    expect([asked.status(), await asked.text()]).toEqual([403, expect.stringContaining("forged")]);
  });
});
