import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { axeFinds } from "./axe.ts";
import { dialogHasFocus, wide } from "./browser.ts";
import { aSet, type HarbourTable, openHarbourTable } from "./harbour-table.ts";
import { layoutFaults } from "./layout-faults.ts";

/** Many records together: selected in the table, or from a file. */

let { rig, page, put, protect, open, stored, valuesAt, dialog, closed, toast, undo, select, close } =
  {} as HarbourTable;
beforeAll(async () => {
  ({ rig, page, put, protect, open, stored, valuesAt, dialog, closed, toast, undo, select, close } =
    await openHarbourTable());
});
afterAll(() => close?.());

const narrow = { width: 360, height: 740 };

describe("selected records", () => {
  const names = Array.from({ length: 10 }, (_, i) => `many${i}`);
  const ttls = () => Promise.all(names.map(async (name) => (await stored(`${name}/A`))?.ttl));
  const writes = async (act: () => Promise<unknown>): Promise<number> => {
    let sent = 0;
    const count = (request: { method: () => string; url: () => string }) => {
      sent += Number(request.method() === "POST" && request.url().includes("/v1/zones/"));
    };
    page.on("request", count);
    await act();
    page.off("request", count);
    return sent;
  };
  beforeAll(async () => {
    await put(aSet("guarded", "192.0.2.9"));
    await protect("guarded/A");
    await put(...names.map((name, i) => aSet(name, `192.0.2.10${i}`, { ttl: 120 + i })));
  });

  it("get a TTL in one write, which Undo takes back; protected ones are named and stay", async () => {
    await open("?filter=many");
    await page.getByText(/^10 of /).waitFor();
    await select("many0 A");
    await page.getByRole("checkbox", { name: "Select many9 A" }).click({ modifiers: ["Shift"] });
    await page.getByText("10 record sets selected").waitFor();
    await page.getByLabel("Filter records").fill("guarded");
    await select("guarded A");
    await page.getByText("11 record sets selected (10 not shown, 1 protected)").waitFor();
    await page.getByRole("button", { name: "TTL…" }).click();
    await dialogHasFocus(page);
    await dialog().getByText("Protected, so they stay as they are: guarded A").waitFor();
    await page.keyboard.type("soon");
    await page.keyboard.press("Enter");
    await dialog().getByText("write 300, 5m, 1h or 1d").waitFor();
    await dialog().getByRole("button", { name: "1 hour" }).click();
    expect(await axeFinds(page)).toEqual([]);
    const sent = await writes(async () => {
      await dialog().getByRole("button", { name: "Change 10 sets" }).click();
      await toast("TTL of 10 record sets changed to 1 hour.").waitFor();
    });
    expect(sent).toBe(1);
    expect(await ttls()).toEqual(names.map(() => 3600));
    expect((await stored("guarded/A")).ttl).toBeNull();
    await undo().click();
    await toast("Undone: 10 record sets are as before.").waitFor();
    expect(await ttls()).toEqual(names.map((_, i) => 120 + i));
  });

  it("get and lose labels", async () => {
    await open("?filter=many");
    await page.getByRole("checkbox", { name: "Select all records shown" }).check();
    await page.getByRole("button", { name: "Labels…" }).click();
    await dialogHasFocus(page);
    await dialog().getByLabel("Add or change").fill("site=cellar floor");
    await dialog().getByRole("button", { name: "Change 10 sets" }).click();
    await dialog().getByText("many0 A: labels.site is not a label value").waitFor();
    await dialog().getByLabel("Add or change").fill("site=cellar, team=ops");
    await dialog().getByRole("button", { name: "Change 10 sets" }).click();
    await toast("Labels of 10 record sets changed.").waitFor();
    await closed();
    expect((await stored("many4/A")).labels).toEqual({ site: "cellar", team: "ops" });
    await page.getByRole("button", { name: "Labels…" }).click();
    await dialog().getByLabel("Remove").fill("team");
    await dialog().getByRole("button", { name: "Change 10 sets" }).click();
    await closed();
    expect((await stored("many4/A")).labels).toEqual({ site: "cellar" });
  });

  // In how many writes, and what happens if one fails: write-parts.test.ts of the console.
  it("are exported; are not deleted if one was changed elsewhere meanwhile; and come back with Undo", async () => {
    await page.route("**/v1/events*", (route) => route.abort());
    await page.goto(`${rig.url}/zones/harbour.example?filter=many`);
    await select("many1 A", "many2 A");
    const [saved] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("region", { name: "Selected records" }).getByRole("button", { name: "Export" }).click(),
    ]);
    expect(saved.suggestedFilename()).toBe("harbour.example-selection.zone");
    const text = await readFile(await saved.path(), "utf8");
    expect(text.match(/^many\d.*$/gm)).toEqual(["many1\tIN\t121\tA\t192.0.2.101", "many2\tIN\t122\tA\t192.0.2.102"]);
    await put(aSet("many2", "192.0.2.222"), aSet("unrelated", "192.0.2.1"));
    await page.getByRole("button", { name: "Delete…" }).click();
    await page.getByRole("button", { name: "Yes, delete 2 sets" }).click();
    await page
      .getByRole("alert")
      .getByText("Not written, because these were changed elsewhere just now: many2 A.")
      .waitFor();
    expect(await valuesAt("many1/A")).toEqual(["192.0.2.101"]);
    await put(aSet("unrelated", "192.0.2.2"));
    await page.getByRole("button", { name: "Yes, delete 2 sets" }).click();
    await toast("Deleted 2 record sets.").waitFor();
    expect([await stored("many1/A"), await stored("many2/A")]).toEqual([undefined, undefined]);
    await undo().click();
    await toast("Undone: 2 record sets are as before.").waitFor();
    expect(await valuesAt("many2/A")).toEqual(["192.0.2.222"]);
    await page.unroute("**/v1/events*");
  });

  it("have their bar at the bottom of a phone, and everything fits", async () => {
    await page.setViewportSize(narrow);
    await open("?filter=many");
    await select("many1 A", "many2 A");
    await page.getByRole("button", { name: "Labels…" }).click();
    await dialog().getByLabel("Add or change").fill("site=attic");
    await dialog().getByRole("button", { name: "Change 2 sets" }).click();
    await toast("Labels of 2 record sets changed.").waitFor();
    await closed();
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(narrow.width);
    expect(await axeFinds(page)).toEqual([]);
    const target = await page.getByRole("button", { name: "Dismiss" }).boundingBox();
    expect(target?.height, "can be pressed with a finger").toBeGreaterThanOrEqual(24);
    // It asks in a line of its own, and the toast stays above it.
    await page.getByRole("button", { name: "Delete…" }).click();
    await page.getByRole("button", { name: "Clear selection" }).click({ trial: true });
    expect(await page.evaluate(layoutFaults)).toEqual([]);
    await page.setViewportSize(wide);
  });
});

