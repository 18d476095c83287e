import { isMap, isScalar, isSeq } from "yaml";
import { failAll, ok, type Result } from "../../core/result.ts";
import { createYamlReader, type FaultDetail, type Spot, type YamlReader } from "./yaml-reader.ts";

/**
 * One setting of a config file: how it is read, and its JSON Schema for editors and the reference page. Plain objects
 * instead of typebox: loading that library takes 20 MB of memory and a fifth of a second, too much for a small program.
 */
export type Setting<T> = {
  readonly schema: Schema;
  /** `what` names it in messages. Returns undefined after it has reported a fault. */
  readonly read: (at: Spot, what: string, reading: Reading) => T | undefined;
};

export type Schema = { readonly [keyword: string]: unknown };

/**
 * Keywords for the reference page only: the type in plain words, and the table that lists settings shared by several
 * mappings.
 */
export const typeInWords = "x-type";
export const sharedTable = "x-table";

/** The type that a setting is read as. */
export type SettingType<S> = S extends Setting<infer T> ? T : never;

/** A document being read, with all that it may refer to. */
export type Reading = YamlReader & ReadingContext;

/** Where secrets and other files named in a config come from. Secrets are read whenever the config is read. */
export type ReadingContext = {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** A path as written in the config, made absolute. */
  readonly resolve: (path: string) => string;
  readonly warn: (text: string) => void;
  /** Called with the absolute path of every file before it is read. */
  readonly sawFile: (path: string) => void;
};

/** Reads a text that has only these settings, or lists all its faults. */
export function readText<T>(
  setting: Setting<T>,
  text: string,
  file: string,
  context: Partial<ReadingContext> = {},
): Result<T> {
  const reader = createYamlReader(text, file);
  const nothing = { env: {}, resolve: (path: string) => path, warn: () => undefined, sawFile: () => undefined };
  const value = setting.read(reader.root, file, { ...reader, ...nothing, ...context });
  return value !== undefined && reader.faults.length === 0 ? ok(value) : failAll(reader.faults);
}

/** The value that a rule is about. */
export type SettingPlace = {
  readonly what: string;
  readonly reading: Reading;
  /** Whether one of its keys has a value, right or wrong. */
  readonly has: (key: string) => boolean;
  /**
   * Notes a fault at the value of one of its keys, or at the value itself. Returns undefined, so that a rule can end
   * with it.
   */
  readonly fault: (detail: FaultDetail, key?: string) => undefined;
};

export function placeAt(at: Spot, what: string, reading: Reading): SettingPlace {
  const child = (key: string) => reading.pairs(at)?.find(({ name }) => name === key)?.value;
  return {
    what,
    reading,
    has: (key) => Boolean(child(key)?.node),
    fault: (detail, key) => reading.fault((key !== undefined && child(key)) || at, detail),
  };
}

export const missing = (message: string, todo: string): FaultDetail => ({ code: "missing", message, todo });

const wrongType = (at: Spot, what: string, wanted: string, todo: string): FaultDetail => ({
  code: "wrong-type",
  message: `${what} is ${kindOf(at)}, not ${wanted}`,
  todo,
});

function kindOf({ node }: Spot): string {
  if (isMap(node)) return "a mapping";
  if (isSeq(node)) return "a list";
  return node === null || node === undefined ? "empty" : "a single value";
}

const scalarAt = ({ node }: Spot): unknown => (isScalar(node) ? node.value : undefined);

export const text = (description: string, example: string, more: Schema = {}): Setting<string> => ({
  schema: { type: "string", description, examples: [example], ...more },
  read(at, what, { fault }) {
    const value = scalarAt(at);
    if (typeof value === "string" && value !== "") return value;
    // `name: 1234` is meant as text; YAML reads a number.
    if (typeof value === "number" && isScalar(at.node)) return at.node.source ?? String(value);
    if (value === "") return fault(at, { code: "empty", message: `${what} is empty`, todo: "enter a value" });
    if (typeof value === "boolean")
      return fault(at, {
        code: "wrong-type",
        message: `${what} must be text, and ${value} is not text without quotes`,
        todo: "put it in quotes",
      });
    return fault(at, wrongType(at, what, "text", "write it as one value on one line"));
  },
});

/** A path, relative to the config's folder. */
export const path = (description: string, example: string) => text(description, example, { [typeInWords]: "path" });

type Range = { readonly from: number; readonly to: number };

export const integer = (
  { from, to }: Range,
  description: string,
  example: number,
  more: Schema = {},
): Setting<number> => ({
  schema: { type: "integer", minimum: from, maximum: to, description, examples: [example], ...more },
  read(at, what, { fault }) {
    const value = scalarAt(at);
    if (typeof value === "number" && Number.isInteger(value) && value >= from && value <= to) return value;
    return fault(at, {
      code: "bad-number",
      message: `${what} is not a whole number from ${from} to ${to}`,
      todo: "write the number without a unit or quotes",
    });
  },
});

