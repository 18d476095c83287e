import { afterAll, beforeAll, expect, it } from "vitest";
import { Moor } from "../front/two-moors.ts";
import { isLongRun } from "../rig/long-run.ts";
import { axeFinds, axeFindsInLongRun } from "./axe.ts";
import { type OpenBrowser, openBrowser, openContext, openPage, phone, type WatchedPage, wide } from "./browser.ts";
import { layoutFaults } from "./layout-faults.ts";
import { type RecordsRig, signInContext, startRecordsRig } from "./records-rig.ts";

/** The record service of the console, and another moor as its provider. */
let there: Moor;
let rig: RecordsRig;
let browser: OpenBrowser;
let page: WatchedPage;

beforeAll(async () => {
  [there, rig, browser] = await Promise.all([Moor.start(), startRecordsRig(), openBrowser()]);
  await there.ok("POST", "/zones", { name: "example.org", mode: "primary" });
  await there.put("example.org", "www", "A", ["192.0.2.1"]);
  const context = await openContext(browser);
  await signInContext(context, await rig.service().createSignInLink("main"));
  page = await openPage(context, `${rig.url}/zones?new`);
});
afterAll(async () => {
  await browser?.close();
  await rig?.close();
  await there?.service.close();
});

const fits = async (tabRows = 1) => {
  for (const size of [wide, phone]) {
    await page.setViewportSize(size);
    await expect.poll(() => page.evaluate(layoutFaults)).toEqual([]);
    expect(
      await page.evaluate('new Set([...document.querySelectorAll(".tab")].map((tab) => tab.offsetTop)).size'),
    ).toBe(tabRows);
  }
  expect(await axeFinds(page)).toEqual([]);
  await page.setViewportSize(wide);
};

it("publishes a zone at a provider, shows what somebody changed there, and lets a user decide", async () => {
  await page.getByLabel("Domain name").fill("example.org");
  await page.getByRole("button", { name: "Create zone" }).click();
  await page.getByRole("link", { name: "Provider", exact: true }).click();
  await page.getByRole("button", { name: "Add a provider…" }).waitFor();
  await page.getByRole("link", { name: "Set-up checklist" }).waitFor();

  await page.getByRole("button", { name: "Add a provider…" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("combobox", { name: "Provider" }).click();
  await page.getByRole("option", { name: "another moor" }).click();
  await dialog.getByLabel("URL").fill(there.service.url);
  await dialog.getByLabel("Token", { exact: true }).fill(there.token);
  expect(await axeFindsInLongRun(page)).toEqual([]);
  await page.keyboard.press("Enter");
  await page.getByRole("radio", { name: "Take what moor records has" }).waitFor();
  await page.getByRole("row", { name: /www A\s+no record/ }).waitFor();
  expect(await rig.service().store.providers()).toEqual([]);
  if (isLongRun) await fits();
  await page.getByRole("button", { name: "Publish at moor records" }).click();
  await page.getByText("all 1 record set.").waitFor();
  expect(await page.getByRole("link", { name: "Set-up checklist" }).count()).toBe(0);

  await there.put("example.org", "www", "A", ["192.0.2.66"]);
  await page.getByRole("link", { name: "Records", exact: true }).click();
  await page.getByRole("link", { name: "www A" }).click();
  await dialog.getByLabel("Value").or(dialog.getByLabel("IPv4 address")).fill("192.0.2.77");
  await page.keyboard.press("Enter");
  await page.getByText("1 record set changed at moor records").waitFor();
  if (isLongRun) await fits();

  await page.getByRole("link", { name: "Names", exact: true }).click();
  const attention = page.getByRole("region", { name: "Needs attention" });
  await attention.getByText("1 record set was changed at moor records.").waitFor();
  await attention.getByRole("link", { name: "example.org" }).click();
  await page.getByRole("button", { name: "Take theirs: www A" }).waitFor();
  await fits();
  await page.getByRole("button", { name: "Take theirs: www A" }).click();
  await page.getByText("all 1 record set.").waitFor();

  expect(page.complaints).toEqual([]);

  await page.getByRole("link", { name: "Tokens", exact: true }).click();
  const providers = page.getByRole("region", { name: "Providers" });
  await providers.getByText("1 zone").waitFor();
  expect(await providers.getByRole("button", { name: "Remove moor" }).count()).toBe(0);
  const before = await rig.service().store.providers();
  await providers.getByRole("button", { name: "Replace token… of moor" }).click();
  await dialog.getByLabel("New token of moor records").fill("wrong");
  await page.keyboard.press("Enter");
  await dialog.getByText(/moor records denied access \(401/).waitFor();
  expect(await rig.service().store.providers()).toEqual(before);
  await dialog.getByLabel("New token of moor records").fill(there.token);
  await page.keyboard.press("Enter");
  await dialog.waitFor({ state: "detached" });
  await fits(0);
  await page.goto(`${rig.url}/zones/example.org/provider`);
  await page.getByRole("button", { name: "Stop publishing…" }).click();
  await page.getByRole("button", { name: "Stop publishing; moor records keeps its records" }).click();
  await page.getByRole("button", { name: "Add a provider…" }).waitFor();
  await page.goto(`${rig.url}/tokens`);
  await providers.getByRole("button", { name: "Remove moor" }).click();
  await providers.getByRole("button", { name: "Remove it: moor" }).click();
  await providers.waitFor({ state: "detached" });
  expect(await rig.service().store.providers()).toEqual([]);
});
