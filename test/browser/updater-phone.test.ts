import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { builtPages } from "../rig/bundle.ts";
import { until } from "../rig/until.ts";
import { type Loop, openLoop } from "../rig/updater/loop.ts";
import { wanWith } from "../rig/updater/services.ts";
import { startWatcher, type Watcher } from "../updater/watcher.ts";
import { type OpenBrowser, openBrowser, openContext, openPage, phone, type WatchedPage } from "./browser.ts";

let browser: OpenBrowser;
let loop: Loop;
let watcher: Watcher;
let page: WatchedPage;
const name = "a-name-as-long-as-people-make-them-for-a-machine-in-the-cellar.and-one.more";
const another = "gartenhaus.wetterstation";
/** Words of names that are on two lines. */
const brokenLabels = `[...document.querySelectorAll("section :is(h2, h3), .about span")].flatMap((name) =>
  [...name.childNodes]
    .filter((part) => part.nodeType === Node.TEXT_NODE)
    .flatMap((part) =>
      [...part.data.matchAll(/[^-\\s]+-?/g)].filter(({ 0: word, index }) => {
        const range = document.createRange();
        range.setStart(part, index);
        range.setEnd(part, index + word.length);
        return new Set([...range.getClientRects()].map(({ top }) => top)).size > 1;
      }),
    )
    .map(([word]) => word),
)`;
const say = (host: number) => {
  const tail = `1111:2222:3333:4444:5555:6666:${host}`;
  loop.says.firewall = () => ({ body: { wan0: wanWith([`203.0.113.20${host}`], [`2a00:${tail}`]) } });
  watcher?.check();
};

beforeAll(async () => {
  browser = await openBrowser();
  const settings = 'interval: 1s\ncontrol: { listen: "127.0.0.1:0", token: { file: t } }';
  loop = await openLoop(
    `  - { name: ${name}, zone: example.org, ipv4: wan0, ipv6: wan0 }
  - { name: ${another}, zone: example.org, ipv4: wan0 }`,
    undefined,
    { settings },
  );
  loop.records.push({ id: "another", type: "A", name: another, value: "", zone_id: "z1" });
  for (const type of ["A", "AAAA"]) loop.records.push({ id: type, type, name, value: "", zone_id: "z1" });
  say(1);
  watcher = await startWatcher(loop, { pages: builtPages() });
  await until(() => Object.keys(loop.stored()).length === 2);
  page = await openPage(await openContext(browser), watcher.page());
});
afterAll(async () => {
  await browser?.close();
  await watcher?.stop();
  await loop?.close();
});

const written = (host: number) => until(() => loop.stored().AAAA?.endsWith(`:${host}`) === true);

describe("the updater's page", () => {
  it("draws a change at its moment, and moves on from there", async () => {
    const card = page.getByRole("group", { name: `${name}.example.org AAAA` });
    await card.waitFor();
    say(2);
    await written(2);
    const { names } = JSON.parse(await watcher.ask("status")) as { names: { name: string; storedAt: string }[] };
    const at = names.find((each) => each.name.endsWith("AAAA"))?.storedAt ?? "";
    const drawn = card.getByRole("img");
    await drawn.waitFor();
    const end = async () => Date.parse((await drawn.getAttribute("data-until")) ?? "");
    expect(await end()).toBeGreaterThanOrEqual(Date.parse(at));
    await expect.poll(end).toBeGreaterThan(Date.parse(at));
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keyboard shortcuts" }).getByText("Show this list").waitFor();
    await page.keyboard.press("Escape");
    expect(page.complaints).toEqual([]);
  });

  it("breaks a name on a phone only after a dot or a hyphen", async () => {
    await page.setViewportSize(phone);
    await page.getByRole("heading", { name: `${another}.example.org`, exact: true }).waitFor();
    await page.getByText("Details").first().click();
    expect(await page.evaluate(brokenLabels)).toEqual([]);
  });

  it("fits a phone of 360 pixels, with long names, long words and errors", async () => {
    const said = `no-${"blank-in-it".repeat(20)}`;
    loop.says.service = ({ method }) =>
      method === "PUT" ? { status: 422, body: { error: { message: said, code: 422 } } } : undefined;
    say(3);
    await until(() => watcher.lines.some(({ because }) => String(because).includes("blank-in-it")));
    loop.says.firewall = () => ({ body: { [`if${"x".repeat(60)}`]: wanWith([], []) } });
    watcher.check();
    await until(() => watcher.lines.some(({ because }) => String(because).includes("no interface wan0")));
    await page.setViewportSize({ width: 360, height: 740 });
    await page
      .getByRole("group", { name: `${name}.example.org AAAA` })
      .getByRole("img")
      .waitFor();
    await page.getByRole("heading", { name: "Updates" }).waitFor();
    await page.getByText("Active config").click();
    await page.getByText("record service: moor records").waitFor();
    const overflow = "document.documentElement.scrollWidth - document.documentElement.clientWidth";
    await expect.poll(() => page.evaluate(overflow)).toBe(0);
    expect(page.complaints).toEqual([]);
  });
});
