import { type Fault, fail, ok, type Result } from "../result.ts";
import type { FieldDefinition, FieldPlace, FieldValue, FieldValues, TypeDefinition } from "./fields/field.ts";
import { bytesOfGeneric, genericData, genericOfBytes } from "./fields/hex.ts";
import { readBytes } from "./fields/text.ts";
import { isGenericMark, type TextToken, tokenize } from "./fields/tokens.ts";
import {
  adviceOf,
  definitionOf,
  isKnownType,
  isRecordType,
  isUndescribed,
  keptFields,
  type RecordType,
  typeName,
} from "./table.ts";

/** The data of a record. `text` is canonical: two of the same type are equal exactly when their texts are. */
export type Rdata = {
  readonly type: RecordType;
  readonly fields: RdataFields;
  readonly text: string;
  /** Present only if they differ from the bytes of the fields: see `exactRdata`. */
  readonly bytes?: Uint8Array<ArrayBuffer>;
};

export type RdataFields = FieldValues;

const maximumWire = 65_535;

/** Presentation text as in a zone file. Names without a trailing dot are relative to the zone. */
export function parseRdata(type: RecordType, text: string, zoneName: string, where = "value"): Result<Rdata> {
  if (unprintable.test(text)) return fail({ ...badCharacter(where), todo: adviceOf(type) });
  const tokens = tokenize(text, where);
  return tokens.ok ? rdataFromTokens(type, tokens.value, zoneName, where) : tokens;
}

/** For callers that have already split the text, such as the zone file parser. */
export function rdataFromTokens(
  type: RecordType,
  tokens: readonly TextToken[],
  zoneName: string,
  where = "value",
): Result<Rdata> {
  const [start, ...after] = tokens;
  const isGeneric = start !== undefined && isGenericMark(start) && !isUndescribed(type);
  const read = isGeneric
    ? rdataFromGeneric(type, [start, ...after], { zoneName, where })
    : rdataFromFieldTexts(type, tokens, { zoneName, where });
  return read.ok ? read : fail(...read.faults.map((fault) => ({ todo: adviceOf(type), ...fault })));
}

function rdataFromFieldTexts(type: RecordType, tokens: readonly TextToken[], place: FieldPlace): Result<Rdata> {
  const { where } = place;
  const definition = definitionOf(type);
  const read = parseFields(definition, tokens, place);
  if (!read.ok) return read;
  const message = definition.check?.(read.value);
  if (message !== undefined) return fail({ code: "bad-together", where, message });
  const rdata = isKnownType(type)
    ? rdataFromFields(type, read.value)
    : rdataOfBytes(type, bytesOf(definition.fields, read.value));
  return fits(rdata) ? ok(rdata) : fail(rdataTooLong(where));
}

function parseFields(
  definition: TypeDefinition,
  tokens: readonly TextToken[],
  { zoneName, where }: FieldPlace,
): Result<RdataFields> {
  const fields: Record<string, FieldValue> = {};
  const faults: Fault[] = [];
  let next = 0;
  for (const field of definition.fields) {
    const first = tokens[next];
    const place = placeOf(definition, field, where);
    if (first === undefined && field.kind.absent !== undefined) {
      fields[field.name] = field.kind.absent;
      continue;
    }
    if (first === undefined) {
      faults.push(missingField(field, place));
      break;
    }
    const others = field.kind.takes === "rest" ? tokens.slice(next + 1) : [];
    next += 1 + others.length;
    const parsed = field.kind.parse([first, ...others], { zoneName, where: place });
    if (parsed.ok) fields[field.name] = parsed.value;
    else faults.push(...parsed.faults);
  }
  if (next < tokens.length) faults.push(extraField(tokens.length - next, where));
  return faults.length > 0 ? fail(...faults) : ok(fields);
}

/** Every type may use the format of unknown ones (RFC 3597 section 5). */
function rdataFromGeneric(
  type: RecordType,
  tokens: readonly [TextToken, ...TextToken[]],
  place: FieldPlace,
): Result<Rdata> {
  const bytes = genericData.parse(tokens, place);
  if (!bytes.ok) return bytes;
  const rdata = exactRdata(
    type,
    Uint8Array.from(bytes.value, (byte) => byte.charCodeAt(0)),
  );
  return rdata.ok ? rdata : fail(...rdata.faults.map((fault) => ({ ...fault, where: place.where })));
}

/** The fields must be those that are kept, with values as the parser returns them. */
export function rdataFromFields(type: RecordType, fields: RdataFields): Rdata {
  return { type, fields, text: printFields(keptFields(type), fields) };
}

const rdataOfBytes = (type: RecordType, bytes: Uint8Array): Rdata =>
  rdataFromFields(type, { data: readBytes({ bytes, at: 0 }, bytes.length) });

