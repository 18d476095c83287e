import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { holdTime, type OpenBrowser, openBrowser, openContext, openPage } from "./browser.ts";
import { type FirewallRig, householdRows, startFirewallRig } from "./firewall-rig.ts";
import { type RecordsRig, signInByLink, startRecordsRig } from "./records-rig.ts";
import { closeSecret } from "./secret.ts";
import { startUpdaterRig, type UpdaterRig } from "./updater-rig.ts";

let records: RecordsRig;
let firewall: FirewallRig;
let updater: UpdaterRig;
let browser: OpenBrowser;

beforeAll(async () => {
  records = await startRecordsRig();
  firewall = await startFirewallRig();
  browser = await openBrowser();
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

/** With the keyboard: content that arrives above moves it, and a click could miss. */
const showConfig = (page: Page) => page.getByText("Active config").press("Enter");

async function makeRecordAndToken(page: Page): Promise<string> {
  await page.getByRole("button", { name: "Create a zone" }).click();
  await page.getByLabel("Domain name").fill("example.org");
  await page.getByRole("button", { name: "Create zone" }).click();
  await page.getByRole("link", { name: "Records", exact: true }).click();
  await page.getByRole("button", { name: "Add record" }).click();
  await page.getByLabel("Name", { exact: true }).fill("home");
  await page.getByLabel("IPv4 address").fill("192.0.2.1");
  await page.getByRole("button", { name: "Add", exact: true }).click();
  await page.getByRole("link", { name: "home A" }).waitFor();
  await page.getByRole("link", { name: "Tokens" }).click();
  await page.getByRole("button", { name: "New token" }).click();
  await page.getByLabel("What is it for?").fill("updater");
  await page.getByRole("button", { name: "Create token" }).click();
  await page.getByRole("button", { name: "Yes, for all zones" }).click();
  const token = (await page.locator("pre").first().textContent()) ?? "";
  await closeSecret(page);
  return token;
}

async function makeKey(page: Page): Promise<{ readonly key: string; readonly secret: string }> {
  await page.getByRole("link", { name: "Users" }).click();
  await page.getByRole("button", { name: "New user" }).click();
  await page.getByRole("button", { name: "Create user and key" }).click();
  const shown = (await page.locator("pre").first().textContent()) ?? "";
  await closeSecret(page);
  const [, key = "", secret = ""] = /^key=(.*)\nsecret=(.*)$/.exec(shown) ?? [];
  return { key, secret };
}

describe("from nothing to a name with a changing address", () => {
  it("a user sets up both services, starts the updater, sees the name turn green, and sees the change everywhere", async () => {
    const context = await openContext(browser);
    const dns = await openPage(context, records.url);
    await signInByLink(dns, await records.service().createSignInLink("main"));
    const token = await makeRecordAndToken(dns);
    const wall = await openPage(context, firewall.url);
    await signInByLink(wall, await firewall.service.createSignInLink());
    const key = await makeKey(wall);

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
    await dns.getByRole("link", { name: "Zones" }).click();
    await dns.getByRole("link", { name: "example.org" }).click();
    const row = dns.getByRole("row").filter({ hasText: "home" });
    await expect.poll(() => row.textContent()).toContain("203.0.113.97");
    await wall.bringToFront();
    await wall.getByRole("link", { name: "Interfaces" }).click();
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
    await context.close();
  });
});

describe("the updater's page", () => {
  it("says that the updater hangs", async () => {
    const context = await openContext(browser);
    const page = await openPage(context, "about:blank");
    await holdTime(page);
    await page.goto(updater.url);
    await page.getByText("live", { exact: true }).waitFor();
    const isAsked = page.waitForRequest("**/page/state");
    await page.route("**/page/state", () => undefined);
    await isAsked;
    const message = page.getByText("The updater is not responding");
    await expect.poll(() => page.clock.fastForward(10_000).then(() => message.count())).toBe(1);
    await context.close();
  });

  it("does not say that nothing was done before it has loaded", async () => {
    const context = await openContext(browser);
    const page = await openPage(context, "about:blank");
    const answer = Promise.withResolvers<void>();
    await page.route("**/page/decisions", async (route) => {
      await answer.promise;
      await route.continue();
    });
    await page.goto(updater.url);
    await page.getByRole("region", { name: "home.example.org" }).waitFor();
    expect(await page.getByText("No update has been necessary yet.").count()).toBe(0);
    answer.resolve();
    await page.getByRole("cell", { name: "record replaced by 203.0.113.12" }).waitFor();
    await page.getByText("Active config").waitFor();
    await context.close();
  });

  it("checks on request, but not for a page of another origin", async () => {
    const context = await openContext(browser);
    const page = await openPage(context, updater.url);
    const rounds = async () =>
      ((await (await context.request.get(`${updater.url}/page/state`)).json()) as { rounds: number }).rounds;
    await page.getByRole("region", { name: "home.example.org" }).waitFor();
    const before = await rounds();
    await page.getByRole("button", { name: "Check now" }).click();
    await expect.poll(rounds).toBeGreaterThan(before);
    for (const origin of ["https://evil.example", records.url])
      expect((await context.request.post(`${updater.url}/page/check`, { headers: { origin } })).status()).toBe(403);
    const other = await context.request.get(`${updater.url}/page/state`, { headers: { host: "evil.example" } });
    expect(other.status()).toBe(403);
    await context.close();
  });

  it("hides every secret, even from its own page", async () => {
    const context = await openContext(browser);
    const page = await openPage(context, updater.url);
    await showConfig(page);
    await page.getByText("record service: moor records").waitFor();
    await page.getByText(/checks immediately when .*, otherwise every \d+ s/).waitFor();
    const config = await (await context.request.get(`${updater.url}/page/config`)).text();
    expect(config).toContain("hidden");
    expect(config).not.toMatch(/told-to-nobody|secret=|[A-Za-z0-9+/]{60}/);
    await context.close();
  });

  it("shows a config that was changed while it is open, without the secrets", async () => {
    const context = await openContext(browser);
    const page = await openPage(context, updater.url);
    await showConfig(page);
    await page.getByText("record service: moor records").waitFor();
    await updater.configure(
      `changesPerHour: 7
holdDown: 3s
notify: [{ kind: ntfy, url: "http://127.0.0.1:9/a-topic-nobody-knows" }]
heartbeat: { url: "http://127.0.0.1:9/a-check-nobody-knows", every: 5m }`,
    );
    await page.getByText("writes an address that has been present for 3 s, at most 7 changes per hour").waitFor();
    await page.getByRole("cell", { name: "notified of failures (ntfy)" }).waitFor();
    await page.getByRole("cell", { name: "heartbeat every 300 s (healthchecks)" }).waitFor();
    expect(await (await context.request.get(`${updater.url}/page/config`)).text()).not.toContain("nobody-knows");
    await context.close();
  });
});
