import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { firstOf } from "../rig/long-run.ts";
import { axeFindsInLongRun } from "./axe.ts";
import { phone, wide } from "./browser.ts";
import { type HarbourPage, openHarbourPage } from "./harbour-page.ts";
import { closeSecret } from "./secret.ts";
import { walkTo } from "./walk-to.ts";

/** A token, and the settings of a device that gets one: from what people type to its first update. */

let { rig, context, page, post, close } = {} as HarbourPage;
beforeAll(async () => {
  ({ rig, context, page, post, close } = await openHarbourPage());
  await post("/v1/zones", { name: "xn--mnchen-3ya.test", mode: "primary" });
});
afterAll(() => close?.());

const open = (path: string) => walkTo(page, rig.url + path);

describe("the form of a token", () => {
  it("says what is wrong at its field, and what the token may do; names may be in Unicode", async () => {
    await open("/tokens?new");
    await page.getByLabel("What is it for?").fill("Büro");
    const zones = page.getByRole("combobox", { name: "Zones" });
    await zones.fill("münch");
    await page.getByRole("option", { name: "münchen.test" }).click();
    await page.getByRole("option").first().waitFor({ state: "detached" });
    await page.getByLabel("Only this name").fill("a..b");
    await page.getByRole("combobox", { name: "Expires" }).click();
    await page.getByRole("option", { name: "on a date…" }).click();
    await page.getByRole("button", { name: "Create token" }).click();
    await page.getByText("a label is empty: a dot at the start, or two dots in a row").waitFor();
    await page.getByText("choose today or a later day").waitFor();
    expect(await page.getByText("Copy it now").count(), "no token was made").toBe(0);
    await page.getByLabel("Last day").fill("2099-03-31");
    await page.getByLabel("Only this name").fill("Straße");
    const words = "may write all records of straße.münchen.test, until 31 March 2099";
    await page.getByRole("dialog").getByText(words).waitFor();
    await page.getByRole("button", { name: "Create token" }).click();
    await page.getByRole("tab", { name: "ddclient" }).click();
    await page.getByRole("tabpanel").getByText("xn--strae-oqa.xn--mnchen-3ya.test").waitFor();
    await closeSecret(page);
    const row = page.getByRole("row").filter({ hasText: "Büro" });
    await row.getByText("straße").waitFor();
    expect(await row.textContent()).toContain("until 31 March 2099");
  });
});

describe("a restriction that was typed", () => {
  const nothingMade = async () => expect(await page.getByText("Copy it now").count(), "no token was made").toBe(0);
  const start = async () => {
    await open("/tokens?new");
    await page.getByLabel("What is it for?").fill("router");
  };
  const create = () => page.getByRole("button", { name: "Create token" }).click();

  // What text becomes which choice, and which stays: choices.test.ts of the console.
  it.for(firstOf(["a click on the button", "Enter", "Tab"]))("becomes a choice with %s", async (by) => {
    await start();
    await page.getByRole("combobox", { name: "Zones" }).pressSequentially("harbour.example");
    if (!by.includes(" ")) await page.keyboard.press(by);
    else await create();
    await page.getByRole("dialog").getByText("may write all of harbour.example").waitFor();
    await page.getByRole("combobox", { name: "Only these types" }).pressSequentially("A");
    if (!by.includes(" ")) await page.keyboard.press(by);
    else await page.getByLabel("What is it for?").click();
    await page.getByRole("dialog").getByText("may write A in harbour.example").waitFor();
    await create();
    await page.getByText("Copy it now").waitFor();
    expect(await page.getByRole("dialog").textContent()).toContain("may write A in harbour.example");
    await closeSecret(page);
  });

  it("is asked for once more, in plain words, if there is none", async () => {
    await start();
    await create();
    await page.getByText("can change and delete every record in every zone").waitFor();
    await nothingMade();
    await page.getByRole("combobox", { name: "Zones" }).pressSequentially("harbour.example");
    await page.keyboard.press("Tab");
    await page.getByRole("dialog").getByText("may write all of harbour.example").waitFor();
    expect(await page.getByText("can change and delete every record").count()).toBe(0);
    await page.getByRole("combobox", { name: "Zones" }).press("Backspace");
    await page.getByRole("button", { name: "Yes, for all zones" }).click();
    await page.getByText("Copy it now").waitFor();
    await closeSecret(page);
  });

  it.for(
    firstOf([
      ["Zones", "harbor.example", "“harbor.example” is not a zone"],
      ["Only these types", "ADDRESS", "“ADDRESS” is not a type"],
    ] as const),
  )("stays and blocks the form if it is none of the %s", async ([field, typed, message]) => {
    await start();
    await page.getByRole("combobox", { name: field }).pressSequentially(typed);
    await page.keyboard.press("Enter");
    await create();
    await page.getByText(message).waitFor();
    await page.getByRole("combobox", { name: field }).and(page.locator(":focus")).waitFor();
    expect(await page.getByRole("combobox", { name: field }).inputValue()).toBe(typed);
    await nothingMade();
  });
});

