import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { axeFinds } from "./axe.ts";
import { dialogHasFocus } from "./browser.ts";
import { aSet, type HarbourTable, openHarbourTable } from "./harbour-table.ts";

/** Working in the table of records: adding, editing, deleting and undoing. */

let {
  context,
  page,
  put,
  protect,
  open,
  stored,
  valuesAt,
  dialog,
  closed,
  toast,
  undo,
  focused,
  openMenu,
  choose,
  close,
} = {} as HarbourTable;
beforeAll(async () => {
  ({
    context,
    page,
    put,
    protect,
    open,
    stored,
    valuesAt,
    dialog,
    closed,
    toast,
    undo,
    focused,
    openMenu,
    choose,
    close,
  } = await openHarbourTable());
});
afterAll(() => close?.());

describe("a record for a name and type that exist", () => {
  it("is added to the existing values, whose TTL, comments and labels stay", async () => {
    const more = { ttl: 300, labels: { team: "ops" } };
    await put({
      ...aSet("twin", ""),
      ...more,
      records: [{ value: "192.0.2.1", comment: "rack 3" }, { value: "192.0.2.2" }],
    });
    await open("?add=A");
    await dialogHasFocus(page);
    expect(await dialog().getByText("already has").count(), "said before anything was typed").toBe(0);
    await dialog().getByLabel("Name", { exact: true }).fill("twin");
    await dialog().getByText("twin A already has 2 values: 192.0.2.1 · 192.0.2.2").waitFor();
    await dialog().getByText("stays 5 minutes").waitFor();
    await dialog().getByLabel("IPv4 address").fill("192.0.2.3");
    expect(await axeFinds(page)).toEqual([]);
    await dialog().getByRole("button", { name: "Add to the 2 existing values" }).click();
    await closed();
    await toast("Added to twin A.").waitFor();
    const twin = await stored("twin/A");
    expect(twin).toMatchObject({ ttl: 300, labels: { team: "ops" } });
    expect(twin.records).toContainEqual({ value: "192.0.2.1", comment: "rack 3" });
    expect(await valuesAt("twin/A")).toEqual(["192.0.2.1", "192.0.2.2", "192.0.2.3"]);
  });

  it("can be opened with the new value in it", async () => {
    await open("?add=A");
    await dialog().getByLabel("Name", { exact: true }).fill("twin");
    const openIt = dialog().getByRole("button", { name: "Open twin A with this value" });
    await openIt.waitFor();
    await dialog().getByRole("combobox", { name: "TTL" }).focus();
    await page.keyboard.press("Tab");
    await page.keyboard.type("192.0.2.4");
    await openIt.click();
    await dialog().getByRole("heading", { name: "twin A" }).waitFor();
    await dialog().getByRole("group", { name: "Record 4" }).waitFor();
    const withFocus = page.locator('[role="dialog"] [data-value] input:focus');
    await expect.poll(() => withFocus.count()).toBe(1);
    expect(await withFocus.inputValue()).toBe("192.0.2.4");
    await dialog().getByRole("button", { name: "Save" }).click();
    await closed();
    expect(await valuesAt("twin/A")).toEqual(["192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.4"]);
  });
});

