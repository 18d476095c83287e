import type { Page, Route } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { recordTypes } from "../../src/core/rdata/table.ts";
import { itInLongRuns } from "../rig/it-in-long-runs.ts";
import { firstOf, isLongRun } from "../rig/long-run.ts";
import { allPages } from "./all-pages.ts";
import { axeFinds, type Colours, setColours } from "./axe.ts";
import { type OpenBrowser, openBrowser, phone, type WatchedPage, wide } from "./browser.ts";
import { fillZone } from "./harbour.ts";
import { cutExamples, layoutFaults, smallTargets } from "./layout-faults.ts";
import { signInContext } from "./records-rig.ts";
import { type Consoles, openConsoles, showPage, startThreeServices, type ThreeServices } from "./three-services.ts";
import { walkTo } from "./walk-to.ts";

/**
 * Swagger UI needs a second of processor time for all operations of the document; these two paths have an operation of
 * each colour.
 */
async function describeOnlyZones(route: Route): Promise<void> {
  const response = await route.fetch();
  const document = (await response.json()) as { paths: Record<string, object> };
  const paths = Object.entries(document.paths).filter(([path]) => /^\/api\/v1\/zones(?:\/\{id\})?$/.test(path));
  await route.fulfill({ response, json: { ...document, paths: Object.fromEntries(paths) } });
}

/** As long as they may be. */
const longNames = { name: `${`${"a".repeat(63)}.`.repeat(3)}test`, owner: "b".repeat(55) };

let services: ThreeServices;
let browser: OpenBrowser;
let consoles: Consoles;

beforeAll(async () => {
  services = await startThreeServices();
  browser = await openBrowser();
  consoles = await openConsoles(services, browser);
  const { store } = services.records.service();
  await fillZone(store, "xn--mnchen-3ya.test", "xn--strae-oqa 300 IN A 192.0.2.7");
  await fillZone(store, longNames.name, `${longNames.owner} 300 IN TXT "${"x".repeat(250)}"`);
});
afterAll(async () => {
  await browser?.close();
  await services?.close();
});

const narrow = { width: 360, height: 740 };
const windows = [
  { window: "desk", size: wide },
  { window: "phone", size: narrow },
] as const;

const harbour = "/zones/harbour.example";
/** Others have the same elements: /zones/…?add=MX, /zones/…, /nothing, /users?new, and the account page of records. */
const onlyInLongRuns = [
  `records ${harbour}?edit=@/TXT`,
  `records ${harbour}?edit=@/SOA`,
  `records ${harbour}?filter=zeppelin`,
  "records /zones/nowhere.example",
  "firewall /users?edit=ada",
  "firewall /account",
  // records-provider.test.ts checks it with a provider.
  `records ${harbour}/provider`,
];
// A page has nearly the same elements in both windows and colours, so each page is checked in one of them, in turn.
// Changing the colours takes long, and so does changing the window: each page starts in the window in which the one
// before it ended. The API documentation comes last: the test after it uses it.
const docs = "/docs";
const isDocs = ({ path }: { readonly path: string }) => Number(path === docs);
const consolesInOrder = ["updater", "firewall", "records"];
const inTurn = allPages
  .filter(({ console, path }) => isLongRun || !onlyInLongRuns.includes(`${console} ${path}`))
  .map((each, place) => ({ ...each, turn: place % windows.length, isDark: place % 4 > 1 }))
  .toSorted(
    (one, other) =>
      isDocs(one) - isDocs(other) ||
      consolesInOrder.indexOf(one.console) - consolesInOrder.indexOf(other.console) ||
      Number(one.isDark) - Number(other.isDark),
  );

async function resize(page: Page, size: { width: number; height: number }): Promise<void> {
  if (page.viewportSize()?.width !== size.width) await page.setViewportSize(size);
}

/** Every kind of what can be pressed is on one of them. */
const forFingers = ["/", "/zones", harbour, `${harbour}/history`, "/tokens?new", "/account"];

