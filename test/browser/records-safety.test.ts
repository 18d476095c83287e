import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isLongRun } from "../rig/long-run.ts";
import {
  dialogHasFocus,
  type OpenBrowser,
  openBlankPage,
  openBrowser,
  openContext,
  type WatchedPage,
} from "./browser.ts";
import { fillHarbour } from "./harbour.ts";
import { type RecordsRig, signInByLink, startRecordsRig } from "./records-rig.ts";
import { walkTo } from "./walk-to.ts";

let rig: RecordsRig;
let browser: OpenBrowser;
/** For all tests: another one would be loaded anew. */
let page: WatchedPage;

beforeAll(async () => {
  rig = await startRecordsRig();
  await fillHarbour(rig.service().store, Date.now());
  browser = await openBrowser();
  page = await openBlankPage(await openContext(browser), rig.url);
});
afterAll(async () => {
  await browser?.close();
  await rig?.close();
});

describe("signing in", () => {
  it("uses the link that was pasted last, in place of an old one or an open session", async () => {
    await page.goto(`${rig.url}/sign-in#of-long-ago`);
    await page.getByRole("button", { name: "Sign in with this link" }).click();
    await page.getByText("This link was already used, or is older than 15 minutes").waitFor();
    await signInByLink(page, await rig.service().createSignInLink("linked"));
    await page.getByText("Create your first zone").waitFor();

    await page.goto(await rig.service().createSignInLink("main"));
    await page.getByRole("button", { name: "Continue as linked" }).click();
    await page.getByText("Create your first zone").waitFor();
    await signInByLink(page, await rig.service().createSignInLink("main"));
    const names = page.getByRole("region", { name: "Your names" });
    await names.waitFor();
    if (isLongRun) {
      await page.goto(`${rig.url}/sign-in`);
      await names.waitFor();
    }
    expect(page.complaints).toEqual([]);
  });
});

describe("a script as a record's value", () => {
  const script = `<img src=x onerror="document.title='broken in'"><script>document.title='broken in'</script>`;

  it("is shown as plain text in the table, the form and the history", async () => {
    await walkTo(page, `${rig.url}/zones/tide-tables.example?add=TXT`);
    await page.getByLabel("Name", { exact: true }).fill("evil");
    await page.getByLabel("Text", { exact: true }).fill(script);
    await page.getByText("Comment and labels").click();
    await page.getByLabel("Comment").fill(script);
    await page.getByRole("button", { name: "Add", exact: true }).click();
    await page.getByRole("link", { name: "evil TXT" }).click();
    expect(await page.getByLabel("Text", { exact: true }).inputValue()).toBe(script);
    await dialogHasFocus(page);
    await page.keyboard.press("Escape");
    await expect.poll(() => page.getByRole("dialog").count()).toBe(0);
    await expect.poll(() => page.getByRole("row").filter({ hasText: "evil" }).textContent()).toContain("onerror");
    await walkTo(page, `${rig.url}/zones/tide-tables.example/history`);
    await page.getByText("onerror").first().waitFor();
    expect(await page.title()).toBe("tide-tables.example – moor DNS");
    expect(page.complaints).toEqual([]);
  });
});
