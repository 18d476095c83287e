import type { Locator } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { firstOf } from "../rig/long-run.ts";
import { axeFinds } from "./axe.ts";
import { colourOf, wide } from "./browser.ts";
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

describe("the example in an empty field", () => {
  it("does not look like a wrong input", async () => {
    await open(`${harbour}?add=A`);
    await page.getByRole("button", { name: "Add", exact: true }).click();
    await page.getByText("the address is missing").waitFor();
    const colour = (id: string) => page.evaluate(`getComputedStyle(${id}, "::placeholder").color`);
    const field = (example: string) => colour(`document.querySelector("[placeholder^='${example}']")`);
    expect(await field("192.0.2.10")).toBe(await field("www, or @"));
  });
});

describe("a name with non-ASCII letters", () => {
  it.for(firstOf(["MÜNCHEN.test", "münch", "nchen.t", "xn--m"]))("is found among the zones by %s", async (typed) => {
    await open("/zones");
    await page.getByRole("link", { name: "harbour.example" }).waitFor();
    await page.getByLabel("Search zones").fill(typed);
    await expect.poll(() => page.locator("tbody a").allTextContents()).toEqual(["münchen.test"]);
  });

  it.for(firstOf(["STRAß", "straß", "xn--strae"]))("is found among the records by %s", async (typed) => {
    await open(munich);
    await page.getByLabel("Filter records").fill(typed);
    await page.getByText("1 of 2 record sets").waitFor();
    const rows = async () => (await page.getByRole("row").allTextContents()).slice(1);
    await expect.poll(rows).toEqual([expect.stringMatching(/straße.*192\.0\.2\.7/)]);
  });

  it("opens its zone from the address bar", async () => {
    await page.goto(`${rig.url}/zones/MÜNCHEN.test?filter=stra`);
    await page.getByRole("link", { name: "straße A" }).waitFor();
    expect(page.url()).toBe(`${rig.url}${munich}?filter=stra`);
  });

  it("is shown in Unicode in the form, the history and the preview of an import", async () => {
    await open(`${munich}?edit=xn--strae-oqa/A`);
    await page.getByRole("heading", { name: "straße A" }).waitFor();
    expect(await page.getByLabel("Name", { exact: true }).inputValue()).toBe("straße");
    await page.getByText("straße.münchen.test").waitFor();
    await open(`${munich}/history`);
    await page.getByText("straße A").waitFor();
    await open(`${munich}/settings`);
    await page.getByRole("button", { name: "Import…" }).click();
    await page.getByLabel(/^Replace/).check();
    await page.getByRole("heading", { name: "Import into münchen.test" }).waitFor();
    await page.getByRole("textbox", { name: "Zone file" }).fill('@ TXT "x"');
    await page.getByText("− straße A").waitFor();
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
    const refusal = old.getByText("home/A changed again after this write: undo the later change first");
    await refusal.waitFor();
    expect(await isOnScreen(refusal)).toBe(true);
    const row = page.getByRole("row").filter({ hasText: "198.51.100.25" }).last();
    await row.getByRole("button").click();
    await row.getByText("Undone").waitFor();
    expect(await axeFinds(page)).toEqual([]);
    expect(await refusal.count()).toBe(0);
  });
});

const isOnScreen = async (shown: Locator): Promise<boolean> => {
  const box = await shown.boundingBox();
  return box !== null && box.y >= 0 && box.y + box.height <= wide.height;
};

describe("the browser tab", () => {
  it.for([
    ["/", "Overview – moor DNS"],
    ["/zones", "Zones – moor DNS"],
    ["/tokens", "Tokens – moor DNS"],
    [`${harbour}/history`, "harbour.example – moor DNS"],
    [munich, "münchen.test – moor DNS"],
  ] as const)("says what is in it: %s", async ([path, title]) => {
    await open(path);
    await expect.poll(() => page.title()).toBe(title);
  });
});

describe("address changes", () => {
  it("say how far back they go, if a zone has more changes than are read", async () => {
    const older = "**/history?*";
    await page.route(older, async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, json: { history: [], meta: { next_before: 7, rest_of_write: 0 } } });
    });
    await open(`${harbour}/moving`);
    await page.getByText("no address change in this zone in this period").waitFor();
    await page.getByText("older changes are not included").waitFor();
    expect(await page.locator("tbody tr").count()).toBe(0);
    await page.unroute(older);
  });
});

