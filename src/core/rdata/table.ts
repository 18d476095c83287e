import type { FieldKind, TypeDefinition } from "./fields/field.ts";
import { genericData } from "./fields/hex.ts";
import { isGenericMark } from "./fields/tokens.ts";
import { layoutAdvice, layoutCodes, parseData } from "./layout/wire-layout.ts";
import { a } from "./types/a.ts";
import { aaaa } from "./types/aaaa.ts";
import { caa } from "./types/caa.ts";
import { cname } from "./types/cname.ts";
import { ds } from "./types/ds.ts";
import { hinfo } from "./types/hinfo.ts";
import { https } from "./types/https.ts";
import { mx } from "./types/mx.ts";
import { ns } from "./types/ns.ts";
import { ptr } from "./types/ptr.ts";
import { rp } from "./types/rp.ts";
import { soa } from "./types/soa.ts";
import { srv } from "./types/srv.ts";
import { svcb } from "./types/svcb.ts";
import { tlsa } from "./types/tlsa.ts";
import { txt } from "./types/txt.ts";
import { codeOfName, typeNames } from "./types/type-names.ts";

const table = {
  A: a,
  AAAA: aaaa,
  CAA: caa,
  CNAME: cname,
  DS: ds,
  HINFO: hinfo,
  HTTPS: https,
  MX: mx,
  NS: ns,
  PTR: ptr,
  RP: rp,
  SOA: soa,
  SRV: srv,
  SVCB: svcb,
  TLSA: tlsa,
  TXT: txt,
} satisfies Record<string, TypeDefinition>;

const definitions: Readonly<Partial<Record<RecordType, TypeDefinition>>> = table;

/** A type in the table: moor knows its fields, and the APIs can create it. */
export type KnownType = keyof typeof table;

/**
 * Any other type: its data is kept as plain bytes (RFC 3597). Most have a name and a text format too, for people and
 * for files.
 */
export type UnknownType = `TYPE${number}`;

export type RecordType = KnownType | UnknownType;

export const recordTypes: readonly KnownType[] = Object.keys(table).filter(isKnownType);

/** Upper case only, as every API writes types. */
export function isKnownType(text: string): text is KnownType {
  return Object.hasOwn(table, text);
}

/** Includes unknown types. Each type has only one name: `TYPE65280`, but never `TYPE1` for A. */
export function isRecordType(text: string): text is RecordType {
  return isKnownType(text) || (numbered.test(text) && typeFromCode(Number(text.slice(4))) === text);
}

/** As in zone files: in any case, by name (`SSHFP` is `TYPE44`), and also `TYPE1` for A. */
export function parseType(text: string): RecordType | undefined {
  if (isKnownType(text)) return text;
  const upper = asciiWord.test(text) ? text.toUpperCase() : "";
  if (isKnownType(upper)) return upper;
  const code = codeOfName(upper) ?? (numbered.test(upper) ? Number(upper.slice(4)) : undefined);
  return code === undefined ? undefined : typeFromCode(code);
}

/** The inverse: `SSHFP` for `TYPE44`. Other text is returned unchanged. */
export const typeName = (type: string): string =>
  (numbered.test(type) ? typeNames.get(Number(type.slice(4))) : undefined) ?? type;

export const definitionOf = (type: RecordType): TypeDefinition =>
  definitions[type] ?? registered.get(type) ?? { code: Number(type.slice(4)), ...unknown };

/** The number of this type in DNS messages. */
export const typeCode = (type: RecordType): number => definitions[type]?.code ?? Number(type.slice(4));

/** Undefined for numbers that no stored record can have: query types and meta types. */
export function typeFromCode(code: number): RecordType | undefined {
  return byCode.get(code) ?? (isDataCode(code) ? `TYPE${code}` : undefined);
}

const byCode: ReadonlyMap<number, KnownType> = new Map(recordTypes.map((type) => [typeCode(type), type]));

/** RFC 6895 section 3.1: 0 is reserved, 41 is OPT, 128 to 255 are query types and meta types. */
const isDataCode = (code: number): boolean =>
  Number.isInteger(code) && code > 0 && code <= 65_535 && code !== 41 && !(code >= 128 && code <= 255);

const numbered = /^TYPE\d{1,5}$/;
const asciiWord = /^[a-z0-9-]{1,10}$/i;

const unknown = {
  fields: [{ name: "data", kind: genericData }],
  todo: "a record of an unnamed type takes bytes in hexadecimal, such as \\# 4 c0000201",
} satisfies Omit<TypeDefinition, "code">;

/** Types whose data is kept as bytes, but can also be written as the registered format of the type. */
const registered: ReadonlyMap<RecordType, TypeDefinition> = new Map(
  layoutCodes.map((code): [UnknownType, TypeDefinition] => [
    `TYPE${code}`,
    { code, fields: [{ name: "data", kind: registeredData(code) }], todo: layoutAdvice(code) ?? unknown.todo },
  ]),
);

/** The types that are named, but not in the table above, as this module names them. */
export const bytesTypes: readonly UnknownType[] = layoutCodes.map((code): UnknownType => `TYPE${code}`);

function registeredData(code: number): FieldKind<string> {
  const isEmptyValid = parseData(code, [], { zoneName: "", where: "" })?.ok === true;
  return {
    ...genericData,
    ...(isEmptyValid && { absent: "" }),
    parse: (tokens, place) =>
      (isGenericMark(tokens[0]) ? undefined : parseData(code, tokens, place)) ?? genericData.parse(tokens, place),
  };
}
