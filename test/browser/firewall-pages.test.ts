import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openBrowser, openContext, openPage, wide } from "./browser.ts";
import { type FirewallRig, householdRows, startFirewallRig } from "./firewall-rig.ts";
import { signInContext } from "./records-rig.ts";
import { closeSecret } from "./secret.ts";
import { walkTo } from "./walk-to.ts";

let rig: FirewallRig;
let browser: Awaited<ReturnType<typeof openBrowser>>;
/** The administrator's page, which all tests use. */
let root: Awaited<ReturnType<typeof signedIn>>;
beforeAll(async () => {
  rig = await startFirewallRig();
  browser = await openBrowser();
  root = await signedIn();
});
afterAll(async () => {
  await browser?.close();
  await rig?.close();
});

async function signedIn() {
  const context = await openContext(browser);
  await signInContext(context, await rig.service.createSignInLink());
  return { context, page: await openPage(context, rig.url) };
}

const aUser = { name: "", fullName: "", disabled: false, expires: null, privileges: [], networks: [] };

/** As another tab of the same browser. */
async function send(method: "POST" | "PUT" | "DELETE", path: string, data?: object): Promise<void> {
  const { request } = root.context;
  const { csrf } = (await (await request.get(`${rig.url}/console/session`)).json()) as { csrf: string };
  const headers = { origin: rig.url, "x-csrf-token": csrf };
  const answer = await request.fetch(`${rig.url}/console/${path}`, { method, headers, ...(data && { data }) });
  expect(answer.ok()).toBe(true);
}

describe("a key for an updater", () => {
  it("is created on the user page, works with curl, and is revoked there", async () => {
    const { page } = root;
    await page.getByRole("link", { name: "Users" }).click();
    await page.getByRole("button", { name: "New user" }).click();
    // What is typed replaces the name that is proposed. One that is taken is an error at its field, which gets the
    // focus, and nothing is lost.
    const focused = page.locator(":focus");
    await page.getByLabel("Name", { exact: true }).and(focused).waitFor();
    await page.keyboard.type("root");
    await page.getByRole("button", { name: "Create user and key" }).click();
    const name = page.getByRole("textbox", { name: "Name", exact: true, description: "A user root already exists." });
    await name.and(focused).fill("updater");
    await page.getByRole("button", { name: "Create user and key" }).click();
    await page.getByText(`firewall: { url: "${rig.url}", keyFile: `).waitFor();
    const download = page.waitForEvent("download");
    await page.getByRole("button", { name: /^Download/ }).click();
    const file = join(rig.folder, "key.txt");
    await (await download).saveAs(file);
    const [, key = "", secret = ""] = /^key=(.{80})\nsecret=(.{80})\n$/.exec(await readFile(file, "utf8")) ?? [];
    expect(key).not.toBe("");
    await page.getByRole("button", { name: "I have saved it" }).click();
    await expect.poll(() => page.content()).not.toContain(secret);
    await page.getByRole("button", { name: "New user" }).and(focused).waitFor();

    const config = join(rig.folder, "curl.conf");
    await writeFile(config, `user = "${key}:${secret}"\n`);
    const ask = async () => {
      const url = `${rig.url}/api/diagnostics/interface/getinterfaceconfig`;
      const call = ["-sS", "--config", config, "--cacert", join(rig.folder, "ca.pem"), url];
      return (await promisify(execFile)("curl", call)).stdout;
    };
    const row = page.getByRole("row").filter({ hasText: "updater" });
    await row.getByText("never used").waitFor();
    expect(JSON.parse(await ask())).toMatchObject({ ppp0: { ipv4: [{ ipaddr: "203.0.113.97" }] } });
    await walkTo(page, page.url());
    await row.getByText("last used").waitFor();
    expect(await row.textContent()).toContain("interface-status");

    await page.getByRole("button", { name: /^Revoke the key/ }).click();
    await page.getByRole("button", { name: /^Yes, revoke it/ }).click();
    await expect.poll(() => page.getByRole("button", { name: /^Revoke the key/ }).count()).toBe(0);
    expect(await ask()).toContain("Authentication Failed");
    await page.getByRole("link", { name: "Audit" }).click();
    for (const action of ["user added", "key added", "key deleted", "signed in by link"])
      await page.getByRole("cell", { name: action }).first().waitFor();
    expect(page.complaints).toEqual([]);
  });
});

describe("the form of a user", () => {
  it("does not revert what was changed elsewhere while it was open", async () => {
    const { page } = root;
    await send("POST", "users", { ...aUser, name: "shared" });
    await walkTo(page, `${rig.url}/users?edit=shared`);
    await page.getByRole("dialog").waitFor();
    await send("PUT", "users/shared", { fullName: "Shared by two" });
    await page.getByRole("switch", { name: "Disabled" }).press("Space");
    await page.getByRole("button", { name: "Save" }).click();
    await expect.poll(() => page.getByRole("dialog").count()).toBe(0);
    const row = page.getByRole("row").filter({ hasText: "Shared by two" });
    await row.getByRole("cell", { name: "disabled" }).waitFor();
  });

  it("does not offer administrators to remove or disable themselves", async () => {
    const { page } = root;
    await walkTo(page, `${rig.url}/users?edit=root`);
    await page.getByRole("button", { name: "Save" }).waitFor();
    expect(await page.getByRole("button", { name: "Remove…" }).count()).toBe(0);
    expect(await page.getByRole("switch", { name: "Disabled" }).isDisabled()).toBe(true);
  });
});