describe("the form of a record", () => {
  it("shows the serial, which the service sets, read-only", async () => {
    await open(`${harbour}?edit=@/SOA`);
    const serial = page.getByLabel("Serial");
    expect(await serial.getAttribute("readonly")).not.toBeNull();
    await page.getByText("set by the service").waitFor();
    expect(await page.getByLabel("Refresh").getAttribute("readonly")).toBeNull();
  });

  it("says once what a target means, and warns if that looks unintended", async () => {
    await open(`${harbour}?add=CNAME`);
    const target = page.getByLabel("Target name");
    await target.fill("www");
    const hint = page.getByRole("dialog").getByRole("status");
    await expect.poll(() => hint.textContent()).toContain("www.harbour.example.");
    expect(await hint.textContent()).not.toContain("..");
    const rest = page.getByRole("dialog").getByText(".harbour.example", { exact: true });
    await rest.waitFor();
    expect(await page.locator("[role=dialog] .note").count()).toBe(0);
    await target.fill("host.example.net.");
    await expect.poll(() => hint.count()).toBe(0);
    expect(await rest.count()).toBe(0);
  });

  it("asks about a target that looks like a full name without its final dot, before it saves", async () => {
    // Also while the other fields are empty.
    await open(`${harbour}?add=MX`);
    await page.getByLabel("Mail server").fill("mx.example.net");
    await page.getByRole("button", { name: "Full name: mx.example.net." }).waitFor();
    await open(`${harbour}?add=CNAME`);
    await page.getByLabel("Name", { exact: true }).fill("asked");
    const target = page.getByLabel("Target name");
    await target.fill("host.example.net");
    const [whole, inside] = ["Full name: host.example.net.", "Inside the zone: host.example.net.harbour.example."].map(
      (name) => page.getByRole("button", { name, exact: true }),
    );
    await inside?.waitFor();
    expect(await axeFinds(page)).toEqual([]);
    await page.getByRole("button", { name: "Add", exact: true }).click();
    await page.getByText("Answer the question about the final dot first").waitFor();
    await expect.poll(() => page.locator(":focus").textContent()).toBe("Full name: host.example.net.");
    await inside?.click();
    await expect.poll(() => whole?.count()).toBe(0);
    await target.fill("other.example.net");
    await page.getByRole("button", { name: "Full name: other.example.net." }).click();
    expect(await target.inputValue()).toBe("other.example.net.");
    await page.getByRole("button", { name: "Add", exact: true }).click();
    await page.getByRole("link", { name: "asked CNAME" }).waitFor();
  });

  it("says how long a TTL may be, and nothing misleading about a longer one", async () => {
    await open(`${harbour}?edit=mail/A`);
    const ttl = page.getByRole("combobox", { name: "TTL" });
    await ttl.fill("99999999999");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("too long: at most 2147483647 seconds").waitFor();
    expect(await page.getByText(/ days/).and(page.locator(":not(time)")).count()).toBe(0);
  });

  it("does not mention strings, into which it splits a text automatically", async () => {
    await open(`${harbour}?add=TXT`);
    await page.getByLabel("Text", { exact: true }).waitFor();
    expect(await page.getByText("255").count()).toBe(0);
  });

  it("says that nothing was saved when the service does not respond", async () => {
    await open(`${harbour}?edit=mail/A`);
    await page.getByLabel("Comment").fill("rack 4");
    await page.route("**/changes", (route) => route.abort());
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("your change may not have been saved").waitFor();
    await page.unroute("**/changes");
    await page.getByRole("button", { name: "Save" }).click();
    await expect.poll(() => page.getByRole("dialog").count()).toBe(0);
  });

  it("says what a label may contain", async () => {
    await open(`${harbour}?edit=mail/A`);
    await page.getByLabel("Labels").fill("customer=North Ltd");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("is not a label value; use at most 63 letters, digits, '-', '_' and '.'").waitFor();
    expect(await page.getByLabel("Labels").inputValue(), "what was typed").toBe("customer=North Ltd");
  });

  it("is not shown for a record that no longer exists", async () => {
    await open(`${harbour}?edit=gone/A`);
    await page.getByRole("dialog").getByText("gone A no longer exists").waitFor();
    expect(await page.getByRole("button", { name: "Add", exact: true }).count()).toBe(0);
    await page.getByRole("button", { name: "Close" }).last().click();
    await expect.poll(() => page.url()).not.toContain("edit");
  });
});