describe("Undo", () => {
  it("brings back exactly what was deleted: TTL, comments and labels", async () => {
    await put(aSet("mail", "192.0.2.25", { ttl: 600, labels: { site: "attic" } }));
    const before = await stored("mail/A");
    await open();
    await openMenu("mail A");
    await choose("Delete");
    await toast("Deleted mail A.").waitFor();
    await page.getByRole("link", { name: "mail A" }).waitFor({ state: "detached" });
    expect(await stored("mail/A")).toBeUndefined();
    await undo().click();
    await toast("Undone: mail A is as before.").waitFor();
    await page.getByRole("link", { name: "mail A" }).waitFor();
    expect(await stored("mail/A")).toEqual(before);
    expect(await undo().count()).toBe(0);
  });

  it("is not offered if nothing changed, because it would undo an earlier write", async () => {
    await page.getByRole("link", { name: "mail A" }).press("Enter");
    await dialogHasFocus(page);
    await dialog().getByRole("button", { name: "Save" }).click();
    await closed();
    await toast("Nothing changed in mail A.").waitFor();
    expect(await undo().count()).toBe(0);
  });

  it("is reached and done with the keyboard, after saving too", async () => {
    const before = await stored("mail/A");
    await page.getByRole("link", { name: "mail A" }).press("Enter");
    await dialogHasFocus(page);
    await dialog().getByRole("combobox", { name: "TTL" }).fill("1h");
    await dialog().getByRole("button", { name: "Save" }).click();
    await closed();
    await toast("Saved mail A.").waitFor();
    expect((await stored("mail/A")).ttl).toBe(3600);
    // Out of the table, whose focus is in a row, to the toasts at the end of the page.
    for (let i = 0; i < 40 && (await focused().allTextContents())[0] !== "Undo"; i++) await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await toast("Undone: mail A is as before.").waitFor();
    expect(await stored("mail/A")).toEqual(before);
    await expect.poll(() => focused().getAttribute("aria-label")).toBe("Dismiss");
    await page.keyboard.press("Escape");
    await expect.poll(() => page.getByText("Undone").count()).toBe(0);

    await page.getByRole("link", { name: "mail A" }).focus();
    await page.keyboard.press("Delete");
    await toast("Deleted mail A.").waitFor();
    // The focus is in the row that took its place.
    await expect.poll(() => focused().getAttribute("class")).toBe("set-link");
    await page.keyboard.press("z");
    await toast("Undone: mail A is as before.").waitFor();
    expect(await stored("mail/A")).toEqual(before);
  });

  it("overwrites nothing that was changed since, and says so", async () => {
    await openMenu("backup A");
    await choose("Delete");
    await toast("Deleted backup A.").waitFor();
    await put(aSet("backup", "198.51.100.77"));
    await undo().click();
    await page.getByRole("alert").getByText("Not undone, to keep a later change: backup A changed again").waitFor();
    expect(await valuesAt("backup/A")).toEqual(["198.51.100.77"]);
  });
});

describe("a value in the table", () => {
  beforeAll(() => open());
  const field = () => page.getByRole("textbox", { name: "Value" });

  it("is edited with Enter and left with Escape; the focus returns", async () => {
    const value = page.getByRole("button", { name: "192.0.2.25", exact: true });
    await value.focus();
    await page.keyboard.press("Enter");
    await field().and(focused()).waitFor();
    await page.keyboard.type("192.0.2.26");
    await page.keyboard.press("Escape");
    await expect.poll(() => focused().textContent()).toBe("192.0.2.25");
    await page.keyboard.press("Enter");
    await page.keyboard.type("192.0.2.300");
    await page.keyboard.press("Enter");
    await page.getByText("this is not an IPv4 address").waitFor();
    await field().fill("192.0.2.26");
    await page.keyboard.press("Enter");
    await toast("Saved mail A.").waitFor();
    await expect.poll(() => focused().textContent()).toBe("192.0.2.26");
    expect(await stored("mail/A")).toMatchObject({ ttl: 600, labels: { site: "attic" } });
    expect(await valuesAt("mail/A")).toEqual(["192.0.2.26"]);
  });

  it("is one of several: the others stay, with their comments", async () => {
    await page.getByRole("button", { name: "192.0.2.2", exact: true }).click();
    await field().fill("192.0.2.22");
    await page.keyboard.press("Enter");
    await toast("Saved twin A.").waitFor();
    expect(await valuesAt("twin/A")).toEqual(["192.0.2.1", "192.0.2.22", "192.0.2.3", "192.0.2.4"]);
    expect((await stored("twin/A")).records).toContainEqual({ value: "192.0.2.1", comment: "rack 3" });
  });

  it("asks about a name without its final dot, and keeps what was typed when another value is clicked", async () => {
    await page.getByRole("button", { name: "10 mail.harbour.example." }).click();
    await field().fill("10 mx.example.net");
    await page.getByRole("button", { name: "203.0.113.97" }).click();
    await page.getByText("Not saved yet").waitFor();
    expect(await field().inputValue()).toBe("10 mx.example.net");
    await field().press("Enter");
    await page.getByText("mx.example.net has no final dot").waitFor();
    await field().fill("10 mx.example.net.");
    await field().press("Enter");
    await toast("Saved @ MX.").waitFor();
    expect(await valuesAt("@/MX")).toEqual(["10 mx.example.net.", "20 backup.harbour.example."]);
  });

  it("does not overwrite what was changed elsewhere while it was edited", async () => {
    await page.getByRole("button", { name: "192.0.2.26", exact: true }).click();
    await put(aSet("mail", "192.0.2.26", { ttl: 900 }));
    await field().fill("192.0.2.27");
    await field().press("Enter");
    await page.getByText("changed elsewhere just now").waitFor();
    expect(await valuesAt("mail/A")).toEqual(["192.0.2.26"]);
    await field().press("Enter");
    await toast("Saved mail A.").waitFor();
    expect([await valuesAt("mail/A"), (await stored("mail/A")).ttl]).toEqual([["192.0.2.27"], 900]);
  });
});

