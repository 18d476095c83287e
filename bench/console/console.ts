import { launchBrowser, openContext, openPage } from "../../test/browser/browser.ts";
import { fillLargeZone } from "../../test/browser/harbour.ts";
import { signInContext, startRecordsRig } from "../../test/browser/records-rig.ts";
import { partOf } from "../dns/service.ts";
import type { Table } from "../table.ts";

const names = 10_000;
const seconds = 5;
const speeds = [60, 300, 1_500];

/** How many frames per second a large table of records shows while it scrolls. */
export async function benchConsole(): Promise<readonly Table[]> {
  const rig = await startRecordsRig();
  const browser = await launchBrowser();
  try {
    await fillLargeZone(rig.service().store, "large.example", names);
    const context = await openContext(browser);
    await signInContext(context, await rig.service().createSignInLink("main"));
    const page = await openPage(context, `${rig.url}/zones/large.example`);
    await page.getByText(/^10,00\d record sets$/).waitFor();
    const rows: string[][] = [];
    for (const pixels of speeds) {
      const times = await page.evaluate<readonly number[]>(frameTimes(pixels));
      const late = times.filter((time) => time > 25).length;
      const perSecond = times.length / (times.reduce((sum, time) => sum + time, 0) / 1_000);
      const [usual, slow] = [0.5, 0.99].map((part) => `${partOf(times, part).toFixed(1)} ms`);
      rows.push([`${pixels}`, perSecond.toFixed(1), usual ?? "", slow ?? "", `${late} of ${times.length}`, "60"]);
    }
    return [
      {
        title: `Frames while a table of ${names.toLocaleString("en")} record sets scrolls for ${seconds} seconds`,
        how: "npm run bench console",
        heads: ["pixels per frame", "frames per second", "median", "99 %", "over 25 ms", "target"],
        rows,
      },
    ];
  } finally {
    await browser.close();
    await rig.close();
  }
}

/** Runs in the page: the milliseconds of each frame. */
const frameTimes = (pixels: number): string => `(async () => {
  const table = document.querySelector('[role="table"]');
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
  table.scrollTop = 0;
  const times = [];
  const end = performance.now() + ${seconds * 1_000};
  let step = ${pixels};
  for (let last = await frame(); last < end; ) {
    const before = table.scrollTop;
    table.scrollTop += step;
    if (table.scrollTop === before) step = -step;
    const now = await frame();
    times.push(now - last);
    last = now;
  }
  return times;
})()`;
