import type { Locator } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { firstOf } from "../rig/long-run.ts";
import { colourOf, phone, wide } from "./browser.ts";
import { type HarbourPage, openHarbourPage } from "./harbour-page.ts";
import { walkTo } from "./walk-to.ts";

/** Guidance in the DNS console for new users, and whether things can be found and seen. */

let { rig, page, post, close } = {} as HarbourPage;
beforeAll(async () => {
  ({ rig, page, post, close } = await openHarbourPage());
  await post("/v1/zones", { name: "xn--mnchen-3ya.test", mode: "primary" });
  await post("/v1/zones/xn--mnchen-3ya.test/changes", {
    changes: [
      { name: "xn--strae-oqa", type: "A", records: [{ value: "192.0.2.7" }] },
      { name: "@", type: "NS", delete: true },
    ],
  });
});
afterAll(() => close?.());

const open = (path: string) => walkTo(page, rig.url + path);
const harbour = "/zones/harbour.example";
const munich = "/zones/xn--mnchen-3ya.test";

describe("the form of a new record", () => {
  it("has examples that do not look like wrong input, and says nothing misleading about a TTL that is too long", async () => {
    await open(`${harbour}?add=A`);
    await page.getByRole("button", { name: "Add", exact: true }).click();
    await page.getByText("the address is missing").waitFor();
    const colour = (id: string) => page.evaluate(`getComputedStyle(${id}, "::placeholder").color`);
    const field = (example: string) => colour(`document.querySelector("[placeholder^='${example}']")`);
    expect(await field("192.0.2.10")).toBe(await field("www, or @"));
    await page.getByRole("combobox", { name: "TTL" }).fill("99999999999");
    await page.getByRole("button", { name: "Add", exact: true }).click();
    await page.getByText("too long: at most 2147483647 seconds").waitFor();
    expect(await page.getByRole("dialog").getByText(/ days/).count()).toBe(0);
  });
});

describe("a name with non-ASCII letters", () => {
  it("opens its zone from the address bar", async () => {
    await open("/zones/MÜNCHEN.test?filter=stra");
    await page.getByRole("link", { name: "straße A" }).waitFor();
    await page.getByText("1 of 2 record sets").waitFor();
    expect(page.url()).toBe(`${rig.url}${munich}?filter=stra`);
  });

  it.for(firstOf([" München.test", "münchen.test", "xn--mnchen-3ya.test"]))(
    "confirms the deletion: %s",
    async (typed) => {
      await open(`${munich}/settings`);
      const remove = page.getByRole("button", { name: "Delete zone" });
      await page.getByLabel("Type münchen.test to delete it").fill("munchen.test");
      expect(await remove.isDisabled()).toBe(true);
      await page.getByLabel("Type münchen.test to delete it").fill(typed);
      await expect.poll(() => remove.isDisabled()).toBe(false);
    },
  );
});

describe("an undo", () => {
  it("shows its result in its row, and what to do if it is impossible", async () => {
    await open(`${harbour}/history`);
    const old = page.getByRole("row").filter({ hasText: "home A" }).last();
    await old.getByRole("button").click();
    const refusal = old.getByText("home A changed again after this write: undo the later change first");
    await refusal.waitFor();
    expect(await isOnScreen(refusal)).toBe(true);
    const row = page.getByRole("row").filter({ hasText: "198.51.100.25" }).last();
    await row.getByRole("button").click();
    await row.getByText("Undone").waitFor();
    expect(await refusal.count()).toBe(0);
  });
});

const isOnScreen = async (shown: Locator): Promise<boolean> => {
  const box = await shown.boundingBox();
  return box !== null && box.y >= 0 && box.y + box.height <= wide.height;
};

describe("address changes", () => {
  it("say how far back they go, if a zone has more changes than are read", async () => {
    const older = "**/history?*";
    await page.route(older, (route) =>
      route.fulfill({ json: { history: [], meta: { next_before: 7, rest_of_write: 0 } } }),
    );
    await open(`${harbour}/moving`);
    await page.getByText("no address change in this zone in this period").waitFor();
    await page.getByText("older changes are not included").waitFor();
    expect(await page.locator("tbody tr").count()).toBe(0);
    await page.unroute(older);
  });
});

