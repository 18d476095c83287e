import { afterAll, beforeAll, expect, it } from "vitest";
import { hashSecret } from "../../src/access/secret.ts";
import { firstOf } from "../rig/long-run.ts";
import { axeFinds } from "./axe.ts";
import { type OpenBrowser, openBrowser, openContext, openPage, phone, type WatchedPage, wide } from "./browser.ts";
import { fillZone } from "./harbour.ts";
import { layoutFaults, smallTargets } from "./layout-faults.ts";
import { type RecordsRig, signInContext, startRecordsRig } from "./records-rig.ts";

let browser: OpenBrowser;
let rig: RecordsRig;
let page: WatchedPage;
beforeAll(async () => {
  [browser, rig] = await Promise.all([openBrowser(), startRecordsRig()]);
  const context = await openContext(browser);
  const { store } = rig.service();
  const hosts = Array.from({ length: 11 }, (_, i) => `host${i}`);
  await fillZone(store, "quay.example", hosts.map((host, i) => `${host} A 203.0.113.${i}`).join("\n"));
  const { id: account } = await store.ensureAccount("main", Date.now());
  for (const owner of [...hosts, "boat"]) {
    const scope = { access: "write", zones: ["quay.example"], sets: [{ owner, types: ["A"] }] } as const;
    const token = { account, name: `${owner}.quay.example (OpenWrt)`, hash: hashSecret(owner), scope };
    await store.addToken({ ...token, created: Date.now() });
  }
  await signInContext(context, await rig.service().createSignInLink("main"));
  page = await openPage(context, rig.url);
});
afterAll(async () => {
  await browser?.close();
  await rig?.close();
});

it("twelve names are a list: first what waits, then in natural order, with a filter that a key reaches", async () => {
  const names = () => page.locator(".name-list tbody tr td:first-child").allTextContents();
  const ofHost = (number: number) => `host${number}.quay.example`;
  await expect.poll(names).toEqual(["boat.quay.example", ...Array.from({ length: 11 }, (_, i) => ofHost(i))]);
  for (const size of firstOf([phone, wide])) {
    await page.setViewportSize(size);
    expect(await axeFinds(page)).toEqual([]);
    expect(await page.evaluate(layoutFaults)).toEqual([]);
    expect(await page.evaluate(smallTargets)).toEqual([]);
  }
  await page.keyboard.press("/");
  await page.keyboard.type("203.0.113.10");
  await expect.poll(names).toEqual([ofHost(10)]);
  await page.getByText("1 of 12 names").waitFor();
  expect(page.complaints).toEqual([]);
});
