import { afterAll, beforeAll, expect, it } from "vitest";
import { dialogHasFocus } from "./browser.ts";
import { aSet, type HarbourTable, openHarbourTable } from "./harbour-table.ts";
import { closeSecret } from "./secret.ts";

/**
 * Everyday work, counted in clicks and keys. Typed text does not count, because it is the same everywhere. The counts
 * for Cloudflare's dashboard are the steps of its documentation.
 */

let { rig, page, put, open, stored, toast, undo, openMenu, choose, close } = {} as HarbourTable;
beforeAll(async () => {
  ({ rig, page, put, open, stored, toast, undo, openMenu, choose, close } = await openHarbourTable());
});
afterAll(() => close?.());

const countSteps = `{
  if (window.steps === undefined) {
    addEventListener("pointerdown", ({ isTrusted }) => (steps += Number(isTrusted)), true);
    addEventListener("keydown", ({ key, repeat }) => (steps += Number(key.length > 1 && key !== "Shift" && !repeat)), true);
  }
  window.steps = 0;
}`;
const begin = async () => {
  await open();
  await page.evaluate(countSteps);
};
const steps = () => page.evaluate<number>("steps");
/** How many steps it takes in our console, and in Cloudflare's by its documentation. */
const journeys: Readonly<Record<string, readonly [ours: number, theirs: number]>> = {
  // https://developers.cloudflare.com/dns/manage-dns-records/how-to/create-dns-records/
  "add a second mail server": [4, 7],
  // https://developers.cloudflare.com/dns/manage-dns-records/how-to/batch-record-changes/
  "change the TTL of ten records": [4, 40],
  "undo the deletion of a record": [1, 4],
  // https://developers.cloudflare.com/fundamentals/api/get-started/create-token/
  "create a token for one name": [3, 8],
};
const told = (journey: string) => journeys[journey] ?? [0, 0];

it("add a second mail server", async () => {
  await put({ name: "@", type: "MX", records: [{ value: "10 mail.harbour.example." }] });
  await begin();
  await page.getByRole("link", { name: "@ MX" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Add value" }).click();
  await page.getByRole("group", { name: "Record 2" }).getByLabel("Priority").and(page.locator(":focus")).waitFor();
  await page.keyboard.type("20");
  await page.keyboard.press("Tab");
  await page.keyboard.type("backup");
  await page.keyboard.press("Enter");
  await toast("Saved @ MX.").waitFor();
  const taken = await steps();
  const [ours, theirs] = told("add a second mail server");
  expect([taken, taken <= theirs]).toEqual([ours, true]);
  expect((await stored("@/MX")).records).toHaveLength(2);
});

it("change the TTL of ten records", async () => {
  await put(...Array.from({ length: 10 }, (_, i) => aSet(`ten${i}`, "192.0.2.1")));
  await begin();
  await page.getByRole("checkbox", { name: "Select ten0 A" }).click();
  await page.getByRole("checkbox", { name: "Select ten9 A" }).click({ modifiers: ["Shift"] });
  await page.getByRole("button", { name: "TTL…" }).click();
  await dialogHasFocus(page);
  await page.keyboard.type("1h");
  await page.keyboard.press("Enter");
  await toast("TTL of 10 record sets changed to 1 hour.").waitFor();
  const taken = await steps();
  const [ours, theirs] = told("change the TTL of ten records");
  expect([taken, taken <= theirs]).toEqual([ours, true]);
});

it("undo the deletion of a record", async () => {
  await begin();
  await openMenu("backup A");
  await choose("Delete");
  await toast("Deleted backup A.").waitFor();
  const before = await steps();
  await undo().click();
  await toast("Undone: backup A is as before.").waitFor();
  const taken = (await steps()) - before;
  const [ours, theirs] = told("undo the deletion of a record");
  expect([taken, taken <= theirs]).toEqual([ours, true]);
});

it("create a token for one name", async () => {
  await begin();
  await openMenu("home A");
  await choose("New token for this name…");
  await dialogHasFocus(page);
  await page.getByText("may write all records of home.harbour.example").waitFor();
  await page.keyboard.press("Enter");
  await page.getByText("Copy it now").waitFor();
  const taken = await steps();
  const [ours, theirs] = told("create a token for one name");
  expect([taken, taken <= theirs]).toEqual([ours, true]);
  await closeSecret(page);
  await expect.poll(() => page.url()).toBe(`${rig.url}/tokens`);
});