describe("the form of a record", () => {
  it("asks about a target that looks like a full name without its final dot, before it saves", async () => {
    await open(`${harbour}?add=CNAME`);
    await page.getByLabel("Name", { exact: true }).fill("asked");
    const target = page.getByLabel("Target name");
    await target.fill("host.example.net");
    const [whole, inside] = ["Full name: host.example.net.", "Inside the zone: host.example.net.harbour.example."].map(
      (name) => page.getByRole("button", { name, exact: true }),
    );
    await inside?.waitFor();
    await page.getByRole("button", { name: "Add", exact: true }).click();
    await page.getByText("Answer the question about the final dot first").waitFor();
    await expect.poll(() => page.locator(":focus").textContent()).toBe("Full name: host.example.net.");
    await inside?.click();
    await expect.poll(() => whole?.count()).toBe(0);
    await page.getByRole("button", { name: "Add", exact: true }).click();
    await page.getByRole("link", { name: "asked CNAME" }).waitFor();
  });
});

const dialog = () => page.getByRole("dialog");
const value = (at: number) =>
  dialog()
    .getByRole("group", { name: `Record ${at}` })
    .getByRole("textbox")
    .first();

it("Add another keeps the form open, empty, with the focus on the name", async () => {
  await open(`${harbour}?add=A`);
  await dialog().getByLabel("Name", { exact: true }).fill("dock");
  await value(1).fill("192.0.2.8");
  await dialog().getByRole("button", { name: "Add another" }).click();
  await page.getByText("Added dock A.").waitFor();
  const name = dialog().getByLabel("Name", { exact: true });
  await name.and(page.locator(":focus")).waitFor();
  expect([await name.inputValue(), await value(1).inputValue()]).toEqual(["", ""]);
});

describe("an address of the other family", () => {
  // In the form that the test before it has left open.
  it("is added together with one of the own family, in one write", async () => {
    await dialog().getByLabel("Name", { exact: true }).fill("pier");
    await value(1).fill("192.0.2.7");
    await dialog().getByRole("button", { name: "Add value" }).click();
    await value(2).fill("2001:db8::8");
    // The offer is after the value, where the next Tab goes.
    for (let i = 0; i < 3; i++) await page.keyboard.press("Tab");
    const both = dialog().getByRole("button", { name: "Add both: A and AAAA" });
    await both.and(page.locator(":focus")).press("Enter");
    await page.getByText("Added pier A and pier AAAA.").waitFor();
    await page.getByRole("link", { name: "pier AAAA" }).waitFor();
    expect(await page.getByRole("link", { name: /^pier A+$/ }).count()).toBe(2);
  });
});

it("a second MX by keyboard: the answer about the final dot leaves the focus in its record", async () => {
  await open(harbour);
  const row = page.getByRole("link", { name: "@ MX" });
  await row.press("Enter");
  await dialog().getByRole("button", { name: "Add value" }).press("Enter");
  await page.keyboard.type("30");
  await page.keyboard.press("Tab");
  await page.keyboard.type("mx.example.net");
  await page.keyboard.press("Enter");
  const whole = dialog().getByRole("button", { name: "Full name: mx.example.net." });
  await whole.and(page.locator(":focus")).press("Enter");
  const third = dialog().getByRole("group", { name: "Record 3" });
  await third.getByRole("textbox").and(page.locator(":focus")).waitFor();
  // Which value a ✕ removes is clear on a phone too: it begins on the line of its first field.
  await page.setViewportSize(phone);
  const topOf = async (each: Locator) => (await each.boundingBox())?.y ?? 0;
  const remove = dialog().getByRole("button", { name: "Remove record 3" });
  await expect.poll(async () => Math.abs((await topOf(remove)) - (await topOf(value(3))))).toBeLessThan(8);
  await page.setViewportSize(wide);
  await page.keyboard.press("Enter");
  await page.getByText("Saved @ MX.").waitFor();
  await row.and(page.locator(":focus")).waitFor();
  expect(page.complaints).toEqual([]);
});

describe("the history of a record", () => {
  it("is in its form: who changed it last, from what to what", async () => {
    await open(`${harbour}?edit=home/A`);
    const last = dialog().getByText(/^Changed .* by router at home/);
    await last.waitFor();
    expect(await last.textContent()).toMatch(/Changed .* ago by router at home: 203\.0\.113\.64→ 203\.0\.113\.97/);
    await dialog().getByRole("link", { name: "All changes" }).click();
    await expect.poll(() => page.locator("tbody tr").count()).toBe(8);
  });
});

