import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { dialogHasFocus } from "./browser.ts";
import { type HarbourPage, openHarbourPage } from "./harbour-page.ts";
import { signInContext } from "./records-rig.ts";
import { closeSecret } from "./secret.ts";
import { walkTo } from "./walk-to.ts";

let opened: HarbourPage;
let page: HarbourPage["page"];
const asked: string[] = [];

beforeAll(async () => {
  opened = await openHarbourPage();
  page = opened.page;
  page.on("dialog", (dialog) => {
    asked.push(dialog.type());
    void dialog.dismiss();
  });
});
afterAll(() => opened?.close());

const form = "/zones/harbour.example?add=A";
const name = () => page.getByRole("dialog").getByLabel("Name", { exact: true });
/** Reloads like F5; true if the browser asked, and stayed. */
const reload = async (): Promise<boolean> => {
  asked.length = 0;
  await page.evaluate("window.isOld = true; void location.reload()");
  const isOld = () => page.evaluate("window.isOld === true").catch(() => true);
  await expect.poll(async () => asked.length > 0 || !(await isOld())).toBe(true);
  return asked.includes("beforeunload");
};
const typeInto = async (text: string) => {
  await walkTo(page, `${opened.rig.url}/zones`);
  await page.getByRole("link", { name: "harbour.example" }).click();
  await page.getByRole("button", { name: "Add record" }).click();
  await dialogHasFocus(page);
  await name().fill(text);
};

describe("reloading a page", () => {
  it("asks first if something was typed, and only then", async () => {
    await walkTo(page, opened.rig.url + form);
    await dialogHasFocus(page);
    await name().fill("draft");
    expect(await reload()).toBe(true);
    expect(await name().inputValue()).toBe("draft");
    await name().fill("");
    expect(await reload()).toBe(false);
    await name().waitFor();
  });

  it("asks first if a token is shown only once", async () => {
    await walkTo(page, `${opened.rig.url}/tokens?new`);
    await page.getByLabel("What is it for?").fill("router");
    await page.getByRole("button", { name: "Create token" }).click();
    await page.getByRole("button", { name: "Yes, for all zones" }).click();
    await page.getByText("Copy it now").waitFor();
    expect(await reload()).toBe(true);
    await closeSecret(page);
    expect(await reload()).toBe(false);
  });
});

describe("the sign-in page after a session has ended", () => {
  const endElsewhere = async () => {
    await opened.post("/console/sign-out", undefined, 204);
    await page.getByText("Sign in again to continue").waitFor();
  };
  const comeBack = async () => {
    await signInContext(opened.context, await opened.rig.service().createSignInLink("main"));
    await page.evaluate("window.dispatchEvent(new Event('visibilitychange'))");
  };

  it("warns before unsaved input is lost by the back button or a reload", async () => {
    await typeInto("waiting");
    await endElsewhere();
    expect(await reload()).toBe(true);
    await page.goBack();
    await page.getByText("Go back again to discard them").waitFor();
    await comeBack();
    await expect.poll(() => name().inputValue()).toBe("waiting");
    expect(page.url()).toContain(form);
    await page.getByRole("button", { name: "Cancel" }).click();
  });

  it("is left immediately if nothing is unsaved", async () => {
    await walkTo(page, opened.rig.url);
    await page.getByRole("link", { name: "Tokens" }).click();
    await page.getByText("live", { exact: true }).waitFor();
    await endElsewhere();
    expect(await reload()).toBe(false);
    await page.goBack();
    await expect.poll(() => new URL(page.url()).pathname).toBe("/");
  });
});
