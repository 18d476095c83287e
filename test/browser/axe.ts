import { AxeBuilder } from "@axe-core/playwright";
import type { Page } from "playwright-core";

/** The violations that axe finds on the current page, in dark and light colours, one line each. */
export const axeFinds = async (page: Page): Promise<readonly string[]> => [
  ...(await findsIn(page, "dark", createAxe(page))),
  // In the other colours, only the contrast can differ.
  ...(await findsIn(page, "light", createAxe(page).withRules(["color-contrast", "link-in-text-block"]))),
];

/**
 * Our pages have no frames, so axe need not collect results in a separate page. It need not describe
 * what passes.
 */
const createAxe = (page: Page) => new AxeBuilder({ page }).setLegacyMode().options({ resultTypes: ["violations"] });

async function findsIn(page: Page, colorScheme: "light" | "dark", axe: AxeBuilder): Promise<readonly string[]> {
  await page.emulateMedia({ colorScheme });
  const { violations } = await axe.analyze();
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${colorScheme}: ${id} at ${target.join(" ")}: ${failureSummary ?? ""}`),
  );
}
