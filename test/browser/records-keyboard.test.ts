import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { firstOf } from "../rig/long-run.ts";
import { axeFindsInLongRun } from "./axe.ts";
import { dialogHasFocus, phone, wide } from "./browser.ts";
import { type HarbourPage, openHarbourPage } from "./harbour-page.ts";
import { closeSecret } from "./secret.ts";
import { walkTo } from "./walk-to.ts";

let opened: HarbourPage;
let page: HarbourPage["page"];

beforeAll(async () => {
  opened = await openHarbourPage();
  page = opened.page;
});
afterAll(() => opened?.close());

const press = async (button: string) => {
  await page.getByRole("button", { name: button, exact: true }).focus();
  await page.keyboard.press("Enter");
};
const closed = () => page.getByRole("dialog").waitFor({ state: "detached" });
/** Otherwise a keyboard user would start again at the top of the document. */
const expectInContent = async () => {
  await expect.poll(() => page.locator("#content:focus, #content :focus").count()).toBe(1);
};

// The first test: later, the code is loaded.
describe("what is typed while the code of a form is loaded", () => {
  it("goes into its first field, and is no shortcut", async () => {
    await page.goto(`${opened.rig.url}/zones/harbour.example`);
    await page.getByRole("link", { name: "home A", exact: true }).waitFor();
    const { promise: loads, resolve: load } = Promise.withResolvers<void>();
    await page.route(/assets\/set-form/, async (route) => {
      await loads;
      await route.continue();
    });
    await page.keyboard.press("n");
    await page.keyboard.type("extra");
    load();
    await dialogHasFocus(page);
    const name = page.getByLabel("Name", { exact: true });
    await expect.poll(() => name.inputValue()).toBe("extra");
    await page.keyboard.type("2");
    expect(await name.inputValue()).toBe("extra2");
    await page.unroute(/assets\/set-form/);
  });
});

it("moves the focus to the next row, or to the content, if the element that opened a dialog is gone", async () => {
  await walkTo(page, `${opened.rig.url}/zones/harbour.example`);
  await page.getByRole("link", { name: "backup A" }).focus();
  await page.keyboard.press("Enter");
  await dialogHasFocus(page);
  await press("Delete…");
  await press("Yes, delete it");
  await closed();
  const next = page.getByRole("link", { name: "home A", exact: true });
  await next.and(page.locator(":focus")).waitFor();

  await walkTo(page, `${opened.rig.url}/tokens`);
  await press("New token");
  await dialogHasFocus(page);
  await page.keyboard.type("router");
  await page.keyboard.press("Enter");
  await page.getByText("every record in every zone").waitFor();
  await page.keyboard.press("Enter");
  await page.getByText("Copy it now").waitFor();
  await closeSecret(page);
  await closed();
  await expectInContent();
  await press("Revoke router");
  await dialogHasFocus(page);
  await press("Revoke it");
  await closed();
  await expectInContent();
});

const dialogs = () => page.getByRole("dialog").count();

describe("a key", () => {
  it.for(firstOf(["/zones/harbour.example", "/zones"]))(
    "reaches the search and the form for a new entry: %s",
    async (path) => {
      await walkTo(page, opened.rig.url + path);
      await page
        .getByRole("link", { name: /harbour.example|home AAAA/ })
        .first()
        .waitFor();
      await page.keyboard.press("/");
      await expect.poll(() => page.locator(":focus").getAttribute("type")).toBe("search");
      await page.keyboard.type("n?");
      expect(await page.locator(":focus").inputValue()).toBe("n?");
      expect(await dialogs()).toBe(0);
      await page.keyboard.press("ControlOrMeta+A");
      await page.keyboard.press("Delete");
      await page.locator("h1").click();
      await page.keyboard.press("n");
      await dialogHasFocus(page);
      await page.getByRole("dialog").getByRole("button", { name: "Close" }).focus();
      await page.keyboard.press("?");
      await page.keyboard.press("Escape");
      await closed();
      // The list of shortcuts would be a second dialog.
      expect(await page.getByRole("heading", { name: "Keyboard shortcuts" }).count()).toBe(0);
      await expect.poll(() => page.locator(":focus").textContent()).toMatch(/^(?:New zone|Add record)$/);
    },
  );

  it("is in the list that ? shows, and the button ? in the bar, and in the titles of buttons", async () => {
    await walkTo(page, `${opened.rig.url}/zones/harbour.example`);
    await page.getByRole("link", { name: "home AAAA" }).waitFor();
    expect(await page.getByRole("button", { name: "Add record" }).getAttribute("title")).toBe("Shortcut: n");
    await page.keyboard.press("?");
    const help = page.getByRole("dialog", { name: "Keyboard shortcuts" });
    await help.waitFor();
    const keys = (await help.locator("dt").allTextContents()).map((key) => key.trim());
    expect(keys).toEqual(["/", "n", "z", "↑↓", "Enter", "x", "Delete", "?"]);
    expect(await axeFindsInLongRun(page)).toEqual([]);
    await page.keyboard.press("Escape");
    await closed();
    await page.getByRole("button", { name: "Keyboard shortcuts" }).click();
    await help.getByText("Delete the record").waitFor();
    await page.keyboard.press("Escape");
    await closed();
    await page.getByRole("button", { name: "Keyboard shortcuts" }).and(page.locator(":focus")).waitFor();
  });

  it("moves between rows, however many there are", async () => {
    await walkTo(page, `${opened.rig.url}/zones/harbour.example`);
    await page.getByRole("link", { name: "@ A", exact: true }).focus();
    await page.keyboard.press("ArrowDown");
    await expect.poll(() => page.locator(":focus").getAttribute("aria-label")).toBe("@ CAA");
    await page.keyboard.press("x");
    await page.getByText("1 record set selected").waitFor();
    await page.keyboard.press("End");
    await expect.poll(() => page.locator(":focus").getAttribute("aria-label")).toBe("www CNAME");
    // Tab leaves the table after the rest of the row.
    for (const part of ["value0", "menu", null]) {
      await page.keyboard.press("Tab");
      await expect
        .poll(() => page.locator(":focus").evaluateAll(partOf))
        .toEqual([part].filter((each) => each !== null));
    }
    await page.setViewportSize(phone);
    await page.getByRole("link", { name: "@ A", exact: true }).focus();
    for (let i = 0; i < 7; i++) await page.keyboard.press("ArrowDown");
    await page.locator("[data-row='7'] :focus").waitFor();
    await expect.poll(() => page.evaluate(isRowInView)).toBe(true);
    await page.setViewportSize(wide);
  });
});

