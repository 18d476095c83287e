import type { BrowserContext } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { itInLongRuns } from "../rig/it-in-long-runs.ts";
import { firstOf, isLongRun } from "../rig/long-run.ts";
import {
  dialogHasFocus,
  type OpenBrowser,
  openBlankPage,
  openBrowser,
  openContext,
  type WatchedPage,
} from "./browser.ts";
import { fillLargeZone } from "./harbour.ts";
import { type RecordsRig, signInContext, startRecordsRig } from "./records-rig.ts";
import { walkTo } from "./walk-to.ts";

/** A zone that is read in three pages; in a long run one of 10,000 records. */

const zone = "large.example";
const count = isLongRun ? 10_000 : 2_000;
const inAll = `${(count + 2).toLocaleString("en-GB")} record sets`;
let rig: RecordsRig;
let browser: OpenBrowser;
let context: BrowserContext;
let page: WatchedPage;

beforeAll(async () => {
  rig = await startRecordsRig();
  await fillLargeZone(rig.service().store, zone, count);
  browser = await openBrowser();
  context = await openContext(browser);
  await signInContext(context, await rig.service().createSignInLink("main"));
  page = await openBlankPage(context, rig.url);
});
afterAll(async () => {
  await browser?.close();
  await rig?.close();
});

it("is read in a few compressed pages", async () => {
  const read: Promise<number>[] = [];
  page.on("response", (response) => {
    if (response.url().includes("/rrsets?"))
      read.push(
        response
          .request()
          .sizes()
          .then((sizes) => sizes.responseBodySize),
      );
  });
  await page.goto(`${rig.url}/zones/${zone}`);
  await page.getByText(inAll, { exact: true }).waitFor();
  const sizes = await Promise.all(read);
  expect(sizes.length).toBeLessThanOrEqual(count / 1_000 + 2);
  const bytes = sizes.reduce((sum, size) => sum + size, 0);
  expect(bytes).toBeLessThanOrEqual(50 * count);
  expect(bytes, "something was transferred").toBeGreaterThan(10_000);
  page.removeAllListeners("response");
});

// The next test bounds the rows that there are, and so those that a frame makes.
itInLongRuns("scrolls smoothly", async () => {
  // Compares the CPU time of the page's thread, which other processes do not affect, while it scrolls and while it is
  // idle. The ratio was 18 when this was written; up to about 40, each frame is drawn in time.
  const cpu = await startCpuClock();
  const [idle, scrolling, idleAfter] = [await cpu(0), await cpu(60), await cpu(0)];
  expect(scrolling.time / Math.max(idle.time, idleAfter.time), "time of a frame").toBeLessThan(28);
  expect(scrolling.made / scrolling.passed, "rows made for each row that was passed").toBeLessThan(1.5);
});

it("makes only the rows around those in view, and is filtered and sorted", async () => {
  expect(await page.getByRole("row").count()).toBeLessThan(100);
  const filter = page.getByLabel("Filter records");
  await filter.fill(`host${count - 1}`);
  await page.getByText(`1 of ${inAll}`).waitFor();
  await expect.poll(() => page.url()).toContain(`filter=host${count - 1}`);
  await filter.fill("");
  await page.getByRole("button", { name: /^Value/ }).click();
  await page.getByRole("button", { name: /^Value/ }).click();
  await page.getByRole("link", { name: "@ SOA" }).waitFor();
  expect(page.complaints).toEqual([]);
});

it.for(firstOf(["edit=host1999%2FA", "add=A"]))(
  "a form opens before all records are read, keeps what was typed, and never replaces a set that was not loaded: %s",
  async (form) => {
    const { promise: readOn, resolve } = Promise.withResolvers<void>();
    await page.route(/console\/zones\/.*\/rrsets\?/, async (route) => {
      await readOn;
      await route.continue();
    });
    await walkTo(page, `${rig.url}/zones/${zone}?${form}`);
    await dialogHasFocus(page);
    const address = page.getByLabel("IPv4 address");
    expect(await address.inputValue()).toBe(form.startsWith("edit") ? "10.0.7.207" : "");
    await page.getByText("The first 100 record sets; loading the rest…").waitFor();
    await page.getByLabel("Name", { exact: true }).fill("host1998");
    await address.fill("192.0.2.99");
    await page.getByRole("button", { name: /^(?:Add|Save)$/ }).click();
    await page.getByText("nothing was saved").waitFor();
    const stored = await context.request.get(`${rig.url}/v1/zones/${zone}/rrsets/host1998/A`);
    expect(await stored.text()).toContain("10.0.7.206");
    resolve();
    await page.getByText(inAll, { exact: true }).waitFor();
    expect(await address.inputValue(), "what was typed stays").toBe("192.0.2.99");
    await page.unrouteAll({ behavior: "ignoreErrors" });
  },
);

const frames = 60;

/**
 * Measures frames in each of which the table scrolls by some pixels: CPU time, rows that were rendered, and rows that
 * were passed.
 */
async function startCpuClock() {
  const devtools = await context.newCDPSession(page);
  await devtools.send("Performance.enable", { timeDomain: "threadTicks" });
  const busy = async () => {
    const { metrics } = await devtools.send("Performance.getMetrics");
    return metrics.find(({ name }) => name === "TaskDuration")?.value ?? Number.NaN;
  };
  return async (pixels: number) => {
    const before = await busy();
    const rows = await page.evaluate<{ made: number; passed: number }>(scrolledBy(pixels));
    return { time: (await busy()) - before, ...rows };
  };
}

/** Runs in the page. */
const scrolledBy = (pixels: number): string => `(async () => {
  const table = document.querySelector('[role="table"]');
  const rows = table.lastElementChild;
  let made = 0;
  const seen = new MutationObserver((changes) => {
    for (const { addedNodes } of changes) made += addedNodes.length;
  });
  seen.observe(rows, { childList: true });
  for (let i = 0; i < ${frames}; i++) {
    table.scrollTop += ${pixels};
    await new Promise((resolve) => requestAnimationFrame(resolve));
  }
  seen.disconnect();
  return { made, passed: table.scrollTop / rows.firstElementChild.offsetHeight };
})()`;
