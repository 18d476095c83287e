import { AxeBuilder } from "@axe-core/playwright";
import type { Page } from "playwright-core";

/** What axe finds on the page as it is now, in these colours, in one line each. */
export async function axeFinds(page: Page, colorScheme: "light" | "dark"): Promise<readonly string[]> {
  await page.emulateMedia({ colorScheme });
  const { violations } = await new AxeBuilder({ page }).analyze();
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${colorScheme}: ${id} at ${target.join(" ")}: ${failureSummary ?? ""}`),
  );
}
