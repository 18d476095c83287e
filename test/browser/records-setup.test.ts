import type { BrowserContext } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { askUdp } from "../../src/lib/dns/ask.ts";
import { classes, opcodes } from "../../src/lib/dns/codes.ts";
import { findDelegationBy } from "../../src/lib/dns/delegation.ts";
import type { Zone } from "../../src/records/model.ts";
import { type MoorDns, startMoorDns } from "../nameserver/moor-dns.ts";
import { type OpenBrowser, openBlankPage, openBrowser, openContext, type WatchedPage, wide } from "./browser.ts";
import { type RecordsRig, signInContext, startRecordsRig } from "./records-rig.ts";
import { walkTo } from "./walk-to.ts";

/** The parent zone, on a real nameserver. */
let parent: MoorDns;
let above: Zone;
let rig: RecordsRig;
let browser: OpenBrowser;
let context: BrowserContext;
let page: WatchedPage;
/** Milliseconds that the service's clock is ahead. */
let ahead = 0;

beforeAll(async () => {
  parent = await startMoorDns();
  above = await parent.makeZone("example");
  const findDelegation = findDelegationBy({
    serversOf: async (name) => (name === "example" ? ["ns.example"] : []),
    addressesOf: async () => ["127.0.0.1"],
    mayAsk: () => true,
    ask: (host, name, signal) =>
      askUdp(
        { host, port: parent.port, key: undefined },
        { opcode: opcodes.query, question: { name, type: 2, class: classes.in } },
        { signal, limit: 10_000, now: Date.now },
      ),
  });
  rig = await startRecordsRig(() => Date.now() + ahead, findDelegation);
  browser = await openBrowser();
  context = await openContext(browser);
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await signInContext(context, await rig.service().createSignInLink("main"));
  page = await openBlankPage(context, rig.url);
});
afterAll(async () => {
  await browser?.close();
  await rig?.close();
  await parent?.close();
});

const list = () => page.getByRole("region", { name: "Set up quay.example" });
const step = (title: string) =>
  list()
    .getByRole("listitem")
    .filter({ has: page.getByRole("heading", { name: title }) });

const valuesAt = async (zone: string, set: string): Promise<readonly string[]> => {
  const { rrset } = await (await context.request.get(`${rig.url}/v1/zones/${zone}/rrsets/${set}`)).json();
  return rrset.records.map(({ value }: { value: string }) => value);
};
/** As another client. */
const post = async (path: string, data: object) => {
  const { csrf } = (await (await context.request.get(`${rig.url}/console/session`)).json()) as { csrf: string };
  const headers = { origin: rig.url, "x-csrf-token": csrf };
  expect((await context.request.post(rig.url + path, { headers, data })).ok()).toBe(true);
};

it("the checklist follows a new zone, with the nameservers to copy and the delegation in the parent zone", async () => {
  await walkTo(page, `${rig.url}/?new`);
  await page.getByLabel("Domain name").fill("quay.example");
  await page.getByRole("button", { name: "Create zone" }).click();
  await list().getByRole("button", { name: "Copy nameservers" }).click();
  expect(await page.evaluate("navigator.clipboard.readText()")).toBe("ns1.example.net\nns2.example.net");
  await step("Delegation").getByText("Not delegated yet.").waitFor();
  await parent.write(above, "quay 60 NS ns.old.example.\n");
  ahead += 31_000;
  await step("Delegation").getByRole("button", { name: "Check again" }).click();
  await step("Delegation").getByText("Delegated to other nameservers: ns.old.example.").waitFor();
  await parent.write(above, "quay 60 NS ns1.example.net.\nquay 60 NS ns2.example.net.\n");
  ahead += 31_000;
  await step("Delegation").getByRole("button", { name: "Check again" }).click();
  await step("Delegation").getByText("The parent zone delegates to exactly these nameservers.").waitFor();
  await step("Nameservers at the registrar").getByText("done").waitFor();
});

