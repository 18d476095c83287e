import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { firstOf } from "../rig/long-run.ts";
import { realPause } from "../rig/real-pause.ts";
import { dialogHasFocus, wide } from "./browser.ts";
import { type HarbourPage, openHarbourPage } from "./harbour-page.ts";
import { signInContext } from "./records-rig.ts";
import { closeSecret } from "./secret.ts";
import { walkTo } from "./walk-to.ts";

/** What was typed is never lost, and other users' changes are not overwritten unnoticed. */

let { rig, context, page, post, close } = {} as HarbourPage;
beforeAll(async () => {
  ({ rig, context, page, post, close } = await openHarbourPage());
});
afterAll(() => close?.());

const harbour = "/zones/harbour.example";

describe("a record that is changed elsewhere while its form is open", () => {
  // What counts as a change: set-draft.test.ts of the console.
  it("causes a warning even if only its TTL changed", async () => {
    const records = [{ value: "192.0.2.44" }];
    await post(`/v1${harbour}/changes`, { changes: [{ name: "kept", type: "A", records }] });
    await walkTo(page, `${rig.url}${harbour}?edit=kept/A`);
    await page.getByRole("dialog").waitFor();
    await page.getByText("live", { exact: true }).waitFor();
    await post(`/v1${harbour}/changes`, { changes: [{ name: "kept", type: "A", records, ttl: 120 }] });
    await page.getByText("changed elsewhere after you opened it, to: 192.0.2.44, TTL 120. Saving").waitFor();
    expect(await page.getByLabel("IPv4 address").inputValue(), "the form as it was opened").toBe("192.0.2.44");
  });
});

describe("a record that is renamed", () => {
  it("does not replace an existing one", async () => {
    const changes = ["here", "there"].map((name, i) => ({ name, type: "A", records: [{ value: `192.0.2.4${i}` }] }));
    await post(`/v1${harbour}/changes`, { changes });
    await walkTo(page, `${rig.url}${harbour}?edit=here/A`);
    await dialogHasFocus(page);
    const name = page.getByRole("dialog").getByLabel("Name", { exact: true });
    await name.fill("there");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("A record set with this name and type already exists").waitFor();
    await name.fill("elsewhere");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("link", { name: "elsewhere A" }).waitFor();
    expect(await page.getByRole("row").filter({ hasText: "192.0.2.40" }).textContent()).toContain("elsewhere");
    expect(await page.getByRole("row").filter({ hasText: "192.0.2.41" }).textContent()).toContain("there");
  });
});

describe("the settings of a zone", () => {
  it("keep the labels that were typed when the TTL is saved", async () => {
    await walkTo(page, `${rig.url}${harbour}/settings`);
    await page.getByLabel("Labels").fill("site=attic");
    await page.getByLabel("Default TTL in seconds").fill("7200");
    await page.getByRole("button", { name: "Save TTL" }).click();
    await page.getByText("resolvers cache answers for 2 hours").waitFor();
    await expect.poll(() => page.getByRole("button", { name: "Save TTL" }).isDisabled()).toBe(true);
    expect(await page.getByLabel("Labels").inputValue()).toBe("site=attic");
  });
});

describe("a form that is closed by accident", () => {
  const dialog = () => page.getByRole("dialog");
  const warning = () => page.getByText("You have unsaved changes");
  const openForm = async () => {
    await page.getByRole("button", { name: "Add record" }).click();
    await dialogHasFocus(page);
  };
  const isClosed = async () => {
    await dialog().waitFor({ state: "detached" });
    expect(page.url()).toBe(rig.url + harbour);
  };

  it("closes immediately if nothing was typed: by Escape, and by the back button, which leads to its page", async () => {
    await walkTo(page, rig.url + harbour);
    await openForm();
    await page.keyboard.press("Escape");
    await isClosed();
    await openForm();
    await page.goBack();
    await isClosed();
    expect(await warning().count()).toBe(0);
  });

  it("warns if something was typed, and closes the second time", async () => {
    await openForm();
    const name = dialog().getByLabel("Name", { exact: true });
    for (const typed of ["half", "half-done"]) {
      await name.fill(typed);
      await page.goBack();
      await warning().waitFor();
      expect(await name.inputValue()).toBe(typed);
    }
    await page.goBack();
    await isClosed();
    await openForm();
    await name.fill("attic");
    await page.keyboard.press("Escape");
    await warning().waitFor();
    await dialog().getByLabel("IPv4 address").fill("192.0.2.45");
    await warning().waitFor({ state: "detached" });
    await page.setViewportSize({ width: 390, height: 300 });
    await page.mouse.click(5, 250);
    await warning().waitFor();
    await expect.poll(() => warning().evaluate((p) => p.getBoundingClientRect().bottom <= 300)).toBe(true);
    await page.setViewportSize(wide);
    expect(await name.inputValue()).toBe("attic");
    await page.keyboard.press("Escape");
    await isClosed();
  });

  it("is an import, which stays with its text, and closes without it", async () => {
    await page.getByRole("link", { name: "Settings" }).click();
    await page.getByRole("button", { name: "Import…" }).click();
    const file = dialog().getByRole("textbox", { name: "Zone file" });
    await file.fill("www 300 IN A 192.0.2.1");
    await page.goBack();
    await page.keyboard.press("Escape");
    expect(await file.inputValue()).toBe("www 300 IN A 192.0.2.1");
    await file.fill("");
    await page.goBack();
    await isClosed();
  });
});

