import type { Page } from "playwright-core";
import type { ConsolePage } from "./three-services.ts";

type Shown = readonly [path: string, shown: (page: Page) => Promise<unknown>, picture?: string, region?: string];

const zone = "/zones/harbour.example";

const records: readonly Shown[] = [
  ["/", (page) => page.getByRole("slider", { name: "Changes of home.harbour.example" }).waitFor(), "names"],
  [
    "/dynamic?zone=harbour.example&name=home",
    (page) => page.getByText("The first update replaces it").waitFor(),
    "dns-dynamic",
  ],
  ["/zones", (page) => page.getByRole("link", { name: "harbour.example" }).waitFor(), "dns-zones"],
  ["/zones?new", (page) => page.getByLabel("Domain name").waitFor(), "dns-new-zone"],
  [zone, (page) => page.getByRole("link", { name: "home AAAA" }).waitFor(), "dns-records"],
  [`${zone}?add=MX`, (page) => page.getByLabel("Mail server").waitFor(), "dns-add-record"],
  [`${zone}?edit=@/TXT`, (page) => page.getByLabel("Text", { exact: true }).waitFor()],
  [`${zone}?edit=@/SOA`, (page) => page.getByLabel("Serial").waitFor()],
  [`${zone}?edit=gone/A`, (page) => page.getByText("gone A no longer exists").waitFor()],
  [`${zone}?filter=zeppelin`, (page) => page.getByText("No records match").waitFor()],
  [`${zone}/history`, (page) => page.getByText("203.0.113.97").first().waitFor(), "dns-history"],
  [
    `${zone}/moving`,
    (page) =>
      page
        .getByRole("img", { name: /home.harbour.example/ })
        .first()
        .waitFor(),
    "dns-moving",
  ],
  ["/zones/tide-tables.example?setup", (page) => page.getByText("Not delegated yet.").waitFor(), "dns-setup"],
  [
    "/zones/tide-tables.example/dnssec",
    async (page) => {
      const given = page.getByText("For your registrar, at the next stage");
      await page.getByRole("button", { name: "Sign the zone" }).or(given).waitFor();
      if (!(await given.isVisible())) await page.getByRole("button", { name: "Sign the zone" }).click();
      await given.waitFor();
    },
    "dns-dnssec",
    "DNSSEC",
  ],
  [`${zone}/provider`, (page) => page.getByRole("button", { name: "Add a provider…" }).waitFor()],
  [`${zone}/settings`, (page) => page.getByText("Nameservers to enter").waitFor(), "dns-settings"],
  [
    "/zones/lagoon.example",
    async (page) => {
      await page.getByText("The zone could not be transferred from 192.0.2.53.").waitFor();
      await page.getByRole("link", { name: "@ SOA" }).waitFor();
    },
  ],
  ["/zones/xn--mnchen-3ya.test", (page) => page.getByRole("link", { name: "straße A" }).waitFor()],
  ["/nothing", (page) => page.getByRole("heading", { name: "Page not found" }).waitFor()],
  ["/zones/nowhere.example", (page) => page.getByText("Zone nowhere.example not found").waitFor()],
  ["/tokens", (page) => page.getByText("router at home", { exact: true }).waitFor(), "dns-tokens"],
  ["/tokens?new", (page) => page.getByLabel("What is it for?").waitFor(), "dns-new-token"],
  ["/account", (page) => page.getByText("(this one)").waitFor(), "dns-account"],
];

/**
 * Swagger UI, in our colours. Its first part has every kind of element; axe would need half a minute for the whole
 * page.
 */
const docs: ConsolePage = {
  ...{ console: "records", path: "/docs", picture: "dns-api-docs" },
  shown: async (page) => {
    await page.getByRole("button", { name: "get /api/v1/zones", exact: true }).waitFor();
    await page.evaluate(
      'for (const part of document.querySelectorAll("span + span > .opblock-tag-section")) part.remove()',
    );
  },
  contrastIn: ".swagger-ui",
};

const firewall: readonly Shown[] = [
  ["/", (page) => page.getByRole("region", { name: "ppp0" }).waitFor(), "firewall-interfaces"],
  ["/users", (page) => page.getByRole("button", { name: "New key for root" }).waitFor(), "firewall-users"],
  ["/users?new", (page) => page.getByRole("button", { name: "Create user" }).waitFor(), "firewall-new-user"],
  ["/users?edit=ada", (page) => page.getByRole("button", { name: "Save" }).waitFor()],
  ["/audit", (page) => page.getByRole("table").waitFor(), "firewall-audit"],
  ["/account", (page) => page.getByText("(this one)").waitFor(), "firewall-account"],
];

const updater: readonly Shown[] = [
  [
    "/",
    async (page) => {
      const card = page.getByRole("region", { name: "home.harbour.example" });
      await card.getByText("up to date", { exact: true }).waitFor();
      await card.getByRole("img").waitFor();
      await page.getByText("Active config").press("Enter");
      await page.getByText("record service: moor records").waitFor();
    },
    "updater",
  ],
  [
    "/",
    async (page) => {
      await page.getByRole("button", { name: "New dynamic name" }).click();
      await page.getByRole("dialog").getByLabel("Name", { exact: true }).fill("nas");
      await page.getByRole("dialog").getByLabel("Interface for IPv4 (A)").fill("ppp0");
    },
    "updater-add-name",
  ],
];

const pagesOf = (console: ConsolePage["console"], pages: readonly Shown[]): ConsolePage[] =>
  pages.map(([path, shown, picture, region]) => ({
    ...{ console, path, shown },
    ...(picture && { picture }),
    ...(region && { region }),
  }));

/** Every page and dialog of the three consoles: a test walks them, and their screenshots are taken. */
export const allPages: readonly ConsolePage[] = [
  ...pagesOf("records", records),
  docs,
  ...pagesOf("firewall", firewall),
  ...pagesOf("updater", updater),
];