it("the checklist does not call an unknown delegation missing", async () => {
  await post("/v1/zones", { name: "quay.nowhere.test", mode: "primary" });
  await walkTo(page, `${rig.url}/zones/quay.nowhere.test?setup`);
  await page.getByText("Could not find out whether the zone is delegated").waitFor();
  expect(await page.getByText("Not delegated yet").count()).toBe(0);
});

it("the checklist adds the records of a website, and says what is wrong with an address", async () => {
  await walkTo(page, `${rig.url}/zones/quay.example?setup`);
  const website = step("Website");
  await website.getByRole("button", { name: "Add website records" }).click();
  await website.getByText("enter at least one address").waitFor();
  await website.getByLabel("Web server (IPv4)").and(page.locator(":focus")).waitFor();
  await website.getByLabel("Web server (IPv4)").fill("192.0.2.300");
  await website.getByText("this is not an IPv4 address").waitFor();
  await website.getByLabel("Web server (IPv4)").fill("192.0.2.10");
  await website.getByLabel("Web server (IPv6)").fill("2001:db8::10");
  await website.getByRole("button", { name: "Add website records" }).press("Enter");
  await website.getByText("done").waitFor();
  // Its form is gone, and the next step has the focus.
  await step("Mail").locator(":focus").waitFor();
  expect(await website.textContent()).toContain("www CNAME quay.example.");
  expect(await valuesAt("quay.example", "@/A")).toEqual(["192.0.2.10"]);
  expect(await valuesAt("quay.example", "@/AAAA")).toEqual(["2001:db8::10"]);
});

it("the checklist adds the records of mail, and keeps other texts of the name", async () => {
  await page.setViewportSize(wide);
  const changes = [{ name: "@", type: "TXT", records: [{ value: '"kept"' }] }];
  await post("/v1/zones/quay.example/changes", { changes });
  await walkTo(page, `${rig.url}/zones/quay.example?setup`);
  const mail = step("Mail");
  await mail.getByLabel("A mail server or provider").click();
  await mail.getByRole("button", { name: "Add mail records" }).click();
  await mail.getByText("enter the full name of a server").waitFor();
  await mail.getByLabel("Mail server", { exact: true }).fill("mx.provider.test");
  await mail.getByRole("button", { name: "Add mail records" }).click();
  await mail.getByText("10 mx.provider.test.").waitFor();
  expect(await valuesAt("quay.example", "@/TXT")).toEqual(['"kept"', '"v=spf1 mx -all"']);

  await walkTo(page, `${rig.url}/zones/quay.nowhere.test?setup`);
  await page.getByLabel("neither receives nor sends mail").click();
  await page.getByRole("button", { name: "Add mail records" }).click();
  await page.getByText("0 .", { exact: true }).first().waitFor();
  expect(await valuesAt("quay.nowhere.test", "@/TXT")).toEqual(['"v=spf1 -all"']);
});

it("the checklist can be closed, and is still reachable from the settings", async () => {
  await walkTo(page, `${rig.url}/zones/quay.example`);
  await page.getByRole("link", { name: "Set-up checklist", exact: true }).click();
  await list().getByRole("button", { name: "Close the checklist" }).click();
  await expect.poll(() => list().count()).toBe(0);
  await walkTo(page, page.url());
  await page.getByRole("link", { name: "@ MX", exact: true }).waitFor();
  expect(await page.getByRole("link", { name: "Set-up checklist" }).count()).toBe(0);
  await page.getByRole("link", { name: "Settings" }).click();
  await page.getByRole("link", { name: /^Set-up checklist/ }).click();
  await list().waitFor();
});

it("the checklist tells the operator what to configure instead of names that do not exist", async () => {
  const zone = "**/v1/zones/quay.example";
  await page.route(zone, async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, body: (await response.text()).replaceAll(".example.net", ".moor.invalid") });
  });
  await walkTo(page, `${rig.url}/zones/quay.example?setup`);
  await step("Configure nameservers").getByText("--nameserver ns1.your-domain.net").waitFor();
  expect(await list().textContent()).not.toContain("invalid");
  await page.unroute(zone);
  expect(page.complaints).toEqual([]);
});
