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
/** A person without a mouse would begin at the top of the document. */
const isInContent = async () => {
  await expect.poll(() => page.locator("#content:focus, #content :focus").count()).toBe(1);
};

it("goes on in the content when what opened a dialog has gone with it", async () => {
  await page.goto(`${opened.rig.url}/zones/harbour.example`);
  await page.getByRole("link", { name: "backup A" }).focus();
  await page.keyboard.press("Enter");
  await dialogHasFocus(page);
  await press("Delete…");
  await press("Yes, delete it");
  await closed();
  await isInContent();

  await page.goto(`${opened.rig.url}/tokens`);
  await press("New token");
  await dialogHasFocus(page);
  await page.keyboard.type("router");
  await page.keyboard.press("Enter");
  await page.getByText("Copy it now").waitFor();
  await press("I have copied it");
  await closed();
  await isInContent();
  await press("Revoke router");
  await dialogHasFocus(page);
  await press("Revoke it");
  await closed();
  await isInContent();

  await page.goto(opened.rig.url);
  await press("New zone");
  await dialogHasFocus(page);
  await page.keyboard.type("keys.example");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "keys.example" }).waitFor();
  await isInContent();
});
