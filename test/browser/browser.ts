import { type Browser, type BrowserContext, chromium, type Locator, type Page } from "playwright-core";
import { patience } from "../rig/patience.ts";

/** Debian's browser, in the form that has no window and is quicker for it; nothing is ever downloaded. */
export const launchBrowser = (): Promise<Browser> =>
  chromium.launch({ executablePath: "/usr/bin/chromium-headless-shell", timeout: patience });

export type OpenBrowser = Pick<Browser, "newContext" | "close">;

let shared: Promise<Browser> | undefined;

/** One browser serves all test files of a worker, and ends with it: to close it here closes what this file has opened in it. */
export async function openBrowser(): Promise<OpenBrowser> {
  if (!(await shared)?.isConnected()) shared = launchBrowser();
  const browser = (await shared) as Browser;
  const contexts: BrowserContext[] = [];
  return {
    newContext: async (options) => {
      const context = await browser.newContext(options);
      contexts.push(context);
      return context;
    },
    close: async () => void (await Promise.all(contexts.map((context) => context.close()))),
  };
}

export const wide = { width: 1280, height: 800 } as const;
export const phone = { width: 390, height: 780 } as const;

export type Look = {
  readonly scheme?: "light" | "dark";
  readonly size?: { width: number; height: number };
  /** By which clock the person reads. */
  readonly clock?: string;
};

export async function openContext(
  browser: OpenBrowser,
  { scheme = "light", size = wide, clock = "UTC" }: Look = {},
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
  return context;
}

/** Red, green and blue of its letters. */
export async function colourOf(shown: Locator): Promise<readonly number[]> {
  const colour = await shown.evaluate((element: { computedStyleMap: () => { get: (name: string) => unknown } }) =>
    String(element.computedStyleMap().get("color")),
  );
  return (colour.match(/\d+/g) ?? []).map(Number);
}

/** A dialog that is open takes keys once it has the focus. */
export const dialogHasFocus = (page: Page): Promise<void> =>
  page.locator('[role="dialog"] :focus').waitFor({ state: "attached" });

export type WatchedPage = Page & { readonly complaints: string[] };

/** A page that fails its test on any error in it, and on any request to another host. */
export async function openPage(context: BrowserContext, url: string): Promise<WatchedPage> {
  const page = await openBlankPage(context, url);
  await page.goto(url);
  return page;
}

/** The same, before it has been led to anything at this service. */
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
 * From its next load on, `page.clock` can move the page's time, and its requests are given up by nothing but `giveUp`, as if so many
 * milliseconds had passed for them: however long a machine stands still, what hangs is still waited for.
 */
export async function holdTime(page: Page): Promise<{ readonly giveUp: (after: number) => Promise<unknown> }> {
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
