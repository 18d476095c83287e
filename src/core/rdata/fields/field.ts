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
  /** The value when no token is left; without it, the field is required. */
  readonly absent?: V;
  parse(tokens: readonly [TextToken, ...TextToken[]], place: FieldPlace): Result<V>;
  print(value: V): string;
  write(value: V, out: number[]): void;
  read(wire: WireReader): V | undefined;
};

export type FieldPlace = { readonly zoneName: string; readonly where: string };

/** Bytes of one record's data, without compressed names, and how far they have been read. */
export type WireReader = { readonly bytes: Uint8Array; at: number };

export type FieldDefinition = { readonly name: string; readonly kind: FieldKind };

/** The value of each field of a record, by the field's name. */
export type FieldValues = Readonly<Record<string, FieldValue>>;

/** A record type: its fields in order. `todo` shows the user what a value looks like, with an example. */
export type TypeDefinition = {
  readonly code: number;
  readonly fields: readonly FieldDefinition[];
  /** Finds fields that are valid on their own but not together; returns the message. */
  readonly check?: (fields: FieldValues) => string | undefined;
  readonly todo: string;
  /** RFC 4034 section 6.2 does not list it, so its signatures cover upper case letters as they are. */
  readonly isSignedAsWritten?: true;
};