describe("what cannot be undone", () => {
  it("has a red button in both colours", async () => {
    await post("/console/tokens", { name: "router", scope: { access: "write" }, allZones: true });
    const buttons = [
      ["/tokens", "Revoke router"],
      [`${harbour}?edit=mail/A`, "Delete…"],
    ] as const;
    for (const [path, name] of firstOf(buttons)) {
      await open(path);
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme });
        await expect.poll(() => isRed(page.getByRole("button", { name }))).toBe(true);
      }
    }
  });
});

async function isRed(button: Locator): Promise<boolean> {
  const [red = 0, green = 0, blue = 0] = await colourOf(button);
  return red > 1.4 * green && red > 1.4 * blue;
}

describe("lists", () => {
  it("say that nothing matches, and how to show everything again", async () => {
    await open(`${harbour}?type=MX`);
    await page.getByLabel("Filter records").fill("zeppelin");
    await page.getByText("No records match “zeppelin” and type MX.").waitFor();
    await page.getByRole("button", { name: "Show all records" }).click();
    await page.getByRole("link", { name: "mail A" }).waitFor();
    expect(await page.getByLabel("Filter records").inputValue()).toBe("");
    await expect.poll(() => page.url()).toBe(rig.url + harbour);
  });
});

describe("the list of zones", () => {
  // What is found by which text, also by a name in Unicode: find-zones.test.ts of the console.
  it.for(firstOf(["münch", "MÜNCHEN.test", "nchen.t", "xn--m"]))(
    "is searched, here for %s, until a link leads away from it",
    async (typed) => {
      await open("/zones");
      await page.getByLabel("Search zones").fill(typed);
      await expect.poll(() => page.locator("tbody a").allTextContents()).toEqual(["münchen.test"]);
      await page.getByRole("link", { name: "Zones" }).click();
      await page.getByRole("link", { name: "harbour.example" }).waitFor();
      expect(await page.getByLabel("Search zones").inputValue()).toBe("");
    },
  );

  it.for(firstOf(["/zones/Harbour.example./", `${harbour}/history/`, "/zones/", "/tokens/", "/account/"]))(
    "and every other page accept a URL that ends with a slash or a dot: %s",
    async (path) => {
      await open(path);
      await page.getByRole("navigation", { name: "Pages" }).waitFor();
      await page.getByRole("heading", { level: 1, name: /^(?:Zones|Tokens|Account|harbour\.example)$/ }).waitFor();
      expect(await page.getByText("Page not found").count()).toBe(0);
    },
  );

  it("goes back page by page, and from a page that does not exist to one that does", async () => {
    const list = "**/v1/zones?*";
    await page.route(list, async (route) => {
      const [response, asked] = [await route.fetch(), new URL(route.request().url()).searchParams.get("page")];
      const body = (await response.json()) as { meta: { pagination: object } };
      const pagination = { ...body.meta.pagination, page: Number(asked), last_page: 3, total_entries: 150 };
      await route.fulfill({ response, json: { ...body, meta: { pagination } } });
    });
    await open("/zones");
    await page.getByText("150 zones", { exact: true }).waitFor();
    await page.getByRole("button", { name: "page 2" }).click();
    await page.getByRole("button", { name: "page 3" }).click();
    await expect.poll(() => page.url()).toContain("page=3");
    await page.goBack();
    await expect.poll(() => page.url()).toContain("page=2");
    await page.unroute(list);
    await open("/zones?page=99");
    await page.getByRole("link", { name: "harbour.example" }).waitFor();
    expect(await page.getByRole("alert").count()).toBe(0);
  });

  it("opens a zone with a slash in its name, as in RFC 2317, and its sections", async () => {
    const name = "0/25.2.0.192.in-addr.arpa";
    await post("/v1/zones", { name, mode: "primary" });
    await open("/zones");
    await page.getByRole("link", { name }).click();
    await page.getByRole("heading", { name }).waitFor();
    expect(await page.title()).toBe(`${name} – moor DNS`);
    await page.getByRole("link", { name: "@ SOA" }).waitFor();
    await page.getByRole("link", { name: "Settings" }).click();
    await page.getByLabel(`Type ${name} to delete it`).waitFor();
    await walkTo(page, page.url());
    await page.getByLabel(`Type ${name} to delete it`).waitFor();
  });

  it("says that a zone is not found if the URL has an invalid escape, and that an unknown section is not found", async () => {
    await open("/zones/%25");
    await page.getByText("Zone % not found").waitFor();
    expect(await page.locator("tbody").count()).toBe(0);
    await open(`${harbour}/nope`);
    await page.getByText("Page not found.").waitFor();
    expect(await page.locator("tbody").count()).toBe(0);
  });
});
