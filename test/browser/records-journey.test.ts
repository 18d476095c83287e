import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { itInLongRuns } from "../rig/it-in-long-runs.ts";
import { type OpenBrowser, openBlankPage, openBrowser, openContext, type WatchedPage } from "./browser.ts";
import { type RecordsRig, signInByLink, startRecordsRig } from "./records-rig.ts";
import { closeSecret } from "./secret.ts";

/** What a new user does first, on one page: each test goes on where the one before it ended. */

let rig: RecordsRig;
let browser: OpenBrowser;
let page: WatchedPage;

beforeAll(async () => {
  rig = await startRecordsRig();
  browser = await openBrowser();
  page = await openBlankPage(await openContext(browser), rig.url);
});
afterAll(async () => {
  await browser?.close();
  await rig?.close();
});

/** curl as people use it: the token from standard input, the certificate from the data folder. */
async function curl(token: string, path: string, ...options: readonly string[]): Promise<string> {
  const header = join(rig.folder, "header");
  await writeFile(header, `Auth-API-Token: ${token}\n`);
  const ca = join(rig.folder, "ca.pem");
  const { stdout } = await promisify(execFile)("curl", [
    "-sS",
    "--cacert",
    ca,
    "-H",
    `@${header}`,
    ...options,
    rig.url + path,
  ]);
  return stdout;
}

/** A new zone shows its checklist first. */
const showRecords = () => page.getByRole("link", { name: "Records", exact: true }).click();

describe("setting up a name with a changing address", () => {
  it("is possible without leaving the console, which shows the change of address live", async () => {
    await signInByLink(page, await rig.service().createSignInLink("main"));

    await page.getByRole("button", { name: "Create a zone" }).click();
    await page.getByLabel("Domain name").fill("example.org");
    await page.keyboard.press("Enter");
    // Otherwise a keyboard user would start again at the top of the document.
    await page.locator("#content:focus, #content :focus").waitFor();
    await showRecords();

    await page.getByRole("button", { name: "Add record" }).click();
    await page.getByLabel("Name", { exact: true }).fill("home");
    await page.getByLabel("IPv4 address").fill("192.0.2.1");
    await page.keyboard.press("Enter");
    const row = page.getByRole("row").filter({ hasText: "home" });
    await row.getByText("192.0.2.1", { exact: true }).waitFor();

    await page.getByRole("link", { name: "Tokens" }).click();
    await page.getByRole("button", { name: "New token" }).click();
    await page.getByLabel("What is it for?").fill("router");
    await page.getByRole("combobox", { name: "Zones" }).click();
    await page.getByRole("option", { name: "example.org" }).click();
    await page.getByLabel("Only this name").fill("home");
    await page.getByText("may write all records of home.example.org").waitFor();
    await page.getByRole("button", { name: "Create token" }).click();
    const token = ((await page.locator("pre").first().textContent()) ?? "").trim();
    expect(token).toMatch(/^\w{32}$/);
    await page.getByRole("tab", { name: "ddclient" }).click();
    await page.getByRole("tabpanel").getByText(token).waitFor();
    await closeSecret(page);
    expect(await page.content()).not.toContain(token);

    const { records } = JSON.parse(await curl(token, "/api/v1/records")) as {
      records: { id: string; zone_id: string }[];
    };
    expect(records).toHaveLength(1);
    await page.getByRole("link", { name: "Zones" }).click();
    await page.getByRole("link", { name: "example.org" }).click();
    await row.waitFor();
    const [record] = records;
    const body = JSON.stringify({ value: "192.0.2.77", ttl: 60, type: "A", name: "home", zone_id: record?.zone_id });
    await curl(token, `/api/v1/records/${record?.id}`, "-X", "PUT", "-d", body);
    await row.getByText("192.0.2.77", { exact: true }).waitFor();

    await page.getByRole("link", { name: "Tokens" }).click();
    // Uses are written periodically, and the page polls periodically.
    await page.getByRole("row").filter({ hasText: "router" }).getByText("2 times").waitFor();
    await page.getByRole("button", { name: "Revoke router" }).click();
    await page.getByRole("button", { name: "Revoke it" }).click();
    await page.getByText("All tokens are revoked").waitFor();
    expect(await curl(token, "/api/v1/records")).toContain("Invalid authentication credentials");
    expect(page.complaints).toEqual([]);
  });

  // The test above presses Enter in its forms; records-keyboard and records-table.test.ts follow the focus.
  itInLongRuns("works without a mouse", async () => {
    await page.getByRole("link", { name: "Zones" }).click();
    const focused = page.locator(":focus");
    const tabTo = async (name: string) => {
      await page.getByRole("button", { name }).or(page.getByRole("link", { name })).first().waitFor();
      for (let i = 0; i < 40; i++) {
        await page.keyboard.press("Tab");
        if ((await focused.allTextContents())[0]?.trim() === name) return;
      }
      throw new Error(`${name} cannot be reached`);
    };
    await tabTo("New zone");
    await page.keyboard.press("Enter");
    await page.getByLabel("Domain name").and(focused).waitFor();
    await page.keyboard.type("keys.example");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "keys.example", exact: true }).waitFor();
    // Otherwise a keyboard user would start again at the top of the document.
    await page.locator("#content:focus, #content :focus").waitFor();
    await tabTo("Records");
    await page.keyboard.press("Enter");
    await page.getByRole("table", { name: "Record sets" }).waitFor();
    await tabTo("Add record");
    await page.keyboard.press("Enter");
    await page.getByLabel("Name", { exact: true }).and(focused).waitFor();
    await page.keyboard.type("www");
    await page.getByLabel("IPv4 address").focus();
    await page.keyboard.type("192.0.2.9");
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await page.getByRole("link", { name: "www A" }).waitFor();
    await expect.poll(() => focused.allTextContents()).toEqual(["Add record"]);
  });
});

