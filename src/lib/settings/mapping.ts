import { Scalar, stringify } from "yaml";
import { nearest } from "../../core/names/nearest.ts";
import {
  choice,
  missing,
  notAMapping,
  placeAt,
  type Reading,
  type Schema,
  type Setting,
  type SettingPlace,
  type SettingType,
  sharedTable,
} from "./setting.ts";
import { type FaultDetail, quoted, type Spot } from "./yaml-reader.ts";

/** Settings by key. All are optional, except those marked with `needed`. */
export type Fields = Readonly<Record<string, Setting<unknown> & Presence>>;

type Presence = { readonly needed?: Absence; readonly usual?: string | number | boolean };
type Absence = { readonly todo?: string | undefined; readonly message?: string | undefined };
type Needed<T> = Setting<T> & { readonly needed: Absence };
type Usual<T> = Setting<T> & { readonly usual: string | number | boolean };

/** Required: without it, the mapping is a fault. The default `todo` is to add its example. */
export const needed = <T>(setting: Setting<T>, todo?: string, message?: string): Needed<T> => ({
  ...setting,
  needed: { todo, message },
});

/** If it is missing, it is read as if `usual` were written. */
export const usually = <T>(setting: Setting<T>, usual: string | number | boolean): Usual<T> => ({
  ...setting,
  schema: { ...setting.schema, default: usual },
  usual,
});

/** Settings that several mappings share; the reference page lists them once, under this title. */
export function shared<F extends Fields>(title: string, fields: F): F {
  const entries = Object.entries(fields).map(([key, field]) => {
    return [key, { ...field, schema: { ...field.schema, [sharedTable]: title } }] as const;
  });
  return Object.fromEntries(entries) as Fields as F;
}

type Always<F extends Fields> = {
  [K in keyof F]: F[K] extends Needed<unknown> | Usual<unknown> ? K : never;
}[keyof F];

export type ValueOf<F extends Fields> = { readonly [K in Always<F>]: SettingType<F[K]> } & {
  readonly [K in Exclude<keyof F, Always<F>>]?: SettingType<F[K]>;
};

type Options<F extends Fields, T> = {
  readonly title?: string;
  readonly description?: string;
  /** The NAME in messages about its settings: "url of NAME". If it is empty, they are called by their keys alone. */
  readonly of?: string;
  /** If any required setting is missing, report one fault that names all required ones. */
  readonly needsAll?: boolean;
  /** Checks which keys are used together, before any value is read. `what`: what messages call this mapping. */
  readonly checkKeys?: (presentKeys: readonly string[], what: string) => readonly KeyFault[];
  /** Checks the values together. If some are wrong, it is called with the others. */
  readonly check?: (right: Partial<ValueOf<F>>, place: SettingPlace) => void;
  /** Converts the values to the result. */
  readonly transform?: (value: ValueOf<F>, place: SettingPlace) => T | undefined;
  readonly schema?: Schema;
};

/** A fault of the value at `at`, or of the mapping. The values of `skip` are not read. */
export type KeyFault = FaultDetail & { readonly at?: string; readonly skip?: readonly string[] };

export type Mapping<T> = Setting<T> & {
  readonly keys: readonly string[];
  /** The same mapping with one more key, which is read by the caller that chose this mapping. */
  tagged(tag: string, schema: Schema, isNeeded: boolean): Mapping<T>;
};

export function mapping<F extends Fields, T = ValueOf<F>>(fields: F, options: Options<F, T> = {}): Mapping<T> {
  const keys = Object.keys(fields);
  const needs = keys.filter((key) => fields[key]?.needed);
  return {
    keys,
    tagged(tag, schema, isNeeded) {
      const whole = mapping<Fields, T>({ [tag]: { schema, read: () => tag }, ...fields }, options as never);
      return isNeeded ? { ...whole, schema: { ...whole.schema, required: [tag, ...needs] } } : whole;
    },
    schema: {
      ...(options.title && { title: options.title }),
      ...(options.description && { description: options.description }),
      type: "object",
      additionalProperties: false,
      ...(needs.length > 0 && { required: needs }),
      ...options.schema,
      properties: Object.fromEntries(Object.entries(fields).map(([key, { schema }]) => [key, schema])),
    },
    read(at, what, reading) {
      const spots = readKeys(at, what, keys, reading);
      if (!spots) return undefined;
      const absent = needs.filter((key) => !spots.has(key));
      for (const key of options.needsAll ? absent.slice(0, 1) : absent) {
        const { needed: { todo = toAdd(key, fields[key]), message } = {} } = fields[key] ?? {};
        const lack = options.needsAll ? `needs ${inWords(needs)}` : `has no ${key}`;
        reading.fault(at, missing(message ?? `${what} ${lack}`, todo));
      }
      if (absent.length > 0 && options.needsAll) return undefined;
      const place = placeAt(at, what, reading);
      const wrongKeys = options.checkKeys?.([...spots.keys()], what) ?? [];
      for (const { at: key, skip: _, ...detail } of wrongKeys) place.fault(detail, key);
      const skipped = wrongKeys.flatMap(({ skip = [] }) => skip);
      const owner = options.of ?? what;
      const right: Record<string, unknown> = {};
      for (const [key, { usual, read }] of Object.entries(fields)) {
        const spot =
          spots.get(key) ?? (usual === undefined ? undefined : { node: new Scalar(usual), offset: at.offset });
        if (!spot || skipped.includes(key)) continue;
        const value = read(spot, owner === "" ? key : `${key} of ${owner}`, reading);
        if (value === undefined) absent.push(key);
        else right[key] = value;
      }
      options.check?.(right as Partial<ValueOf<F>>, place);
      if (absent.length > 0 || wrongKeys.length > 0) return undefined;
      const value = right as ValueOf<F>;
      return options.transform ? options.transform(value, place) : (value as T);
    },
  };
}