describe("an import that merges", () => {
  const merge = async (text: string) => {
    await page.getByRole("button", { name: "Import…" }).click();
    await dialog().getByRole("textbox", { name: "Zone file" }).fill(text);
  };

  it("replaces sets of the same name and type, keeps all others and their labels, and can be undone", async () => {
    const [many0, many3] = [await stored("many0/A"), await stored("many3/A")];
    await open();
    await merge("$TTL 900\nmany0 IN A 192.0.2.200\nmerged 300 IN A 192.0.2.201\nmany3 123 IN A 192.0.2.103\n");
    await dialog()
      .getByText(/^1 new, 1 changed, 0 deleted/)
      .waitFor();
    await dialog().getByText("Records without their own TTL get the file's, 900").waitFor();
    await dialog().getByRole("button", { name: "Import and change 2 sets" }).click();
    await closed();
    await toast("Import done: 2 record sets merged.").waitFor();
    expect(await stored("many0/A")).toMatchObject({ ttl: 900, labels: { site: "cellar" } });
    expect([await valuesAt("many0/A"), await valuesAt("merged/A")]).toEqual([["192.0.2.200"], ["192.0.2.201"]]);
    expect(await stored("many3/A")).toEqual(many3);
    await undo().click();
    await toast("Undone: 2 record sets are as before.").waitFor();
    expect([await stored("many0/A"), await stored("merged/A")]).toEqual([many0, undefined]);
  });

  it("shows what it would break: protected sets, and a CNAME beside other records", async () => {
    await open();
    await merge("guarded 300 IN A 192.0.2.200\nmail 300 IN CNAME www\n");
    await dialog().getByText("Nothing can be imported yet: 2 errors").waitFor();
    await dialog().getByText("guarded A: the set is protected").waitFor();
    await dialog()
      .getByText(/line 2: mail has a CNAME record and also A/)
      .waitFor();
    expect(await dialog().getByRole("button", { name: "Import" }).isDisabled()).toBe(true);
  });
});
