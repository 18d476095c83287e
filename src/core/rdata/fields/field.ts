import type { Result } from "../../result.ts";
import type { TextToken } from "./tokens.ts";

/** Names with a trailing dot, strings as bytes (one character per byte), addresses in canonical text. */
export type FieldValue = number | string | readonly string[];

/**
 * One kind of field: how it is read from text and from a message, and written to both. `print` gives the canonical
 * text, and equal texts mean equal bytes.
 */
export type FieldKind<V extends FieldValue = FieldValue> = {
  /** `rest`: all remaining tokens. Such a field is the last. */
  readonly takes: "one" | "rest";
  /** What it takes in a message: this many bytes, a string with its length byte, or a name. */
  readonly wire?: WirePart;
  /** The value when no token is left; without it, the field is required. */
  readonly absent?: V;
  parse(tokens: readonly [TextToken, ...TextToken[]], place: FieldPlace): Result<V>;
  print(value: V): string;
  write(value: V, out: number[]): void;
  read(wire: WireReader): V | undefined;
};

export type WirePart = number | "string" | "name";

export type FieldPlace = { readonly zoneName: string; readonly where: string };

/** Bytes of one record's data, without compressed names, and how far they have been read. */
export type WireReader = { readonly bytes: Uint8Array; at: number };

export type FieldDefinition = { readonly name: string; readonly kind: FieldKind };

/** The value of each field of a record, by the field's name. */
export type FieldValues = Readonly<Record<string, FieldValue>>;

/** A record type: its fields in order. Everything else that moor does with records of the type follows from this. */
export type TypeDefinition = {
  readonly fields: readonly FieldDefinition[];
  /** Finds fields that are valid on their own but not together; returns the message. */
  readonly check?: (fields: FieldValues) => string | undefined;
  readonly names?: NamesInData;
  /** What a value looks like, for the user: a sentence with an example, or an example, if the fields' names say it. */
  readonly todo: string | { readonly example: string };
};

/**
 * What is done with the names in the data of this type; each includes what follows it. `compressed`: moor compresses
 * them (RFC 1035); `expanded`: they may arrive compressed (RFC 3597 section 4); `lowered`: signatures cover them in
 * lower case (RFC 4034 section 6.2). The names of any other type stay as they are.
 */
export type NamesInData = "compressed" | "expanded" | "lowered";

type FieldRow = readonly [name: string, kind: FieldKind];

/** The fields of a type, a row each. */
export const fieldRows = (...rows: readonly FieldRow[]): readonly FieldDefinition[] =>
  rows.map(([name, kind]) => ({ name, kind }));

/** A type that its fields and an example describe. */
export const plainType = (example: string, ...rows: readonly FieldRow[]): TypeDefinition => ({
  fields: fieldRows(...rows),
  todo: { example },
});
