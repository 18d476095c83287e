import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type HarbourPage, openHarbourPage } from "./harbour-page.ts";
import { walkTo } from "./walk-to.ts";

let opened: HarbourPage;
let page: HarbourPage["page"];

beforeAll(async () => {
  opened = await openHarbourPage();
  page = opened.page;
});
afterEach(() => page.unrouteAll({ behavior: "ignoreErrors" }));
afterAll(() => opened?.close());

const harbour = "/zones/harbour.example";
const open = (path: string) => walkTo(page, opened.rig.url + path);
const content = () => page.locator("#content").textContent();
const refuse = (asked: string) =>
  page.route(asked, (route) => route.fulfill({ status: 500, json: { error: { message: "the store is closed" } } }));
/** Until the returned function is called. */
async function holdBack(asked: string): Promise<() => void> {
  const { promise: isReleased, resolve: release } = Promise.withResolvers<void>();
  await page.route(asked, async (route) => {
    await isReleased;
    await route.fallback();
  });
  return release;
}

describe("an unknown state", () => {
  it("is not shown as an empty result while zones are searched", async () => {
    await open("/?search=nowhere");
    await page.getByText("No zone name contains “nowhere”").waitFor();
    const release = await holdBack("**/v1/zones?*");
    await page.getByLabel("Search zones").fill("tide");
    await page.getByText("Searching…").waitFor();
    expect(await content()).not.toContain("No zone name");
    release();
    await page.getByRole("link", { name: "tide-tables.example" }).waitFor();
    await holdBack("**/v1/zones?*");
    await page.getByLabel("Search zones").fill("");
    await page.getByText("Searching…").waitFor();
    expect(await content()).not.toContain("1 zone");
    await page.getByText("The service is not responding").waitFor();
  });

  it("is not shown as an empty choice when zones cannot be read", async () => {
    await refuse("**/v1/zones?*");
    await open("/tokens?new");
    const zones = page.getByRole("combobox", { name: "Zones" });
    await zones.fill("harb");
    await page.getByText("The zones could not be loaded. the store is closed").waitFor();
    await page.getByText("unknown").waitFor();
    expect(await page.getByText("no matching zone").count()).toBe(0);
  });

  it("is not shown as loading after an error, and a form opens nevertheless", async () => {
    await refuse("**/rrsets?*");
    await open(harbour);
    await page.getByText("The record sets could not be loaded.").waitFor();
    await page.getByRole("button", { name: "Add record" }).click();
    await page.getByRole("dialog", { name: "Add a record" }).waitFor();
    expect(await content()).not.toContain("Loading…");
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByRole("link", { name: "home A", exact: true }).waitFor();
  });

  it("has no table, neither of sessions nor of changes", async () => {
    await refuse("**/console/sessions");
    await refuse("**/writes?*");
    for (const path of ["/account", `${harbour}/history`]) {
      await open(path);
      await page.getByRole("alert").filter({ hasText: "the store is closed" }).waitFor();
      expect(await page.getByRole("table").count()).toBe(0);
    }
  });
});

describe("an error", () => {
  it("is shown if an import cannot start because the zone cannot be read, and can be retried", async () => {
    await refuse("**/rrsets?*");
    await open(`${harbour}/settings`);
    await page.getByRole("button", { name: "Import…" }).click();
    const problem = page.getByRole("dialog").getByRole("alert");
    await expect.poll(() => problem.textContent()).toContain("the store is closed");
    await page.unroute("**/rrsets?*");
    await problem.getByRole("button", { name: "Try again" }).click();
    await expect.poll(() => problem.count()).toBe(0);
  });

  it("is shown next to the button: older changes", async () => {
    await page.route("**/writes?*", async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, json: { ...(await response.json()), next: 7 } });
    });
    await refuse("**/writes?*before=*");
    await open(`${harbour}/history`);
    const older = page.getByRole("button", { name: "Older changes" });
    await older.click();
    const message = page.getByRole("alert").filter({ hasText: "the store is closed" });
    const [shown, button] = [await message.boundingBox(), await older.boundingBox()];
    expect((button?.y ?? 0) - (shown?.y ?? 0)).toBeLessThan(150);
  });

  it("of an export does not promise an automatic retry, and disappears when a later write succeeds", async () => {
    await page.route("**/zonefile", (route) => route.abort());
    await open(`${harbour}/settings`);
    await page.getByRole("button", { name: "Export" }).click();
    const message = page.getByRole("alert").filter({ hasText: "try again in a moment" });
    await message.waitFor();
    expect(await message.textContent()).not.toMatch(/keeps trying/);
    await page.getByLabel("Default TTL in seconds").fill("1234");
    await page.getByRole("button", { name: "Save TTL" }).click();
    await expect.poll(() => page.getByRole("alert").count()).toBe(0);
    expect(await page.getByLabel("Default TTL in seconds").inputValue()).toBe("1234");
  });

  it("shows commands as code, without backticks", async () => {
    const error = {
      code: "unavailable",
      message: "the store is closed: run `moor store check` and see",
      details: null,
    };
    await page.route("**/zonefile", (route) => route.fulfill({ status: 422, json: { error } }));
    await open(`${harbour}/settings`);
    await page.getByRole("button", { name: "Export" }).click();
    const message = page.getByRole("alert").filter({ hasText: "the store is closed" });
    expect(await message.locator("code").textContent()).toBe("moor store check");
    expect(await message.textContent()).not.toContain("`");
  });

  it("during sign-out says that the user may still be signed in", async () => {
    await refuse("**/console/sign-out");
    await open(harbour);
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByText("You may still be signed in: the store is closed").waitFor();
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await page.route("**/console/sign-out", (route) => route.abort());
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByText("You may still be signed in: The service is not responding. It may be restarting").waitFor();
    expect(page.url()).toBe(opened.rig.url + harbour);
  });
});

describe("an impossible action", () => {
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
    expect(await content()).not.toContain("Export the zone first");
  });
});