describe("a form with a changed choice", () => {
  // Every form passes what it holds to the same FormDialog.
  const dialog = () => page.getByRole("dialog");
  const choose = async (list: string, option: string) => {
    await dialog().getByRole("combobox", { name: list }).click();
    await page.getByRole("option", { name: new RegExp(`^${option}\\b`) }).click();
  };

  it.for(
    firstOf([
      { path: "/tokens?new", what: "Expires", change: () => choose("Expires", "in a week") },
      {
        path: `${harbour}?add=A`,
        what: "a second value",
        change: () => page.getByRole("button", { name: "Add value" }).click(),
      },
      { path: "/tokens?new", what: "Only these types", change: () => choose("Only these types", "AAAA") },
      { path: `${harbour}?add=A`, what: "Type", change: () => choose("Type", "AAAA") },
    ]),
  )("warns before it closes: $what at $path", async ({ path, change }) => {
    await walkTo(page, `${rig.url}${path}`);
    await dialogHasFocus(page);
    await change();
    await page.keyboard.press("Tab");
    await page.getByRole("option").first().waitFor({ state: "detached" });
    await dialog().getByRole("button", { name: "Close" }).click();
    await page.getByText("You have unsaved changes").waitFor();
    expect(await dialog().count()).toBe(1);
    await dialog().getByRole("button", { name: "Close" }).click();
    await dialog().waitFor({ state: "detached" });
  });
});

describe("a session that ends while a form is filled in", () => {
  const password = "a ship in the harbour";
  const dialog = () => page.getByRole("dialog");

  beforeAll(async () => {
    await walkTo(page, `${rig.url}/account`);
    await page.getByLabel("New password").fill(password);
    await page.getByRole("button", { name: "Set password" }).click();
    await page.getByText("Password set").waitFor();
  });

  const endElsewhere = () => post("/console/sign-out", undefined, 204);
  const signInElsewhere = async (account: string) =>
    signInContext(context, await rig.service().createSignInLink(account));
  const signInAgain = async () => {
    await page.getByLabel("Account").fill("main");
    await page.getByRole("textbox", { name: "Password" }).fill(password);
    await page.getByRole("button", { name: "Sign in" }).click();
  };
  const comeBack = () => page.evaluate("window.dispatchEvent(new Event('visibilitychange'))");
  const add = () => dialog().getByRole("button", { name: "Add", exact: true }).click();
  const name = () => dialog().getByLabel("Name", { exact: true });
  const nothingIsShown = async () => {
    expect(await page.getByText("harbour.example").filter({ visible: true }).count()).toBe(0);
    expect(await dialog().filter({ visible: true }).count()).toBe(0);
    expect(await page.title()).toBe("moor DNS");
  };

  it("is noticed without an action; what was typed is kept, hidden, until the same user signs in again", async () => {
    await walkTo(page, `${rig.url}${harbour}?add=A`);
    await dialogHasFocus(page);
    await name().fill("patient");
    await dialog().getByLabel("IPv4 address").fill("192.0.2.47");
    await page.getByText("live", { exact: true }).waitFor();
    await endElsewhere();
    await page.getByText("Sign in again to continue; what you typed is still here").waitFor();
    await nothingIsShown();
    let asked = 0;
    const count = () => asked++;
    page.on("request", count);
    await realPause(2_000, "a page that still asked would ask within this time");
    expect(asked).toBe(0);
    page.off("request", count);
    // Without an event stream, the page learns of the next end only when it saves.
    await page.route("**/v1/events*", () => undefined);
    await signInAgain();
    await name().waitFor();
    expect(await name().inputValue()).toBe("patient");
  });

  it("is noticed when the form is saved, and the page continues after a link was opened in another tab", async () => {
    await endElsewhere();
    await add();
    await page.getByText("Sign in again to continue; what you typed is still here").waitFor();
    await page.getByText("You were signed out.").waitFor();
    await nothingIsShown();
    await signInElsewhere("main");
    await comeBack();
    await dialog().getByText("signed out before this was saved. Send it again").waitFor();
    expect(await name().inputValue()).toBe("patient");
    await page.unroute("**/v1/events*");
    await add();
    await page.getByRole("link", { name: "patient A" }).waitFor();
    expect(await page.getByRole("row").filter({ hasText: "patient" }).textContent()).toContain("192.0.2.47");
  });

  it("is replaced after a sign-in in another tab, and a token can still be created", async () => {
    await walkTo(page, `${rig.url}/tokens?new`);
    await dialogHasFocus(page);
    await dialog().getByLabel("What is it for?").fill("late");
    await dialog().getByLabel("read only").check();
    await signInElsewhere("main");
    const make = dialog().getByRole("button", { name: "Create token" });
    await make.click();
    await dialog().getByText("signed out before this was saved. Send it again").waitFor();
    await make.click();
    await closeSecret(page);
    await page.getByRole("button", { name: "Revoke late" }).waitFor();
    expect(await page.getByRole("row").filter({ hasText: "late" }).textContent()).toContain("may read all zones");
  });

  it("keeps nothing after a sign-out here, including one in the list of sessions", async () => {
    await walkTo(page, `${rig.url}/account`);
    await page.getByRole("row").filter({ hasText: "this one" }).getByRole("button").click();
    await page.getByRole("button", { name: "Sign in" }).waitFor();
    expect(await page.getByText("You were signed out").count()).toBe(0);
    expect(new URL(page.url()).pathname).toBe("/");
    await signInAgain();
    await page.getByRole("region", { name: "Your names" }).waitFor();
  });

  it("shows nothing of what was typed to another user", async () => {
    await walkTo(page, `${rig.url}${harbour}?add=A`);
    await dialogHasFocus(page);
    await name().fill("secret");
    await dialog().getByLabel("IPv4 address").fill("192.0.2.47");
    await page.getByText("live", { exact: true }).waitFor();
    await endElsewhere();
    await page.getByText("Sign in again to continue").waitFor();
    await signInElsewhere("stranger");
    await comeBack();
    await page.getByText("Zone harbour.example not found").waitFor();
    expect(await page.content()).not.toContain("192.0.2.");
    await signInElsewhere("main");
    await comeBack();
    await page.getByText("Zone harbour.example not found").waitFor({ state: "detached" });
    await name().waitFor();
    expect(await name().inputValue()).toBe("");
  });
});

