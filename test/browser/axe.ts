import axe from "axe-core";
import type { Page } from "playwright-core";

/**
 * The violations that axe finds on the current page, in dark and light colours, one line each. `part`: only the contrast in these
 * elements, because the rest is made by others.
 */
export async function axeFinds(page: Page, part?: string): Promise<readonly string[]> {
  // Run directly: @axe-core/playwright loads it again for each run, which takes longer than the run.
  if (!(await page.evaluate("'axe' in window"))) await page.evaluate(axe.source);
  const contrast = { runOnly: ["color-contrast", "link-in-text-block"] };
  const dark = await findsIn(page, "dark", part, part === undefined ? {} : contrast);
  // In the other colours, only the contrast can differ.
  return [...dark, ...(await findsIn(page, "light", part, contrast))];
}

/**
 * What fades is too pale before the end of its transition, and the end of one can start another in an element inside. Some pages change
 * colours by script, which happens before the next frame.
 */
const transitionsEnd = `(async () => {
  const frame = () => new Promise((shown) => requestAnimationFrame(shown));
  const running = () => document.getAnimations().filter((each) => each instanceof CSSTransition);
  for (await frame(), await frame(); running().length > 0; await frame())
    await Promise.allSettled(running().map(({ finished }) => finished));
})()`;

async function findsIn(
  page: Page,
  colorScheme: "light" | "dark",
  part: string | undefined,
  options: object,
): Promise<readonly string[]> {
  await page.emulateMedia({ colorScheme });
  await page.evaluate(transitionsEnd);
  const asked = JSON.stringify([part ?? "html", { ...options, resultTypes: ["violations"] }]);
  return await page.evaluate(`axe.run(...${asked}).then(({ violations }) => violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => "${colorScheme}: " + id + " at " + target.join(" ") + ": " + failureSummary)))`);
}
