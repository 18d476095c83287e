import type { Locator } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { firstOf } from "../rig/long-run.ts";
import { axeFindsInLongRun } from "./axe.ts";
import { phone, wide } from "./browser.ts";
import { type HarbourPage, openHarbourPage } from "./harbour-page.ts";
import { walkTo } from "./walk-to.ts";

let { rig, page, post, close } = {} as HarbourPage;
beforeAll(async () => {
  ({ rig, page, post, close } = await openHarbourPage());
  await post("/v1/zones", { name: "large.example", mode: "primary" });
  for (let i = 0; i < 24; i++) await post("/v1/zones/large.example/changes", { changes: setsOf(1, `early${i}-`) });
  await post("/v1/zones/large.example/changes", { changes: setsOf(12, "dozen") });
  await post("/v1/zones/large.example/changes", { changes: setsOf(220, "bulk") });
  await post("/v1/zones/large.example/changes", {
    changes: [
      { name: "bulk7", type: "A", records: [{ value: "192.0.2.47" }] },
      { name: "bulk8", type: "A", delete: true },
      { name: "new", type: "TXT", records: [{ value: '"x"' }] },
    ],
  });
});
afterAll(() => close?.());

const setsOf = (count: number, word: string) =>
  Array.from({ length: count }, (_, i) => ({ name: `${word}${i}`, type: "A", records: [{ value: "192.0.2.46" }] }));
const open = (path = "large.example/history") => walkTo(page, `${rig.url}/zones/${path}`);
/** Without the head. */
const writes = () => page.locator("tbody tr");
const areListed = async (count: number) => {
  await expect.poll(() => writes().count(), { interval: 100 }).toBe(count);
};
const large = (): Locator => writes().filter({ hasText: "220 sets added" });
const older = () => page.getByRole("button", { name: "Older changes" });

it("lists writes, says what was added, changed and deleted, and continues with the next writes", async () => {
  await open();
  await large().waitFor();
  const [newest] = await writes().allTextContents();
  expect(newest).toMatch(/1 set added, 1 changed, 1 deleted/);
  for (const text of ["bulk7 A changed 192.0.2.46", "bulk8 A deleted", "new TXT added"]) expect(newest).toContain(text);
  expect(await writes().count()).toBe(25);
  await older().click();
  await writes().filter({ hasText: "early0-0 A added" }).waitFor();
  await page.getByText("There are no older changes.").waitFor();
  expect(await writes().count()).toBe(28);
  expect(await older().count()).toBe(0);
});

it("unfolds a write of many sets, a part at a time", async () => {
  await open();
  await large().waitFor();
  expect((await large().textContent())?.match(/bulk\d+ A/g)).toHaveLength(3);
  await large().getByRole("button", { name: "Show all 220 changes" }).click();
  const lines = async () => (await large().textContent())?.match(/bulk\d+ A/g)?.length;
  await expect.poll(lines).toBe(100);
  await large().getByRole("button", { name: "Show the next 100 of 220" }).click();
  await expect.poll(lines).toBe(200);
  await large().getByRole("button", { name: "Show fewer" }).click();
  await expect.poll(lines).toBe(3);
});

// Which request a filter makes: read-writes.test.ts of the console; what it answers: history.suite.ts of the stores.
it("filters by name, type, person or token, and day; the URL keeps the filter", async () => {
  await open();
  await large().waitFor();
  await page.getByLabel("Name", { exact: true }).fill("bulk8.large.example");
  await areListed(2);
  expect((await large().textContent())?.match(/bulk\d+ A/g)).toEqual(["bulk8 A"]);
  await page.getByPlaceholder("All types").fill("TXT");
  await page.getByRole("option", { name: "TXT" }).click();
  await page.getByText("No changes match.").waitFor();
  await page.getByLabel("Name", { exact: true }).fill("");
  await areListed(1);
  await walkTo(page, page.url());
  await page.getByText("new TXT added").waitFor();
  expect(await writes().count()).toBe(1);
  const day = new Date(Date.now() - 5 * 86_400_000).toISOString().slice(0, 10);
  await open("harbour.example/history");
  const later = page.getByText("203.0.113.97").first();
  await later.waitFor();
  await page.getByLabel("Up to this day").fill(day);
  await later.waitFor({ state: "detached" });
  await page.getByRole("combobox", { name: "Who" }).fill("router at home");
  await expect
    .poll(async () => new Set(await writes().locator("td:nth-child(2)").allTextContents()))
    .toEqual(new Set(["router at home"]));
  await page.getByRole("button", { name: "Show all" }).first().click();
  await later.waitFor();
});

it("restores one record of a large write, and asks before it undoes the whole", async () => {
  await open("large.example/history?name=bulk8.large.example");
  await page.getByRole("button", { name: "Restore this record: bulk8 A from before serial" }).click();
  await page.getByRole("dialog").getByText("Only this record set is changed").waitFor();
  await page.getByRole("dialog").getByText("192.0.2.46").waitFor();
  await page.getByRole("button", { name: "Restore", exact: true }).and(page.locator(":focus")).waitFor();
  await page.getByRole("button", { name: "Cancel" }).click();
  await large().getByRole("button", { name: /^Undo/ }).click();
  const asked = page.getByRole("dialog", { name: "Undo all 220 changes?" });
  await asked.getByText("220 sets deleted").waitFor();
  await page.keyboard.press("Enter");
  await asked.waitFor({ state: "detached" });
  expect(await writes().count(), "nothing was undone").toBe(2);
  await page.getByRole("button", { name: "Restore this record: bulk8 A from before serial" }).click();
  await page.getByRole("button", { name: "Restore", exact: true }).click();
  await page.getByText("Restored bulk8 A.").waitFor();
  await areListed(3);
  expect(await writes().first().textContent()).toContain("bulk8 A added 192.0.2.46");
  await page.getByRole("button", { name: "Undo", exact: true }).first().click();
  await areListed(4);
});

it("undoes a write of several sets", async () => {
  await open();
  const several = writes().filter({ hasText: "1 set added, 1 changed, 1 deleted" });
  await several.getByRole("button", { name: /^Undo/ }).click();
  await page.getByRole("dialog").getByText("1 set deleted, 1 changed back, 1 restored").waitFor();
  await page.getByRole("button", { name: "Undo all 3 changes", exact: true }).click();
  await writes().filter({ hasText: "1 set added, 1 changed, 1 deleted" }).getByText("Undone").waitFor();
  await expect.poll(() => writes().first().textContent()).toContain("bulk8 A added");
  expect(await writes().last().getByRole("button", { name: /^Undo/ }).count()).toBe(1);
});

it.for(firstOf([{ ...phone, width: 360 }, wide]))(
  "fits a phone and has no axe violation when filtered and unfolded: %o",
  async (size) => {
    await page.setViewportSize(size);
    await open("large.example/history?name=dozen7");
    await page.getByRole("button", { name: "Show all 12 changes" }).click();
    await page.getByText("dozen11 A").waitFor();
    expect(await page.evaluate("document.documentElement.scrollWidth - innerWidth")).toBeLessThanOrEqual(0);
    expect(await axeFindsInLongRun(page)).toEqual([]);
    expect(page.complaints).toEqual([]);
  },
);
