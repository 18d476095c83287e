import { type Browser, type BrowserContext, chromium, type Locator, type Page } from "playwright-core";
import { patience } from "../rig/patience.ts";
import { doNotReuse, type OpenBrowser, reuseContexts } from "./reused-contexts.ts";

export type { OpenBrowser };

/** Debian's Chromium as the faster headless shell; nothing is ever downloaded. */
export const launchBrowser = ({
  program = "/usr/bin/chromium-headless-shell",
  args = [],
}: Launch = {}): Promise<Browser> => chromium.launch({ executablePath: program, timeout: patience, args: [...args] });

type Launch = { readonly program?: string; readonly args?: readonly string[] };

/**
 * Each of these saves processor time. A tab that shares its process with another tab of the same site needs a third
 * less for its first page. A page of a test does not live long enough to get back what the optimising compilers cost.
 * Drawing needs no process of its own, as there is no graphics card.
 */
export const thrifty: readonly string[] = [
  "--process-per-site",
  "--js-flags=--no-opt --no-maglev --always-sparkplug",
  "--disable-gpu",
  "--in-process-gpu",
];

let shared: Promise<Browser> | undefined;

/**
 * One browser serves all test files of a worker and ends with it; closing it here closes only what this file opened in
 * it.
 */
export async function openBrowser(): Promise<OpenBrowser> {
  if (!(await shared)?.isConnected()) shared = launchBrowser({ args: thrifty });
  return reuseContexts((await shared) as Browser);
}

export const wide = { width: 1280, height: 800 } as const;
export const phone = { width: 390, height: 780 } as const;

export type Look = {
  /** Dark unless it is given: contrast fails there first. */
  readonly scheme?: "light" | "dark";
  readonly size?: { width: number; height: number };
  /** The user's time zone. */
  readonly clock?: string;
};

/** Every frame of a transition is painted by a processor: a tenth of the processor time of a page that is used. */
const withoutMotion = `{
  const sheet = new CSSStyleSheet();
  sheet.replaceSync("*, ::before, ::after { transition: none !important; animation: none !important }");
  document.adoptedStyleSheets.push(sheet);
}`;

export async function openContext(
  browser: OpenBrowser,
  { scheme = "dark", size = wide, clock = "UTC" }: Look = {},
): Promise<BrowserContext> {
  const context = await browser.newContext({
    ignoreHTTPSErrors: true,
    colorScheme: scheme,
    viewport: size,
    reducedMotion: "reduce",
    locale: "en-GB",
    timezoneId: clock,
  });
  context.setDefaultTimeout(patience);
  await context.addInitScript(withoutMotion);
  return context;
}

/** Red, green and blue of the text colour. */
export async function colourOf(shown: Locator): Promise<readonly number[]> {
  const colour = await shown.evaluate((element: { computedStyleMap: () => { get: (name: string) => unknown } }) =>
    String(element.computedStyleMap().get("color")),
  );
  return (colour.match(/\d+/g) ?? []).map(Number);
}

/** An open dialog takes keys when it has the focus. */
export const dialogHasFocus = (page: Page): Promise<void> =>
  page.locator('[role="dialog"] :focus').waitFor({ state: "attached" });

export type WatchedPage = Page & { readonly complaints: string[] };

/** A page that fails its test on any error, and on any request to another host. */
export async function openPage(context: BrowserContext, url: string): Promise<WatchedPage> {
  const page = await openBlankPage(context, url);
  await page.goto(url);
  return page;
}

/** Like `openPage`, but the page has not navigated anywhere yet. */
export async function openBlankPage(context: BrowserContext, url: string): Promise<WatchedPage> {
  const page = await context.newPage();
  const complaints: string[] = [];
  const { host } = new URL(url);
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("console", (message) => {
    if (message.type() === "error" && !/status of (?:4\d\d|50\d)|ERR_CONNECTION|ERR_INCOMPLETE/.test(message.text()))
      complaints.push(message.text());
  });
  page.on("request", (request) => {
    const asked = new URL(request.url());
    if (asked.host !== host && !["data:", "blob:"].includes(asked.protocol)) complaints.push(`asked ${asked.host}`);
  });
  return Object.assign(page, { complaints });
}

/**
 * From the next load on, `page.clock` controls the page's time, and only `giveUp` makes its requests time out, as if
 * that many milliseconds had passed: on a slow machine, a hung request is still pending.
 */
export async function holdTime(page: Page): Promise<{ readonly giveUp: (after: number) => Promise<unknown> }> {
  doNotReuse(page.context());
  await page.clock.install();
  await page.addInitScript(`{
    const asked = [];
    AbortSignal.timeout = (limit) => {
      const given = new AbortController();
      asked.push({ limit, given });
      return given.signal;
    };
    window.giveUp = (after) => {
      for (const { limit, given } of asked) if (limit <= after) given.abort(new DOMException("", "TimeoutError"));
    };
  }`);
  return { giveUp: (after) => page.evaluate(`giveUp(${after})`) };
}
