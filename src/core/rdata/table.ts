import type { FieldDefinition, TypeDefinition } from "./fields/field.ts";
import { genericData } from "./fields/hex.ts";
import { codeOfName, typeNames } from "./fields/type-names.ts";
import { a } from "./types/a.ts";
import { aaaa } from "./types/aaaa.ts";
import { caa } from "./types/caa.ts";
import { cname } from "./types/cname.ts";
import { dnssecTypes } from "./types/dnssec.ts";
import { ds } from "./types/ds.ts";
import { hinfo } from "./types/hinfo.ts";
import { keyTypes } from "./types/keys.ts";
import { mx } from "./types/mx.ts";
import { nameTypes } from "./types/names.ts";
import { ns } from "./types/ns.ts";
import { placeTypes } from "./types/places.ts";
import { ptr } from "./types/ptr.ts";
import { rp } from "./types/rp.ts";
import { soa } from "./types/soa.ts";
import { srv } from "./types/srv.ts";
import { https, svcb } from "./types/svcb.ts";
import { textTypes } from "./types/texts.ts";
import { tlsa } from "./types/tlsa.ts";
import { txt } from "./types/txt.ts";

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

/**
 * Types whose data is kept as bytes (RFC 3597). People and files write their fields, and other servers refuse a whole
 * zone for one of them that is not valid.
 */
const bytesTable: Readonly<Record<string, TypeDefinition>> = {
  ...dnssecTypes,
  ...keyTypes,
  ...nameTypes,
  ...placeTypes,
  ...textTypes,
};

/** A type in the table: moor knows its fields, and the APIs can create it. */
export type KnownType = keyof typeof table;

/** Any other type; most have a name, and many a text format too. */
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

/** The fields as people write them. */
export const definitionOf = (type: RecordType): TypeDefinition =>
  isKnownType(type) ? table[type] : (bytesTable[typeName(type)] ?? unknown);

/** Whether the data is only bytes, because nobody has described the type. */
export const isUndescribed = (type: RecordType): boolean => definitionOf(type) === unknown;

/** The fields that are kept. */
export const keptFields = (type: RecordType): readonly FieldDefinition[] =>
  isKnownType(type) ? table[type].fields : unknown.fields;

/** Shows the user what a value looks like. */
export function adviceOf(type: RecordType): string {
  const { fields, todo } = definitionOf(type);
  if (typeof todo === "string") return todo;
  const list = fields.map(({ name }) => name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`));
  const most = list.length > 1 ? `${list.slice(0, -1).join(", ")} and ` : "";
  return `${typeName(type)} records take ${most}${list.at(-1)}, such as ${todo.example}`;
}

/** The number of this type in DNS messages. */
export const typeCode = (type: RecordType): number => knownCodes[type] ?? Number(type.slice(4));

/** Undefined for numbers that no stored record can have: query types and meta types. */
export function typeFromCode(code: number): RecordType | undefined {
  return byCode.get(code) ?? (isDataCode(code) ? `TYPE${code}` : undefined);
}

const codeNamed = (name: string): number => {
  const code = codeOfName(name);
  if (code === undefined) throw new Error(`the registry has no type ${name}`);
  return code;
};

const knownCodes: Readonly<Partial<Record<RecordType, number>>> = Object.fromEntries(
  recordTypes.map((type) => [type, codeNamed(type)]),
);

const byCode: ReadonlyMap<number, KnownType> = new Map(recordTypes.map((type) => [codeNamed(type), type]));

/** RFC 6895 section 3.1: 0 is reserved, 41 is OPT, 128 to 255 are query types and meta types. */
const isDataCode = (code: number): boolean =>
  Number.isInteger(code) && code > 0 && code <= 65_535 && code !== 41 && !(code >= 128 && code <= 255);

const numbered = /^TYPE\d{1,5}$/;
const asciiWord = /^[a-z0-9-]{1,10}$/i;

const unknown = {
  fields: [{ name: "data", kind: genericData }],
  todo: "records of this type take bytes in hexadecimal, such as \\# 4 c0000201",
} satisfies TypeDefinition;

/** The types whose data is kept as bytes, but written by their fields. */
export const bytesTypes: readonly UnknownType[] = Object.keys(bytesTable).map(
  (name): UnknownType => `TYPE${codeNamed(name)}`,
);
