import type { SourceConfig } from "../config/config.ts";
import type { HttpClient } from "../http/client.ts";
import type { AddressSource } from "./source.ts";

type OpenSource = (config: SourceConfig, client: HttpClient) => Promise<AddressSource>;

/** Every kind of place to read addresses from, loaded on use. */
const kinds: Readonly<Record<string, OpenSource>> = {
  firewall: async (config, client) => (await import("./firewall.ts")).createFirewallSource(config, client),
};

export const sourceKinds: readonly string[] = Object.keys(kinds);

export async function openSource(config: SourceConfig): Promise<AddressSource> {
  const open = kinds[config.kind];
  if (!open) throw new Error(`no source of kind ${config.kind}`);
  const { createHttpClient } = await import("../http/client.ts");
  return open(config, await createHttpClient(config));
}
