import { isDeepStrictEqual } from "node:util";
import type { Node, YAMLMap, YAMLSeq } from "yaml";
import { type Document, isCollection, isMap, isScalar, isSeq, type Pair, parseDocument } from "yaml";

export type SettingValue = string | number | boolean | readonly string[];

/** One setting of an entry, by its path, such as `["ipv4", "interface"]`; undefined removes it. */
export type SettingChange = { readonly path: readonly [string, string?]; readonly value: SettingValue | undefined };

export type NamesChange =
  | { readonly kind: "add"; readonly settings: readonly SettingChange[] }
  | { readonly kind: "set"; readonly index: number; readonly settings: readonly SettingChange[] }
  | { readonly kind: "remove"; readonly index: number };

/**
 * The text of a config with one entry of `names:` added, changed or removed. Every other byte stays as it is, including
 * comments and layout: the change is made in the text, and the document is not printed again. Undefined if the result
 * does not mean what it should, for example because of an anchor.
 */
export function editNames(text: string, change: NamesChange): string | undefined {
  const before = meaningOf(text);
  const edited = change.kind === "set" ? setAll(text, change.index, change.settings) : edit(text, change);
  if (before === undefined || edited === undefined) return undefined;
  return isDeepStrictEqual(meaningOf(edited), wanted(before, change)) ? edited : undefined;
}

/**
 * Sets one value anywhere in the config, such as `["sources", "home", "url"]`. Undefined if its mapping does not exist.
 */
export function setSetting(text: string, path: readonly (string | number)[], value: SettingValue): string | undefined {
  const document = parse(text);
  const map = document.errors.length > 0 ? undefined : document.getIn(path.slice(0, -1), true);
  return isMap(map) ? setIn(text, map as YAMLMap, { path: [String(path.at(-1))], value }) : undefined;
}

/** Undefined if the text is not a single valid document with a mapping. */
function meaningOf(text: string): Json | undefined {
  const document = parseDocument(text);
  if (document.errors.length > 0) return undefined;
  try {
    return (document.toJS() ?? {}) as Json;
  } catch {
    // An alias without its anchor.
    return undefined;
  }
}

type Json = { readonly [key: string]: unknown };

/** What the document must mean afterwards. */
function wanted(root: Json, change: NamesChange): Json {
  const names = Array.isArray(root.names) ? (root.names as readonly Json[]) : [];
  switch (change.kind) {
    case "add":
      return { ...root, names: [...names, withSettings({}, change.settings)] };
    case "set":
      return {
        ...root,
        names: names.map((entry, i) => (i === change.index ? withSettings(entry, change.settings) : entry)),
      };
    case "remove":
      return { ...root, names: names.filter((_, i) => i !== change.index) };
    default:
      return change satisfies never;
  }
}

function withSettings(entry: Json, settings: readonly SettingChange[]): Json {
  let result: Json = entry;
  for (const {
    path: [key, inner],
    value,
  } of settings) {
    const { [key]: old, ...rest } = result;
    if (inner !== undefined) result = { ...result, [key]: withSettings(old as Json, [{ path: [inner], value }]) };
    else result = value === undefined ? rest : { ...result, [key]: value };
  }
  return result;
}

/** One setting at a time, because each change moves the text after it. */
function setAll(text: string, index: number, settings: readonly SettingChange[]): string | undefined {
  let edited: string | undefined = text;
  for (const setting of settings) {
    const entry: unknown = edited === undefined ? undefined : namesIn(parse(edited))?.items[index];
    edited = edited === undefined || !isMap(entry) ? undefined : setIn(edited, entry as YAMLMap, setting);
  }
  return edited;
}

function edit(text: string, change: Exclude<NamesChange, { kind: "set" }>): string | undefined {
  const document = parse(text);
  return change.kind === "add" ? add(text, document, change.settings) : remove(text, document, change.index);
}

const parse = (text: string): Document => parseDocument(text, { keepSourceTokens: true }) as Document;

const pairOf = (map: YAMLMap, key: string): Pair | undefined =>
  map.items.find((pair) => isScalar(pair.key) && pair.key.value === key);

