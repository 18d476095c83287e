import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { firstOf, isLongRun } from "../rig/long-run.ts";
import { axeFinds } from "./axe.ts";
import { openContext, phone, wide } from "./browser.ts";
import { layoutFaults } from "./layout-faults.ts";
import { signInByLink } from "./records-rig.ts";
import { startUpRig, type UpRig } from "./up-rig.ts";

let rig: UpRig;
/** The owner, signed in once for all of these tests. */
let page: Page;
beforeAll(async () => {
  rig = await startUpRig();
  page = await signIn("--url", atLocalhost(rig.urls.records));
});
afterAll(() => rig?.close());

/** The name of the host need not be the one that `moor up` printed. */
const atLocalhost = (url: string) => url.replace("127.0.0.1", "localhost");
const switchTo = (page: Page, service: "DNS" | "Firewall" | "Updater") =>
  page.getByRole("navigation", { name: "Services" }).getByRole("link", { name: service }).click();
const heading = (page: Page, name: string) => page.getByRole("heading", { name, exact: true, level: 1 });
/** A page of a browser that has just signed in. */
const signIn = async (...words: readonly string[]): Promise<Page> => {
  const page = await (await openContext(rig.browser)).newPage();
  await signInByLink(page, await rig.signInLink(...words));
  return page;
};

/** In a narrow window; in a long run also in a wide one. */
async function expectAccessible(): Promise<void> {
  for (const size of firstOf([{ ...phone, width: 360 }, wide])) {
    await page.setViewportSize(size);
    expect(await axeFinds(page)).toEqual([]);
    await expect.poll(() => page.evaluate(layoutFaults)).toEqual([]);
  }
  await page.setViewportSize(wide);
}

describe("the pages of moor up", () => {
  it("the first page shows each name with its address and its changes, and what is wrong with it", async () => {
    await heading(page, "Names").waitFor();
    const card = page.getByRole("listitem", { name: /\.home\.test$/ });
    const attention = page.getByRole("region", { name: "Needs attention" });
    await card.getByRole("button", { name: "Copy 9.9.1.1" }).waitFor();
    await card.getByRole("img", { name: "right" }).waitFor();
    await card.getByText("the updater, from wan0, checked").waitFor();
    await attention.getByText("Nothing needs attention.").waitFor();
    await expectAccessible();

    await rig.wan.readdress({ ipv4: "9.9.2.2", ipv6: "2a00:1::1" });
    await card.getByRole("button", { name: "Copy 9.9.2.2" }).waitFor();
    const changes = page.getByRole("region", { name: "Latest changes" });
    await changes.getByText(/\.home\.test moved to 9\.9\.2\.2 was 9\.9\.1\.1/).waitFor();
    const line = card.getByRole("slider", { name: /^Changes of/ });
    await line.focus();
    await card.getByText(/^9\.9\.2\.2 from /).waitFor();
    await page.keyboard.press("ArrowLeft");
    await card.getByText(/^(?:9\.9\.1\.1|2a00:1::1) from /).waitFor();

    await rig.wan.remove();
    await card.getByRole("img", { name: "failing" }).waitFor();
    await card.getByRole("link", { name: "See what to do" }).click();
    await heading(page, "Dynamic names").waitFor();
    await page.goBack();
    await card.getByRole("img", { name: "failing" }).waitFor();
    await rig.wan.restore();
    await rig.wan.readdress({ ipv4: "9.9.2.2", ipv6: "2a00:1::1" });
    await attention.getByText("Nothing needs attention.").waitFor();

    await card.getByRole("heading").getByRole("link").click();
    await page
      .getByRole("img", { name: /home\.test over time/ })
      .first()
      .waitFor();
  });

  it("one sign-in opens all of them, by whatever name the host is reached", async () => {
    await switchTo(page, "Firewall");
    await page.getByRole("region", { name: "wan0", exact: true }).waitFor();
    expect(new URL(page.url()).host).toBe("localhost:8443");
    await page.getByRole("link", { name: "Users" }).click();
    await page.getByRole("button", { name: "New user" }).waitFor();
    await switchTo(page, "Updater");
    await heading(page, "Dynamic names").waitFor();
  });

  it("the updater's page changes the names of the running updater, with the same sign-in", async () => {
    const config = () => readFile(join(rig.data, "up.yaml"), "utf8");
    const before = await config();
    await page.getByRole("button", { name: /^Pause .*\.home\.test$/ }).click();
    await page.getByRole("dialog").getByText("paused: true").waitFor();
    await page.getByRole("dialog").getByRole("button", { name: "Pause", exact: true }).click();
    await page.getByText("paused", { exact: true }).first().waitFor();
    expect(await config()).toBe(before.replace(/(ipv6: .*\n)/, "$1    paused: true\n"));
  });

  it("other users gain nothing: a user of the firewall with fewer rights, an account that is not the owner's", async () => {
    await rig.moor("user", "add", "anna", "--privilege", "interface-status", "--data", rig.data);
    const anna = await rig.sessionsOf("--firewall", "--account", "anna");
    expect(anna).toEqual({ records: 401, firewall: 200 });
    expect(await rig.sessionsOf("--account", "guest")).toEqual({ records: 200, firewall: 401 });
  });

  it("signing out says that it ends everywhere", async () => {
    const wall = await page.context().newPage();
    await wall.goto(atLocalhost(rig.urls.firewall));
    await wall.getByText("live", { exact: true }).waitFor();
    await switchTo(page, "DNS");
    await heading(page, "Names").waitFor();
    await page.getByRole("banner").getByRole("button", { name: "Sign out" }).click();
    await page.getByText("This browser is signed out of DNS, Firewall and Updater.").waitFor();
    // sign-in-ways.test.ts checks a sign-in page with a message.
    if (isLongRun) await expectAccessible();
    // Its stream ends too, without a reload.
    await wall.getByRole("button", { name: "Sign in", exact: true }).waitFor();
    // The updater has no password here.
    await wall.getByRole("link", { name: "Updater" }).click();
    await wall.getByText("Sign in at DNS or Firewall; that signs you in here too.").waitFor();
    if (isLongRun) {
      await wall.getByRole("link", { name: "DNS" }).click();
      await wall.getByText("signing in at Firewall or Updater is enough").waitFor();
      await wall.getByRole("button", { name: "Sign in", exact: true }).waitFor();
    }
    expect(await page.context().cookies()).toEqual([]);
  });
});
