import type { BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { axeFinds } from "./axe.ts";
import {
  type OpenBrowser,
  openBlankPage,
  openBrowser,
  openContext,
  openPage,
  phone,
  type WatchedPage,
  wide,
} from "./browser.ts";
import { fillHarbour } from "./harbour.ts";
import { type RecordsRig, signInContext, startRecordsRig } from "./records-rig.ts";

/** Every page of the DNS console, in light and dark, wide and narrow. */

let rig: RecordsRig;
let browser: OpenBrowser;

beforeAll(async () => {
  rig = await startRecordsRig();
  await fillHarbour(rig.service().store, Date.now());
  browser = await openBrowser();
});
afterAll(async () => {
  await browser?.close();
  await rig?.close();
});

const zone = "/zones/harbour.example";

/** Each with what must be visible before the page counts as shown. */
const pages: readonly (readonly [path: string, shown: (page: Page) => Promise<unknown>])[] = [
  ["/", (page) => page.getByRole("link", { name: "harbour.example" }).waitFor()],
  ["/?new", (page) => page.getByLabel("Domain name").waitFor()],
  [zone, (page) => page.getByRole("link", { name: "home AAAA" }).waitFor()],
  [`${zone}?add=MX`, (page) => page.getByLabel("Mail server").waitFor()],
  [`${zone}?edit=@/TXT`, (page) => page.getByLabel("Text", { exact: true }).waitFor()],
  [`${zone}?edit=@/SOA`, (page) => page.getByLabel("Serial").waitFor()],
  [`${zone}?edit=gone/A`, (page) => page.getByText("gone A no longer exists").waitFor()],
  [`${zone}?filter=zeppelin`, (page) => page.getByText("No records match").waitFor()],
  [`${zone}/history`, (page) => page.getByText("203.0.113.97").first().waitFor()],
  [
    `${zone}/moving`,
    (page) =>
      page
        .getByRole("img", { name: /home.harbour.example/ })
        .first()
        .waitFor(),
  ],
  [`${zone}/settings`, (page) => page.getByText("Nameservers to enter").waitFor()],
  [
    "/zones/lagoon.example",
    async (page) => {
      await page.getByText("The zone could not be transferred from 192.0.2.53:").waitFor();
      await page.getByRole("link", { name: "@ SOA" }).waitFor();
    },
  ],
  ["/zones/nowhere.example", (page) => page.getByText("Zone nowhere.example not found").waitFor()],
  ["/tokens", (page) => page.getByRole("heading", { name: "Tokens" }).waitFor()],
  ["/tokens?new", (page) => page.getByLabel("What is it for?").waitFor()],
  ["/account", (page) => page.getByText("(this one)").waitFor()],
];

/** Navigation elements that are not entirely inside the window. */
const cutOff = `[...document.querySelectorAll("header .place, header button, nav .tab")]
  .filter((way) => way.getBoundingClientRect().right > document.documentElement.clientWidth)
  .map(({ textContent }) => textContent)`;
/** The distance of the last header button from the right edge, whichever line it is on. */
const beforeTheEdge =
  'document.documentElement.clientWidth - [...document.querySelectorAll("header button")].at(-1).getBoundingClientRect().right';

/** Wide, with axe in both colours, then as narrow as a phone, where the scroll width shows any overflow. */
describe("every page", () => {
  let context: BrowserContext;
  let page: WatchedPage;
  beforeAll(async () => {
    context = await openContext(browser);
    await signInContext(context, await rig.service().createSignInLink("main"));
    page = await openBlankPage(context, rig.url);
  });
  afterAll(() => context.close());

  it.for(pages)(
    "%s has no axe violation, fits every window, and sends requests only to its own host",
    async ([path, shown]) => {
      await page.goto(rig.url + path);
      await shown(page);
      expect(await axeFinds(page)).toEqual([]);
      for (const size of [phone, wide]) {
        await page.setViewportSize(size);
        const overflow = "document.documentElement.scrollWidth - document.documentElement.clientWidth";
        await expect.poll(() => page.evaluate(overflow)).toBe(0);
        await expect.poll(() => page.evaluate(cutOff)).toEqual([]);
        await expect.poll(() => page.evaluate(beforeTheEdge)).toBeLessThanOrEqual(16);
      }
      expect(page.complaints).toEqual([]);
    },
  );

  it("has a monospace font in value fields, so that values can be compared", async () => {
    await page.goto(`${rig.url + zone}?add=MX`);
    await page.getByLabel("Mail server").waitFor();
    const fontOf = "getComputedStyle(document.querySelector('[role=dialog] input.mono')).fontFamily";
    await expect.poll(() => page.evaluate(fontOf)).toContain("monospace");
  });
});

it("the sign-in page has no axe violation", async () => {
  const context = await openContext(browser);
  const page = await openPage(context, rig.url);
  await page.getByRole("button", { name: "Sign in" }).waitFor();
  expect(await axeFinds(page)).toEqual([]);
  await context.close();
});

it("the API documentation sends requests only to its own host, and can try a call", async () => {
  const context = await openContext(browser);
  const page = await openPage(context, `${rig.url}/docs`);
  await page.getByRole("button", { name: "get /api/v1/zones", exact: true }).click();
  await page.getByRole("button", { name: "Try it out" }).click();
  await page.getByRole("button", { name: "Execute" }).click();
  await page.getByText("No API key found in request").waitFor();
  expect(await page.title()).toBe("moor records API");
  expect(page.complaints).toEqual([]);
  await context.close();
});

describe("the first page of a new service", () => {
  it("guides, has no axe violation, and loads fast", async () => {
    const context = await openContext(browser);
    await signInContext(context, await rig.service().createSignInLink("somebody-new"));
    const page = await openPage(context, rig.url);
    await page.getByText("Create your first zone").waitFor();
    expect(await axeFinds(page)).toEqual([]);
    const load = async () => {
      const started = performance.now();
      await page.goto(rig.url);
      await page.getByRole("button", { name: "Create a zone" }).waitFor();
      return performance.now() - started;
    };
    // A slow machine may stall in any of them, but not in all.
    await expect.poll(load).toBeLessThan(5_000);
    await context.close();
  });
});
