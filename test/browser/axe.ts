import axe from "axe-core";
import type { Page } from "playwright-core";
import { isLongRun } from "../rig/long-run.ts";

export type Colours = "light" | "dark";

type Checked = {
  /** Check only the contrast in these elements, because the rest is not ours. */
  readonly contrastIn?: string | undefined;
  readonly colours?: readonly [Colours, ...Colours[]];
};

/**
 * The violations that axe finds on the current page, one line each: in dark colours, and in a long run also in light
 * ones, unless others are given. If a dialog is open, only a long run checks the page behind it too.
 */
export async function axeFinds(
  page: Page,
  { contrastIn, colours: [first, ...others] = isLongRun ? ["dark", "light"] : ["dark"] }: Checked = {},
): Promise<readonly string[]> {
  // Run directly: @axe-core/playwright loads axe again for each run, which takes longer than the run.
  if (!(await page.evaluate("'axe' in window"))) await page.evaluate(axe.source);
  const contrast = { runOnly: ["color-contrast", "link-in-text-block"] };
  const found = [...(await findsIn(page, first, contrastIn, contrastIn === undefined ? {} : contrast))];
  // In the other colours, only the contrast can differ.
  for (const colours of others) found.push(...(await findsIn(page, colours, contrastIn, contrast)));
  await page.emulateMedia({ colorScheme: "light" });
  return found;
}

/**
 * An element that fades in is too pale until its transition ends, and that can start another transition inside it. Some
 * pages change colours by script, before the next frame. In a closed <details>, a transition does not end until it is
 * opened.
 */
const transitionsEnd = `(async () => {
  const frame = () => new Promise((shown) => requestAnimationFrame(shown));
  const running = () => document.getAnimations().filter((each) => each instanceof CSSTransition && each.effect.target.checkVisibility());
  for (await frame(), await frame(); running().length > 0; await frame())
    await Promise.allSettled(running().map(({ finished }) => finished));
})()`;

async function findsIn(
  page: Page,
  colorScheme: Colours,
  part: string | undefined,
  options: object,
): Promise<readonly string[]> {
  await page.emulateMedia({ colorScheme });
  await page.evaluate(transitionsEnd);
  // By default axe also loads all style sheets, which none of these rules uses.
  const all = { ...options, resultTypes: ["violations"], preload: { assets: ["media"] } };
  const dialog = isLongRun ? "null" : `document.querySelector("[role=dialog][aria-modal=true]")`;
  const where = part === undefined ? `${dialog} ?? document` : JSON.stringify(part);
  return await page.evaluate(`axe.run(${where}, ${JSON.stringify(all)}).then(({ violations }) => violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => "${colorScheme}: " + id + " at " + target.join(" ") + ": " + failureSummary)))`);
}
