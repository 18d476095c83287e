import { kindsOf } from "../../process/settings/mapping.ts";
import type { Value } from "../../process/settings/setting.ts";
import { firewall } from "./firewall.ts";
import type { AddressSource, SourceKind } from "./source.ts";

/** Every kind of place to read addresses from. */
const kinds = { firewall };

/** An entry of `sources:`. */
export const sourceSettings = kindsOf("kind", kinds, { description: "What is asked.", usual: "firewall" });

export type SourceConfig = Value<typeof sourceSettings> & { readonly name: string };

export async function openSource(config: SourceConfig): Promise<AddressSource> {
  const kind: SourceKind<SourceConfig> = kinds[config.kind];
  return kind.open(config, async (endpoint) => (await import("../http/client.ts")).createHttpClient(endpoint));
}