export const flag = (description: string): Setting<boolean> => ({
  schema: { type: "boolean", description },
  read(at, what, { fault }) {
    const value = scalarAt(at);
    if (typeof value === "boolean") return value;
    return fault(at, {
      code: "wrong-type",
      message: `${what} is neither true nor false`,
      todo: "write true or false, without quotes",
    });
  },
});

/** One of a few words. `usual`: the default. */
export const choice = <const T extends string>(words: readonly T[], description: string, usual?: T): Setting<T> =>
  refined(
    text(description, words.at(-1) ?? ""),
    (word, { what, fault }) =>
      words.find((each) => each === word) ??
      fault({ code: "unknown-choice", message: `${what} cannot be "${word}"`, todo: `write ${words.join(" or ")}` }),
    { enum: words, ...(usual !== undefined && { default: usual }) },
  );

const unitMs: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000 };

/** `30s`, `5m`, `1h`, as milliseconds. */
export const duration = (description: string, example: string, more: Schema = {}): Setting<number> =>
  refined(
    text(description, example),
    (written, { what, fault }) => {
      const [, digits = "", unit = ""] = /^(\d{1,6})([smh])$/.exec(written) ?? [];
      const span = Number(digits) * (unitMs[unit] ?? 0);
      if (span >= 1_000 && span <= 24 * 3_600_000) return span;
      const message = `${what} is not a duration from 1s to 24h: ${written}`;
      return fault({ code: "bad-duration", message, todo: "write it like 30s, 5m or 1h" });
    },
    { pattern: "^[0-9]{1,6}[smh]$", [typeInWords]: "duration", ...more },
  );

/** A setting with a rule that its schema cannot express. The rule may also convert the value. */
export const refined = <T, U>(
  setting: Setting<T>,
  rule: (value: T, place: SettingPlace) => U | undefined,
  more: Schema = {},
): Setting<U> => ({
  schema: { ...setting.schema, ...more },
  read(at, what, reading) {
    const value = setting.read(at, what, reading);
    return value === undefined ? undefined : rule(value, placeAt(at, what, reading));
  },
});

/** `entry` names one entry in messages. */
export const listOf = <T>(item: Setting<T>, description: string, entry?: string): Setting<readonly T[]> => ({
  schema: { type: "array", description, items: item.schema },
  read(at, what, reading) {
    const items = reading.items(at);
    if (!items)
      return reading.fault(at, wrongType(at, what, "a list", "write `[A, B]`, or start each entry with `- `"));
    const values = items.map((spot) => item.read(spot, entry ?? what, reading));
    return values.every((value) => value !== undefined) ? values : undefined;
  },
});

/** One value, or a list of them. `todo`: what to do about an empty list, if that is a fault. */
export function oneOrMore<T>(item: Setting<T>, todo?: string): Setting<readonly T[]> {
  const { description, examples, ...one } = item.schema;
  const list = listOf(item, "");
  return {
    schema: { description, examples, anyOf: [one, { type: "array", ...(todo && { minItems: 1 }), items: one }] },
    read(at, what, reading) {
      if (!isSeq(at.node)) {
        const value = item.read(at, what, reading);
        return value === undefined ? undefined : [value];
      }
      const values = list.read(at, what, reading);
      if (!values || values.length > 0 || todo === undefined) return values;
      return reading.fault(at, missing(`${what} is an empty list`, todo));
    },
  };
}

/** A mapping whose keys are of the user's choice. `whatOf` names one value in messages. */
export const byKey = <T>(
  item: Setting<T>,
  whatOf: (key: string, what: string) => string,
  description: string,
): Setting<ReadonlyMap<string, T>> => ({
  schema: { type: "object", additionalProperties: item.schema, description },
  read(at, what, reading) {
    const pairs = reading.pairs(at);
    if (!pairs) return reading.fault(at, notAMapping(at, what));
    const values = new Map<string, T>();
    for (const { name, value } of pairs) {
      const read = item.read(value, whatOf(name, what), reading);
      if (read !== undefined) values.set(name, read);
    }
    return values.size === pairs.length ? values : undefined;
  },
});

/** A mapping whose keys are names of the user's choice; each value gets its key as `name`. */
export const named = <T extends object>(
  item: Setting<T>,
  whatOf: (name: string) => string,
  description: string,
): Setting<ReadonlyMap<string, T & { readonly name: string }>> =>
  refined(
    byKey(item, whatOf, description),
    (values) => new Map([...values].map(([name, value]) => [name, { ...value, name }])),
  );

export const notAMapping = (at: Spot, what: string): FaultDetail =>
  wrongType(at, what, "a mapping", "write its settings below it, each as `key: value`, indented");

/** A mapping, or a short form for the usual case. */
export const orShort = <T, S>(full: Setting<T>, short: Setting<S>, expand: (value: S) => T): Setting<T> => {
  const { description, examples, ...one } = short.schema;
  return {
    schema: { description, examples, anyOf: [one, full.schema] },
    read(at, what, reading) {
      if (isMap(at.node)) return full.read(at, what, reading);
      const value = short.read(at, what, reading);
      return value === undefined ? undefined : expand(value);
    },
  };
};
