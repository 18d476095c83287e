import { afterAll, beforeAll, expect, it } from "vitest";
import { dialogHasFocus } from "./browser.ts";
import { type HarbourPage, openHarbourPage } from "./harbour-page.ts";

let opened: HarbourPage;
let page: HarbourPage["page"];

beforeAll(async () => {
  opened = await openHarbourPage();
  page = opened.page;
});
afterAll(() => opened?.close());

const press = async (button: string) => {
  await page.getByRole("button", { name: button, exact: true }).focus();
  await page.keyboard.press("Enter");
};
const closed = () => page.getByRole("dialog").waitFor({ state: "detached" });
/** Otherwise a keyboard user would start again at the top of the document. */
const expectInContent = async () => {
  await expect.poll(() => page.locator("#content:focus, #content :focus").count()).toBe(1);
};

it("moves the focus to the content if the element that opened a dialog is gone", async () => {
  await page.goto(`${opened.rig.url}/zones/harbour.example`);
  await page.getByRole("link", { name: "backup A" }).focus();
  await page.keyboard.press("Enter");
  await dialogHasFocus(page);
  await press("Delete…");
  await press("Yes, delete it");
  await closed();
  await expectInContent();

  await page.goto(`${opened.rig.url}/tokens`);
  await press("New token");
  await dialogHasFocus(page);
  await page.keyboard.type("router");
  await page.keyboard.press("Enter");
  await page.getByText("Copy it now").waitFor();
  await press("I have copied it");
  await closed();
  await expectInContent();
  await press("Revoke router");
  await dialogHasFocus(page);
  await press("Revoke it");
  await closed();
  await expectInContent();

  await page.goto(opened.rig.url);
  await press("New zone");
  await dialogHasFocus(page);
  await page.keyboard.type("keys.example");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "keys.example" }).waitFor();
  await expectInContent();
});

it("chooses a type by typing, which replaces the current one", async () => {
  await page.goto(`${opened.rig.url}/zones/harbour.example?add=A`);
  await dialogHasFocus(page);
  const type = page.getByRole("dialog").getByRole("combobox", { name: "Type" });
  for (const [typed, key, chosen, field] of [
    ["cn", "Enter", "CNAME", "Target name"],
    ["mx", "Tab", "MX", "Mail server"],
    ["a", "Enter", "A", "IPv4 address"],
    ["tx", "Tab", "TXT", "Text"],
  ] as const) {
    await type.focus();
    await page.keyboard.type(typed);
    await page.keyboard.press(key);
    await expect.poll(() => type.inputValue()).toBe(chosen);
    await page.getByRole("dialog").getByLabel(field, { exact: true }).first().waitFor();
  }
  await type.click();
  await page.keyboard.type("srv");
  await page.keyboard.press("Enter");
  await expect.poll(() => type.inputValue()).toBe("SRV");
  // Enter chose the type and did not submit the form.
  expect(await page.getByRole("dialog").count()).toBe(1);
});
