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
import { nearest } from "../../core/names/nearest.ts";
import type { Fault } from "../../core/result.ts";

/** Reads a YAML document piece by piece and collects what is wrong with it, each fault with its line and column. */
export type YamlReader = {
  readonly faults: readonly Fault[];
  readonly root: Spot;
  /** For those who read it whole. */
  readonly document: Document;
  /** File, line and column. */
  where(at: Spot): string;
  /** Notes a fault; returns undefined, so that a reading can end with it. */
  fault(at: Spot, fault: Omit<Fault, "where">): undefined;
  /** The values of a mapping that may have these keys only; undefined when it is no mapping. */
  fields<K extends string>(at: Spot, what: string, known: readonly K[]): Fields<K> | undefined;
  /** The entries of a mapping whose keys are free names. */
  entries(at: Spot, what: string): readonly (readonly [string, Spot])[];
  items(at: Spot, what: string): readonly Spot[];
  text(at: Spot, what: string): string | undefined;
  integer(at: Spot, what: string, bounds: { readonly min: number; readonly max: number }): number | undefined;
  flag(at: Spot, what: string): boolean | undefined;
  isMapping(at: Spot): boolean;
  isList(at: Spot): boolean;
};

/** A place in the document: a node, or where a missing one should have been. */
export type Spot = { readonly node: Node | null | undefined; readonly offset: number };

export type Fields<K extends string> = {
  readonly self: Spot;
  /** The value; undefined when it is missing or empty. */
  readonly get: (key: K) => Spot | undefined;
  /** The key itself, whatever its value. */
  readonly key: (key: K) => Spot | undefined;
};

/** A text that is no YAML goes wrong nearly everywhere: more of these would help nobody. */
const syntaxFaultsTold = 3;
const longestQuote = 80;

export function createYamlReader(text: string, file: string): YamlReader {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const faults: Fault[] = [];

  const where = ({ offset }: Spot) => {
    const { line, col } = lines.linePos(offset);
    return `${file}:${Math.max(1, line)}:${Math.max(1, col)}`;
  };
  const fault = (at: Spot, detail: Omit<Fault, "where">): undefined => {
    faults.push({ ...detail, where: where(at) });
  };
  const errors = document.errors.map((error) => ({ error, at: { node: null, offset: error.pos[0] } }));
  for (const { error, at } of errors.slice(0, syntaxFaultsTold)) fault(at, syntaxFault(error));
  visit(document, {
    Alias: (_, alias) => {
      if (!alias.resolve(document)) fault(spotOf(document, alias, 0), noAnchor(alias));
    },
  });
  const untold = errors.slice(syntaxFaultsTold);
  if (untold[0]) fault(untold[0].at, moreFaults(untold.length));

  const wrongType = (at: Spot, what: string, wanted: string, todo: string) =>
    fault(at, { code: "wrong-type", message: `${what} is ${kindOf(at.node)}, not ${wanted}`, todo });

  const pairs = (at: Spot, what: string): readonly (readonly [string, Spot, Spot])[] | undefined => {
    if (!isMap(at.node)) {
      return wrongType(at, what, "a mapping", "write its settings below it, each as `key: value`, indented");
    }
    return at.node.items.map((pair) => {
      const key = spotOf(document, pair.key, at.offset);
      const name = isScalar(key.node) ? String(key.node.value) : "";
      return [name, key, spotOf(document, pair.value, key.offset)] as const;
    });
  };

  return {
    faults,
    fault,
    where,
    root: spotOf(document, document.contents, 0),
    document,
    isMapping: (at) => isMap(at.node),
    isList: (at) => isSeq(at.node),
    fields(at, what, known) {
      const found = pairs(at, what);
      if (!found) return undefined;
      for (const [name, key] of found) {
        if (!(known as readonly string[]).includes(name)) fault(key, unknownKey(name, what, known));
      }
      return {
        self: at,
        get: (key) => found.find(([name, , value]) => name === key && value.node !== null)?.[2],
        key: (key) => found.find(([name]) => name === key)?.[1],
      };
    },
    entries: (at, what) => (pairs(at, what) ?? []).map(([name, , value]) => [name, value] as const),
    items(at, what) {
      const { node } = at;
      if (isSeq(node)) return node.items.map((item) => spotOf(document, item, at.offset));
      wrongType(at, what, "a list", "start each entry with `- `");
      return [];
    },
    text(at, what) {
      const value = isScalar(at.node) ? at.node.value : undefined;
      if (typeof value === "string" && value !== "") return value;
      // `name: 1234` is meant as text; YAML reads a number.
      if (typeof value === "number" && isScalar(at.node)) return at.node.source ?? String(value);
      if (value === "") return fault(at, { code: "empty", message: `${what} is empty`, todo: "give it a value" });
      return wrongType(at, what, "text", "write it as one value on one line");
    },
    integer(at, what, { min, max }) {
      const value = isScalar(at.node) ? at.node.value : undefined;
      if (typeof value === "number" && Number.isInteger(value) && value >= min && value <= max) return value;
      return fault(at, {
        code: "bad-number",
        message: `${what} is not a whole number from ${min} to ${max}`,
        todo: "write such a number, without unit and quotes",
      });
    },
    flag(at, what) {
      const value = isScalar(at.node) ? at.node.value : undefined;
      return typeof value === "boolean" ? value : wrongType(at, what, "true or false", "write true or false");
    },
  };
}

function spotOf(document: Document, found: unknown, fallback: number): Spot {
  const node = found as Node | null | undefined;
  const offset = node?.range?.[0] ?? fallback;
  if (isAlias(node)) return { node: node.resolve(document) ?? null, offset };
  return { node: isScalar(node) && node.value === null ? null : node, offset };
}

function syntaxFault(error: { readonly code: string; readonly message: string }): Omit<Fault, "where"> {
  return error.code === "DUPLICATE_KEY"
    ? { code: "duplicate-key", message: "this key is there twice", todo: "keep one of the two" }
    : { code: "yaml", message: `this is not YAML: ${quoted(error.message)}`, todo: "mend the text at this place" };
}

const noAnchor = ({ source }: Alias): Omit<Fault, "where"> => ({
  code: "yaml",
  message: `there is no anchor &${quoted(source)} before this`,
  todo: "mend the name, or quote the value if its * is meant",
});

const moreFaults = (count: number): Omit<Fault, "where"> => ({
  code: "yaml",
  message: `${count} more such places`,
  todo: "mend those before, or see whether this is the right file",
});

const quoted = (text: string) => (text.length > longestQuote ? `${text.slice(0, longestQuote)}…` : text);

function unknownKey(name: string, what: string, known: readonly string[]): Omit<Fault, "where"> {
  const meant = nearest(name, known);
  return {
    code: "unknown-key",
    message: `${what} has no setting "${quoted(name)}"`,
    todo: meant ? `did you mean "${meant}"?` : `the settings are ${known.join(", ")}`,
  };
}

function kindOf(node: Spot["node"]): string {
  if (isMap(node)) return "a mapping";
  if (isSeq(node)) return "a list";
  if (node === null || node === undefined) return "empty";
  return `a single value`;
}