function printFields(definitions: readonly FieldDefinition[], fields: RdataFields): string {
  const texts = definitions.map((field) => field.kind.print(fieldValue(fields, field)));
  return texts.length === 1 ? (texts[0] ?? "") : joined(texts);
}

/**
 * Canonical text as people write it: `4 2 ab...` for the bytes of an SSHFP record. Text of any other kind is returned
 * unchanged, and so are bytes whose text would mean other bytes.
 */
export function readableRdata(type: RecordType, text: string): string {
  const bytes = isKnownType(type) || isUndescribed(type) ? undefined : bytesOfGeneric(text);
  const fields = bytes && readFields(definitionOf(type), bytes);
  const readable = fields && printFields(definitionOf(type).fields, fields);
  if (readable === undefined || readable === "") return text;
  const read = parseRdata(type, readable, "");
  return read.ok && read.value.text === text ? readable : text;
}

/**
 * Whether the data is valid for its type; types that are not described may contain anything. Other servers refuse a
 * whole zone because of one such record.
 */
export const isValidData = (type: RecordType, data: Uint8Array): boolean =>
  readFields(definitionOf(type), data) !== undefined;

/**
 * A value as it is stored or shown by an API: one in the generic form is made readable, any other is as its author
 * wrote it.
 */
export const readableValue = (type: string, value: string): string =>
  value.startsWith("\\#") && isRecordType(type) ? readableRdata(type, value) : value;

/** Wire format, without compression. */
export const rdataToWire = (rdata: Rdata): Uint8Array<ArrayBuffer> =>
  rdata.bytes ?? bytesOf(keptFields(rdata.type), rdata.fields);

function bytesOf(definitions: readonly FieldDefinition[], fields: RdataFields): Uint8Array<ArrayBuffer> {
  const out: number[] = [];
  for (const field of definitions) field.kind.write(fieldValue(fields, field), out);
  return Uint8Array.from(out);
}

export function rdataFromWire(type: RecordType, bytes: Uint8Array): Result<Rdata> {
  if (!isKnownType(type)) return ok(rdataOfBytes(type, bytes));
  const fields = readFields(definitionOf(type), bytes);
  return fields === undefined ? fail(badWire(type)) : ok(rdataFromFields(type, fields));
}

/** Undefined if the data is not valid. */
function readFields({ fields, check }: TypeDefinition, bytes: Uint8Array): RdataFields | undefined {
  const wire = { bytes, at: 0 };
  const values: Record<string, FieldValue> = {};
  for (const field of fields) {
    const value = field.kind.read(wire);
    if (value === undefined) return undefined;
    values[field.name] = value;
  }
  return wire.at === bytes.length && check?.(values) === undefined ? values : undefined;
}

/**
 * Like `rdataFromWire`, but data that DNSSEC signs as written keeps its upper case: its text is then that of an unknown
 * type.
 */
export function exactRdata(type: RecordType, bytes: Uint8Array): Result<Rdata> {
  const read = rdataFromWire(type, bytes);
  if (!read.ok || !isKnownType(type) || definitionOf(type).names !== undefined) return read;
  const usual = rdataToWire(read.value);
  if (usual.length === bytes.length && usual.every((byte, i) => byte === bytes[i])) return read;
  return ok({ ...read.value, text: genericOfBytes(bytes), bytes: Uint8Array.from(bytes) });
}

/** An absent last field prints nothing, and leaves no blank. */
const joined = (texts: readonly string[]): string => (texts.at(-1) === "" ? texts.slice(0, -1) : texts).join(" ");

function fieldValue(fields: RdataFields, field: FieldDefinition): FieldValue {
  const value = fields[field.name];
  if (value === undefined) throw new Error(`no value for the field ${field.name}`);
  return value;
}

const placeOf = (definition: TypeDefinition, field: FieldDefinition, where: string): string =>
  definition.fields.length === 1 ? where : `${where}.${field.name}`;

const unprintable = /[\0\r\n]/;

/** No text is shorter than an eighth of its bytes (`::` stands for 16), so that short texts certainly fit. */
const fits = (rdata: Rdata): boolean => rdata.text.length < maximumWire / 8 || rdataToWire(rdata).length <= maximumWire;

const badCharacter = (where: string): Fault => ({
  code: "bad-character",
  where,
  message: "a value cannot contain a line break or a NUL",
});

const missingField = (field: FieldDefinition, where: string): Fault => ({
  code: "missing-field",
  where,
  message: `the ${field.name} is missing`,
});

const extraField = (count: number, where: string): Fault => ({
  code: "extra-field",
  where,
  message: count === 1 ? "there is one field too many" : `there are ${count} fields too many`,
});

const rdataTooLong = (where: string): Fault => ({
  code: "rdata-too-long",
  where,
  message: `the record has more than ${maximumWire} bytes of data`,
});

const badWire = (type: RecordType): Fault => ({
  code: "bad-wire",
  where: "value",
  message: `the data is not valid for a record of type ${typeName(type)}`,
});