const titles: Readonly<Record<string, string>> = {
  "/zones": "Zones – moor DNS",
  [`${harbour}/history`]: "harbour.example – moor DNS",
  "/zones/xn--mnchen-3ya.test": "münchen.test – moor DNS",
  "/tokens": "Tokens – moor DNS",
};

describe.for(inTurn)("$console $path", ({ turn, isDark, ...shown }) => {
  const both: readonly [Colours, Colours] = isDark ? ["dark", "light"] : ["light", "dark"];
  let page: WatchedPage;
  beforeAll(async () => {
    // What a page of another console receives would still be drawn.
    for (const other of Object.values(consoles))
      if (other !== consoles[shown.console] && other.url() !== "about:blank") await other.goto("about:blank");
    if (shown.path === docs) await consoles.records.route("**/docs/json", describeOnlyZones);
    page = await showPage(services, consoles, shown);
  });

  it.for(isLongRun ? windows : windows.slice(turn, turn + 1))(
    "axe finds nothing in the window of a $window",
    async ({ size }) => {
      await resize(page, size);
      await setColours(page, both[0]);
      // Without `colours`: those that the page has.
      const colours = isLongRun ? { colours: both } : {};
      expect(await axeFinds(page, { contrastIn: shown.contrastIn, ...colours })).toEqual([]);
    },
  );

  it("fits the windows of a phone and of a desk, can be pressed with a finger, and has its title", async () => {
    // The window that axe used comes first: it is the current one.
    for (const { size } of turn === 0 ? windows : windows.toReversed()) {
      await resize(page, size);
      await expect.poll(() => page.evaluate(layoutFaults)).toEqual([]);
      if (shown.console === "records" && forFingers.includes(shown.path))
        await expect.poll(() => page.evaluate(smallTargets)).toEqual([]);
      expect(await page.evaluate(cutExamples)).toEqual([]);
    }
    const title = titles[shown.path];
    if (title !== undefined) await expect.poll(() => page.title()).toBe(title);
    expect(page.complaints).toEqual([]);
  });
});

it("the API documentation sends requests only to its own host, and can try a call", async () => {
  const page = consoles.records;
  await page.setViewportSize(wide);
  await page.getByRole("button", { name: "get /api/v1/zones", exact: true }).click();
  await page.getByRole("button", { name: "Try it out" }).click();
  await page.getByRole("button", { name: "Execute" }).click();
  await page.getByText("No API key found in request").waitFor();
  expect(await page.title()).toBe("moor records API");
  expect(page.complaints).toEqual([]);
  // As long as a page has a route, it reads nothing from its cache.
  await page.unrouteAll();
});

