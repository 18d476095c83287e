import { expect, test } from "vitest";
import { chooseInOrder } from "../../core/addresses/choose-in-order.ts";
import type { KernelAddress, KernelRow } from "../../lib/kernel/row.ts";
import { reportKernel } from "./interface.ts";

const row = (
  ifname: string,
  addresses: readonly (string | Partial<KernelAddress>)[],
  more: Partial<KernelRow> = {},
) => ({
  ifname,
  link_type: "ether",
  flags: ["UP", "LOWER_UP"],
  ...more,
  addr_info: addresses.map((each): KernelAddress => {
    const { local = "", ...marks } = typeof each === "string" ? { local: each } : each;
    const family = local.includes(":") ? "inet6" : "inet";
    return { family, local, prefixlen: family === "inet6" ? 64 : 24, valid_life_time: 4294967295, ...marks };
  }),
});
const temporary = { local: "2a00::beef", temporary: true, valid_life_time: 86_400 };

test.each<[string, KernelRow, string, string]>([
  ["the first of each family", row("a", ["9.9.9.9", "9.9.9.8", "2a00::9"]), "9.9.9.9", "2a00::9"],
  ["not a temporary one, even if it is newest", row("a", [temporary, "2a00::9"]), "no-addresses", "2a00::9"],
  [
    "not a temporary one, even if it is valid longer",
    row("a", [temporary, { local: "2a00::9", valid_life_time: 3_600 }]),
    "no-addresses",
    "2a00::9",
  ],
  ["a temporary one if there is no other", row("a", [temporary]), "no-addresses", "2a00::beef"],
  ["not a deprecated one", row("a", [{ local: "2a00::8", deprecated: true }, "2a00::9"]), "no-addresses", "2a00::9"],
  ["not a tentative one", row("a", [{ local: "2a00::8", tentative: null }]), "no-addresses", "no-fit-address"],
  ["not a duplicate", row("a", [{ local: "2a00::8", dadfailed: true }]), "no-addresses", "no-fit-address"],
  ["not a link-local one", row("a", ["169.254.1.1", "fe80::1"]), "no-fit-address", "no-fit-address"],
  [
    "the one with the longer lifetime",
    row("a", [{ local: "2a00::8", valid_life_time: 60 }, "2a01::9"]),
    "no-addresses",
    "2a01::9",
  ],
  [
    "that of a point-to-point device without a link",
    row("a", ["9.9.9.9"], { link_type: "ppp", flags: ["UP"] }),
    "9.9.9.9",
    "no-addresses",
  ],
])("the updater takes %s", (_, device, ipv4, ipv6) => {
  const report = reportKernel([device]);
  const candidates = ["a", "nothing"].map((name) => ({ device: name, report }));
  const chosen = (["ipv4", "ipv6"] as const).map((family) => {
    const { choice } = chooseInOrder(candidates, { family });
    return choice.kind === "address" ? choice.address.text : "because" in choice ? choice.because : choice.kind;
  });
  expect(chosen).toEqual([ipv4, ipv6]);
});

test.each<[string, Partial<KernelRow>, boolean]>([
  ["up with a link", {}, true],
  ["up without a link", { flags: ["NO-CARRIER", "UP"] }, false],
  ["down", { flags: ["LOWER_UP"] }, false],
  ["a tunnel", { link_type: "none", flags: ["UP"] }, true],
  [
    "a device in Node's list, without a link type",
    { flags: ["UP"], link_type: undefined } as unknown as Partial<KernelRow>,
    true,
  ],
])("reads whether a device is up: %s", (_, more, up) => {
  expect(reportKernel([row("a", [], more)]).get("a")?.up).toBe(up);
});
