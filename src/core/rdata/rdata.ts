import { type Fault, fail, ok, type Result } from "../result.ts";
import type { FieldDefinition, FieldValue, FieldValues, TypeDefinition } from "./fields/field.ts";
import { bytesOfGeneric, genericData } from "./fields/hex.ts";
import { readBytes } from "./fields/text.ts";
import { isGenericMark, type TextToken, tokenize } from "./fields/tokens.ts";
import { printData } from "./layout/wire-layout.ts";
import { definitionOf, isKnownType, isRecordType, type RecordType, typeCode } from "./table.ts";

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
  const definition = definitionOf(type);
  if (unprintable.test(text)) return fail({ ...badCharacter(where), todo: definition.todo });
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
  const [start, ...after] = isGenericMark(tokens[0]) && isKnownType(type) ? tokens : [];
  if (start !== undefined) return rdataFromGeneric(type, [start, ...after], zoneName, where);
  const definition = definitionOf(type);
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
  const together = faults.length > 0 ? undefined : definition.check?.(fields);
  if (together !== undefined) faults.push({ code: "bad-together", where, message: together });
  if (faults.length > 0) return fail(...faults.map((fault) => ({ todo: definition.todo, ...fault })));
  const rdata = rdataFromFields(type, fields);
  return fits(rdata) ? ok(rdata) : fail({ ...rdataTooLong(where), todo: definition.todo });
}

/** Known types may use the format of unknown ones too (RFC 3597 section 5). */
function rdataFromGeneric(
  type: RecordType,
  tokens: readonly [TextToken, ...TextToken[]],
  zoneName: string,
  where: string,
): Result<Rdata> {
  const { todo } = definitionOf(type);
  const bytes = genericData.parse(tokens, { zoneName, where });
  if (!bytes.ok) return fail(...bytes.faults.map((fault) => ({ todo, ...fault })));
  const rdata = exactRdata(
    type,
    Uint8Array.from(bytes.value, (byte) => byte.charCodeAt(0)),
  );
  return rdata.ok ? rdata : fail(...rdata.faults.map((fault) => ({ todo, ...fault, where })));
}

/** The fields must be those of the type, with values as the parser returns them. */
export function rdataFromFields(type: RecordType, fields: RdataFields): Rdata {
  const { fields: definitions } = definitionOf(type);
  const texts = definitions.map((field) => field.kind.print(fieldValue(fields, field)));
  return { type, fields, text: texts.length === 1 ? (texts[0] ?? "") : joined(texts) };
}

/**
 * Canonical text as people write it: `4 2 ab...` for the bytes of an SSHFP record. Text of any other kind is returned
 * unchanged, and so are bytes whose text would mean other bytes.
 */
export function readableRdata(type: RecordType, text: string): string {
  const bytes = isKnownType(type) ? undefined : bytesOfGeneric(text);
  const readable = bytes && printData(typeCode(type), bytes);
  if (readable === undefined || readable === "" || readable === text) return text;
  const read = parseRdata(type, readable, "");
  return read.ok && read.value.text === text ? readable : text;
}

/**
 * A value as it is stored or shown by an API: one in the generic form is made readable, any other is as its author
 * wrote it.
 */
export const readableValue = (type: string, value: string): string =>
  value.startsWith("\\#") && isRecordType(type) ? readableRdata(type, value) : value;

/** Wire format, without compression. */
export function rdataToWire(rdata: Rdata): Uint8Array<ArrayBuffer> {
  if (rdata.bytes !== undefined) return rdata.bytes;
  const out: number[] = [];
  for (const field of definitionOf(rdata.type).fields) field.kind.write(fieldValue(rdata.fields, field), out);
  return Uint8Array.from(out);
}

export function rdataFromWire(type: RecordType, bytes: Uint8Array): Result<Rdata> {
  const wire = { bytes, at: 0 };
  const fields: Record<string, FieldValue> = {};
  for (const field of definitionOf(type).fields) {
    const value = field.kind.read(wire);
    if (value === undefined) return fail(badWire(type, field.name));
    fields[field.name] = value;
  }
  if (wire.at !== bytes.length || definitionOf(type).check?.(fields) !== undefined) return fail(badWire(type, "end"));
  return ok(rdataFromFields(type, fields));
}

/**
 * Like `rdataFromWire`, but data that DNSSEC signs as written keeps its upper case: its text is then that of an unknown
 * type.
 */
export function exactRdata(type: RecordType, bytes: Uint8Array): Result<Rdata> {
  const read = rdataFromWire(type, bytes);
  if (!read.ok || definitionOf(type).isSignedAsWritten !== true) return read;
  const usual = rdataToWire(read.value);
  if (usual.length === bytes.length && usual.every((byte, i) => byte === bytes[i])) return read;
  const text = genericData.print(readBytes({ bytes, at: 0 }, bytes.length));
  return ok({ ...read.value, text, bytes: Uint8Array.from(bytes) });
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

const badWire = (type: RecordType, place: string): Fault => ({
  code: "bad-wire",
  where: place,
  message: `the data is not valid for a record of type ${type}`,
});
