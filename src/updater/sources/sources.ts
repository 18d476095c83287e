import { kindsOf } from "../../process/settings/mapping.ts";
import { firewall } from "./firewall.ts";
import type { AddressSource, SourceConfig, SourceKind } from "./source.ts";

/** All kinds of sources. */
const kinds: Readonly<Record<string, SourceKind<never>>> = { firewall };

/** An entry of `sources:`. */
export const sourceSettings = kindsOf("kind", kinds, { description: "The kind of source.", usual: "firewall" });

export async function openSource(config: SourceConfig): Promise<AddressSource> {
  const kind = kinds[config.kind];
  if (!kind) throw new Error(`no source of kind ${config.kind}`);
  const connect: Parameters<typeof kind.open>[1] = async (endpoint) =>
    (await import("../http/client.ts")).createHttpClient(endpoint);
  // The cast is safe: the settings were read by the same kind.
  return kind.open(config as never, connect);
}
