import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type HarbourPage, openHarbourPage } from "./harbour-page.ts";

let opened: HarbourPage;
let page: HarbourPage["page"];

beforeAll(async () => {
  opened = await openHarbourPage();
  page = opened.page;
});
afterEach(() => page.unrouteAll({ behavior: "ignoreErrors" }));
afterAll(() => opened?.close());

const harbour = "/zones/harbour.example";
const open = (path: string) => page.goto(opened.rig.url + path);
const content = () => page.locator("#content").textContent();
const refuse = (asked: string) =>
  page.route(asked, (route) => route.fulfill({ status: 500, json: { error: { message: "the store is closed" } } }));
const holdBack = (asked: string) => page.route(asked, () => undefined);

describe("what is not known", () => {
  it("is not said of zones while they are looked for", async () => {
    await open("/?search=nowhere");
    await page.getByText("No zone has “nowhere” in its name").waitFor();
    await holdBack("**/v1/zones?*");
    await page.getByLabel("Search zones").fill("tide");
    await page.getByText("Looking…").waitFor();
    expect(await content()).not.toContain("No zone has");
    await page.unrouteAll({ behavior: "ignoreErrors" });

    await open("/?search=tide");
    await page.getByRole("link", { name: "tide-tables.example" }).waitFor();
    await holdBack("**/v1/zones?*");
    await page.getByLabel("Search zones").fill("");
    await page.getByText("Looking…").waitFor();
    expect(await content()).not.toContain("1 zone");
    await page.getByText("The service does not answer").waitFor();
  });

  it("is not said of zones to choose when they cannot be read", async () => {
    await refuse("**/v1/zones?*");
    await open("/tokens?new");
    const zones = page.getByRole("combobox", { name: "In the zones" });
    await zones.fill("harb");
    await page.getByText("The zones cannot be read. the store is closed").waitFor();
    await page.getByText("not known").waitFor();
    expect(await page.getByText("no such zone").count()).toBe(0);
  });

  it("is not being read once that has failed, and a form that waits for it is spoken of", async () => {
    await refuse("**/rrsets?*");
    await open(harbour);
    await page.getByText("The record sets are not known.").waitFor();
    await page.getByRole("button", { name: "Add record" }).click();
    await page.getByText("The form opens once all are read.").waitFor();
    expect(await content()).not.toContain("Reading…");
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByRole("dialog", { name: "Add a record" }).waitFor();
  });

  it("has no table: neither of sessions nor of changes", async () => {
    await refuse("**/console/sessions");
    await refuse("**/history?*");
    for (const path of ["/account", `${harbour}/history`]) {
      await open(path);
      await page.getByRole("alert").filter({ hasText: "the store is closed" }).waitFor();
      expect(await page.getByRole("table").count()).toBe(0);
    }
    await holdBack("**/console/sessions");
    await open("/account");
    await page.getByText("The service does not answer").waitFor();
    expect(await page.getByRole("table").count()).toBe(0);
  });
});

describe("what fails", () => {
  it("is told where an import cannot begin as the zone cannot be read, and tried again", async () => {
    await refuse("**/rrsets?*");
    await open(`${harbour}/settings`);
    await page.getByRole("button", { name: "Import…" }).click();
    const problem = page.getByRole("dialog").getByRole("alert");
    await expect.poll(() => problem.textContent()).toContain("the store is closed");
    await page.unroute("**/rrsets?*");
    await problem.getByRole("button", { name: "Try again" }).click();
    await expect.poll(() => problem.count()).toBe(0);
  });

  it("is told where it was asked for: older changes", async () => {
    const changes = Array.from({ length: 150 }, (_, i) => ({
      name: `n${i}`,
      type: "A",
      records: [{ value: "192.0.2.1" }],
    }));
    await opened.post(`/v1${harbour}/changes`, { changes });
    await refuse("**/history?*before=*");
    await open(`${harbour}/history`);
    const older = page.getByRole("button", { name: "Older changes" });
    await older.click();
    const told = page.getByRole("alert").filter({ hasText: "the store is closed" });
    const [said, button] = [await told.boundingBox(), await older.boundingBox()];
    expect((button?.y ?? 0) - (said?.y ?? 0)).toBeLessThan(150);
  });

  it("is not promised to be tried again by itself: an export", async () => {
    await page.route("**/zonefile", (route) => route.abort());
    await open(`${harbour}/settings`);
    await page.getByRole("button", { name: "Export" }).click();
    const told = page.getByText("try again in a moment");
    await told.waitFor();
    expect(await told.textContent()).not.toMatch(/by itself|automatically/);
  });

  it("is told no longer when a later write has succeeded", async () => {
    await page.route("**/zonefile", (route) => route.abort());
    await open(`${harbour}/settings`);
    await page.getByRole("button", { name: "Export" }).click();
    await page.getByRole("alert").filter({ hasText: "try again in a moment" }).waitFor();
    await page.getByLabel("Usual TTL in seconds").fill("1234");
    await page.getByRole("button", { name: "Save TTL" }).click();
    await expect.poll(() => page.getByRole("alert").count()).toBe(0);
    expect(await page.getByLabel("Usual TTL in seconds").inputValue()).toBe("1234");
  });

  it("shows commands in its words as commands, without backticks", async () => {
    const error = {
      code: "unavailable",
      message: "the store is closed: run `moor store check` and see",
      details: null,
    };
    await page.route("**/zonefile", (route) => route.fulfill({ status: 422, json: { error } }));
    await open(`${harbour}/settings`);
    await page.getByRole("button", { name: "Export" }).click();
    const told = page.getByRole("alert").filter({ hasText: "the store is closed" });
    expect(await told.locator("code").textContent()).toBe("moor store check");
    expect(await told.textContent()).not.toContain("`");
  });

  it("keeps nobody in the belief of being signed out", async () => {
    await refuse("**/console/sign-out");
    await open(harbour);
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByText("You may still be signed in: the store is closed").waitFor();
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await page.route("**/console/sign-out", (route) => route.abort());
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByText("You may still be signed in: The service does not answer. It may be restarting").waitFor();
    expect(page.url()).toBe(opened.rig.url + harbour);
  });
});

describe("what can only fail", () => {
  it("is not offered for the records of a secondary zone", async () => {
    const lagoon = "/zones/lagoon.example";
    await open(`${lagoon}?edit=@/SOA`);
    const form = page.getByRole("dialog");
    await form.getByRole("button", { name: "Cancel" }).waitFor();
    expect(await form.getByRole("switch", { name: "Protected" }).count()).toBe(0);
    await open(`${lagoon}/history`);
    await page.getByRole("cell", { name: "SOA" }).first().waitFor();
    expect(await page.getByRole("button", { name: /^Undo/ }).count()).toBe(0);
    await open(`${lagoon}/settings`);
    expect(await page.getByRole("button", { name: "Export" }).isDisabled()).toBe(true);
    expect(await content()).not.toContain("Export it first");
  });
});
