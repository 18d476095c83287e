import { AxeBuilder } from "@axe-core/playwright";
import type { Page } from "playwright-core";

/** What axe finds on the page as it is now, in dark and in light colours, in one line each. */
export const axeFinds = async (page: Page): Promise<readonly string[]> => [
  ...(await findsIn(page, "dark", createAxe(page))),
  // Only what colours decide can be another finding now.
  ...(await findsIn(page, "light", createAxe(page).withRules(["color-contrast", "link-in-text-block"]))),
];

/**
 * Our pages have no frames, so axe need not gather what it found from several in a page of its own; and what it finds in order it need
 * not describe.
 */
const createAxe = (page: Page) => new AxeBuilder({ page }).setLegacyMode().options({ resultTypes: ["violations"] });

async function findsIn(page: Page, colorScheme: "light" | "dark", axe: AxeBuilder): Promise<readonly string[]> {
  await page.emulateMedia({ colorScheme });
  const { violations } = await axe.analyze();
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${colorScheme}: ${id} at ${target.join(" ")}: ${failureSummary ?? ""}`),
  );
}