function namesIn({ contents }: Document): YAMLSeq | undefined {
  const value = isMap(contents) ? pairOf(contents as YAMLMap, "names")?.value : undefined;
  return isSeq(value) ? (value as YAMLSeq) : undefined;
}

function add(text: string, { contents }: Document, settings: readonly SettingChange[]): string | undefined {
  const entries = settings.flatMap(({ path: [key], value }) => (value === undefined ? [] : [{ key, value }]));
  const eol = eolOf(text);
  const block = (indent: string) =>
    `${indent}- ${entries.map(({ key, value }) => `${key}: ${print(value)}`).join(`${eol}${indent}  `)}`;
  const flow = `{ ${entries.map(({ key, value }) => `${key}: ${print(value)}`).join(", ")} }`;
  if (!isMap(contents) || contents.flow) return undefined;
  const pair = pairOf(contents as YAMLMap, "names");
  if (pair === undefined) {
    const base = text === "" || text.endsWith("\n") ? text : `${text}${eol}`;
    return `${base}names:${eol}${block("  ")}${eol}`;
  }
  const { value } = pair;
  if (value === null || (isScalar(value) && value.value === null) || (isSeq(value) && value.items.length === 0)) {
    const at = afterColon(text, pair);
    const to = isSeq(value) ? endOf(value as Node) : at;
    const rest = text.slice(to, lineEnd(text, to));
    return splice(text, at, lineEnd(text, to), `${rest}${eol}${block("  ")}`);
  }
  if (!isSeq(value)) return undefined;
  const last = value.items.at(-1) as Node;
  const end = endOf(last);
  if (value.flow) {
    const start = last.range?.[0] ?? end;
    const before = text.slice(lineStart(text, start), start);
    return splice(text, end, end, `,${before.trim() === "" ? eol + before : " "}${flow}`);
  }
  const indent = " ".repeat(columnOf(text, dashOf(value as YAMLSeq, value.items.length - 1)));
  const entry = isMap(last) && last.flow ? `${indent}- ${flow}` : block(indent);
  return splice(text, lineEnd(text, end), lineEnd(text, end), eol + entry);
}

function remove(text: string, document: Document, index: number): string | undefined {
  const names = namesIn(document);
  const item = names?.items[index] as Node | undefined;
  if (names === undefined || item === undefined) return undefined;
  if (names.flow) return cut(text, names.items as Node[], index);
  const from = lineStart(text, dashOf(names, index));
  const without = splice(text, from, Math.min(text.length, lineEnd(text, endOf(item)) + eolAt(text, endOf(item))), "");
  if (names.items.length > 1) return without;
  const pair = pairOf(document.contents as YAMLMap, "names");
  return pair && splice(without, afterColon(text, pair), afterColon(text, pair), " []");
}

function setIn(text: string, map: YAMLMap, { path: [key, inner], value }: SettingChange): string | undefined {
  const pair = pairOf(map, key);
  if (inner !== undefined)
    return isMap(pair?.value) ? setIn(text, pair.value as YAMLMap, { path: [inner], value }) : undefined;
  if (value === undefined) return pair === undefined ? text : removePair(text, map, pair);
  return pair === undefined ? addPair(text, map, `${key}: ${print(value)}`) : replaceValue(text, pair, print(value));
}

function addPair(text: string, map: YAMLMap, printed: string): string | undefined {
  const last = map.items.at(-1);
  if (last === undefined) {
    const at = (map.range?.[0] ?? 0) + 1;
    return map.flow ? splice(text, at, at, ` ${printed} `) : undefined;
  }
  const end = endOfPair(text, last);
  if (map.flow) return splice(text, end, end, `, ${printed}`);
  const indent = " ".repeat(columnOf(text, startOf(last)));
  return splice(text, lineEnd(text, end), lineEnd(text, end), `${eolOf(text)}${indent}${printed}`);
}

function replaceValue(text: string, pair: Pair, printed: string): string | undefined {
  const value = pair.value as Node | null;
  if (value === null || (isScalar(value) && value.source === "")) {
    const at = afterColon(text, pair);
    return splice(text, at, at, ` ${printed}`);
  }
  const isBlock = isCollection(value) && !value.flow;
  const from = isBlock ? afterColon(text, pair) : (value.range?.[0] ?? 0);
  return splice(text, from, endOf(value), isBlock ? ` ${printed}` : printed);
}

