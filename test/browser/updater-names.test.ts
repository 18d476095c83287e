import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { builtPages } from "../rig/bundle.ts";
import { until } from "../rig/until.ts";
import { type Loop, openLoop } from "../rig/updater/loop.ts";
import { wanWith } from "../rig/updater/services.ts";
import { startWatcher, type Watcher } from "../updater/watcher.ts";
import { axeFinds, axeFindsInLongRun } from "./axe.ts";
import { holdTime, type OpenBrowser, openBrowser, openContext, openPage, type WatchedPage, wide } from "./browser.ts";

let browser: OpenBrowser;
let loop: Loop;
let watcher: Watcher;
let page: WatchedPage;
const password = "a ship in the harbour";

beforeAll(async () => {
  browser = await openBrowser();
  const control = '{ listen: "0.0.0.0:0", token: { file: t }, password: { file: page-password } }';
  loop = await openLoop("  # the house\n  - { name: home, zone: example.org, ipv4: wan0 } # first", undefined, {
    settings: `interval: 1s\ncontrol: ${control}`,
    before: (folder) => writeFileSync(join(folder, "page-password"), `${password}\n`, { mode: 0o600 }),
  });
  loop.records.push({ id: "nas", type: "A", name: "nas", value: "192.0.2.7", zone_id: "z1" });
  watcher = await startWatcher(loop, { pages: builtPages() });
  await until(() => loop.stored().A === "9.9.9.9");
  // Another address of this machine, as seen from the LAN.
  page = await openPage(await openContext(browser), watcher.page().replace("127.0.0.1", "127.0.0.2"));
});
afterAll(async () => {
  // While the page is still open: its connection must not delay the stop.
  await watcher?.stop();
  await browser?.close();
  await loop?.close();
});

describe("the updater's page for other machines", () => {
  it("shows nothing without the password, refuses a wrong one, and lets the right one in", async () => {
    await page.getByRole("heading", { name: "moor updater" }).waitFor();
    expect(await axeFindsInLongRun(page)).toEqual([]);
    const { origin } = new URL(page.url());
    expect(origin).toMatch(/^https:/);
    expect((await page.request.get(`${origin}/page/state`)).status()).toBe(401);
    await page.getByLabel("Password", { exact: true }).fill("a ship in the sky");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByText("Name or password is wrong.").waitFor();
    await page.getByLabel("Password", { exact: true }).fill(password);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("region", { name: "home.example.org" }).waitFor();
    expect(page.complaints).toEqual([]);
  });

  it("refuses what a page of another origin sends with the session", async () => {
    const { origin } = new URL(page.url());
    const asked = await page.request.post(`${origin}/page/check`, { headers: { origin } });
    expect([asked.status(), await asked.text()]).toEqual([403, expect.stringContaining("forged")]);
  });
});

const config = () => readFileSync(join(loop.folder, "moor.yaml"), "utf8");
const record = (id: string) => loop.records.find((each) => each.id === id)?.value;
const say = (address: string) => {
  loop.says.firewall = () => ({ body: { wan0: wanWith([address], []) } });
  watcher.check();
};
const dialog = () => page.getByRole("dialog");
const press = (name: string) => dialog().getByRole("button", { name, exact: true }).click();
const focused = (role: "button" | "textbox", name: string) =>
  dialog().getByRole(role, { name, exact: true }).and(page.locator(":focus"));
const card = (name: string) => page.getByRole("region", { name: `${name}.example.org` });
const closed = () => dialog().waitFor({ state: "detached" });