/** The given values. Reports every unknown key; undefined when this is not a mapping. */
function readKeys(
  at: Spot,
  what: string,
  knownKeys: readonly string[],
  reading: Reading,
): ReadonlyMap<string, Spot> | undefined {
  const pairs = reading.pairs(at);
  if (!pairs) return reading.fault(at, notAMapping(at, what));
  for (const { name, key } of pairs) {
    if (!knownKeys.includes(name)) reading.fault(key, unknownKey(name, what, knownKeys));
  }
  const pairsWithValue = pairs.filter(({ value }) => value.node !== null && value.node !== undefined);
  return new Map(pairsWithValue.map(({ name, value }) => [name, value]));
}

function unknownKey(name: string, what: string, knownKeys: readonly string[]): FaultDetail {
  const meant = nearest(name, knownKeys);
  return {
    code: "unknown-key",
    message: `${what} has no setting "${quoted(name)}"`,
    todo: meant ? `did you mean "${meant}"?` : `the settings are ${knownKeys.join(", ")}`,
  };
}

function toAdd(key: string, setting: Setting<unknown> | undefined): string {
  const [example = "…"] = (setting?.schema.examples ?? []) as readonly unknown[];
  return `add \`${key}: ${stringify(example, { collectionStyle: "flow" }).trim()}\``;
}

const inWords = (words: readonly string[]) => words.join(", ").replace(/, (?=[^,]*$)/, " and ");

type Kinds = Readonly<Record<string, Mapping<unknown>>>;

/** The value of each kind, with the kind itself under the tag. */
type OfKinds<Tag extends string, K extends Kinds> = {
  [P in keyof K & string]: SettingType<K[P]> & { readonly [T in Tag]: P };
}[keyof K & string];

/** A mapping in which one setting decides which others there are: `kind: mail`. */
export function kindsOf<Tag extends string, K extends Kinds>(
  tag: Tag,
  kinds: K,
  about: {
    readonly description: string;
    /** The default kind. */
    readonly usual?: keyof K & string;
    /** What it is called in messages once its kind is known. */
    readonly what?: (kind: string, what: string) => string;
  },
): Setting<OfKinds<Tag, K>> {
  const { description, usual, what: whatOf = (_: string, what: string) => what } = about;
  const words = Object.keys(kinds);
  const word = choice(words, description);
  const tagged = new Map(
    Object.entries(kinds).map(([kind, settings]) => {
      const schema = { const: kind, description, ...(usual && { default: usual }) };
      return [kind, settings.tagged(tag, schema, kind !== usual)];
    }),
  );
  const keysOfAll = [...new Set([...tagged.values()].flatMap(({ keys }) => keys))];
  return {
    schema: { anyOf: [...tagged.values()].map(({ schema }) => schema) },
    read(at, what, reading) {
      const kindSpot = reading.pairs(at)?.find(({ name }) => name === tag)?.value;
      const kind = kindSpot?.node ? word.read(kindSpot, `${tag} of ${what}`, reading) : usual;
      const settings = kind === undefined ? undefined : tagged.get(kind);
      if (settings) {
        const value = settings.read(at, whatOf(kind ?? "", what), reading);
        return value === undefined ? undefined : ({ ...(value as object), [tag]: kind } as OfKinds<Tag, K>);
      }
      // Without a kind, its settings are not known, but a key that no kind has is wrong anyway.
      if (!readKeys(at, what, keysOfAll, reading) || kindSpot?.node) return undefined;
      return reading.fault(at, missing(`${what} has no ${tag}`, `add \`${tag}: ${words.join("|")}\``));
    },
  };
}
