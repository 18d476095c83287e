import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { dialogHasFocus, type OpenBrowser, openBlankPage, openBrowser, openContext, openPage } from "./browser.ts";
import { fillHarbour } from "./harbour.ts";
import { type RecordsRig, signInByLink, signInContext, startRecordsRig } from "./records-rig.ts";

let rig: RecordsRig;
let browser: OpenBrowser;

/** If set, the service uses it instead of the clock. */
let instant: number | undefined;

beforeAll(async () => {
  rig = await startRecordsRig(() => instant ?? Date.now());
  await fillHarbour(rig.service().store, Date.now());
  browser = await openBrowser();
});
afterAll(async () => {
  await browser?.close();
  await rig?.close();
});

const password = "a ship in the harbour";

async function signedIn(account: string) {
  const context = await openContext(browser);
  await signInContext(context, await rig.service().createSignInLink(account));
  return { context, page: await openBlankPage(context, rig.url) };
}

describe("signing in", () => {
  it("refuses a wrong password, slows guessing down, and still works for others", async () => {
    const { context, page } = await signedIn("captain");
    await page.goto(`${rig.url}/account`);
    await page.getByLabel("New password").fill(password);
    await page.getByRole("button", { name: "Set password" }).click();
    await page.getByText("Password set").waitFor();
    await page.getByRole("button", { name: "Sign out", exact: true }).first().click();

    await page.getByLabel("Account").fill("captain");
    const secret = page.getByRole("textbox", { name: "Password" });
    await secret.fill("wrong");
    instant = Date.now();
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByText("Name or password is wrong.").waitFor();
    const guess = (name: string, word: string) =>
      context.request.post(`${rig.url}/console/sign-in`, {
        headers: { origin: rig.url },
        data: { name, password: word },
      });
    for (let i = 0; i < 4; i++) expect((await guess("captain", `guess ${i}`)).status()).toBe(401);
    const held = await guess("captain", password);
    expect(held.status()).toBe(429);
    const wait = Number(held.headers()["retry-after"]) * 1_000;
    expect(wait).toBeGreaterThan(0);
    expect((await guess("mate", "wrong")).status()).toBe(401);
    instant += wait - 1;
    expect((await guess("captain", password)).status()).toBe(429);
    instant += 1;
    await secret.fill(password);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByText("Create your first zone").waitFor();
    instant = undefined;
    await context.close();
  });

  it("uses the link that was pasted last, in place of an old one or an open session", async () => {
    const context = await openContext(browser);
    const page = await openPage(context, `${rig.url}/sign-in#of-long-ago`);
    await page.getByRole("button", { name: "Sign in with this link" }).click();
    await page.getByText("This link was already used, or is older than 15 minutes").waitFor();
    await signInByLink(page, await rig.service().createSignInLink("linked"));
    await page.getByText("Create your first zone").waitFor();

    await page.goto(await rig.service().createSignInLink("main"));
    await page.getByRole("button", { name: "Continue as linked" }).click();
    await page.getByText("Create your first zone").waitFor();
    await signInByLink(page, await rig.service().createSignInLink("main"));
    const names = page.getByRole("region", { name: "Dynamic names" });
    await names.waitFor();
    await page.goto(`${rig.url}/sign-in`);
    await names.waitFor();
    expect(page.complaints).toEqual([]);
    await context.close();
  });
});

describe("a script as a record's value", () => {
  const script = `<img src=x onerror="document.title='broken in'"><script>document.title='broken in'</script>`;

  it("is shown as plain text in the table, the form and the history", async () => {
    const { page } = await signedIn("main");
    await page.goto(`${rig.url}/zones/tide-tables.example?add=TXT`);
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
    await page.goto(`${rig.url}/zones/tide-tables.example/history`);
    await page.getByText("onerror").first().waitFor();
    expect(await page.title()).toBe("tide-tables.example – moor DNS");
    expect(page.complaints).toEqual([]);
    await page.close();
  });
});
