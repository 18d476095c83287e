import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { hashSecret } from "../src/access/secret.ts";
import { wholeAccount } from "../src/core/may.ts";
import { keysFile, openAccess } from "../src/firewall/access/store.ts";
import { launchBrowser, openContext, openPage } from "../test/browser/browser.ts";
import { householdRows, startFirewallRig } from "../test/browser/firewall-rig.ts";
import { fillHarbour } from "../test/browser/harbour.ts";
import { signInByLink, startRecordsRig } from "../test/browser/records-rig.ts";
import { startUpdaterRig } from "../test/browser/updater-rig.ts";

/** Retakes the screenshots in the README: `npx node scripts/screenshots.ts`. */

const folder = join(import.meta.dirname, "../docs/images");
const size = { width: 1040, height: 600 };

await mkdir(folder, { recursive: true });
const browser = await launchBrowser();
try {
  await takeAll(browser);
} finally {
  await browser.close();
}

async function takeAll(browser: Browser): Promise<void> {
  const [records, firewall] = [await startRecordsRig(), await startFirewallRig()];
  const { store } = records.service();
  await fillHarbour(store, Date.now());
  const account = await store.ensureAccount("main", Date.now());
  const token = "a-token-for-pictures-only-0000000";
  await store.addToken({
    ...{ account: account.id, name: "router at home", scope: wholeAccount },
    ...{ hash: hashSecret(token), created: Date.now() },
  });
  const access = openAccess(keysFile(firewall.folder));
  const key = access.keys.add({ name: "updater", privileges: ["interface-status"], now: new Date() });
  access.close();
  const updater = await startUpdaterRig({
    firewall: { url: firewall.url, ca: join(firewall.folder, "ca.pem"), key: key.key, secret: key.secret },
    records: { url: records.url, ca: join(records.folder, "ca.pem"), token },
    ...{ name: "home", zone: "harbour.example" },
  });

  const light = await openContext(browser, { size });
  const dark = await openContext(browser, { size, scheme: "dark" });
  const dns = await openPage(light, records.url);
  await signInByLink(dns, await records.service().createSignInLink("main"));
  await setPassword(dns, records.url);
  await dns.goto(`${records.url}/zones/harbour.example`);
  await dns.getByRole("link", { name: "home AAAA" }).waitFor();
  await take(dns, "dns-records");
  const moving = await openPage(dark, records.url);
  await signInByLink(moving, await records.service().createSignInLink("main"));
  await moving.goto(`${records.url}/zones/harbour.example/moving`);
  await moving.getByRole("img").first().waitFor();
  await take(moving, "dns-moving");

  const wall = await openPage(light, firewall.url);
  await signInByLink(wall, await firewall.service.createSignInLink());
  await setPassword(wall, firewall.url);
  await wall.goto(firewall.url);
  await wall.getByRole("region", { name: "ppp0" }).waitFor();
  await take(wall, "firewall-interfaces");

  for (const address of ["203.0.113.23", "203.0.113.64", "203.0.113.97"]) {
    await firewall.setRows(householdRows(address));
    await wall.waitForTimeout(1_500);
  }
  const page = await openPage(light, updater.url);
  await page.getByText("up to date", { exact: true }).waitFor();
  await page.getByRole("img").first().waitFor();
  await take(page, "updater");

  await updater.close();
  await firewall.close();
  await records.close();
}

async function setPassword(page: Page, url: string): Promise<void> {
  await page.goto(`${url}/account`);
  await page.getByLabel("New password").fill("only for these pictures");
  await page.getByRole("button", { name: "Set password" }).click();
  await page.getByText("Password set").waitFor();
}

async function take(page: Page, name: string): Promise<void> {
  await page.mouse.move(0, 0);
  await page.waitForTimeout(400);
  await page.screenshot({ path: join(folder, `${name}.png`) });
}
