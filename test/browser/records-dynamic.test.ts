import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { axeFinds } from "./axe.ts";
import { phone, wide } from "./browser.ts";
import { type HarbourPage, openHarbourPage } from "./harbour-page.ts";
import { walkTo } from "./walk-to.ts";

/** A new dynamic name: from the overview to the first update of a device. */

let { rig, context, page, close } = {} as HarbourPage;
beforeAll(async () => {
  ({ rig, context, page, close } = await openHarbourPage());
});
afterAll(() => close?.());

const field = async (label: string) => {
  const text = page.locator(".to-enter > div", { has: page.getByText(label, { exact: true }) }).locator("pre");
  return (await text.textContent()) ?? "";
};

/** As a FRITZ!Box does: it replaces the placeholders, and signs in with HTTP Basic. */
async function asFritzBox(ipv4: string, ipv6: string): Promise<string> {
  const url = (await field("Update URL"))
    .replace("<domain>", await field("Domain name"))
    .replace("<ipaddr>", ipv4)
    .replace("<ip6addr>", ipv6);
  const credentials = Buffer.from(`${await field("User name")}:${await field("Password")}`).toString("base64");
  const answer = await context.request.get(url, { headers: { authorization: `Basic ${credentials}` } });
  return answer.text();
}

const laptop = { width: 1024, height: 768 };

/** Of the page as it was opened, without scrolling. */
const whatIsAtTheEndOf = `(text) => {
  const line = [...document.querySelectorAll("[role=status]")].find((each) => each.textContent.includes(text));
  const { right, bottom } = line.getBoundingClientRect();
  const there = scrollY === 0 && document.elementFromPoint(right - 2, bottom - 2);
  return line.contains(there) ? "in view" : "hidden at " + bottom + " of " + innerHeight;
}`;

/** The last button that Tab reached, if something else is in front of its middle. */
const coveredFocus = `(() => {
  const { left, top, width, height } = document.activeElement.getBoundingClientRect();
  const there = document.elementFromPoint(left + width / 2, top + height / 2);
  return document.activeElement.contains(there) ? null : document.activeElement.ariaLabel;
})()`;

describe("a new dynamic name", () => {
  it("by keyboard: the settings for a FRITZ!Box work as they are shown, and the first update appears", async () => {
    await walkTo(page, `${rig.url}/`);
    await page.getByRole("link", { name: "New dynamic name" }).press("Enter");
    const name = page.getByLabel("Name", { exact: true });
    await name.and(page.locator(":focus")).waitFor();
    await page.keyboard.type("attic.Harbour.example");
    await page.getByText("has no address yet. The first update creates its record.").waitFor();
    await page.getByText("Only this machine itself can reach").waitFor();
    // At the end of a page that was scrolled.
    await page.setViewportSize(phone);
    await page.getByRole("button", { name: "Create token" }).press("Enter");
    await page.getByText("Waiting for the first update").waitFor();
    await page.getByRole("button", { name: "Copy DynDNS provider" }).and(page.locator(":focus")).waitFor();
    await page.getByText("may write A and AAAA of attic.harbour.example").waitFor();
    expect(await axeFinds(page)).toEqual([]);
    for (const size of [phone, laptop, wide]) {
      await page.setViewportSize(size);
      expect(await page.evaluate(`(${whatIsAtTheEndOf})("Waiting for the first update")`)).toBe("in view");
    }
    // As after an import: a toast stays for a minute.
    await page.evaluate('document.querySelector(".toasts").classList.remove("empty")');
    await page.setViewportSize(phone);
    for (const label of ["Update URL", "Domain name", "User name", "Password"]) {
      await page.getByRole("button", { name: `Copy ${label}` }).focus();
      expect(await page.evaluate(coveredFocus)).toBeNull();
    }
    await page.evaluate('document.querySelector(".toasts").classList.add("empty")');
    await page.setViewportSize(wide);
    expect(await asFritzBox("203.0.113.5", "2001:db8::5")).toBe("good 203.0.113.5,2001:db8::5\n");
    await page.getByText("attic.harbour.example → 203.0.113.5, 2001:db8::5").waitFor();
    expect(page.complaints).toEqual([]);
  });

  it("creates no token for an alias, nor without a name", async () => {
    await walkTo(page, `${rig.url}/dynamic`);
    await page.getByLabel("Zone", { exact: true }).first().focus();
    await page.keyboard.type("harbor.example");
    await page.keyboard.press("Enter");
    await page.getByText("“harbor.example” is not a zone").waitFor();
    await page.keyboard.press("ControlOrMeta+a");
    await page.keyboard.type("harbour.ex");
    await page.keyboard.press("Tab");
    await page.locator("[data-leftover]").waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Create token" }).click();
    await page.getByText("enter a name, or @ for the zone itself").waitFor();
    // Where the fault is: the button may be a screen further down.
    const name = page.getByLabel("Name", { exact: true });
    await name.and(page.locator(":focus")).waitFor();
    await name.fill("www");
    await page.getByText("this name is an alias (CNAME)").waitFor();
    await page.getByRole("button", { name: "Create token" }).click();
    expect(await page.getByText("Waiting for the first update").count()).toBe(0);
  });

  it("is made by an Enter that is faster than the answer about the name", async () => {
    await walkTo(page, `${rig.url}/dynamic?zone=harbour.example`);
    const { promise: answers, resolve: answer } = Promise.withResolvers<void>();
    await page.route(/rrsets\?name=/, async (route) => {
      await answers;
      await route.continue();
    });
    await page.getByLabel("Name", { exact: true }).fill("quick");
    await page.keyboard.press("Enter");
    answer();
    await page.getByText("Waiting for the first update of quick.harbour.example").waitFor();
    await page.unroute(/rrsets\?name=/);
    expect(page.complaints).toEqual([]);
  });
});