describe("zone files", () => {
  it("are imported after a preview, and errors are shown with their lines", async () => {
    await page.getByRole("link", { name: "Zones" }).click();
    await page.getByRole("button", { name: "New zone" }).click();
    await page.getByLabel("Domain name").fill("files.example");
    await page.getByLabel("Import records from a zone file").check();
    await page
      .getByLabel("Zone file", { exact: true })
      .fill("$TTL 3600\n@ NS ns1.elsewhere.example.\nwww A 192.0.2.1\nold A 192.0.2.2\n");
    await page.getByText("2 new, 0 changed, 0 deleted").waitFor();
    await page.getByLabel("Take the file’s").check();
    await page.getByText("3 new, 0 changed, 0 deleted").waitFor();
    await page.getByLabel("Keep this service’s nameservers").check();
    await page.getByRole("button", { name: "Create zone" }).click();
    await showRecords();
    await page.getByRole("link", { name: "old A" }).waitFor();

    await page.getByRole("link", { name: "Settings" }).click();
    await page.getByRole("button", { name: "Import…" }).click();
    await page.getByLabel(/^Replace/).check();
    const choice = page.getByLabel("Zone file to read");
    const choose = (text: string) =>
      choice.setInputFiles({ name: "files.zone", mimeType: "text/plain", buffer: Buffer.from(text) });
    await choose("$TTL 3600\n@ NS ns1.example.net.\nwww A 192.0.2.400\n");
    await page.getByText("line 3").waitFor();
    // A browser fires no event if the same file is chosen again.
    expect(await choice.inputValue()).toBe("");
    await choose("$TTL 3600\n@ NS ns1.example.net.\nwww A 192.0.2.5\nnew AAAA 2001:db8::1\n");
    await page.getByText("1 new, 1 changed, 1 deleted").waitFor();
    await page.getByRole("button", { name: "Import and change 3 sets" }).click();
    await page.getByText("Imported: 1 new, 1 changed, 1 deleted.").waitFor();
    await page.getByRole("link", { name: "Records" }).click();
    await page.getByRole("link", { name: "new AAAA" }).waitFor();
    expect(await page.getByRole("link", { name: "old A" }).count()).toBe(0);

    await page.getByRole("link", { name: "Settings" }).click();
    const [saved] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Export" }).click(),
    ]);
    expect(saved.suggestedFilename()).toBe("files.example.zone");
    const remove = page.getByRole("button", { name: "Delete zone" });
    expect(await remove.isDisabled()).toBe(true);
    await page.getByLabel("Type files.example to delete it").fill("files.example");
    await remove.click();
    await page.getByRole("link", { name: "example.org" }).waitFor();
    // The list may be the one from before until it has been read again.
    await page.getByRole("link", { name: "files.example" }).waitFor({ state: "detached" });
    expect(page.complaints).toEqual([]);
  });
});
