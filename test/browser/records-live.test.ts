import type { BrowserContext, Page, Request, Route } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { rowsOf } from "../rig/long-run.ts";
import { holdTime, type OpenBrowser, openBlankPage, openBrowser, openContext } from "./browser.ts";
import { fillLargeZone } from "./harbour.ts";
import { type RecordsRig, signInContext, startRecordsRig } from "./records-rig.ts";
import { walkTo } from "./walk-to.ts";

let rig: RecordsRig;
let browser: OpenBrowser;
let context: BrowserContext;
let page: Page;
let csrf: string;

/** Sets in a zone of three pages. */
const count = 2_200;
const broad = "broad.example";
const all = `${(count + 1).toLocaleString("en-GB")} record sets`;

beforeAll(async () => {
  rig = await startRecordsRig();
  await fillLargeZone(rig.service().store, broad, count);
  browser = await openBrowser();
  context = await openContext(browser);
  await signInContext(context, await rig.service().createSignInLink("main"));
  page = await openBlankPage(context, rig.url);
  ({ csrf } = (await (await context.request.get(`${rig.url}/console/session`)).json()) as { csrf: string });
});
afterAll(async () => {
  await browser?.close();
  await rig?.close();
});

/** Changes records as another user; null deletes. */
async function change(zone: string, values: Readonly<Record<string, string | null>>): Promise<void> {
  const changes = Object.entries(values).map(([name, value]) =>
    value === null ? { name, type: "A", delete: true } : { name, type: "A", records: [{ value }] },
  );
  const path = `${rig.url}/v1/zones/${zone}/changes`;
  const headers = { origin: rig.url, "x-csrf-token": csrf };
  expect((await context.request.post(path, { headers, data: { changes } })).status()).toBe(201);
}

/** Resolves when the page has received a change: it then reads the zone again. */
const heard = (zone: string) => page.waitForResponse((response) => response.url().endsWith(`/v1/zones/${zone}`));

const isLive = () => page.getByText("live", { exact: true }).waitFor();

const becomes = (visibility: "hidden" | "visible") =>
  page.evaluate(`
    Object.defineProperty(document, "visibilityState", { configurable: true, value: "${visibility}" });
    document.dispatchEvent(new Event("visibilitychange"));
  `);

/** The rows that remain when filtered by this name, without the button of their menu. */
async function recordsOf(name: string): Promise<readonly string[]> {
  await page.getByLabel("Filter records").fill(name);
  await page
    .getByText(/^[\d,]+ of|^No records match/)
    .first()
    .waitFor();
  const rows = await page.getByRole("row").allTextContents();
  await page.getByLabel("Filter records").fill("");
  return rows.slice(1).map((row) => row.replace(/⋯$/, ""));
}

/** Opens a zone whose last page is delayed until the returned function is called. */
async function readHalf(zone: string): Promise<() => void> {
  const held = Promise.withResolvers<void>();
  await page.route(new RegExp(`console/zones/${zone}/rrsets\\?page=3\\b`), async (route) => {
    await held.promise;
    await route.continue();
  });
  const second = page.waitForResponse(/rrsets\?page=2\b/);
  await walkTo(page, `${rig.url}/zones/${zone}`);
  await isLive();
  await second;
  return held.resolve;
}

describe("a change that arrives while a large zone is being read", () => {
  it("is shown when the zone has been read, and no set is missed", async () => {
    const readOn = await readHalf(broad);
    const isHeard = heard(broad);
    await change(broad, { host0: "192.0.2.1", host1: null, host2: null, fresh: "192.0.2.2" });
    await page.getByText(`${(count + 1).toLocaleString("en-GB")} records`).waitFor();
    await isHeard;
    readOn();
    await page.getByText(/^[\d,]+ record sets/).waitFor();
    expect(await recordsOf("192.0.2.1")).toEqual(["host0A300192.0.2.1"]);
    expect(await recordsOf("fresh")).toHaveLength(1);
    await page.getByText(/^[\d,]+ record sets/).waitFor();
    expect(await page.getByText(/^[\d,]+ record sets/).textContent()).toBe(all);
  });

  it("does not hide a set if as many were added as deleted", async () => {
    const readOn = await readHalf(broad);
    await change(broad, { host7: null, zulu: "192.0.2.7" });
    readOn();
    await page.getByText(all, { exact: true }).waitFor();
    expect(await recordsOf("zulu")).toEqual(["zuluAdefault192.0.2.7"]);
  });
});