it("a user's privileges, last day and networks are checked in the form, and nothing that was typed is lost", async () => {
  const { context, page } = root;
  await walkTo(page, `${rig.url}/users?new`);
  const field = (label: string | RegExp) => page.getByLabel(label, { exact: typeof label === "string" });
  const create = () => page.getByRole("button", { name: "Create user" }).click();
  await field("Name").fill("watcher");
  await page.getByRole("checkbox", { name: "Create a key" }).uncheck();
  await page.getByRole("radio", { name: "Other" }).check();
  await page.getByRole("checkbox", { name: "interface-status" }).uncheck();
  await page.getByRole("checkbox", { name: "gateways" }).check();
  await field(/^Valid until/).fill("20271-03-01");
  await create();
  await page.getByText("use a year with four digits").waitFor();
  await field(/^Valid until/).fill("2027-03-01");
  await field(/^Only from these networks/).fill("192.0.2.0/33");
  await create();
  await page.getByText("192.0.2.0/33 is not a network").waitFor();
  expect(await field("Name").inputValue()).toBe("watcher");
  await field(/^Only from these networks/).fill("192.0.2.0/24");
  await create();
  const row = page.getByRole("row").filter({ hasText: "watcher" });
  await expect.poll(() => row.textContent()).toContain("until 1 Mar 2027");
  await row.getByRole("cell", { name: "192.0.2.0/24" }).waitFor();
  await row.getByRole("cell", { name: "gateways" }).waitFor();
  expect(await row.textContent()).not.toContain("interface-status");

  const people = async () =>
    (await (await context.request.get(`${rig.url}/console/people`)).json()) as {
      users: { name: string; expires: string }[];
    };
  const stored = async () => (await people()).users.find((user) => user.name === "watcher")?.expires;
  expect(await stored()).toBe("2027-03-01T23:59:59.000Z");
  await row.getByRole("button", { name: "watcher", exact: true }).click();
  expect(await field(/^Valid until/).inputValue()).toBe("2027-03-01");
  await page.getByRole("button", { name: "Save" }).click();
  await expect.poll(() => page.getByRole("dialog").count()).toBe(0);
  expect(await stored(), "saving moves no day").toBe("2027-03-01T23:59:59.000Z");
  expect(page.complaints.filter((each) => !each.includes("422"))).toEqual([]);
});

describe("an error on the user page", () => {
  it("disappears with the next success anywhere on the page", async () => {
    const { page } = root;
    for (const name of ["aide", "aide2"]) await send("POST", "users", { ...aUser, name });
    const refusal = { status: 422, json: { error: { message: "refused by this test" } } };
    await page.route("**/console/users/aide/keys", (route) => route.fulfill(refusal));
    await walkTo(page, `${rig.url}/users`);
    const refused = page.getByText("refused by this test");
    await page.getByRole("button", { name: "New key for aide", exact: true }).click();
    await refused.waitFor();
    await page.getByRole("button", { name: "New key for aide2" }).click();
    await closeSecret(page);
    expect(await refused.count()).toBe(0);
    await page.getByRole("button", { name: "New key for aide", exact: true }).click();
    await refused.waitFor();
    await page.unroute("**/console/users/aide/keys");
  });
});

describe("a phone of 360 pixels", () => {
  it("shows the longest names and lists without scrolling sideways", async () => {
    const { page } = root;
    const name = `${"x".repeat(63)}1`;
    const networks = Array.from({ length: 9 }, (_, at) => `2001:db8:ffff:ffff:ffff:ffff:ffff:ff${at}0/124`);
    await send("POST", "users", { ...aUser, name, fullName: "W".repeat(200), privileges: ["all"], networks });
    await send("POST", `users/${name}/keys`);
    await rig.setRows([...householdRows("203.0.113.97"), { ifname: "br-000000000000", flags: ["UP"], addr_info: [] }]);
    await page.setViewportSize({ width: 360, height: 740 });
    for (const path of ["/", "/users", `/users?edit=${name}`, "/audit", "/account"]) {
      await walkTo(page, rig.url + path);
      await page.getByRole("heading", { level: 1 }).waitFor();
      if (path !== "/" && path !== "/account") await page.getByText(/x{20}/).first().waitFor();
      if (path.includes("?")) await page.getByRole("dialog").waitFor();
      await expect.poll(async () => [path, await page.evaluate(overflow)]).toEqual([path, 0]);
    }
    await rig.setRows(householdRows("203.0.113.97"));
    await send("DELETE", `users/${name}`);
  });
});

const overflow = "document.documentElement.scrollWidth - document.documentElement.clientWidth";

it("the button that made a key is in view again, although the new key has moved it out of a low window", async () => {
  const { page } = root;
  await walkTo(page, `${rig.url}/users`);
  await page.setViewportSize({ width: 390, height: 420 });
  const button = page.getByRole("button", { name: "New key for root" });
  await button.press("Enter");
  await closeSecret(page);
  await button.and(page.locator(":focus")).waitFor();
  const place = "document.activeElement.getBoundingClientRect()";
  await expect.poll(() => page.evaluate(`${place}.top >= 0 && ${place}.bottom <= innerHeight`)).toBe(true);
  await page.setViewportSize(wide);
});

it("users without the privilege see no pages for users, and read why", async () => {
  const { context, page } = root;
  await send("POST", "users", { ...aUser, name: "looker", privileges: ["interface-status"] });
  await context.clearCookies();
  await signInContext(context, await rig.service.createSignInLink("looker"));
  await page.goto(rig.url);
  await page.getByRole("region", { name: "ppp0" }).waitFor();
  expect(await page.getByRole("link", { name: "Users" }).count()).toBe(0);
  for (const path of ["/users", "/audit"]) {
    await walkTo(page, rig.url + path);
    await page.getByText("Only an administrator can manage users").waitFor();
    expect(await page.getByRole("button", { name: /^New/ }).count()).toBe(0);
  }
});
