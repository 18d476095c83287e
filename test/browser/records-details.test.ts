import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { axeFinds } from "./axe.ts";
import { phone, wide } from "./browser.ts";
import { type HarbourPage, openHarbourPage } from "./harbour-page.ts";
import { walkTo } from "./walk-to.ts";

/** Small things that stopped people. */

let { rig, context, page, post, close } = {} as HarbourPage;
const hebrew = "שלום";
beforeAll(async () => {
  ({ rig, context, page, post, close } = await openHarbourPage());
  await page.goto(rig.url);
  await post("/v1/zones/harbour.example/changes", {
    changes: [
      { name: "rtl", type: "TXT", records: [{ value: `"${hebrew} 123"` }] },
      { name: "long", type: "TXT", records: [{ value: `"${"x".repeat(250)}" "${"y".repeat(250)}"` }] },
    ],
  });
});
afterAll(() => close?.());

const open = (path: string) => walkTo(page, rig.url + path);

describe("a path without a page", () => {
  it("is a page that says so, and an error for programs", async () => {
    for (const path of ["/nothing", "/zones/harbour.example/history/nothing"]) {
      const answer = await page.goto(rig.url + path);
      expect(answer?.status()).toBe(404);
      await page.getByRole("heading", { name: "Page not found" }).waitFor();
    }
    expect(await axeFinds(page)).toEqual([]);
    await page.getByRole("link", { name: "start page" }).click();
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    for (const path of ["/nothing", "/v1/nothing"]) {
      const asked = await context.request.get(rig.url + path, { headers: { accept: "application/json" } });
      expect([asked.status(), asked.headers()["content-type"]]).toEqual([404, expect.not.stringContaining("html")]);
    }
  });
});

describe("the table of records", () => {
  it("ends a long value with an ellipsis, and keeps right-to-left text to itself", async () => {
    await open("/zones/harbour.example");
    const long = page.getByRole("row").filter({ hasText: "xxx" }).locator(".value-button");
    const cut = (element: { scrollWidth: number; clientWidth: number }) => element.scrollWidth > element.clientWidth;
    expect(await long.evaluate(cut)).toBe(true);
    type Styled = { computedStyleMap: () => { get: (name: string) => unknown } };
    const overflow = await long.evaluate((each: Styled) => String(each.computedStyleMap().get("text-overflow")));
    expect(overflow).toBe("ellipsis");
    expect(await page.locator("bdi[dir=ltr]").filter({ hasText: hebrew }).count()).toBe(1);
  });
});

/** Of what can be pressed, without links in sentences (WCAG 2.5.8 exempts them), and of the label around a box. */
const smallTargets = `[...document.querySelectorAll("button, input, .list a, nav a, a.alone")]
  .filter((each) => each.checkVisibility() && !each.closest(".unseen, .skip, [class*=Input-wrapper], [class*=Switch], [class*=Radio]"))
  .map((each) => [each.getAttribute("aria-label") ?? each.textContent, (each.closest("label") ?? each).getBoundingClientRect()])
  .filter(([, { width, height }]) => width > 0 && (width < 24 || height < 24))
  .map(([name]) => name)`;

describe.each([wide, phone])("what can be pressed, %o", (size) => {
  it.for(["/", "/zones", "/zones/harbour.example", "/zones/harbour.example/history", "/tokens?new", "/account"])(
    "is at least 24 pixels wide and high: %s",
    async (path) => {
      await page.setViewportSize(size);
      await open(path);
      await page
        .locator(path.includes("?") ? '[role="dialog"]' : "#content :is(table, .sets, h1)")
        .first()
        .waitFor();
      await expect.poll(() => page.evaluate(smallTargets)).toEqual([]);
    },
  );
});

describe("the top bar", () => {
  it.for([wide, phone])("is as high without links to pages, as on the updater's page: %o", async (size) => {
    await page.setViewportSize(size);
    await open("/zones");
    const height = () => page.locator("header").evaluate("(bar) => bar.getBoundingClientRect().height");
    await page.getByRole("navigation", { name: "Pages" }).waitFor();
    const before = await height();
    await page.evaluate('document.querySelector(".pages").style.display = "none"');
    expect(await height()).toBe(before);
    await page.goto(rig.url);
    await page.setViewportSize(wide);
  });
});

describe("the form of a new record", () => {
  it("keeps the focus when an existing record is opened instead", async () => {
    await open("/zones/harbour.example?add=A");
    await page.getByLabel("Name", { exact: true }).fill("backup");
    await page.getByLabel("IPv4 address").fill("192.0.2.77");
    await page.getByRole("button", { name: "Open backup A with this value" }).click();
    await page.getByRole("dialog", { name: "backup A" }).waitFor();
    const focused = page.locator('[role="dialog"] [data-value] input:focus');
    await expect.poll(() => focused.count()).toBe(1);
    expect(await focused.inputValue()).toBe("192.0.2.77");
  });
});