describe("many simultaneous changes", () => {
  it("are shown without a request for each", async () => {
    await walkTo(page, `${rig.url}${harbour}/history`);
    await page.getByText("live", { exact: true }).waitFor();
    await page.getByRole("columnheader", { name: "Serial" }).waitFor();
    let asked = 0;
    const count = () => asked++;
    page.on("request", count);
    const records = [{ value: "192.0.2.46" }];
    const changes = Array.from({ length: 120 }, (_, i) => ({ name: `many${i}`, type: "A", records }));
    await post(`/v1${harbour}/changes`, { changes });
    await page.getByRole("row").filter({ hasText: "many119" }).getByText("120 sets added").waitFor();
    expect(asked).toBeLessThan(40);
    await page.getByRole("link", { name: "Records" }).click();
    await page.getByLabel("Filter records").fill("many");
    await page.getByText(/^120 of /).waitFor();
    page.off("request", count);
  });
});

describe("several addresses that are pasted together", () => {
  it("become one value each", async () => {
    await walkTo(page, `${rig.url}${harbour}?add=A&filter=pasted`);
    await page.getByLabel("Name", { exact: true }).fill("pasted");
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.evaluate('navigator.clipboard.writeText("192.0.2.7\\n192.0.2.8\\n192.0.2.9\\n")');
    await page.getByLabel("IPv4 address").press("ControlOrMeta+V");
    await page.getByRole("group", { name: "Record 3" }).waitFor();
    await page.getByRole("button", { name: "Add", exact: true }).click();
    const row = page.getByRole("row").filter({ has: page.getByRole("link", { name: "pasted A" }) });
    await row.getByText("192.0.2.9").waitFor();
    expect(await row.textContent()).toMatch(/192\.0\.2\.7.*192\.0\.2\.8.*192\.0\.2\.9/);
  });
});

describe("a very long value", () => {
  it("does not fill the history, and is shown whole on request", async () => {
    const long = Array.from({ length: 16 }, (_, i) => `"${String.fromCharCode(97 + i).repeat(255)}"`).join(" ");
    const change = { name: "long", type: "TXT", records: [{ value: long }] };
    await post(`/v1${harbour}/changes`, { changes: [change] });
    await walkTo(page, `${rig.url}${harbour}/history`);
    const row = page.getByRole("row").filter({ hasText: "long TXT" });
    await row.getByText(`${"a".repeat(199)}…`).waitFor();
    await row.getByRole("button", { name: "Show all 4,127 characters" }).click();
    await row.getByText(long).waitFor();
    expect(await row.getByRole("button", { name: "All" }).count()).toBe(0);
  });
});
