import type { Locator } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { phone, wide } from "./browser.ts";
import { type HarbourPage, openHarbourPage } from "./harbour-page.ts";
import { walkTo } from "./walk-to.ts";

/** What the form of a record offers beyond its fields. */

let { rig, page, close } = {} as HarbourPage;
beforeAll(async () => {
  ({ rig, page, close } = await openHarbourPage());
});
afterAll(() => close?.());

const harbour = "/zones/harbour.example";
const open = (path: string) => walkTo(page, rig.url + path);
const dialog = () => page.getByRole("dialog");
const value = (at: number) =>
  dialog()
    .getByRole("group", { name: `Record ${at}` })
    .getByRole("textbox")
    .first();

describe("an address of the other family", () => {
  it("is added together with one of the own family, in one write", async () => {
    await open(`${harbour}?add=A`);
    await dialog().getByLabel("Name", { exact: true }).fill("pier");
    await value(1).fill("192.0.2.7");
    await dialog().getByRole("button", { name: "Add value" }).click();
    await value(2).fill("2001:db8::8");
    // The offer is after the value, where the next Tab goes.
    for (let i = 0; i < 3; i++) await page.keyboard.press("Tab");
    const both = dialog().getByRole("button", { name: "Add both: A and AAAA" });
    await both.and(page.locator(":focus")).press("Enter");
    await page.getByText("Added pier A and pier AAAA.").waitFor();
    await page.getByRole("link", { name: "pier AAAA" }).waitFor();
    expect(await page.getByRole("link", { name: /^pier A+$/ }).count()).toBe(2);
  });
});

it("Add another keeps the form open, empty, with the focus on the name", async () => {
  await open(`${harbour}?add=A`);
  await dialog().getByLabel("Name", { exact: true }).fill("dock");
  await value(1).fill("192.0.2.8");
  await dialog().getByRole("button", { name: "Add another" }).click();
  await page.getByText("Added dock A.").waitFor();
  const name = dialog().getByLabel("Name", { exact: true });
  await name.and(page.locator(":focus")).waitFor();
  expect([await name.inputValue(), await value(1).inputValue()]).toEqual(["", ""]);
});

it("a second MX by keyboard: the answer about the final dot leaves the focus in its record", async () => {
  await open(harbour);
  const row = page.getByRole("link", { name: "@ MX" });
  await row.press("Enter");
  await dialog().getByRole("button", { name: "Add value" }).press("Enter");
  await page.keyboard.type("30");
  await page.keyboard.press("Tab");
  await page.keyboard.type("mx.example.net");
  await page.keyboard.press("Enter");
  const whole = dialog().getByRole("button", { name: "Full name: mx.example.net." });
  await whole.and(page.locator(":focus")).press("Enter");
  const third = dialog().getByRole("group", { name: "Record 3" });
  await third.getByRole("textbox").and(page.locator(":focus")).waitFor();
  // Which value a ✕ removes is clear on a phone too: it begins on the line of its first field.
  await page.setViewportSize(phone);
  const topOf = async (each: Locator) => (await each.boundingBox())?.y ?? 0;
  const remove = dialog().getByRole("button", { name: "Remove record 3" });
  await expect.poll(async () => Math.abs((await topOf(remove)) - (await topOf(value(3))))).toBeLessThan(8);
  await page.setViewportSize(wide);
  await page.keyboard.press("Enter");
  await page.getByText("Saved @ MX.").waitFor();
  await row.and(page.locator(":focus")).waitFor();
  expect(page.complaints).toEqual([]);
});

describe("the history of a record", () => {
  it("is in its form: who changed it last, from what to what", async () => {
    await open(`${harbour}?edit=home/A`);
    const last = dialog().getByText("by token 1 (router at home)");
    await last.waitFor();
    expect(await last.textContent()).toMatch(/Changed .* ago by token 1 .*: 203\.0\.113\.64→ 203\.0\.113\.97/);
    await dialog().getByRole("link", { name: "All changes" }).click();
    await expect.poll(() => page.locator("tbody tr").count()).toBe(8);
  });
});
