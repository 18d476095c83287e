import type { Browser, BrowserContext, BrowserContextOptions, CDPSession, Page } from "playwright-core";

export type OpenBrowser = Pick<Browser, "newContext" | "close">;

type Reused = {
  readonly context: BrowserContext;
  readonly idle: Page[];
  /** Where its pages were: what they kept in their storage must go. */
  readonly origins: Set<string>;
  readonly end: () => Promise<void>;
};

/** Contexts that nobody uses now, by their options. */
const unused = new WeakMap<Browser, Map<string, Reused[]>>();
const changedForGood = new WeakSet<BrowserContext>();

/** What was changed in it cannot be reset (a script that runs before each page, a clock): closing it ends it. */
export const doNotReuse = (context: BrowserContext): void => void changedForGood.add(context);

/**
 * A browser whose contexts have no cookies and no pages, but are not new: opening one, its first page and their process
 * takes twice as long as loading a page in one that is open. Closing a context or a page keeps it for the next test;
 * closing the browser closes what was opened here.
 */
export function reuseContexts(browser: Browser): OpenBrowser {
  const open = new Set<BrowserContext>();
  const kept = unused.get(browser) ?? new Map<string, Reused[]>();
  unused.set(browser, kept);
  return {
    newContext: async (options = {}) => {
      const look = JSON.stringify(options);
      const reused = kept.get(look)?.pop() ?? (await newContext(browser, options));
      const { context } = reused;
      open.add(context);
      context.close = async () => {
        if (!open.delete(context)) return;
        if (!(await empty(reused))) await reused.end();
        else kept.set(look, [...(kept.get(look) ?? []), reused]);
      };
      return context;
    },
    close: async () => void (await Promise.all([...open].map((context) => context.close()))),
  };
}

async function newContext(browser: Browser, options: BrowserContextOptions): Promise<Reused> {
  const context = await browser.newContext(options);
  const [end, openPage] = [context.close.bind(context), context.newPage.bind(context)];
  const idle: Page[] = [];
  const origins = new Set<string>();
  context.newPage = async () => idle.pop() ?? reusedPage(await openPage(), { idle, origins }, options);
  return { context, idle, origins, end };
}

/** Resolves to false if it cannot be used again. */
async function empty({ context, idle, origins }: Reused): Promise<boolean> {
  if (changedForGood.has(context)) return false;
  for (const page of context.pages()) if (!idle.includes(page)) await page.close();
  if (idle[0]) await forgetStorage(await context.newCDPSession(idle[0]), origins);
  await context.clearCookies();
  await context.clearPermissions();
  return true;
}

async function forgetStorage(session: CDPSession, origins: Set<string>): Promise<void> {
  for (const origin of origins)
    await session.send("Storage.clearDataForOrigin", { origin, storageTypes: "local_storage" });
  origins.clear();
  await session.detach();
}

/** Closing it only empties it, unless another one is already kept. */
function reusedPage(
  page: Page,
  { idle, origins }: Pick<Reused, "idle" | "origins">,
  { viewport, colorScheme }: BrowserContextOptions,
): Page {
  const end = page.close.bind(page);
  page.close = async () => {
    if (page.url().startsWith("http")) origins.add(new URL(page.url()).origin);
    if (idle.length > 0 || changedForGood.has(page.context())) {
      await end();
      return;
    }
    idle.push(page);
    for (const event of ["console", "dialog", "pageerror", "request", "response"]) page.removeAllListeners(event);
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await page.goto("about:blank");
    if (viewport) await page.setViewportSize(viewport);
    await page.emulateMedia({ colorScheme: colorScheme ?? null });
  };
  return page;
}