describe("what cannot be undone", () => {
  it("has a red button in both colours, and no axe violation", async () => {
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      await open(`${harbour}?edit=mail/A`);
      expect(await isRed(page.getByRole("button", { name: "Delete…" }))).toBe(true);
      await post("/console/tokens", { name: `router ${colorScheme}`, scope: { access: "write" }, allZones: true });
      await open("/tokens");
      expect(await isRed(page.getByRole("button", { name: `Revoke router ${colorScheme}` }))).toBe(true);
    }
    expect(await axeFinds(page)).toEqual([]);
    await page.emulateMedia({ colorScheme: "light" });
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

  it("use the singular for one", async () => {
    await post(`/v1${munich}/changes`, { changes: [{ name: "xn--strae-oqa", type: "A", delete: true }] });
    await open(`${munich}/settings`);
    await page.getByText("This also deletes its one record").waitFor();
    await page.getByText("1 record ·").waitFor();
    expect(await page.getByText(/\b1 records/).count()).toBe(0);
  });
});

describe("the list of zones", () => {
  it("clears a search when a link leads away from it", async () => {
    await open("/zones");
    await page.getByLabel("Search zones").fill("münch");
    await expect.poll(() => page.locator("tbody a").allTextContents()).toEqual(["münchen.test"]);
    await page.getByRole("link", { name: "Zones" }).click();
    await page.getByRole("link", { name: "harbour.example" }).waitFor();
    expect(await page.getByLabel("Search zones").inputValue()).toBe("");
  });

  it.for(firstOf(["99", "-3", "2.5"]))(
    "shows an existing page instead of one that does not exist: %s",
    async (number) => {
      await open(`/zones?page=${number}`);
      await page.getByRole("link", { name: "harbour.example" }).waitFor();
      expect(await page.getByRole("alert").count()).toBe(0);
    },
  );

  it.for(firstOf(["/zones/Harbour.example.", `${harbour}/history/`, "/zones/", "/tokens/", "/account/"], 2))(
    "and every other page accept a URL that ends with a slash or a dot: %s",
    async (path) => {
      await page.goto(rig.url + path);
      await page.getByRole("navigation", { name: "Pages" }).waitFor();
      await page.getByRole("heading", { level: 1, name: /^(?:Zones|Tokens|Account|harbour\.example)$/ }).waitFor();
      expect(await page.getByText("Page not found").count()).toBe(0);
    },
  );

  it("finds a zone whose name is typed with a final dot, and goes back page by page", async () => {
    await open("/zones");
    await page.getByLabel("Search zones").fill("tide-tables.example.");
    await expect.poll(() => page.locator("tbody a").allTextContents()).toEqual(["tide-tables.example"]);
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
  });

  it("opens a zone with a slash in its name, as in RFC 2317, and its sections", async () => {
    const name = "0/25.2.0.192.in-addr.arpa";
    await post("/v1/zones", { name, mode: "primary" });
    await open("/zones");
    await page.getByRole("link", { name }).click();
    await page.getByRole("heading", { name }).waitFor();
    expect(await page.title()).toBe(`${name} – moor DNS`);
    await page.getByRole("link", { name: "@ SOA" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Close" }).click();
    await page.getByRole("link", { name: "Settings" }).click();
    await page.reload();
    await page.getByLabel(`Type ${name} to delete it`).waitFor();
  });

  it("says that a zone is not found if the URL has an invalid escape, and that an unknown section is not found", async () => {
    await page.goto(`${rig.url}/zones/%25`);
    await page.getByText("Zone % not found").waitFor();
    expect(await page.locator("tbody").count()).toBe(0);
    await page.goto(`${rig.url}${harbour}/nope`);
    await page.getByText("Page not found.").waitFor();
    expect(await page.locator("tbody").count()).toBe(0);
  });
});

describe("the nameservers to enter at the registrar", () => {
  it("are those of the service", async () => {
    await open(`${harbour}/settings`);
    const said = page.getByText("Nameservers to enter at the registrar:");
    await said.waitFor();
    expect(await said.textContent()).toContain("ns1.example.net");
    expect(await said.textContent()).toContain("ns2.example.net");
  });

  it("are none if the service was started without any", async () => {
    const zone = "**/v1/zones/harbour.example";
    await page.route(zone, async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, body: (await response.text()).replaceAll(".example.net", ".moor.invalid") });
    });
    await open(`${harbour}/settings`);
    await page
      .getByText("There are no nameservers to enter at the registrar yet. Set them with moor records --nameserver HOST")
      .waitFor();
    expect(await page.getByText("moor.invalid").count()).toBe(0);
    await page.unroute(zone);
  });
});
