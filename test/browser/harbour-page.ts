import type { BrowserContext } from "playwright-core";
import { expect } from "vitest";
import { openBlankPage, openBrowser, openContext, type WatchedPage } from "./browser.ts";
import { fillHarbour } from "./harbour.ts";
import { type RecordsRig, signInContext, startRecordsRig } from "./records-rig.ts";

export type HarbourPage = {
  readonly rig: RecordsRig;
  readonly context: BrowserContext;
  readonly page: WatchedPage;
  /** Posts like another tab of the same browser. */
  readonly post: (path: string, data: unknown, status?: number) => Promise<void>;
  readonly close: () => Promise<void>;
};

/** The harbour service, a browser with a signed-in user, and a page that has not navigated there yet. */
export async function openHarbourPage(): Promise<HarbourPage> {
  const rig = await startRecordsRig();
  await fillHarbour(rig.service().store, Date.now());
  const browser = await openBrowser();
  const context = await openContext(browser);
  await signInContext(context, await rig.service().createSignInLink("main"));
  const page = await openBlankPage(context, rig.url);
  return {
    rig,
    context,
    page,
    post: async (path, data, status = 201) => {
      const { csrf } = (await (await context.request.get(`${rig.url}/console/session`)).json()) as { csrf: string };
      const headers = { origin: rig.url, "x-csrf-token": csrf };
      expect((await context.request.post(rig.url + path, { headers, data })).status()).toBe(status);
    },
    close: async () => {
      await browser.close();
      await rig.close();
    },
  };
}
