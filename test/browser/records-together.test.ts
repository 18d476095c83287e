import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { dialogHasFocus } from "./browser.ts";
import { type HarbourPage, openHarbourPage } from "./harbour-page.ts";

vi.setConfig({ testTimeout: 180_000, hookTimeout: 240_000 });

let opened: HarbourPage;
let page: HarbourPage["page"];

beforeAll(async () => {
  opened = await openHarbourPage();
  page = opened.page;
});
afterAll(() => opened?.close());

const harbour = "/zones/harbour.example";
const put = (name: string, value: string) =>
  opened.post(`/v1${harbour}/changes`, { changes: [{ name, type: "A", records: [{ value }] }] });

describe("a double click", () => {
  it("on what cannot be taken back only asks, and so does a key that is held down", async () => {
    await put("twice", "192.0.2.1");
    await page.goto(`${opened.rig.url}${harbour}?edit=twice/A`);
    await dialogHasFocus(page);
    let sent = 0;
    page.on("request", (request) => (sent += Number(request.method() === "POST")));
    const [ask, sure] = ["Delete…", "Yes, delete it"].map((name) => page.getByRole("button", { name }));
    await ask?.dblclick();
    await sure?.waitFor();
    await page.reload();
    await dialogHasFocus(page);
    await ask?.focus();
    for (const _ of [1, 2, 3]) await page.keyboard.down("Enter");
    await page.keyboard.up("Enter");
    await sure?.waitFor();
    await page.waitForTimeout(500);
    expect(sent).toBe(0);
    await sure?.click();
    await expect.poll(() => page.getByRole("dialog").count()).toBe(0);
    expect(sent).toBe(1);
  });
});
