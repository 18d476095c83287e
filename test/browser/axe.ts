import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { isLongRun } from "../rig/long-run.ts";

export type Colours = "light" | "dark";

type Checked = {
  /** Check only the contrast in these elements, because the rest is not ours. */
  readonly contrastIn?: string | undefined;
  readonly colours?: readonly [Colours, ...Colours[]];
};

/** As text: importing it would compile it for Node too, and a page reads the minified one in half the time. */
const axeSource = () => readFileSync(new URL(import.meta.resolve("axe-core/axe.min.js")), "utf8");

/**
 * The violations that axe finds on the current page, one line each: in the colours that it has, and in a long run also
 * in the others, unless some are given. If a dialog is open, only a long run checks the page behind it too.
 */
export async function axeFinds(page: Page, { contrastIn, colours }: Checked = {}): Promise<readonly string[]> {
  // Run directly: @axe-core/playwright loads axe again for each run, which takes longer than the run.
  if (!(await page.evaluate("'axe' in window"))) await page.evaluate(axeSource());
  const before = await coloursOf(page);
  const both: readonly [Colours, ...Colours[]] = before === "dark" ? ["dark", "light"] : ["light", "dark"];
  const [first, ...others] = colours ?? (isLongRun ? both : [before]);
  // What people say to a voice control is what they read on the button (WCAG 2.5.3); axe leaves this rule out.
  // Inline styles with !important, which React does not write, take a tenth of the time: only long runs look for them.
  const whole = {
    rules: { "label-content-name-mismatch": { enabled: true }, "avoid-inline-spacing": { enabled: isLongRun } },
  };
  const contrast = { runOnly: ["color-contrast", "link-in-text-block"] };
  const found = [...(await findsIn(page, first, contrastIn, contrastIn === undefined ? whole : contrast))];
  // In the other colours, only the contrast can differ.
  for (const colours of others) found.push(...(await findsIn(page, colours, contrastIn, contrast)));
  await setColours(page, before);
  return found;
}

/** For a state of a page that all-pages.test.ts checks in another state: only a long run checks both. */
export const axeFindsInLongRun = async (page: Page): Promise<readonly string[]> => (isLongRun ? axeFinds(page) : []);

const coloursOf = (page: Page): Promise<Colours> =>
  page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light'");

/** Changing them takes half as long as axe. */
export async function setColours(page: Page, colorScheme: Colours): Promise<void> {
  if ((await coloursOf(page)) !== colorScheme) await page.emulateMedia({ colorScheme });
}

/**
 * An element that fades in is too pale until its transition ends, and that can start another transition inside it.
 * Some pages change colours by script, before the next frame. In a closed <details>, a transition does not end until it
 * is opened.
 */
const transitionsEnd = `(async () => {
  const frame = () => new Promise((shown) => requestAnimationFrame(shown));
  const running = () => document.getAnimations().filter((each) => each instanceof CSSTransition && each.effect.target.checkVisibility());
  for (await frame(), await frame(); running().length > 0; await frame())
    await Promise.allSettled(running().map(({ finished }) => finished));
})()`;

/** The rows of a list have the same elements: only a long run checks those after the first dozen. */
const laterRows = ["tbody tr:nth-child(n+13)", ".set-row:nth-child(n+13)"];

/**
 * Axe reads the layout of the whole page even if it checks only a dialog over it: without that page, it takes a fifth
 * of the time.
 */
const runAxe = `async (part, options, hidesPage, left) => {
  const dialog = hidesPage ? document.querySelector("[role=dialog][aria-modal=true]") : null;
  const root = document.getElementById("root");
  const isApart = dialog !== null && !root.contains(dialog);
  if (isApart) root.style.display = "none";
  const { violations } = await axe.run({ include: [part ?? dialog ?? document], exclude: left }, options);
  if (isApart) root.style.display = "";
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => id + " at " + target.join(" ") + ": " + failureSummary));
}`;

async function findsIn(
  page: Page,
  colours: Colours,
  part: string | undefined,
  options: object,
): Promise<readonly string[]> {
  await setColours(page, colours);
  await page.evaluate(transitionsEnd);
  // By default axe also loads all style sheets, which none of these rules uses.
  const all = { ...options, resultTypes: ["violations"], preload: { assets: ["media"] } };
  const given = [part ?? null, all, !isLongRun, isLongRun ? [] : laterRows]
    .map((each) => JSON.stringify(each))
    .join(", ");
  const found = await page.evaluate<readonly string[]>(`(${runAxe})(${given})`);
  return found.map((each) => `${colours}: ${each}`);
}