/** The whole row that has the focus, to its last line. */
const isRowInView = `(() => {
  const row = document.activeElement.closest("[data-row]");
  const { left, bottom } = row.getBoundingClientRect();
  return row.contains(document.elementFromPoint(left + 60, bottom - 4));
})()`;

const ringOf = (field: { computedStyleMap: () => { get: (name: string) => unknown } }) =>
  String(field.computedStyleMap().get("outline-style"));

const partOf = (elements: readonly { getAttribute: (name: string) => string | null }[]) =>
  elements.flatMap((element) => element.getAttribute("data-part") ?? []);

describe("a form field with usual values", () => {
  const openForm = async (type: string) => {
    await walkTo(page, `${opened.rig.url}/zones/harbour.example?add=${type}`);
    await dialogHasFocus(page);
  };

  // Which type a text finds: choices.test.ts of the console.
  it("offers types by use, with their purpose; what is typed chooses one with Enter or Tab", async () => {
    await openForm("A");
    const type = page.getByRole("dialog").getByRole("combobox", { name: "Type" });
    await type.click();
    const options = page.getByRole("option");
    await options.nth(3).getByText("server that receives mail").waitFor();
    const types = (await options.allTextContents()).slice(0, 5).map((text) => text.split(" ")[0]);
    expect(types).toEqual(["A", "AAAA", "CNAME", "MX", "TXT"]);
    await page.keyboard.type("mail");
    await page.keyboard.press("Tab");
    await page.getByRole("dialog").getByLabel("Mail server", { exact: true }).waitFor();
    await type.focus();
    await page.keyboard.type("a");
    await page.keyboard.press("Enter");
    await page.getByLabel("IPv4 address").waitFor();
    expect(await type.inputValue()).toBe("A");
    expect(await type.evaluate(ringOf)).toBe("solid");
    // Enter chose the type and did not submit the form.
    expect(await page.getByText("the address is missing").count()).toBe(0);
    // The first letter is the type that is already chosen, and must not be taken for it.
    await page.keyboard.type("AAAA");
    await page.getByLabel("Name", { exact: true }).click();
    await page.getByLabel("IPv6 address").waitFor();
    await type.fill("AAX");
    await page.keyboard.press("Tab");
    await page.getByText("no such type").waitFor();
    expect(await type.inputValue()).toBe("AAX");
  });

  it("appends parameters of SVCB records by their keys", async () => {
    await openForm("HTTPS");
    await page.getByRole("dialog").getByRole("combobox", { name: "Add a parameter" }).click();
    await page.getByRole("option", { name: /^alpn=/ }).click();
    await page.getByRole("dialog").getByLabel("Parameters").and(page.locator(":focus")).waitFor();
    await page.keyboard.type("h3");
    await page.getByRole("dialog").getByRole("combobox", { name: "Add a parameter" }).click();
    expect(await page.getByRole("option", { name: /^alpn=/ }).count()).toBe(0);
    await page.getByRole("option", { name: /^port=/ }).click();
    await page.keyboard.type("8443");
    expect(await page.getByRole("dialog").getByLabel("Parameters").inputValue()).toBe("alpn=h3 port=8443");
  });
});