describe("the DNS console", () => {
  const open = (path: string) => walkTo(consoles.records, services.records.url + path);
  beforeAll(() => consoles.records.goto(services.records.url));
  const measured = <Result>(script: string) => consoles.records.evaluate<Result>(script);

  it.for(firstOf([narrow, wide]))("fits the window however long a name is: $width", async (size) => {
    const page = consoles.records;
    await page.setViewportSize(size);
    const { name, owner } = longNames;
    // It is also one of the zones on /zones, which is checked above.
    for (const path of [`/zones/${name}/history`, `/zones/${name}/settings`]) {
      await open(path);
      await page.getByText(name).first().waitFor();
      await expect.poll(async () => [path, await page.evaluate(overflow)]).toEqual([path, [0]]);
    }
    await open(`/zones/${name}?edit=${owner}/TXT`);
    await page.getByRole("dialog").waitFor();
    await expect.poll(() => page.evaluate(overflow)).toEqual([0, 0]);
  });

  it("has forms that fit the narrowest phone: those with the most fields, and in a long run all", async () => {
    const page = consoles.records;
    await page.setViewportSize(narrow);
    const types = isLongRun ? recordTypes.filter((type) => type !== "SOA") : ["NAPTR", "HTTPS"];
    for (const type of types) {
      await open(`${harbour}?add=${type}`);
      await page.getByRole("dialog").waitFor();
      await expect.poll(async () => [type, await page.evaluate(layoutFaults)]).toEqual([type, []]);
    }
  });

  it("has value fields with a monospace font, so that values can be compared", async () => {
    const fontOf = "getComputedStyle(document.querySelector('[role=dialog] input.mono')).fontFamily";
    await expect.poll(() => measured(fontOf)).toContain("monospace");
  });

  it("has a table that fills the window without a second scroll bar, even below a note", async () => {
    const page = consoles.records;
    await open(harbour);
    await page.getByText("You have no password yet").waitFor();
    await page.getByRole("link", { name: "home AAAA" }).waitFor();
    for (const size of [narrow, { width: 1280, height: 640 }, wide]) {
      await page.setViewportSize(size);
      const places = `(() => {
        const { height, bottom } = document.querySelector(".sets").getBoundingClientRect();
        const pages = document.querySelector("header nav");
        const bar = getComputedStyle(pages).position === "fixed" ? pages.offsetHeight : 0;
        return [document.documentElement.scrollHeight - innerHeight, height > 150, innerHeight - bar - bottom < 30];
      })()`;
      await expect.poll(() => measured(places)).toEqual([0, true, true]);
    }
  });

  it("opens the next page at its top, also from the bar of a phone, and returns to where a page was", async () => {
    const page = consoles.records;
    await page.setViewportSize(phone);
    await open(`${harbour}/history`);
    await page.getByText("Restore this record").first().waitFor();
    await page.evaluate("scrollTo(0, 500)");
    await page.getByRole("link", { name: "Names", exact: true }).first().click();
    await page.getByRole("heading", { name: "Latest changes" }).waitFor();
    expect(await measured("scrollY")).toBe(0);
    await page.goBack();
    await page.getByText("Restore this record").first().waitFor();
    await expect.poll(() => measured("scrollY")).toBe(500);
  });

  it("has headings above their columns on a phone", async () => {
    const page = consoles.records;
    await page.setViewportSize(phone);
    for (const part of ["name", "type", "ttl", "value"]) {
      const [head, ...cells] = await page.locator(`.set-${part}`).evaluateAll(leftEdges);
      expect(cells).toEqual(cells.map(() => head));
    }
  });

  it("has a top bar that is as high without links to pages, as on the updater's page", async () => {
    const page = consoles.records;
    const height = () => measured("document.querySelector('header').getBoundingClientRect().height");
    for (const size of [phone, wide]) {
      await page.setViewportSize(size);
      const before = await height();
      await page.evaluate('document.querySelector(".pages").style.display = "none"');
      expect(await height()).toBe(before);
      await page.evaluate('document.querySelector(".pages").style.display = ""');
    }
  });
});

const overflow = `[document.documentElement, ...document.querySelectorAll("[role=dialog]")]
  .map((each) => each.scrollWidth - each.clientWidth)`;

const leftEdges = (elements: readonly { getBoundingClientRect: () => { left: number } }[]) =>
  elements.map((element) => element.getBoundingClientRect().left);

// sign-in-ways.test.ts checks it with all ways to sign in.
itInLongRuns("the sign-in page has no axe violation", async () => {
  const page = consoles.records;
  await page.context().clearCookies();
  await page.goto(services.records.url);
  await page.getByRole("button", { name: "Sign in" }).waitFor();
  expect(await axeFinds(page)).toEqual([]);
});

it("the first page of a new user, which guides, has no axe violation", async () => {
  const page = consoles.records;
  await page.context().clearCookies();
  await signInContext(page.context(), await services.records.service().createSignInLink("somebody-new"));
  await page.goto(services.records.url);
  await page.getByText("Create your first zone").waitFor();
  expect(await axeFinds(page)).toEqual([]);
});