function removePair(text: string, map: YAMLMap, pair: Pair): string | undefined {
  const index = map.items.indexOf(pair);
  const [start, end] = [startOf(pair), endOfPair(text, pair)];
  const next = map.items[index + 1];
  if (map.flow) {
    if (next !== undefined) return splice(text, start, startOf(next), "");
    const previous = map.items[index - 1];
    return previous && splice(text, endOfPair(text, previous), end, "");
  }
  const from = lineStart(text, start);
  if (text.slice(from, start).trim() === "")
    return splice(text, from, Math.min(text.length, lineEnd(text, end) + eolAt(text, end)), "");
  // The removed setting shares its line with the dash of the entry, so the next one moves up, unless comments are in
  // between.
  if (next === undefined) return undefined;
  const isNear = text.slice(lineEnd(text, end), startOf(next)).trim() === "";
  return splice(text, start, isNear ? startOf(next) : lineEnd(text, end), "");
}

/** Removes an item of a flow sequence, and one comma. */
function cut(text: string, items: readonly Node[], index: number): string | undefined {
  const [item, next, previous] = [items[index], items[index + 1], items[index - 1]];
  if (item?.range == null) return undefined;
  if (next?.range) return splice(text, item.range[0], next.range[0], "");
  return splice(text, previous ? endOf(previous) : item.range[0], endOf(item), "");
}

const splice = (text: string, from: number, to: number, put: string): string =>
  text.slice(0, from) + put + text.slice(to);

const eolOf = (text: string): string => (text.includes("\r\n") ? "\r\n" : "\n");
const lineStart = (text: string, at: number): number => text.lastIndexOf("\n", at - 1) + 1;

/** The end of the line at this position, before its line break. */
function lineEnd(text: string, at: number): number {
  const end = text.indexOf("\n", at);
  if (end < 0) return text.length;
  return end > at && text[end - 1] === "\r" ? end - 1 : end;
}

/** The length of the line break at the end of the line at this position. */
const eolAt = (text: string, at: number): number => (text.startsWith("\r\n", lineEnd(text, at)) ? 2 : 1);

const columnOf = (text: string, at: number): number => at - lineStart(text, at);

const startOf = ({ key }: Pair): number => (key as Node).range?.[0] ?? 0;

/** After the colon of a pair in a block or flow mapping. */
const afterColon = (text: string, { key }: Pair): number => text.indexOf(":", endOf(key as Node)) + 1;

const endOfPair = (text: string, pair: Pair): number => {
  const value = pair.value as Node | null;
  return value === null || (isScalar(value) && value.source === "") ? afterColon(text, pair) : endOf(value);
};

/** Where the content of a node ends: before comments and blank lines that follow it. */
function endOf(node: Node): number {
  if (isCollection(node) && !node.flow) {
    const last = node.items.at(-1) as Node | Pair | undefined;
    if (last !== undefined && "key" in last && !("range" in last)) {
      const { key, value } = last as Pair;
      return endOf((value ?? key) as Node);
    }
    if (last !== undefined) return endOf(last as Node);
  }
  const end = node.range?.[1] ?? 0;
  const isBlockText = isScalar(node) && (node.type === "BLOCK_LITERAL" || node.type === "BLOCK_FOLDED");
  return isBlockText ? end - 1 : end;
}

function dashOf(names: YAMLSeq, index: number): number {
  const token = names.srcToken;
  const start = token?.type === "block-seq" ? token.items[index]?.start : undefined;
  return start?.find(({ type }) => type === "seq-item-ind")?.offset ?? 0;
}

/** Words that YAML readers mistake for other values. */
const special = /^(?:true|false|null|yes|no|on|off|y|n)$/i;

function print(value: SettingValue): string {
  if (typeof value === "string")
    return /^[A-Za-z][\w.-]*$/.test(value) && !special.test(value) ? value : JSON.stringify(value);
  return typeof value === "object" ? `[${value.map(print).join(", ")}]` : String(value);
}
