import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { recordTypes } from "../../src/core/rdata/table.ts";
import { firstOf } from "../rig/long-run.ts";
import { phone, wide } from "./browser.ts";
import { type HarbourPage, openHarbourPage } from "./harbour-page.ts";
import { walkTo } from "./walk-to.ts";

/** The DNS console fits into the window, however long a name and however narrow the screen. */

let { rig, context, page, post, close } = {} as HarbourPage;
beforeAll(async () => {
  ({ rig, context, page, post, close } = await openHarbourPage());
});
afterAll(() => close?.());

const open = (path: string) => walkTo(page, rig.url + path);
const harbour = "/zones/harbour.example";

describe("a very long name", () => {
  const label = "a".repeat(63);
  const long = `${label}.${label}.${label}.test`;

  it.for([wide, phone])("makes no page wider than the window: $width", async (size) => {
    await page.setViewportSize(size);
    await open("/");
    if ((await context.request.get(`${rig.url}/v1/zones/${long}`)).status() === 404)
      await post("/v1/zones", { name: long, mode: "primary" });
    const changes = [{ name: "b".repeat(55), type: "TXT", records: [{ value: `"${"x".repeat(250)}"` }] }];
    await post(`/v1/zones/${long}/changes`, { changes });
    const tooWide: string[] = [];
    for (const path of ["/", "/zones", `/zones/${long}`, `/zones/${long}/history`, `/zones/${long}/settings`]) {
      await open(path);
      await page.getByText(long).first().waitFor();
      await page.waitForLoadState("networkidle").catch(() => undefined);
      if (await page.evaluate("document.documentElement.scrollWidth > innerWidth")) tooWide.push(path);
    }
    expect(tooWide).toEqual([]);
    await open(`/zones/${long}?edit=${"b".repeat(55)}/TXT`);
    await page.getByRole("dialog").waitFor();
    const overflow =
      "document.querySelector('[role=dialog]').scrollWidth - document.querySelector('[role=dialog]').clientWidth";
    expect(await page.evaluate(overflow)).toBe(0);
    await page.setViewportSize(wide);
  });
});

describe("the table of records", () => {
  it.for([wide, { width: 1280, height: 640 }, { width: 360, height: 780 }])(
    "leaves the page without a second scroll bar, even below a note: $width × $height",
    async (size) => {
      await page.setViewportSize(size);
      await open(harbour);
      await page.getByText("You have no password yet").waitFor();
      await page.getByRole("link", { name: "home AAAA" }).waitFor();
      const [over, table, below] = (await page.evaluate(`(() => {
        const { height, bottom } = document.querySelector(".sets").getBoundingClientRect();
        const pages = document.querySelector("header nav");
        const bar = getComputedStyle(pages).position === "fixed" ? pages.offsetHeight : 0;
        return [document.documentElement.scrollHeight - innerHeight, height, innerHeight - bar - bottom];
      })()`)) as [number, number, number];
      expect([over, table > 150, below < 30]).toEqual([0, true, true]);
      await page.setViewportSize(wide);
    },
  );
});

describe("on the narrowest phones", () => {
  const narrow = { width: 360, height: 740 };
  const long = "n".repeat(60);
  const types = recordTypes.filter((type) => type !== "SOA");
  const places = [
    "/",
    "/zones",
    "/?new",
    harbour,
    `${harbour}/history`,
    `${harbour}/moving`,
    `${harbour}/settings`,
  ].concat([
    ...["/tokens", "/tokens?new", "/account", `/zones/${long}.example`, `${harbour}?edit=${long}/A`],
    ...types.map((type) => `${harbour}?add=${type}`),
  ]);

  it("nothing is wider than the window", async () => {
    await page.setViewportSize(narrow);
    const tooWide: string[] = [];
    for (const place of places) {
      await open(place);
      await page.locator("#content").waitFor();
      if (/[?](?:add|edit|new)/.test(place)) await page.getByRole("dialog").waitFor();
      else await page.getByRole("heading").first().waitFor();
      const over = (await page.evaluate(`[document.documentElement, ...document.querySelectorAll("[role=dialog]")]
        .map((each) => each.scrollWidth - each.clientWidth)`)) as number[];
      if (over.some((each) => each > 0)) tooWide.push(`${place}: ${over.join(" ")}`);
    }
    await page.setViewportSize(wide);
    expect(tooWide).toEqual([]);
  });
});

describe("on a phone", () => {
  const onPhone = async (path: string) => {
    await page.setViewportSize(phone);
    await open(path);
  };

  it("the headings are above their columns", async () => {
    await onPhone(harbour);
    await page.getByRole("link", { name: "home AAAA" }).waitFor();
    for (const part of ["name", "type", "ttl", "value"]) {
      const [head, ...cells] = await page.locator(`.set-${part}`).evaluateAll(leftEdges);
      expect(cells).toEqual(cells.map(() => head));
    }
    await page.setViewportSize(wide);
  });

  it.for(firstOf([harbour, `${harbour}?add=MX`, "/zones", "/zones?new", `${harbour}?add=TXT`, "/tokens?new"], 2))(
    "the examples in empty fields are not cut off: %s",
    async (path) => {
      await onPhone(path);
      await page.getByPlaceholder(/./).last().waitFor();
      expect(await page.evaluate(cutExamples)).toEqual([]);
      await page.setViewportSize(wide);
    },
  );
});

const leftEdges = (elements: readonly { getBoundingClientRect: () => { left: number } }[]) =>
  elements.map((element) => element.getBoundingClientRect().left);

/** Runs in the page. */
const cutExamples = `[...document.querySelectorAll("input[placeholder]")]
  .filter((input) => {
    const style = getComputedStyle(input);
    const pen = document.createElement("canvas").getContext("2d");
    pen.font = style.font;
    const room = input.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
    return input.placeholder && pen.measureText(input.placeholder).width > room;
  })
  .map((input) => input.placeholder)`;
