import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { allPages } from "../test/browser/all-pages.ts";
import { type Look, launchBrowser, phone } from "../test/browser/browser.ts";
import { householdRows } from "../test/browser/firewall-rig.ts";
import {
  type Consoles,
  openConsoles,
  showPage,
  startThreeServices,
  type ThreeServices,
} from "../test/browser/three-services.ts";
import { smallerPng } from "./screenshots/smaller-png.ts";

/** Retakes the pictures of all pages in docs/images: `npx node scripts/screenshots.ts [NAME…]`. */

const folder = join(import.meta.dirname, "../docs/images");
const size = { width: 1040, height: 600 };
/** As high as the four cards. */
const namesSize = { width: 1040, height: 556 };
const wanted = process.argv.slice(2);

/** Pages that are also taken in dark, or on a phone. */
const others: readonly { readonly picture: string; readonly of: string; readonly look: Look }[] = [
  { picture: "names-dark", of: "names", look: { size: namesSize, scheme: "dark" } },
  { picture: "names-phone", of: "names", look: { size: phone, scheme: "dark" } },
  { picture: "dns-moving-dark", of: "dns-moving", look: { size, scheme: "dark" } },
  { picture: "firewall-phone", of: "firewall-interfaces", look: { size: phone, scheme: "light" } },
  { picture: "updater-phone", of: "updater", look: { size: phone, scheme: "dark" } },
];

await mkdir(folder, { recursive: true });
const services = await startThreeServices();
const browser = await launchBrowser();
try {
  await takeAll(services, browser);
} finally {
  await browser.close();
  await services.close();
}

async function takeAll(services: ThreeServices, browser: Browser): Promise<void> {
  const light = await openConsoles(services, browser, { size, scheme: "light" });
  await setPassword(light.records, services.records.url);
  await setPassword(light.firewall, services.firewall.url);
  for (const address of ["203.0.113.23", "203.0.113.64", "203.0.113.97"]) {
    await services.firewall.setRows(householdRows(address));
    await light.updater.waitForTimeout(1_500);
  }
  for (const { picture } of allPages) if (picture !== undefined) await take(services, light, picture, picture);
  for (const { picture, of, look } of others)
    await take(services, await openConsoles(services, browser, look), of, picture);
}

async function take(services: ThreeServices, consoles: Consoles, of: string, name: string): Promise<void> {
  const shown = allPages.find(({ picture }) => picture === of);
  if (shown === undefined || (wanted.length > 0 && !wanted.includes(name))) return;
  const page = await showPage(services, consoles, shown);
  if (of === "names" && (page.viewportSize()?.width ?? 0) > phone.width) await page.setViewportSize(namesSize);
  await page.mouse.move(0, 0);
  await page.evaluate(
    "document.activeElement.closest('[role=dialog]') || (document.activeElement.blur(), scrollTo(0, 0))",
  );
  // Graphs of traffic need a few readings.
  if (of === "firewall-interfaces") await page.waitForTimeout(30_000);
  await page.waitForTimeout(400);
  const region = shown.region === undefined ? undefined : page.getByRole("region", { name: shown.region });
  await region?.evaluate((element: { style: { padding: string } }) => {
    element.style.padding = "16px";
  });
  await writeFile(join(folder, `${name}.png`), smallerPng(await (region ?? page).screenshot()));
}

async function setPassword(page: Page, url: string): Promise<void> {
  await page.goto(`${url}/account`);
  await page.getByLabel("New password").fill("only for these pictures");
  await page.getByRole("button", { name: "Set password" }).click();
  await page.getByText("Password set").waitFor();
}
