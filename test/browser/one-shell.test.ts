import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { firstOf } from "../rig/long-run.ts";
import { axeFinds } from "./axe.ts";
import { type Look, openContext, phone } from "./browser.ts";
import { layoutFaults } from "./layout-faults.ts";
import { signInByLink } from "./records-rig.ts";
import { startUpRig, type UpRig } from "./up-rig.ts";

let rig: UpRig;
beforeAll(async () => {
  rig = await startUpRig();
});
afterAll(() => rig?.close());

const switchTo = (page: Page, service: "DNS" | "Firewall" | "Updater") =>
  page.getByRole("navigation", { name: "Services" }).getByRole("link", { name: service }).click();
const signOut = (page: Page) => page.getByRole("banner").getByRole("button", { name: "Sign out" }).click();
const heading = (page: Page, name: string) => page.getByRole("heading", { name, exact: true, level: 1 });
/** A page of a browser that has just signed in. */
const signIn = async (look: Look = {}, ...words: readonly string[]): Promise<Page> => {
  const page = await (await openContext(rig.browser, look)).newPage();
  await signInByLink(page, await rig.signInLink(...words));
  return page;
};

describe("the pages of moor up", () => {
  it("one sign-in opens all of them, and signing out says that it ends everywhere", async () => {
    const page = await signIn();
    await switchTo(page, "Firewall");
    await page.getByRole("region", { name: "wan0", exact: true }).waitFor();
    await page.getByRole("link", { name: "Users" }).click();
    await page.getByRole("button", { name: "New user" }).waitFor();
    await switchTo(page, "Updater");
    await heading(page, "Dynamic names").waitFor();
    await switchTo(page, "DNS");
    await heading(page, "Overview").waitFor();

    const wall = await page.context().newPage();
    await wall.goto(rig.urls.firewall);
    await wall.getByText("live", { exact: true }).waitFor();
    await signOut(page);
    await page.getByText("This browser is signed out of DNS, Firewall and Updater.").waitFor();
    // Its stream ends too, without a reload.
    await wall.getByRole("button", { name: "Sign in" }).waitFor();
    // The updater has no password here.
    await wall.getByRole("link", { name: "Updater" }).click();
    await wall.getByText("Sign in at DNS or Firewall; that signs you in here too.").waitFor();
    await wall.getByRole("link", { name: "DNS" }).click();
    await wall.getByRole("button", { name: "Sign in" }).waitFor();
    expect(await page.context().cookies()).toEqual([]);
    await page.context().close();
  });

  it("the updater's page changes the names of the running updater, with the same sign-in", async () => {
    const config = () => readFile(join(rig.data, "up.yaml"), "utf8");
    const before = await config();
    const page = await signIn();
    await switchTo(page, "Updater");
    const toggle = async (verb: "Pause" | "Resume") => {
      await page.getByRole("button", { name: new RegExp(`^${verb} .*\\.home\\.test$`) }).click();
      await page.getByRole("dialog").getByText("paused: true").waitFor();
      await page.getByRole("dialog").getByRole("button", { name: verb, exact: true }).click();
    };
    await toggle("Pause");
    await page.getByText("paused", { exact: true }).first().waitFor();
    expect(await config()).toBe(before.replace(/(ipv6: .*\n)/, "$1    paused: true\n"));
    await toggle("Resume");
    await expect.poll(() => page.getByText("paused", { exact: true }).count()).toBe(0);
    expect(await config()).toBe(before);
    await page.context().close();
  });

  it("the name of the host need not be the one that moor up printed", async () => {
    const page = await signIn({}, "--firewall", "--url", rig.urls.firewall.replace("127.0.0.1", "localhost"));
    await switchTo(page, "DNS");
    await heading(page, "Overview").waitFor();
    expect(new URL(page.url()).host).toBe("localhost:8053");
    await page.context().close();
  });

  it("other users gain nothing: a user of the firewall with fewer rights, an account that is not the owner's", async () => {
    await rig.moor("user", "add", "anna", "--privilege", "interface-status", "--data", rig.data);
    const anna = await signIn({}, "--firewall", "--account", "anna");
    await anna.getByRole("region", { name: "wan0", exact: true }).waitFor();
    await switchTo(anna, "DNS");
    await anna.getByRole("button", { name: "Sign in" }).waitFor();
    await anna.getByText("signing in at Firewall or Updater is enough").waitFor();
    const guest = await signIn({}, "--account", "guest");
    await switchTo(guest, "Firewall");
    await guest.getByRole("button", { name: "Sign in" }).waitFor();
    expect(await guest.getByRole("region", { name: "wan0" }).count()).toBe(0);
    for (const page of [anna, guest]) await page.context().close();
  });

  it("the overview shows each dynamic name and its changes, and what needs attention", async () => {
    const page = await signIn();
    const row = page.getByRole("row", { name: /\.home\.test A 9\.9\./ });
    const attention = page.getByRole("region", { name: "Needs attention" });
    await expect.poll(() => row.textContent()).toContain("9.9.1.1up to date");
    await attention.getByText("Nothing needs attention.").waitFor();

    await rig.wan.readdress({ ipv4: "9.9.2.2", ipv6: "2a00:1::1" });
    await expect.poll(() => row.textContent()).toContain("9.9.2.2up to date");
    const changes = page.getByRole("region", { name: "Latest changes" });
    await changes.getByText("9.9.1.1 → 9.9.2.2").waitFor();

    await rig.wan.remove();
    await attention.getByText(/\.home\.test A: /).waitFor();
    await attention.getByRole("link", { name: "Updater" }).first().click();
    await heading(page, "Dynamic names").waitFor();
    await page.goBack();
    await attention.getByText(/\.home\.test A: /).waitFor();
    await rig.wan.restore();
    await rig.wan.readdress({ ipv4: "9.9.2.2", ipv6: "2a00:1::1" });
    await attention.getByText("Nothing needs attention.").waitFor();

    await row.getByRole("link").click();
    await page
      .getByRole("img", { name: /home\.test over time/ })
      .first()
      .waitFor();
    await page.context().close();
  });

  it.for(firstOf([["narrow", { size: { ...phone, width: 360 } }] as const, ["wide", {}] as const]))(
    "have no axe violation in a %s window, and fit",
    async ([, look]) => {
      const page = await signIn(look);
      for (const [path, shown] of [[`${rig.urls.records}/`, page.getByText("up to date").first()]] as const) {
        await page.goto(path);
        await shown.waitFor();
        expect(await axeFinds(page)).toEqual([]);
        await expect.poll(() => page.evaluate(layoutFaults)).toEqual([]);
      }
      await signOut(page);
      await page.getByText("This browser is signed out").waitFor();
      expect(await axeFinds(page)).toEqual([]);
      await page.context().close();
    },
  );
});
