import { families } from "../../core/addresses/address.ts";
import { kindsOf } from "../../lib/settings/mapping.ts";
import type { SourceConfig } from "../config/kinds.ts";
import { command } from "./command.ts";
import { dns } from "./dns.ts";
import { firewall } from "./firewall.ts";
import { fritzbox } from "./gateway/fritzbox.ts";
import { igd } from "./gateway/igd.ts";
import { ownInterfaces } from "./interface.ts";
import { mikrotik } from "./routers/mikrotik.ts";
import { openwrt } from "./routers/openwrt.ts";
import { pfsense } from "./routers/pfsense.ts";
import type { AddressSource, SourceAbilities, SourceKind } from "./source.ts";
import { web } from "./web.ts";

/** All kinds of sources, each with what people call it. */
const rows: Readonly<Record<string, readonly [called: string, kind: SourceKind<never>]>> = {
  firewall: ["OPNsense, or moor firewall", firewall],
  opnsense: ["OPNsense", firewall],
  interface: ["this machine's own interfaces", ownInterfaces],
  web: ["services on the internet, over HTTPS", web],
  dns: ["services on the internet, over DNS", dns],
  igd: ["a router with UPnP, NAT-PMP or PCP", igd],
  fritzbox: ["FRITZ!Box", fritzbox],
  openwrt: ["OpenWrt", openwrt],
  mikrotik: ["MikroTik", mikrotik],
  pfsense: ["pfSense", pfsense],
  command: ["your own program", command],
};

export const sourceKinds: Readonly<Record<string, SourceKind<never>>> = Object.fromEntries(
  Object.entries(rows).map(([code, [, kind]]) => [code, kind]),
);

export const sourceNames: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(rows).map(([code, [called]]) => [code, called]),
);

export const usualKind = "firewall";

/** An entry of `sources:`. */
export const sourceSettings = kindsOf("kind", sourceKinds, { description: "The kind of source.", usual: usualKind });

/** What messages call a source: "the firewall home", "the source home". */
export const kindLabelOf = (config: SourceConfig | undefined): string =>
  sourceKinds[config?.kind ?? ""]?.kindLabel ?? "source";

export function abilitiesOf(config: SourceConfig): SourceAbilities | undefined {
  const kind = sourceKinds[config.kind];
  // The cast is safe: the settings were read by the same kind.
  return kind?.canWith?.(config as never) ?? kind?.can;
}

export async function openSource(config: SourceConfig, wanted = families, interval?: number): Promise<AddressSource> {
  const kind = sourceKinds[config.kind];
  if (!kind) throw new Error(`no source of kind ${config.kind}`);
  const connect: Parameters<typeof kind.open>[1] = async (endpoint) =>
    (await import("../../lib/http-client/client.ts")).createHttpClient(endpoint);
  // The cast is safe: the settings were read by the same kind.
  return kind.open(config as never, connect, wanted, interval);
}
