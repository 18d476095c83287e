import { type Document, isNode } from "yaml";
import type { Fault } from "../../core/result.ts";
import { isUtf16 } from "../../core/utf8-text.ts";
import { type ConfigFault, type FirewallConfig, readConfig } from "../../firewall/config.ts";
import { createYamlReader } from "../../lib/settings/yaml-reader.ts";
import { utf16 } from "../../updater/config/secret.ts";

type Read =
  | { readonly kind: "config"; readonly config: FirewallConfig }
  | { readonly kind: "faults"; readonly faults: readonly Fault[] };

/** Reads the text of `firewall.yaml`. YAML errors are reported as for the updater's config. */
export function readFirewallConfig(text: string, file: string): Read {
  if (isUtf16(text)) return { kind: "faults", faults: [{ ...utf16, where: file, message: "it is not UTF-8" }] };
  const yaml = createYamlReader(text, file);
  if (yaml.faults.length > 0) return { kind: "faults", faults: yaml.faults };
  const { document } = yaml;
  const read = readConfig(document.toJS());
  if (read.kind === "config") return read;
  const shown = ({ at, message }: ConfigFault): Fault => ({
    code: "bad-setting",
    where: yaml.where({ node: undefined, offset: offsetOf(document, at) }),
    message: [at.join("."), message].filter(Boolean).join(": "),
  });
  return { kind: "faults", faults: read.faults.map(shown) };
}

function offsetOf(document: Document, at: readonly string[]): number {
  const node = at.length === 0 ? document.contents : document.getIn(at, true);
  return (isNode(node) && node.range?.[0]) || 0;
}