describe("a section whose first read began before a change", () => {
  it("shows the change, though its event arrives before the response", async () => {
    const [read, readOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const delay = async (route: Route) => {
      const response = await route.fetch();
      read.resolve();
      await readOn.promise;
      await route.fulfill({ response });
    };
    await page.route(/\/writes\?/, delay, { times: 1 });
    await page.getByRole("link", { name: "History" }).click();
    await read.promise;
    const isHeard = heard(broad);
    await change(broad, { host9: "192.0.2.9" });
    await isHeard;
    readOn.resolve();
    await expect.poll(() => page.getByRole("row").nth(1).textContent()).toContain("192.0.2.9");
    await page.getByRole("link", { name: "Records" }).click();
  });
});

describe("a tab that becomes visible again", () => {
  it("shows what was changed meanwhile, without reading the whole zone again", async () => {
    await page.getByText(all, { exact: true }).waitFor();
    await becomes("hidden");
    await change(broad, { host3: "192.0.2.3" });
    const asked: string[] = [];
    page.on("request", (request) => asked.push(request.url()));
    await becomes("visible");
    await expect.poll(() => recordsOf("192.0.2.3")).toEqual(["host3A300192.0.2.3"]);
    expect(asked.filter((url) => url.includes("rrsets?page=2"))).toEqual([]);
    page.removeAllListeners("request");
  });

  it("shows what was changed meanwhile even if it showed another section of the zone, and more has changed since", async () => {
    await page.getByRole("link", { name: "History" }).click();
    await page.getByText("192.0.2.3").waitFor();
    await becomes("hidden");
    await change(broad, { host4: "192.0.2.4" });
    await becomes("visible");
    await page.getByText("192.0.2.4").waitFor();
    await change(broad, { host5: "192.0.2.5" });
    await page.getByText("192.0.2.5").waitFor();
    await page.getByRole("link", { name: "Records" }).click();
    await page.getByText(all, { exact: true }).waitFor();
    expect(await recordsOf("192.0.2.4")).toEqual(["host4A300192.0.2.4"]);
    expect(await recordsOf("192.0.2.5")).toEqual(["host5A300192.0.2.5"]);
  });
});

describe("a user's own change whose event arrives before its response", () => {
  // The form holds what it knew before the write, whatever is written.
  it.for(
    rowsOf(
      [
        ["added", { at: "add=A", name: "mine", button: "Add" }],
        ["saved", { at: "edit=host6/A", name: "host6", button: "Save" }],
        ["renamed", { at: "edit=host6/A", name: "ours", button: "Save" }],
      ] as const,
      "renamed",
    ),
  )("is not mistaken for another user's, and only what was written is read again: %s", async ([, row]) => {
    const { at, name, button } = row;
    const held = Promise.withResolvers<void>();
    const done = Promise.withResolvers<void>();
    await walkTo(page, `${rig.url}/zones/${broad}?${at}`);
    await isLive();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name", { exact: true }).fill(name);
    await dialog.getByLabel("IPv4 address").fill("192.0.2.6");
    const title = await dialog.getByRole("heading").textContent();
    await page.getByText(/^[\d,]+ record sets$/).waitFor();
    const asked: string[] = [];
    const note = (request: Request) => asked.push(request.url());
    page.on("request", note);
    await page.route("**/changes", async (route) => {
      const answer = await route.fetch();
      done.resolve();
      await held.promise;
      await route.fulfill({ response: answer });
    });
    const isHeard = heard(broad);
    await dialog.getByRole("button", { name: button, exact: true }).click();
    await Promise.all([done.promise, isHeard]);
    expect(await page.getByText(/changed elsewhere|A record set with this name/).count()).toBe(0);
    expect(await dialog.getByRole("heading").textContent()).toBe(title);
    held.resolve();
    await dialog.waitFor({ state: "detached" });
    await page.unroute("**/changes");
    expect(await recordsOf("192.0.2.6")).toEqual([`${name}A${at.startsWith("add") ? "default" : "300"}192.0.2.6`]);
    page.off("request", note);
    expect(asked.filter((url) => /rrsets\?page=/.test(url))).toEqual([]);
    await change(broad, { [name]: null, host6: "10.0.0.6" });
  });
});

describe("a service that hangs while a stream is open", () => {
  it("is soon no longer shown as live, and is live again when it responds", async () => {
    const { giveUp } = await holdTime(page);
    await page.goto(`${rig.url}/zones/${broad}`);
    await isLive();
    // Requests get no response meanwhile, as on a lost connection; nor do new streams.
    const [isLookedAt, isTriedAnew] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let hangs = true;
    await page.route("**", (route) => {
      if (!hangs) return route.continue();
      if (route.request().resourceType() === "eventsource") isTriedAnew.resolve();
      if (route.request().url() === page.url()) isLookedAt.resolve();
      return undefined;
    });
    await page.clock.fastForward(15_000);
    await isLookedAt.promise;
    await giveUp(10_000);
    await page.getByText("connecting…").waitFor();
    await isTriedAnew.promise;
    hangs = false;
    await page.clock.fastForward(15_000);
    await isLive();
    expect(await page.getByText("connecting…").count()).toBe(0);
    await page.unroute("**");
  });
});
