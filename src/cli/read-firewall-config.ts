import { type Alias, type Document, isNode, LineCounter, parseDocument, visit } from "yaml";
import { type ConfigFault, type FirewallConfig, readConfig } from "../firewall/config.ts";

type Read =
  | { readonly kind: "config"; readonly config: FirewallConfig }
  /** Each with file, line and column, as it is shown. */
  | { readonly kind: "faults"; readonly faults: readonly string[] };

/** `firewall.yaml` as text. */
export function readFirewallConfig(text: string, file: string): Read {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const told = (offset: number, message: string) => {
    const { line, col } = lines.linePos(offset);
    return `${file}:${Math.max(1, line)}:${Math.max(1, col)}: ${message}`;
  };
  const broken = [
    ...document.errors.map(({ pos, message }) => told(pos[0], `this is not YAML: ${message}`)),
    ...looseAliases(document).map((alias) =>
      told(alias.range?.[0] ?? 0, `there is no anchor &${alias.source} before this`),
    ),
  ];
  if (broken.length > 0) return { kind: "faults", faults: broken };
  const read = readConfig(document.toJS());
  if (read.kind === "config") return read;
  const shown = ({ at, message }: ConfigFault) =>
    told(offsetOf(document, at), [at.join("."), message].filter(Boolean).join(": "));
  return { kind: "faults", faults: read.faults.map(shown) };
}

function looseAliases(document: Document): readonly Alias[] {
  const found: Alias[] = [];
  visit(document, { Alias: (_, alias) => void (alias.resolve(document) ?? found.push(alias)) });
  return found;
}

function offsetOf(document: Document, at: readonly string[]): number {
  const node = at.length === 0 ? document.contents : document.getIn(at, true);
  return (isNode(node) && node.range?.[0]) || 0;
}
