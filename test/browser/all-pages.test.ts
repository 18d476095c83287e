import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isLongRun } from "../rig/long-run.ts";
import { allPages } from "./all-pages.ts";
import { axeFinds, type Colours } from "./axe.ts";
import { type OpenBrowser, openBrowser, openContext, openPage, type WatchedPage, wide } from "./browser.ts";
import { layoutFaults } from "./layout-faults.ts";
import { signInContext } from "./records-rig.ts";
import { type Consoles, openConsoles, showPage, startThreeServices, type ThreeServices } from "./three-services.ts";

let services: ThreeServices;
let browser: OpenBrowser;
let consoles: Consoles;

beforeAll(async () => {
  services = await startThreeServices();
  browser = await openBrowser();
  consoles = await openConsoles(services, browser);
});
afterAll(async () => {
  await browser?.close();
  await services?.close();
});

const coloursIn = (only: Colours): readonly [Colours, ...Colours[]] => (isLongRun ? ["dark", "light"] : [only]);
const windows = [
  { window: "phone", size: { width: 360, height: 740 }, colours: coloursIn("dark") },
  { window: "desk", size: wide, colours: coloursIn("light") },
];

describe.for(allPages.map((each, place) => ({ ...each, place })))("$console $path", ({ place, ...shown }) => {
  let page: WatchedPage;
  beforeAll(async () => {
    page = await showPage(services, consoles, shown);
  });

  // A page has nearly the same elements in both windows, so each page is checked in one of them, in turn.
  const turn = place % windows.length;
  it.for(isLongRun ? windows : windows.slice(turn, turn + 1))(
    "axe finds nothing in the window of a $window",
    async ({ size, colours }) => {
      await page.setViewportSize(size);
      expect(await axeFinds(page, { contrastIn: shown.contrastIn, colours })).toEqual([]);
    },
  );

  it("fits the windows of a phone and of a desk, without an error", async () => {
    for (const { size } of windows) {
      await page.setViewportSize(size);
      await expect.poll(() => page.evaluate(layoutFaults)).toEqual([]);
    }
    expect(page.complaints).toEqual([]);
  });
});

it("value fields have a monospace font, so that values can be compared", async () => {
  const page = consoles.records;
  await page.goto(`${services.records.url}/zones/harbour.example?add=MX`);
  await page.getByLabel("Mail server").waitFor();
  const fontOf = "getComputedStyle(document.querySelector('[role=dialog] input.mono')).fontFamily";
  await expect.poll(() => page.evaluate(fontOf)).toContain("monospace");
});

it("the sign-in page has no axe violation", async () => {
  const context = await openContext(browser);
  const page = await openPage(context, services.records.url);
  await page.getByRole("button", { name: "Sign in" }).waitFor();
  expect(await axeFinds(page)).toEqual([]);
  await context.close();
});

it("the API documentation sends requests only to its own host, and can try a call", async () => {
  const context = await openContext(browser);
  const page = await openPage(context, `${services.records.url}/docs`);
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
    await signInContext(context, await services.records.service().createSignInLink("somebody-new"));
    const page = await openPage(context, services.records.url);
    await page.getByText("Create your first zone").waitFor();
    expect(await axeFinds(page)).toEqual([]);
    const load = async () => {
      const started = performance.now();
      await page.goto(services.records.url);
      await page.getByRole("button", { name: "Create a zone" }).waitFor();
      return performance.now() - started;
    };
    // A slow machine may stall in any of them, but not in all.
    await expect.poll(load).toBeLessThan(5_000);
    await context.close();
  });
});
