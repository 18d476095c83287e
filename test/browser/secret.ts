import type { Page } from "playwright-core";

/** Closes the dialog of a secret without having copied it. */
export async function closeSecret(page: Page): Promise<void> {
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: "Close…" }).click();
  await dialog.getByRole("button", { name: "Yes, close without copying it" }).click();
  await dialog.waitFor({ state: "detached" });
}
