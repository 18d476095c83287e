import { describe, expect, it } from "vitest";
import type { FoundRouter } from "../../updater/sources/gateway/find-routers.ts";
import { type Discovered, proposalsFrom } from "./discover.ts";
import { kindChoices } from "./source.ts";

const nothing: Discovered = { own: undefined, page: undefined, routers: [] };
const own = { device: "ppp0", address: "9.9.9.9" };
const page = (kind: "opnsense" | "pfsense" | "openwrt" | "mikrotik") =>
  ({ kind, url: new URL("https://192.168.1.1/") }) as const;
const igd: FoundRouter = {
  kind: "igd",
  name: "Attic router",
  address: "192.168.1.1",
  external: "81.2.69.142",
  isOwn: true,
};
const fritzbox: FoundRouter = { ...igd, kind: "fritzbox", name: "FRITZ!Box 7590" };
const { external: _, ...silent } = igd;

describe("found sources come first, and the web before sources without a public address", () => {
  it.for<[string, Partial<Discovered>, string, string]>([
    ["nothing", {}, "web firewall interface", "Services on the internet that answer with the address they see."],
    ["a public address", { own }, "interface web firewall", "found: ppp0 has 9.9.9.9"],
    ["a router", { routers: [igd] }, "igd web firewall", "found: Attic router at 192.168.1.1 reports 81.2.69.142"],
    [
      "a FRITZ!Box",
      { routers: [fritzbox] },
      "fritzbox web",
      "found: FRITZ!Box 7590 at 192.168.1.1 reports 81.2.69.142",
    ],
    ["an OPNsense", { page: page("opnsense") }, "firewall web", "found: 192.168.1.1 looks like OPNsense"],
    [
      "an OpenWrt with UPnP",
      { page: page("openwrt"), routers: [igd] },
      "openwrt igd web",
      "found: 192.168.1.1 looks like OpenWrt",
    ],
    [
      "a FRITZ!Box and a page",
      { page: page("mikrotik"), routers: [fritzbox] },
      "fritzbox mikrotik web",
      "found: FRITZ!Box",
    ],
    ["all of them", { own, page: page("pfsense"), routers: [igd] }, "interface pfsense igd web", "found: ppp0"],
    [
      "a router behind another",
      { routers: [{ ...igd, external: "192.168.178.20" }] },
      "web igd firewall",
      "Services on",
    ],
    ["a router behind carrier NAT", { routers: [{ ...igd, external: "100.64.0.9" }] }, "web igd", "Services on"],
    ["a router without a connection", { routers: [silent] }, "web igd", "Services on"],
  ])("%s", ([, found, order, hint]) => {
    const choices = kindChoices(proposalsFrom({ ...nothing, ...found }));
    expect(choices.map(({ value }) => value).join(" ")).toMatch(new RegExp(`^${order}\\b`));
    expect(choices[0]?.hint).toContain(hint);
    expect(choices.map(({ value }) => value)).not.toContain("opnsense");
    expect(new Set(choices.map(({ value }) => value)).size).toBe(choices.length);
  });

  it("says why a router is not proposed", () => {
    const [proposal] = proposalsFrom({ ...nothing, routers: [{ ...igd, external: "100.64.0.9" }] });
    expect(proposal?.because).toBe("Attic router at 192.168.1.1 reports 100.64.0.9, which is not public");
  });

  it("passes on what is known about a router", () => {
    expect(proposalsFrom({ ...nothing, page: page("opnsense") })).toMatchObject([
      { settings: { url: "https://192.168.1.1/" } },
    ]);
    expect(proposalsFrom({ ...nothing, routers: [fritzbox] })).toMatchObject([
      { settings: { url: "http://192.168.1.1:49000" } },
    ]);
  });
});