describe("a secret that is shown once", () => {
  const dialog = () => page.getByRole("dialog", { name: "Token for" });
  it("is closed only by the button that says so, after it was copied: not by Escape or the back button", async () => {
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    await open("/tokens");
    await page.getByRole("button", { name: "New token" }).click();
    await page.getByLabel("What is it for?").fill("router");
    await page.getByRole("button", { name: "Create token" }).click();
    await page.getByRole("button", { name: "Yes, for all zones" }).click();
    const copy = dialog().getByRole("button", { name: "Copy token" });
    await copy.and(page.locator(":focus")).waitFor();
    await page.keyboard.press("Escape");
    await page.goBack();
    await page.keyboard.press("Enter");
    await dialog().getByRole("button", { name: "token: copied" }).waitFor();
    const shown = await dialog().locator("pre").first().textContent();
    expect(await page.evaluate("navigator.clipboard.readText()")).toBe(shown);
    expect(await dialog().getByRole("button", { name: "Close" }).count()).toBe(0);
    await dialog().getByRole("button", { name: "I have copied it" }).click();
    await dialog().waitFor({ state: "detached" });
  });

  it("is asked about before it is lost; one double click is not an answer", async () => {
    await open("/tokens?new&zone=harbour.example&name=home");
    await page.getByRole("button", { name: "Create token" }).click();
    await dialog().getByRole("button", { name: "Close…" }).dblclick();
    const sure = dialog().getByRole("button", { name: "Yes, close without copying it" });
    expect(await sure.count()).toBe(1);
    await sure.click();
    await dialog().waitFor({ state: "detached" });
  });
});

describe("a zone among thousands", () => {
  it("is found by a part of its name, and a chosen one stays", async () => {
    const list = /\/v1\/zones\?(?!.*search=)/;
    await page.route(list, async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, json: { ...(await response.json()), zones: [] } });
    });
    await open("/tokens?new");
    const zones = page.getByRole("combobox", { name: "Zones" });
    for (const [typed, found] of [
      ["münch", "münchen.test"],
      ["tide", "tide-tables.example"],
    ] as const) {
      await zones.fill(typed);
      await page.getByRole("option", { name: found }).click();
    }
    await page.getByText("may write all of münchen.test and tide-tables.example").waitFor();
    await zones.fill("zeppelin");
    await page.getByText("no matching zone").waitFor();
    expect(await page.getByRole("option").count()).toBe(0);
    await page.unroute(list);
  });
});

const entered = async (label: string) => {
  const text = page.locator(".to-enter > div", { has: page.getByText(label, { exact: true }) }).locator("pre");
  return (await text.textContent()) ?? "";
};

/** As a FRITZ!Box does: it replaces the placeholders, and signs in with HTTP Basic. */
async function asFritzBox(ipv4: string, ipv6: string): Promise<string> {
  const url = (await entered("Update URL"))
    .replace("<domain>", await entered("Domain name"))
    .replace("<ipaddr>", ipv4)
    .replace("<ip6addr>", ipv6);
  const credentials = Buffer.from(`${await entered("User name")}:${await entered("Password")}`).toString("base64");
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
    await page.getByRole("link", { name: "New name" }).press("Enter");
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
    expect(await axeFindsInLongRun(page)).toEqual([]);
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

  it("a token that nobody has copied is not lost by a click, and trying again replaces it", async () => {
    const make = async () => {
      await walkTo(page, `${rig.url}/dynamic?zone=harbour.example&name=shed`);
      await page.getByText("has no address yet").waitFor();
      const box = page.getByLabel("Replace the settings of this device");
      const offered = await box.isVisible();
      await page.getByRole("button", { name: "Create token" }).click();
      await page.getByText("Waiting for the first update of shed.harbour.example").waitFor();
      return offered;
    };
    const asks = page.getByRole("dialog", { name: "Leave without the token?" });
    expect(await make()).toBe(false);
    await page.getByRole("button", { name: "Copy Domain name" }).click();
    await page.getByRole("link", { name: "Records of harbour.example" }).click();
    await asks.getByRole("button", { name: "Stay" }).click();
    await page.goBack();
    await asks.getByRole("button", { name: "Stay" }).click();
    await page.getByRole("link", { name: "Finish without waiting" }).click();
    await asks.getByRole("button", { name: "Leave without copying it" }).click();
    await page.getByText("Waiting for the first update").waitFor({ state: "detached" });
    expect(await make()).toBe(true);
    await page.getByRole("button", { name: "Copy Password" }).click();
    await page.getByRole("link", { name: "Records of harbour.example" }).click();
    await page.getByText("Waiting for the first update").waitFor({ state: "detached" });
    await walkTo(page, `${rig.url}/tokens?all`);
    const rows = page.getByRole("row", { name: "shed.harbour.example (FRITZ!Box)" });
    await rows.filter({ hasText: "revoked" }).waitFor();
    expect(await rows.count()).toBe(2);
    expect(page.complaints).toEqual([]);
  });
});
