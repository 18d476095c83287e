import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { firstOf } from "../rig/long-run.ts";
import { type HarbourPage, openHarbourPage } from "./harbour-page.ts";
import { closeSecret } from "./secret.ts";
import { walkTo } from "./walk-to.ts";

/** The zones and name of a token, as people type them. */

let { rig, context, page, post, close } = {} as HarbourPage;
beforeAll(async () => {
  ({ rig, context, page, post, close } = await openHarbourPage());
  await post("/v1/zones", { name: "xn--mnchen-3ya.test", mode: "primary" });
});
afterAll(() => close?.());

const open = (path: string) => walkTo(page, rig.url + path);

describe("the form of a token", () => {
  it("says what is wrong at its field, and what the token may do; names may be in Unicode", async () => {
    await open("/tokens?new");
    await page.getByLabel("What is it for?").fill("Büro");
    const zones = page.getByRole("combobox", { name: "Zones" });
    await zones.fill("münch");
    await page.getByRole("option", { name: "münchen.test" }).click();
    await page.getByRole("option").waitFor({ state: "detached" });
    await page.getByLabel("Only this name").fill("a..b");
    await page.getByRole("combobox", { name: "Expires" }).click();
    await page.getByRole("option", { name: "on a date…" }).click();
    await page.getByRole("button", { name: "Create token" }).click();
    await page.getByText("a label is empty: a dot at the start, or two dots in a row").waitFor();
    await page.getByText("choose today or a later day").waitFor();
    expect(await page.getByText("Copy it now").count(), "no token was made").toBe(0);
    await page.getByLabel("Last day").fill("2099-03-31");
    await page.getByLabel("Only this name").fill("Straße");
    const words = "may write all records of straße.münchen.test, until 31 March 2099";
    await page.getByRole("dialog").getByText(words).waitFor();
    await page.getByRole("button", { name: "Create token" }).click();
    await page.getByRole("tab", { name: "ddclient" }).click();
    await page.getByRole("tabpanel").getByText("xn--strae-oqa.xn--mnchen-3ya.test").waitFor();
    await closeSecret(page);
    const row = page.getByRole("row").filter({ hasText: "Büro" });
    await row.getByText("straße").waitFor();
    expect(await row.textContent()).toContain("until 31 March 2099");
  });
});

describe("a restriction that was typed", () => {
  const nothingMade = async () => expect(await page.getByText("Copy it now").count(), "no token was made").toBe(0);
  const start = async () => {
    await open("/tokens?new");
    await page.getByLabel("What is it for?").fill("router");
  };
  const create = () => page.getByRole("button", { name: "Create token" }).click();

  // What text becomes which choice, and which stays: choices.test.ts of the console.
  it.for(firstOf(["a click on the button", "Enter", "Tab"]))("becomes a choice with %s", async (by) => {
    await start();
    await page.getByRole("combobox", { name: "Zones" }).pressSequentially("harbour.example");
    if (!by.includes(" ")) await page.keyboard.press(by);
    else await create();
    await page.getByRole("dialog").getByText("may write all of harbour.example").waitFor();
    await page.getByRole("combobox", { name: "Only these types" }).pressSequentially("A");
    if (!by.includes(" ")) await page.keyboard.press(by);
    else await page.getByLabel("What is it for?").click();
    await page.getByRole("dialog").getByText("may write A in harbour.example").waitFor();
    await create();
    await page.getByText("Copy it now").waitFor();
    expect(await page.getByRole("dialog").textContent()).toContain("may write A in harbour.example");
    await closeSecret(page);
  });

  it("is asked for once more, in plain words, if there is none", async () => {
    await start();
    await create();
    await page.getByText("can change and delete every record in every zone").waitFor();
    await nothingMade();
    await page.getByRole("combobox", { name: "Zones" }).pressSequentially("harbour.example");
    await page.keyboard.press("Tab");
    await page.getByRole("dialog").getByText("may write all of harbour.example").waitFor();
    expect(await page.getByText("can change and delete every record").count()).toBe(0);
    await page.getByRole("combobox", { name: "Zones" }).press("Backspace");
    await page.getByRole("button", { name: "Yes, for all zones" }).click();
    await page.getByText("Copy it now").waitFor();
    await closeSecret(page);
  });

  it.for(
    firstOf([
      ["Zones", "harbor.example", "“harbor.example” is not a zone"],
      ["Only these types", "ADDRESS", "“ADDRESS” is not a type"],
    ] as const),
  )("stays and blocks the form if it is none of the %s", async ([field, typed, message]) => {
    await start();
    await page.getByRole("combobox", { name: field }).pressSequentially(typed);
    await page.keyboard.press("Enter");
    await create();
    await page.getByText(message).waitFor();
    await page.getByRole("combobox", { name: field }).and(page.locator(":focus")).waitFor();
    expect(await page.getByRole("combobox", { name: field }).inputValue()).toBe(typed);
    await nothingMade();
  });
});

describe("a secret that is shown once", () => {
  const dialog = () => page.getByRole("dialog", { name: "Token for" });
  it("is closed only by the button that says so, after it was copied: not by Escape or the back button", async () => {
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    await open("/tokens?new&zone=harbour.example&name=home");
    await page.getByRole("button", { name: "Create token" }).click();
    const copy = dialog().getByRole("button", { name: "Copy token" });
    await copy.and(page.locator(":focus")).waitFor();
    await page.keyboard.press("Escape");
    await page.goBack();
    await page.keyboard.press("Enter");
    await dialog().getByRole("button", { name: "token: copied" }).waitFor();
    const shown = await dialog().locator("pre").first().textContent();
    expect(await page.evaluate("navigator.clipboard.readText()")).toBe(shown);
    expect(await dialog().getByRole("button", { name: "Close" }).count()).toBe(0);
    await dialog().getByRole("button", { name: "I have copied it" }).click();
    await dialog().waitFor({ state: "detached" });
  });

  it("is asked about before it is lost; one double click is not an answer", async () => {
    await open("/tokens?new&zone=harbour.example&name=home");
    await page.getByRole("button", { name: "Create token" }).click();
    await dialog().getByRole("button", { name: "Close…" }).dblclick();
    const sure = dialog().getByRole("button", { name: "Yes, close without copying it" });
    expect(await sure.count()).toBe(1);
    await sure.click();
    await dialog().waitFor({ state: "detached" });
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