describe("the menu of a row", () => {
  it("opens with the keyboard, returns the focus, copies and duplicates", async () => {
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    const button = page.getByRole("button", { name: "Actions for twin A" });
    await button.focus();
    await page.keyboard.press("Enter");
    await page.getByRole("menuitem", { name: "Edit" }).waitFor();
    expect(await axeFinds(page)).toEqual([]);
    await page.keyboard.press("Escape");
    await button.and(focused()).waitFor();
    await openMenu("twin A");
    await choose("Copy values");
    await toast("Copied 4 values of twin A.").waitFor();
    expect((await page.evaluate<string>("navigator.clipboard.readText()")).split("\n")).toHaveLength(4);
    await openMenu("twin A");
    await choose("Duplicate…");
    await dialogHasFocus(page);
    await dialog().getByLabel("Name", { exact: true }).fill("triplet");
    await dialog().getByRole("button", { name: "Add", exact: true }).click();
    await closed();
    expect(await valuesAt("triplet/A")).toEqual(await valuesAt("twin/A"));
    await openMenu("triplet A");
    await choose("Edit");
    await dialog().getByRole("heading", { name: "triplet A" }).waitFor();
  });

  it("deletes no protected record", async () => {
    await put(aSet("guarded", "192.0.2.9"));
    await protect("guarded/A");
    await open();
    await openMenu("guarded A");
    expect(await page.getByRole("menuitem", { name: "Delete" }).isDisabled()).toBe(true);
    await page.keyboard.press("Escape");
    await page.getByRole("link", { name: "guarded A" }).focus();
    await page.keyboard.press("Delete");
    await page.getByRole("alert").getByText("guarded A was not deleted: it is protected").waitFor();
  });
});

describe("a value that is hard to show", () => {
  it("ends with an ellipsis if it is long, and keeps right-to-left text to itself", async () => {
    const hebrew = "שלום";
    await put(
      { name: "rtl", type: "TXT", records: [{ value: `"${hebrew} 123"` }] },
      { name: "long", type: "TXT", records: [{ value: `"${"x".repeat(250)}" "${"y".repeat(250)}"` }] },
    );
    await open();
    const long = page.getByRole("row").filter({ hasText: "xxx" }).locator(".value-button");
    const cut = (element: { scrollWidth: number; clientWidth: number }) => element.scrollWidth > element.clientWidth;
    expect(await long.evaluate(cut)).toBe(true);
    type Styled = { computedStyleMap: () => { get: (name: string) => unknown } };
    const overflow = await long.evaluate((each: Styled) => String(each.computedStyleMap().get("text-overflow")));
    expect(overflow).toBe("ellipsis");
    expect(await page.locator("bdi[dir=ltr]").filter({ hasText: hebrew }).count()).toBe(1);
  });
});
