import { join } from "node:path";
import type { BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hashSecret } from "../../src/access/secret.ts";
import { wholeAccount } from "../../src/core/may.ts";
import { keysFile, openAccess } from "../../src/firewall/access/store.ts";
import { type OpenBrowser, openBrowser, openContext, openPage } from "./browser.ts";
import { type FirewallRig, householdRows, startFirewallRig } from "./firewall-rig.ts";
import { fillZone } from "./harbour.ts";
import { type RecordsRig, signInContext, startRecordsRig } from "./records-rig.ts";
import { startUpdaterRig, type UpdaterRig } from "./updater-rig.ts";

let records: RecordsRig;
let firewall: FirewallRig;
let updater: UpdaterRig;
let browser: OpenBrowser;
let context: BrowserContext;

beforeAll(async () => {
  records = await startRecordsRig();
  firewall = await startFirewallRig();
  browser = await openBrowser();
  context = await openContext(browser);
});
afterAll(async () => {
  await browser?.close();
  await updater?.close();
  await firewall?.close();
  await records?.close();
});

/** Marks a page; the mark disappears when the page is reloaded. */
const mark = (page: Page) => page.evaluate("window.sameAsBefore = true");
const isSame = (page: Page) => page.evaluate("window.sameAsBefore === true");

/** The records console's own test creates them with the mouse. */
async function makeRecordAndToken(): Promise<string> {
  const { store } = records.service();
  await fillZone(store, "example.org", "home 300 IN A 192.0.2.1");
  const account = await store.ensureAccount("main", Date.now());
  const token = "a-token-for-the-updater-00000000";
  await store.addToken({
    ...{ account: account.id, name: "updater", scope: wholeAccount },
    ...{ hash: hashSecret(token), created: Date.now() },
  });
  return token;
}

/** The firewall console's own test creates one with the mouse. */
function makeKey(): { readonly key: string; readonly secret: string } {
  const access = openAccess(keysFile(firewall.folder));
  const key = access.keys.add({ name: "updater", privileges: ["interface-status"], now: new Date() });
  access.close();
  return key;
}

describe("a name with a changing address", () => {
  it("turns green when the updater starts, and its change is shown everywhere without a reload", async () => {
    const token = await makeRecordAndToken();
    const key = makeKey();
    await signInContext(context, await records.service().createSignInLink("main"));
    await signInContext(context, await firewall.service.createSignInLink());
    const dns = await openPage(context, `${records.url}/zones`);
    const wall = await openPage(context, firewall.url);

    updater = await startUpdaterRig({
      firewall: { url: firewall.url, ca: join(firewall.folder, "ca.pem"), ...key },
      records: { url: records.url, ca: join(records.folder, "ca.pem"), token },
      ...{ name: "home", zone: "example.org" },
    });
    const page = await openPage(context, updater.url);
    const card = page.getByRole("region", { name: "home.example.org" });
    await card.getByText("up to date", { exact: true }).waitFor();
    await expect.poll(() => card.textContent()).toContain("Published203.0.113.97");

    await dns.bringToFront();
    await dns.getByRole("link", { name: "example.org" }).click();
    const row = dns.getByRole("row").filter({ hasText: "home" });
    await expect.poll(() => row.textContent()).toContain("203.0.113.97");
    await wall.bringToFront();
    const ppp = wall.getByRole("region", { name: "ppp0" });
    await ppp.waitFor();
    for (const each of [dns, wall, page]) await mark(each);

    await firewall.setRows(householdRows("203.0.113.12"));
    await expect.poll(() => ppp.textContent()).toContain("203.0.113.12");
    await expect.poll(() => row.textContent()).toContain("203.0.113.12");
    await expect.poll(() => card.textContent()).toContain("Stored203.0.113.12Published203.0.113.12");
    await card.getByText("up to date", { exact: true }).waitFor();
    await page.getByRole("cell", { name: "record replaced by 203.0.113.12" }).waitFor();
    await card.getByRole("img", { name: /over time/ }).waitFor();
    for (const each of [dns, wall, page]) expect(await isSame(each)).toBe(true);
    for (const each of [dns, wall, page]) expect(each.complaints).toEqual([]);
    // What they receive is drawn as long as they are open.
    for (const each of [dns, wall]) await each.close();
  });
});
