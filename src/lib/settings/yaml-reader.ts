import {
  type Alias,
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
  visit,
} from "yaml";
import type { Fault } from "../../core/result.ts";

/** Reads a YAML document piece by piece and collects its faults, with the line and column of each. */
export type YamlReader = {
  readonly faults: readonly Fault[];
  readonly root: Spot;
  /** For callers that read all of it. */
  readonly document: Document;
  /** File, line and column. */
  readonly where: (at: Spot) => string;
  /** Notes a fault. Returns undefined, so that a `read` can end with it. */
  readonly fault: (at: Spot, fault: FaultDetail) => undefined;
  /** Undefined when it is not a mapping. */
  readonly pairs: (at: Spot) => readonly YamlPair[] | undefined;
  /** Undefined when it is not a list. */
  readonly items: (at: Spot) => readonly Spot[] | undefined;
};

/** A place in the document: a node, or where a missing one should have been. */
export type Spot = { readonly node: Node | null | undefined; readonly offset: number };

/** `value.node` is null where nothing follows the key. */
export type YamlPair = { readonly name: string; readonly key: Spot; readonly value: Spot };

export type FaultDetail = Omit<Fault, "where">;

/** A file that is not YAML has errors nearly everywhere: listing more would not help. */
const syntaxFaultsShown = 3;
const longestQuote = 80;

export function createYamlReader(text: string, file: string): YamlReader {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const faults: Fault[] = [];

  const where = ({ offset }: Spot) => {
    const { line, col } = lines.linePos(offset);
    return `${file}:${Math.max(1, line)}:${Math.max(1, col)}`;
  };
  const fault = (at: Spot, detail: FaultDetail): undefined => {
    faults.push({ ...detail, where: where(at) });
  };
  const errors = document.errors.map((error) => ({ error, at: { node: null, offset: error.pos[0] } }));
  for (const { error, at } of errors.slice(0, syntaxFaultsShown)) fault(at, syntaxFault(error));
  visit(document, {
    Alias: (_, alias) => {
      if (!alias.resolve(document)) fault(spotOf(document, alias, 0), noAnchor(alias));
    },
  });
  const others = errors.slice(syntaxFaultsShown);
  if (others[0]) fault(others[0].at, moreFaults(others.length));

  return {
    faults,
    fault,
    where,
    root: spotOf(document, document.contents, 0),
    document,
    pairs({ node, offset }) {
      if (!isMap(node)) return undefined;
      return node.items.map((pair) => {
        const key = spotOf(document, pair.key, offset);
        const name = isScalar(key.node) ? String(key.node.value) : "";
        return { name, key, value: spotOf(document, pair.value, key.offset) };
      });
    },
    items: ({ node, offset }) => (isSeq(node) ? node.items.map((item) => spotOf(document, item, offset)) : undefined),
  };
}

function spotOf(document: Document, parsedNode: unknown, fallback: number): Spot {
  const node = parsedNode as Node | null | undefined;
  const offset = node?.range?.[0] ?? fallback;
  if (isAlias(node)) return { node: node.resolve(document) ?? null, offset };
  return { node: isScalar(node) && node.value === null ? null : node, offset };
}

function syntaxFault(error: { readonly code: string; readonly message: string }): FaultDetail {
  return error.code === "DUPLICATE_KEY"
    ? { code: "duplicate-key", message: "this key is given twice", todo: "keep one of the two" }
    : { code: "yaml", message: `this is not valid YAML: ${quoted(error.message)}`, todo: "correct the text here" };
}

const noAnchor = ({ source }: Alias): FaultDetail => ({
  code: "yaml",
  message: `there is no anchor &${quoted(source)} before this`,
  todo: "correct the name, or quote the value if the * is part of it",
});

const moreFaults = (count: number): FaultDetail => ({
  code: "yaml",
  message: `${count} more ${count === 1 ? "error" : "errors"} like this`,
  todo: "correct the errors above, or check that this is the right file",
});

export const quoted = (text: string) => (text.length > longestQuote ? `${text.slice(0, longestQuote)}…` : text);
