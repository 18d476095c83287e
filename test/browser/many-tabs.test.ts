import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { launchBrowser, openBlankPage, openContext, openPage } from "./browser.ts";
import { startFirewallRig } from "./firewall-rig.ts";
import { fillLargeZone } from "./harbour.ts";
import { type RecordsRig, signInContext, startRecordsRig } from "./records-rig.ts";

const zone = "quay.example";
/** More than the six connections per host that a browser opens over HTTP/1.1. */
const count = 12;

let rig: RecordsRig;
let browser: Browser;
let context: BrowserContext;
let csrf: string;
const tabs: Page[] = [];

beforeAll(async () => {
  rig = await startRecordsRig();
  await fillLargeZone(rig.service().store, zone, 3);
  browser = await launchBrowser();
  context = await openContext(browser);
  await signInContext(context, await rig.service().createSignInLink("main"));
  ({ csrf } = (await (await context.request.get(`${rig.url}/console/session`)).json()) as { csrf: string });
});
afterAll(async () => {
  await browser?.close();
  await rig?.close();
});

const openTab = async (): Promise<Page> => {
  const tab = await openPage(context, `${rig.url}/zones/${zone}`);
  tabs.push(tab);
  return tab;
};
const live = (tab: Page) => tab.getByText("live", { exact: true }).waitFor();
const streams = async () => Number(/^moor_event_streams (\d+)$/m.exec(await rig.service().metrics())?.[1]);

async function change(value: string): Promise<void> {
  const headers = { origin: rig.url, "x-csrf-token": csrf };
  const data = { changes: [{ name: "host0", type: "A", records: [{ value }] }] };
  expect((await context.request.post(`${rig.url}/v1/zones/${zone}/changes`, { headers, data })).status()).toBe(201);
}
const isShown = (value: string) => Promise.all(tabs.map((tab) => tab.getByText(value).waitFor()));

const becomes = (tab: Page, visibility: "hidden" | "visible") =>
  tab.evaluate(`
    Object.defineProperty(document, "visibilityState", { configurable: true, value: "${visibility}" });
    document.dispatchEvent(new Event("visibilitychange"));
  `);

describe("many tabs of one browser over HTTP/1.1", () => {
  it("share one stream", async () => {
    for (const _ of [1, 2]) await live(await openTab());
    expect(await streams()).toBe(1);
  });

  it.for(Array.from({ length: count - 2 }, (_, i) => i + 3))("are live: tab %i", async () => {
    await live(await openTab());
    expect(await streams()).toBe(1);
  });

  it("all show a change", async () => {
    expect(await tabs[0]?.evaluate("performance.getEntriesByType('navigation')[0].nextHopProtocol")).toBe("http/1.1");
    await change("192.0.2.11");
    await isShown("192.0.2.11");
    // Three tabs are enough for the other tests.
    for (const tab of tabs.splice(3)) await tab.close();
  });

  it("remain live when the tab with the stream is hidden, and have no stream while all are hidden", async () => {
    const [first, ...others] = tabs as [Page, ...Page[]];
    await becomes(first, "hidden");
    await first.getByText("connecting…").waitFor();
    await expect.poll(streams).toBe(1);
    await change("192.0.2.12");
    for (const tab of others) await tab.getByText("192.0.2.12").waitFor();
    for (const tab of others) await becomes(tab, "hidden");
    await expect.poll(streams).toBe(0);
    await change("192.0.2.13");
    for (const tab of tabs) await becomes(tab, "visible");
    await Promise.all(tabs.map(live));
    await isShown("192.0.2.13");
    expect(await streams()).toBe(1);
  });

  it("remain live when the tab with the stream is closed", async () => {
    await tabs.shift()?.close();
    await change("192.0.2.14");
    await isShown("192.0.2.14");
    await Promise.all(tabs.map(live));
    await expect.poll(streams).toBe(1);
  });

  it("all show that the service is gone, and are live again when it is back", async () => {
    await rig.stop();
    await Promise.all(tabs.map((tab) => tab.getByText("connecting…").waitFor()));
    await rig.startAgain();
    await Promise.all(tabs.map(live));
    await expect.poll(streams).toBe(1);
  });

  it("take the stream over from a tab that hangs", async () => {
    for (const tab of tabs.splice(0)) await tab.close();
    await context.clock.install();
    const hung = await openTab();
    await live(hung);
    const other = await openTab();
    await live(other);
    await hung.evaluate("BroadcastChannel.prototype.postMessage = () => undefined");
    let taken = false;
    other.on("request", (request) => {
      taken ||= request.resourceType() === "eventsource";
    });
    while (!taken) await context.clock.fastForward(5_000);
    await live(other);
    await live(hung);
    await expect.poll(streams).toBe(1);
    await change("192.0.2.15");
    await isShown("192.0.2.15");
  });
});

describe("a second tab of the firewall", () => {
  it("gets the interfaces from the first", async () => {
    const firewall = await startFirewallRig();
    const both = await openContext(browser);
    await signInContext(both, await firewall.service.createSignInLink());
    await live(await openPage(both, firewall.url));
    const second = await openBlankPage(both, firewall.url);
    const asked: string[] = [];
    second.on("request", (request) => asked.push(new URL(request.url()).pathname));
    await second.goto(firewall.url);
    await second.getByText("203.0.113.97").first().waitFor();
    expect(asked).not.toContain("/console/events");
    await both.close();
    await firewall.close();
  });
});
