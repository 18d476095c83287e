import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type HarbourPage, openHarbourPage } from "./harbour-page.ts";
import { walkTo } from "./walk-to.ts";

/** The zones and name of a token, as people type them. */

let { rig, page, post, close } = {} as HarbourPage;
beforeAll(async () => {
  ({ rig, page, post, close } = await openHarbourPage());
  await post("/v1/zones", { name: "xn--mnchen-3ya.test", mode: "primary" });
});
afterAll(() => close?.());

const open = (path: string) => walkTo(page, rig.url + path);

describe("the name of a token", () => {
  it("may be in Unicode, and an invalid one is reported at its field", async () => {
    await open("/tokens?new");
    await page.getByLabel("What is it for?").fill("Büro");
    const zones = page.getByRole("combobox", { name: "Zones" });
    await zones.fill("münch");
    await page.getByRole("option", { name: "münchen.test" }).click();
    await page.getByLabel("Only this name").fill("a..b");
    await page.getByRole("button", { name: "Create token" }).click();
    await page.getByText("a label is empty: a dot at the start, or two dots in a row").waitFor();
    await page.getByLabel("Only this name").fill("a b");
    await page.getByText("is not allowed in a name; use letters, digits").waitFor();
    await page.getByLabel("Only this name").fill("home.münchen.test.");
    await page.getByRole("dialog").getByText("may write all records of home.münchen.test").waitFor();
    await page.getByLabel("Only from").fill("10.0.0.0/8, 10.0.0.300");
    await page.getByText("10.0.0.300 is not a network; use one such as 192.0.2.0/24").waitFor();
    await page.getByLabel("Only from").fill("");
    await page.getByLabel("Only this name").fill("Straße");
    await page.getByRole("dialog").getByText("may write all records of straße.münchen.test").waitFor();
    await page.getByRole("button", { name: "Create token" }).click();
    await page.getByRole("tab", { name: "ddclient" }).click();
    await page.getByRole("tabpanel").getByText("xn--strae-oqa.xn--mnchen-3ya.test").waitFor();
    await page.getByRole("button", { name: "I have copied it" }).click();
    await expect.poll(() => page.getByRole("row").filter({ hasText: "Büro" }).textContent()).toContain("straße");
  });

  it("must be without a zone for a token for all zones", async () => {
    await open("/tokens?new");
    await page.getByLabel("What is it for?").fill("router");
    await page.getByLabel("Only this name").fill("home.example.org.");
    await page.getByRole("button", { name: "Create token" }).click();
    await page.getByText("choose one zone, or leave the zone's name out, as in home").waitFor();
    expect(await page.getByText("Copy it now").count(), "no token was made").toBe(0);
  });

  it("must not repeat the zone's name, as for a record", async () => {
    await open("/tokens?new");
    await page.getByLabel("What is it for?").fill("router");
    const zones = page.getByRole("combobox", { name: "Zones" });
    await zones.fill("harbour.example.");
    await page.getByRole("option", { name: "harbour.example", exact: true }).click();
    await page.getByLabel("Only this name").fill("mail.Harbour.example");
    await page.getByRole("button", { name: "Create token" }).click();
    await page
      .getByText("the name already ends with the zone's name; leave the zone's name out, or end the name with a dot")
      .waitFor();
    expect(await page.getByText("Copy it now").count(), "no token was made").toBe(0);
    await page.getByLabel("Only this name").fill("mail.harbour.example.");
    await page.getByRole("dialog").getByText("may write all records of mail.harbour.example.").waitFor();
  });
});

describe("a zone among thousands", () => {
  it("is found by a part of its name, and a chosen one stays", async () => {
    const list = /\/v1\/zones\?(?!.*search=)/;
    await page.route(list, async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, json: { ...(await response.json()), zones: [] } });
    });
    await open("/tokens?new");
    const zones = page.getByRole("combobox", { name: "Zones" });
    for (const [typed, found] of [
      ["münch", "münchen.test"],
      ["tide", "tide-tables.example"],
    ] as const) {
      await zones.fill(typed);
      await page.getByRole("option", { name: found }).click();
    }
    await page.getByText("may write all of münchen.test and tide-tables.example").waitFor();
    await zones.fill("zeppelin");
    await page.getByText("no matching zone").waitFor();
    expect(await page.getByRole("option").count()).toBe(0);
    await page.unroute(list);
  });
});
