import type { BrowserContext } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { keysFile, openAccess } from "../../src/firewall/access/store.ts";
import { colourOf, holdTime, type OpenBrowser, openBrowser, openContext, openPage } from "./browser.ts";
import { type FirewallRig, householdRows, startFirewallRig } from "./firewall-rig.ts";
import { signInByLink, signInContext } from "./records-rig.ts";
import { walkTo } from "./walk-to.ts";

let rig: FirewallRig;
let browser: OpenBrowser;
/** All tests use one page: another one would be loaded anew. */
let { context, page } = {} as Awaited<ReturnType<typeof signedIn>>;
beforeAll(async () => {
  rig = await startFirewallRig();
  browser = await openBrowser();
  ({ context, page } = await signedIn());
});
afterAll(async () => {
  await browser?.close();
  await rig?.close();
});

async function signedIn() {
  const context = await openContext(browser);
  await signInContext(context, await rig.service.createSignInLink());
  return { context, page: await openPage(context, rig.url) };
}

/** As another tab of the same browser. */
async function signOut({ request }: BrowserContext): Promise<void> {
  const { csrf } = (await (await request.get(`${rig.url}/console/session`)).json()) as { csrf: string };
  const headers = { origin: rig.url, "x-csrf-token": csrf };
  expect((await request.post(`${rig.url}/console/sign-out`, { headers })).status()).toBe(204);
}

describe("the interfaces", () => {
  it("say which address an updater uses and why not the others, and update without a reload", async () => {
    const ppp = page.getByRole("region", { name: "ppp0" });
    const verdictOf = (text: string) => ppp.getByRole("row").filter({ hasText: text }).textContent();
    await ppp.waitFor();
    expect(await verdictOf("203.0.113.97")).toContain("yes, with a warning");
    expect(await verdictOf("2001:db8:4d:1a")).toContain("yes, with a warning");
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      const [red = 0, green = 0] = await colourOf(ppp.getByText("yes, with a warning").first());
      expect(red).toBeGreaterThan(green);
    }
    expect(await verdictOf("2001:db8:4d:9")).toContain("deprecated");
    expect(await verdictOf("fe80::")).toContain("reaches only its own network segment");
    await rig.setRows(householdRows("203.0.113.12"));
    await expect.poll(() => ppp.textContent()).toContain("203.0.113.12");
  });

  it("come in the order of use: the default route first, loopback folded; each with its state and its traffic", async () => {
    const last = householdRows("203.0.113.97").toReversed();
    await rig.setRows(last);
    const ppp = page.getByRole("region", { name: "ppp0" });
    await ppp.getByText("default route").waitFor();
    const regions = "[...document.querySelectorAll('section[aria-label]')].map((each) => each.ariaLabel)";
    await expect.poll(() => page.evaluate(regions)).toEqual(["ppp0", "eth0", "eth0.20", "lo"]);
    const loopback = page.getByText("127.0.0.1");
    expect(await loopback.isVisible()).toBe(false);
    await page.getByText("Loopback (lo)").press("Enter");
    await loopback.waitFor();
    await ppp.getByText("up", { exact: true }).waitFor();
    const down = page.getByRole("region", { name: "eth0.20" }).getByText("down", { exact: true });
    expect(await down.isVisible()).toBe(false);
    await page.getByText("Not in use (eth0.20)").press("Enter");
    const [red = 0, , blue = 0] = await colourOf(down);
    expect(Math.abs(red - blue), "grey, not red").toBeLessThan(30);
    const first = page.getByRole("region", { name: "An updater would publish" });
    await expect
      .poll(() => first.textContent())
      .toMatch(/203\.0\.113\.97 \(A\) of ppp0.*2001:db8:4d:1a:\S+ \(AAAA\) of ppp0/);
    const graph = ppp.getByRole("img", { name: /^Traffic of ppp0: receiving .* Mbit\/s, sending .* Mbit\/s/ });
    await graph.waitFor();
    const drawn = async () => Number(await ppp.locator("[data-samples]").getAttribute("data-samples"));
    await expect.poll(drawn).toBeGreaterThan(1);
    // What was drawn stays while another page is shown.
    const before = await drawn();
    await page.getByRole("link", { name: "Users" }).click();
    await page.getByRole("link", { name: "Interfaces" }).click();
    await graph.waitFor();
    expect(await drawn()).toBeGreaterThanOrEqual(before);
    await rig.setRows(householdRows("203.0.113.97"));
    expect(page.complaints).toEqual([]);
  });
});

describe("sign-ins in the audit", () => {
  it("are listed with failures, delays and sign-outs, but without names that nobody has", async () => {
    const guess = (name: string) =>
      context.request.post(`${rig.url}/console/sign-in`, {
        headers: { origin: rig.url },
        data: { name, password: "not the password" },
      });
    // The sixth guess for the same name is the first that is delayed, and is not checked.
    for (let i = 0; i < 6; i++) await guess("correct horse battery staple");
    expect((await guess("root")).status()).toBe(401);
    const other = await openContext(browser);
    await signInContext(other, await rig.service.createSignInLink("auditor"));
    await signOut(other);
    await other.close();
    await walkTo(page, `${rig.url}/audit?show=sign-ins`);
    const row = (...texts: readonly string[]) =>
      texts.reduce((rows, text) => rows.filter({ hasText: text }), page.getByRole("row")).first();
    await row("unknown name", "sign-in refused (4 times)").waitFor();
    await row("unknown name", "sign-in refused, further attempts are delayed").waitFor();
    await row("root", "sign-in refused").waitFor();
    await row("auditor", "signed in by link").waitFor();
    await row("auditor", "signed out").waitFor();
    expect(await page.content()).not.toContain("correct horse");
    expect(await page.getByText("user added").count()).toBe(0);
    await page.getByRole("link", { name: "Changes" }).click();
    await page.getByRole("cell", { name: "user added" }).first().waitFor();
    expect(await page.getByText("signed out").count()).toBe(0);
  });
});

describe("interfaces that cannot be shown", () => {
  it("disappear when the session is ended elsewhere", async () => {
    await walkTo(page, rig.url);
    await page.getByText("203.0.113.97").first().waitFor();
    await signOut(context);
    await rig.setRows(householdRows("203.0.113.98"));
    await page.getByText("You were signed out.").waitFor();
    expect(await page.content()).not.toContain("203.0.113.98");
    await rig.setRows(householdRows("203.0.113.97"));
  });

  it("are not requested for a user who may not see them; the page says so", async () => {
    const access = openAccess(keysFile(rig.folder));
    access.users.add({ name: "clerk", privileges: ["gateways"], now: new Date() });
    access.close();
    let asked = 0;
    page.on("request", (request) => (asked += Number(request.url().endsWith("/console/events"))));
    await signInByLink(page, await rig.service.createSignInLink("clerk"));
    await page.getByText("Viewing the interfaces needs the privilege").waitFor();
    expect(await page.getByText("connecting…").count()).toBe(0);
    expect(asked).toBe(0);
  });

  it("are replaced by a message when the service hangs", async () => {
    await context.clearCookies();
    await signInContext(context, await rig.service.createSignInLink());
    await holdTime(page);
    await page.route("**/console/events", () => undefined);
    const isAsked = page.waitForRequest("**/console/events");
    await page.goto(rig.url);
    await isAsked;
    const message = page.getByText("The service is not responding");
    expect(await message.count()).toBe(0);
    await expect.poll(() => page.clock.fastForward(10_000).then(() => message.count())).toBe(1);
  });
});
