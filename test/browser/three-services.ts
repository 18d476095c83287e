import { join } from "node:path";
import type { Page } from "playwright-core";
import { expect } from "vitest";
import { hashSecret } from "../../src/access/secret.ts";
import { wholeAccount } from "../../src/core/may.ts";
import { keysFile, openAccess } from "../../src/firewall/access/store.ts";
import { until } from "../rig/until.ts";
import { type Look, type OpenBrowser, openBlankPage, openContext, type WatchedPage } from "./browser.ts";
import { type FirewallRig, householdRows, startFirewallRig } from "./firewall-rig.ts";
import { fillHarbour, fillQuay } from "./harbour.ts";
import { type RecordsRig, signInContext, startRecordsRig } from "./records-rig.ts";
import { startUpdaterRig, type UpdaterRig } from "./updater-rig.ts";
import { walkTo } from "./walk-to.ts";

const password = "a ship in the harbour";

export type ThreeServices = {
  readonly records: RecordsRig;
  readonly firewall: FirewallRig;
  readonly updater: UpdaterRig;
  readonly close: () => Promise<void>;
};

/**
 * The harbour's DNS, a household's firewall, and the updater between them, with every kind of thing that the pages
 * show.
 */
export async function startThreeServices(): Promise<ThreeServices> {
  const [records, firewall] = await Promise.all([
    startRecordsRig(Date.now, async () => ({ kind: "none" })),
    startFirewallRig(),
  ]);
  const { store } = records.service();
  await fillHarbour(store, Date.now());
  await fillQuay(store, Date.now());
  const account = await store.ensureAccount("main", Date.now());
  const token = "a-token-for-pictures-only-0000000";
  await store.addToken({
    ...{ account: account.id, name: "router at home", scope: wholeAccount },
    ...{ hash: hashSecret(token), created: Date.now() },
  });
  const key = fillHousehold(firewall.folder);
  const updater = await startUpdaterRig({
    firewall: { url: firewall.url, ca: join(firewall.folder, "ca.pem"), ...key },
    records: { url: records.url, ca: join(records.folder, "ca.pem"), token },
    ...{ name: "home", zone: "harbour.example", password },
  });
  const hasStored = async () => (await updater.state()).includes("203.0.113.97");
  await until(hasStored, { what: () => "the updater to store the first address" });
  // A move, so that there is something to draw.
  await firewall.setRows(householdRows("203.0.113.64"));
  return {
    ...{ records, firewall, updater },
    close: async () => {
      await updater.close();
      await firewall.close();
      await records.close();
    },
  };
}

/** Users of the household; returns the updater's key. */
function fillHousehold(folder: string): { readonly key: string; readonly secret: string } {
  const access = openAccess(keysFile(folder));
  const now = new Date();
  const ada = { name: "ada", fullName: "Ada from next door", networks: ["192.168.7.0/24"] };
  access.users.add({ ...ada, privileges: ["dashboard", "traffic"], now });
  const key = access.keys.add({ name: "updater", privileges: ["interface-status"], now });
  const root = { name: "root", source: "192.168.7.20" };
  access.audit.note(root, "user added", "ada, privileges: dashboard, traffic", now);
  access.audit.note(root, "key added", "Q0h31QbpK/Ef… of updater", now);
  const ago = new Date(now.getTime() - 600_000);
  access.signIns.note({ at: ago, actor: "ada", source: "192.168.7.31", action: "sign-in refused", failed: true });
  access.signIns.note({ at: now, actor: "ada", source: "192.168.7.31", action: "sign-in refused", failed: true });
  access.signIns.note({ at: now, actor: "root", source: "192.168.7.20", action: "signed in", failed: false });
  access.close();
  return key;
}

export type Consoles = Readonly<Record<"records" | "firewall" | "updater", WatchedPage>>;

/** A page of each console, signed in, that has not navigated yet. */
export async function openConsoles(services: ThreeServices, browser: OpenBrowser, look: Look = {}): Promise<Consoles> {
  const context = await openContext(browser, look);
  await signInContext(context, await services.records.service().createSignInLink("main"));
  await signInContext(context, await services.firewall.service.createSignInLink());
  const { url } = services.updater;
  const headers = { origin: url };
  const signedIn = await context.request.post(`${url}/console/sign-in`, { headers, data: { name: "", password } });
  expect(signedIn.ok()).toBe(true);
  const open = (console: keyof Consoles) => openBlankPage(context, services[console].url);
  return { records: await open("records"), firewall: await open("firewall"), updater: await open("updater") };
}

/** `shown` waits for what makes the page complete. */
export type ConsolePage = {
  readonly console: keyof Consoles;
  readonly path: string;
  readonly shown: (page: Page) => Promise<unknown>;
  /** Axe checks only the contrast in these elements; the rest of the page is not ours. */
  readonly contrastIn?: string;
  /** The name of its picture in docs/images. */
  readonly picture?: string;
  /** The picture shows only this region. */
  readonly region?: string;
};

export async function showPage(
  services: ThreeServices,
  consoles: Consoles,
  { console, path, shown, contrastIn }: ConsolePage,
): Promise<WatchedPage> {
  const page = consoles[console];
  const url = services[console].url + path;
  await (contrastIn === undefined ? walkTo(page, url) : page.goto(url));
  await shown(page);
  return page;
}