describe("the names on the updater's page", () => {
  it("can be added: the difference is shown first, the file keeps its comments, and the record is written", async () => {
    const before = config();
    await page.getByRole("button", { name: "New dynamic name" }).click();
    await dialog().getByLabel("Name", { exact: true }).and(page.locator(":focus")).fill("nas");
    expect(await dialog().getByLabel("Zone").inputValue()).toBe("example.org");
    await dialog().getByLabel("Interface for IPv4 (A)").fill("wan0");
    await dialog().getByLabel("Name", { exact: true }).press("Enter");
    await focused("button", "Save").waitFor();
    await page.keyboard.press("Shift+Tab");
    await page.keyboard.press("Shift+Tab");
    await focused("button", "Back").press("Enter");
    await focused("textbox", "Name").waitFor();
    await dialog().getByRole("button", { name: "Review" }).press("Enter");
    await focused("button", "Save").waitFor();
    await dialog().getByText("- { name: nas, zone: example.org, ipv4: wan0, create: true }").waitFor();
    expect(config()).toBe(before);
    await press("Save");
    await closed();
    expect(await page.getByText("Saved. The updater uses the new config.").getAttribute("class")).toContain("good");
    await card("nas").getByText("up to date", { exact: true }).waitFor();
    expect(record("nas")).toBe("9.9.9.9");
    expect(config()).toBe(`${before.trimEnd()}\n  - { name: nas, zone: example.org, ipv4: wan0, create: true }\n`);
  });

  it("show what is wrong at its field", async () => {
    const before = config();
    await card("nas").getByRole("button", { name: "Edit nas.example.org" }).click();
    await dialog().getByLabel("TTL").fill("an hour");
    await press("Review");
    const field = dialog().locator(".mantine-TextInput-root", { has: page.getByLabel("TTL") });
    await field.getByText(/^ttl is not a whole number .*; write the number without/).waitFor();
    expect(await dialog().getByLabel("TTL").getAttribute("aria-invalid")).toBe("true");
    await dialog().getByLabel("TTL").fill("300");
    await press("Review");
    await press("Save");
    await closed();
    expect(config()).toBe(before.replace("name: nas, zone: example.org, ipv4: wan0, create: true", "$&, ttl: 300"));
  });

  it("are not written over a change that somebody made in the meantime", async () => {
    await page.getByRole("button", { name: "Pause home.example.org" }).click();
    await dialog().getByText("paused: true").waitFor();
    writeFileSync(join(loop.folder, "moor.yaml"), `${config()}# by hand\n`);
    await press("Pause");
    await dialog().getByText("The config file was changed in the meantime").waitFor();
    await press("Cancel");
    await closed();
    expect(config()).not.toContain("paused");
    expect(config()).toContain("# by hand\n");
  });

  it("can be paused and resumed", async () => {
    const pause = async (verb: "Pause" | "Resume") => {
      await page.getByRole("button", { name: `${verb} home.example.org` }).click();
      await dialog().getByText("paused: true").waitFor();
      await press(verb);
      await closed();
    };
    await pause("Pause");
    await card("home").getByText("paused", { exact: true }).waitFor();
    say("9.9.9.10");
    await until(() => record("nas") === "9.9.9.10");
    expect(record("r4")).toBe("9.9.9.9");
    expect(await (await page.request.get(`${new URL(page.url()).origin}/metrics`)).text()).toContain(
      'moor_update_name_paused{name="home.example.org A"} 1',
    );
    await pause("Resume");
    await until(() => record("r4") === "9.9.9.10");
    await expect.poll(() => card("home").textContent()).toContain("Stored9.9.9.10Published9.9.9.10");
    expect(config()).not.toContain("paused");
  });

  it("get their address back with a click if somebody else changed the record", async () => {
    await card("home").getByText("up to date", { exact: true }).waitFor();
    Object.assign(loop.records.find(({ id }) => id === "r4") ?? {}, { value: "198.51.100.66" });
    await page.getByRole("button", { name: "Check now" }).click();
    await card("home").getByRole("button", { name: "Put 9.9.9.10 back" }).click();
    await card("home").getByText("up to date", { exact: true }).waitFor();
    expect(record("r4")).toBe("9.9.9.10");
  });

  it("fit a phone, and the form and the difference have no axe violation there", async () => {
    await page.setViewportSize({ width: 360, height: 740 });
    // With a key: the card above may still change its height, and a pointer would miss the button.
    await card("nas").getByRole("button", { name: "Edit nas.example.org" }).press("Enter");
    await dialog().getByLabel("TTL").waitFor();
    const overflow = "document.documentElement.scrollWidth - document.documentElement.clientWidth";
    await expect.poll(() => page.evaluate(overflow)).toBe(0);
    await press("Remove…");
    await dialog().getByText("removed: - { name: nas").waitFor();
    expect(await axeFinds(page)).toEqual([]);
    expect(await page.evaluate(overflow)).toBe(0);
  });

  it("can be removed, with the record left as it is", async () => {
    const before = config();
    await press("Remove");
    await card("nas").waitFor({ state: "detached" });
    expect(config()).toBe(before.replace(/ {2}- \{ name: nas.*\n/, ""));
    expect(record("nas")).toBe("9.9.9.10");
    expect(page.complaints).toEqual([]);
  });
});

describe("a record service that refuses the token", () => {
  it("gets a new one on the page, which is not shown again", async () => {
    await page.setViewportSize(wide);
    const reloads = () => watcher.lines.filter(({ msg }) => msg === "the config was reloaded").length;
    const before = reloads();
    writeFileSync(join(loop.folder, "t"), "revoked\n", { mode: 0o600 });
    await until(() => reloads() > before);
    say("9.9.9.77");
    const field = page.getByLabel("New token for dns");
    await field.fill("t0ken");
    expect(await axeFinds(page)).toEqual([]);
    await page.getByRole("button", { name: "Use this token" }).click();
    await until(() => record("r4") === "9.9.9.77");
    await field.waitFor({ state: "detached" });
    expect(await page.content()).not.toContain("t0ken");
    expect(readFileSync(join(loop.folder, "t"), "utf8")).toBe("t0ken\n");
  });
});

describe("the updater's page", () => {
  it("does not say that nothing was done before it has loaded", async () => {
    const answer = Promise.withResolvers<void>();
    await page.route("**/page/decisions", async (route) => {
      await answer.promise;
      await route.continue();
    });
    await page.reload();
    await card("home").waitFor();
    expect(await page.getByText("No update has been necessary yet.").count()).toBe(0);
    answer.resolve();
    await page.getByRole("cell", { name: "record replaced by 9.9.9.77" }).waitFor();
    await page.unroute("**/page/decisions");
  });

  it("shows a config that was changed while it is open, without the secrets", async () => {
    await holdTime(page);
    await page.goto(page.url());
    await page.getByText("Active config").press("Enter");
    await page.getByText("record service: moor records").waitFor();
    const more = `changesPerHour: 7
holdDown: 3s
notify: [{ kind: ntfy, url: "http://127.0.0.1:9/a-topic-nobody-knows" }]
heartbeat: { url: "http://127.0.0.1:9/a-check-nobody-knows", every: 5m }`;
    writeFileSync(join(loop.folder, "moor.yaml"), `${more}\n${config()}`);
    const rules = page.getByText("writes an address that has been present for 3 s, at most 7 changes per hour");
    await expect.poll(() => page.clock.fastForward(10_000).then(() => rules.count())).toBe(1);
    await page.getByRole("cell", { name: "notified of failures (ntfy)" }).waitFor();
    await page.getByRole("cell", { name: "heartbeat every 300 s (healthchecks)" }).waitFor();
    const sent = await (await page.request.get(`${new URL(page.url()).origin}/page/config`)).text();
    expect(sent).toContain("hidden");
    expect(sent).not.toMatch(/nobody-knows|t0ken|thesecret/);
    expect(page.complaints).toEqual([]);
  });

  it("says that the updater hangs", async () => {
    await page.getByText("live", { exact: true }).waitFor();
    const isAsked = page.waitForRequest("**/page/state");
    await page.route("**/page/state", () => undefined);
    await isAsked;
    const message = page.getByText("The updater is not responding");
    await expect.poll(() => page.clock.fastForward(10_000).then(() => message.count())).toBe(1);
  });
});
