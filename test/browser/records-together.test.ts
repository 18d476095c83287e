import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { dialogHasFocus } from "./browser.ts";
import { type HarbourPage, openHarbourPage } from "./harbour-page.ts";
import { walkTo } from "./walk-to.ts";

let opened: HarbourPage;
let page: HarbourPage["page"];

beforeAll(async () => {
  opened = await openHarbourPage();
  page = opened.page;
});
afterAll(() => opened?.close());

const harbour = "/zones/harbour.example";
const put = (name: string, value: string, labels = {}) =>
  opened.post(`/v1${harbour}/changes`, { changes: [{ name, type: "A", labels, records: [{ value }] }] });
const storedAt = async (name: string): Promise<unknown> => {
  const answer = await opened.context.request.get(`${opened.rig.url}/v1${harbour}/rrsets/${name}/A`);
  return answer.status() === 404 ? undefined : (await answer.json()).rrset.records[0].value;
};

describe("a page that receives no events", () => {
  let deaf: Page;
  beforeAll(async () => {
    deaf = page;
    await deaf.route("**/v1/events", (route) => route.abort());
  });
  const dialog = () => deaf.getByRole("dialog");
  const openForm = async (query: string) => {
    await walkTo(deaf, `${opened.rig.url}${harbour}?${query}`);
    await dialogHasFocus(deaf);
  };

  it("does not silently overwrite what was changed meanwhile", async () => {
    await put("mail", "192.0.2.1", { a: "1", b: "2" });
    await openForm("edit=mail/A");
    await put("mail", "192.0.2.111", { b: "2", a: "1" });
    await dialog().getByLabel("IPv4 address").fill("192.0.2.222");
    const save = dialog().getByRole("button", { name: "Save" });
    await save.click();
    await dialog().getByText("nothing was saved").waitFor();
    await dialog().getByText("to: 192.0.2.111").waitFor();
    expect(await storedAt("mail")).toBe("192.0.2.111");
    await save.click();
    await expect.poll(() => dialog().count()).toBe(0);
    expect(await storedAt("mail")).toBe("192.0.2.222");
  });

  it("does not replace a record that was added meanwhile", async () => {
    await openForm("add=A");
    await put("both", "192.0.2.1");
    await dialog().getByLabel("Name", { exact: true }).fill("both");
    await dialog().getByLabel("IPv4 address").fill("192.0.2.9");
    await dialog().getByRole("button", { name: "Add", exact: true }).click();
    await dialog().getByText("nothing was saved").waitFor();
    await dialog().getByText("both A already has 1 value: 192.0.2.1").waitFor();
    expect(await storedAt("both")).toBe("192.0.2.1");
  });

  it("does not delete what it has not shown", async () => {
    await openForm("edit=backup/A");
    await put("backup", "198.51.100.99");
    await dialog().getByRole("button", { name: "Delete…" }).click();
    await dialog().getByRole("button", { name: "Yes, delete it" }).click();
    await dialog().getByText("nothing was saved").waitFor();
    expect(await storedAt("backup")).toBe("198.51.100.99");
  });

  it("sends nothing if the form is closed during the read before the write", async () => {
    await openForm("edit=home/A");
    let sent = 0;
    deaf.on("request", (request) => (sent += Number(request.method() === "POST")));
    const { promise: held, resolve: release } = Promise.withResolvers<void>();
    await deaf.route("**/rrsets/home/A", (route) => held.then(() => route.continue()));
    const looked = deaf.waitForResponse("**/rrsets/home/A");
    await dialog().getByRole("button", { name: "Delete…" }).click();
    await dialog().getByRole("button", { name: "Yes, delete it" }).click();
    await dialog().getByRole("button", { name: "Cancel" }).click();
    await expect.poll(() => dialog().count()).toBe(0);
    release();
    await looked;
    await laterRequest(deaf);
    expect(sent).toBe(0);
    await deaf.unroute("**/rrsets/home/A");
  });

  it("does not import later if the read before it fails now", async () => {
    await walkTo(deaf, `${opened.rig.url}${harbour}`);
    await deaf.getByRole("link", { name: "backup A" }).waitFor();
    await deaf.getByRole("link", { name: "Settings" }).click();
    await deaf.evaluate("window.clock = Date.now; Date.now = () => clock() + 120_000");
    await deaf.route("**/history?*", (route) => route.abort());
    await deaf.getByRole("button", { name: "Import…" }).click();
    await dialog()
      .getByLabel(/^Replace/)
      .check();
    await dialog().getByRole("textbox", { name: "Zone file" }).fill("new 300 IN A 192.0.2.1\n");
    await dialog().getByRole("button", { name: "Import and change" }).click();
    await expect
      .poll(() => dialog().getByRole("alert").allTextContents())
      .toEqual(["The service is not responding. It may be restarting; try again in a moment."]);
    await deaf.unroute("**/history?*");
    await deaf.evaluate("Date.now = clock");
  });

  // It goes on in the dialog of the test before it.
  it("does not overwrite records that its preview has not shown", async () => {
    const confirm = dialog().getByRole("button", { name: "Import and change" });
    await confirm.waitFor();
    await put("unseen", "192.0.2.77");
    await confirm.click();
    await dialog().getByText("nothing was imported").waitFor();
    await dialog().getByText("unseen A").waitFor();
    expect(await storedAt("unseen")).toBe("192.0.2.77");
    await confirm.click();
    await expect.poll(() => dialog().count()).toBe(0);
    expect(await storedAt("unseen")).toBeUndefined();
  });
});

/** What the page does after this was caused by nothing before it. */
const laterRequest = (tab: Page) => tab.evaluate("fetch('/console/session').then((answer) => answer.text())");

describe("a double click", () => {
  it("on an irreversible action only asks, and so does a key that is held down", async () => {
    await put("twice", "192.0.2.1");
    await walkTo(page, `${opened.rig.url}${harbour}?edit=twice/A`);
    await dialogHasFocus(page);
    let sent = 0;
    page.on("request", (request) => (sent += Number(request.method() === "POST")));
    const [ask, sure] = ["Delete…", "Yes, delete it"].map((name) => page.getByRole("button", { name }));
    await ask?.dblclick();
    await sure?.waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("link", { name: "twice A" }).click();
    await dialogHasFocus(page);
    await ask?.focus();
    for (const _ of [1, 2, 3]) await page.keyboard.down("Enter");
    await page.keyboard.up("Enter");
    await sure?.waitFor();
    await laterRequest(page);
    expect(sent).toBe(0);
    await sure?.click();
    await expect.poll(() => page.getByRole("dialog").count()).toBe(0);
    expect(sent).toBe(1);
  });
});
