import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { BrowserContext } from "playwright-core";
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

  it("works once per link, and not after the link has expired", async () => {
    const link = await rig.service().createSignInLink("linked");
    const context = await openContext(browser);
    const page = await openPage(context, rig.url);
    await signInByLink(page, link);
    await expect.poll(() => page.url()).not.toContain("#");
    await page.getByRole("button", { name: "Sign out", exact: true }).click();
    await page.getByRole("button", { name: "Sign in" }).waitFor();
    await page.goto("about:blank");
    await page.goto(link);
    await page.getByRole("button", { name: "Sign in with this link" }).click();
    await page.getByText("This link was already used, or is older than 15 minutes").waitFor();

    const late = await rig.service().createSignInLink("linked");
    const database = new DatabaseSync(join(rig.folder, "records.sqlite"));
    database.exec("UPDATE console_links SET expires = expires - 900001");
    database.close();
    await page.goto("about:blank");
    await page.goto(late);
    await page.getByRole("button", { name: "Sign in with this link" }).click();
    await page.getByText("This link was already used, or is older than 15 minutes").waitFor();
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

  it("sets a cookie that scripts cannot read and other hosts do not get, and forbids framing the page", async () => {
    const { context, page } = await signedIn("main");
    const [cookie, ...others] = await context.cookies();
    expect(others).toEqual([]);
    expect(cookie).toMatchObject({
      name: "__Host-moor-records",
      httpOnly: true,
      secure: true,
      sameSite: "Strict",
      path: "/",
    });
    const answer = await page.goto(rig.url);
    expect(await page.evaluate("document.cookie")).toBe("");
    const policy = answer?.headers()["content-security-policy"] ?? "";
    expect(policy).toContain("script-src 'self';");
    expect(policy).toContain("frame-ancestors 'none'");
    await context.close();
  });

  it("ends all other sessions when the password changes, and one that is signed out remotely", async () => {
    const [one, other, third] = [await signedIn("main"), await signedIn("main"), await signedIn("main")];
    await one.page.goto(`${rig.url}/account`);
    await one.page.getByText("(this one)").waitFor();
    const rows = one.page.getByRole("row").filter({ hasText: "Chrome" });
    const before = await rows.count();
    await rows.filter({ hasNotText: "this one" }).first().getByRole("button").click();
    await expect.poll(() => rows.count()).toBe(before - 1);
    await one.page.getByLabel("New password").fill(password);
    await one.page.getByRole("button", { name: "Set password" }).click();
    await one.page.getByText("Password set").waitFor();
    for (const { page } of [other, third]) {
      await page.goto(rig.url);
      await page.getByRole("button", { name: "Sign in" }).waitFor();
    }
    await one.page.goto(`${rig.url}/zones`);
    await one.page.getByRole("link", { name: "harbour.example" }).waitFor();
    for (const { context } of [one, other, third]) await context.close();
  });
});

describe("requests that our own page did not send", () => {
  const change = { changes: [{ name: "evil", type: "A", records: [{ value: "192.0.2.66" }] }] };
  const post = (context: BrowserContext, headers: Record<string, string>) =>
    context.request.post(`${rig.url}/v1/zones/harbour.example/changes`, { headers, data: change });

  it("change nothing, whatever cookie they carry", async () => {
    const { context, page } = await signedIn("main");
    const { csrf } = (await (await context.request.get(`${rig.url}/console/session`)).json()) as { csrf: string };
    const other = await signedIn("main");
    const foreign = (await (await other.context.request.get(`${rig.url}/console/session`)).json()) as { csrf: string };
    const own = { origin: rig.url, "x-csrf-token": csrf };
    expect((await post(context, {})).status()).toBe(401);
    expect((await post(context, { origin: rig.url })).status()).toBe(401);
    expect((await post(context, { ...own, "x-csrf-token": foreign.csrf })).status()).toBe(401);
    expect((await post(context, { ...own, origin: "https://evil.example" })).status()).toBe(401);
    expect((await post(context, { ...own, origin: "https://127.0.0.1:1" })).status()).toBe(401);
    expect((await post(context, { "x-csrf-token": csrf })).status()).toBe(401);
    const token = { name: "stolen", scope: { access: "write" } };
    const made = await context.request.post(`${rig.url}/console/tokens`, { headers: { origin: rig.url }, data: token });
    expect(made.status()).toBe(403);
    const login = await context.request.post(`${rig.url}/console/sign-in`, { data: { name: "main", password } });
    expect(login.status()).toBe(403);
    await page.goto(`${rig.url}/zones/harbour.example`);
    await page.getByRole("link", { name: "home AAAA" }).waitFor();
    await page.getByText("live", { exact: true }).waitFor();
    expect(await page.getByRole("link", { name: "evil A" }).count()).toBe(0);
    expect((await post(context, own)).status()).toBe(201);
    await page.getByRole("link", { name: "evil A" }).waitFor();
    await page.close();
    await other.context.close();
  });
});

describe("what is not yours", () => {
  it("is not found: the zones, history and tokens of another account", async () => {
    const { context, page } = await signedIn("stranger");
    for (const path of ["", "/history", "/settings"]) {
      await page.goto(`${rig.url}/zones/harbour.example${path}`);
      await page.getByText("Zone harbour.example not found").waitFor();
    }
    const { csrf } = (await (await context.request.get(`${rig.url}/console/session`)).json()) as { csrf: string };
    const headers = { origin: rig.url, "x-csrf-token": csrf };
    expect((await context.request.delete(`${rig.url}/v1/zones/harbour.example`, { headers })).status()).toBe(404);
    const main = await signedIn("main");
    const session = (await (await main.context.request.get(`${rig.url}/console/session`)).json()) as { csrf: string };
    const made = await main.context.request.post(`${rig.url}/console/tokens`, {
      headers: { origin: rig.url, "x-csrf-token": session.csrf },
      data: { name: "mine", scope: { access: "read" } },
    });
    const { token } = (await made.json()) as { token: { id: number } };
    expect((await context.request.delete(`${rig.url}/console/tokens/${token.id}`, { headers })).status()).toBe(404);
    expect(await (await context.request.get(`${rig.url}/console/tokens`)).json()).toEqual({ tokens: [] });
    await context.close();
    await main.context.close();
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
