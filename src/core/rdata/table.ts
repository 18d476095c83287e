import { a } from "./a.ts";
import { aaaa } from "./aaaa.ts";
import { caa } from "./caa.ts";
import { cname } from "./cname.ts";
import type { TypeDefinition } from "./field.ts";
import { mx } from "./mx.ts";
import { ns } from "./ns.ts";
import { ptr } from "./ptr.ts";
import { soa } from "./soa.ts";
import { srv } from "./srv.ts";
import { txt } from "./txt.ts";

const table = {
  A: a,
  AAAA: aaaa,
  CAA: caa,
  CNAME: cname,
  MX: mx,
  NS: ns,
  PTR: ptr,
  SOA: soa,
  SRV: srv,
  TXT: txt,
} satisfies Record<string, TypeDefinition>;

export type RecordType = keyof typeof table;

export const recordTypes: readonly RecordType[] = Object.keys(table).filter(isRecordType);

/** Upper case only, as every API writes types. */
export function isRecordType(text: string): text is RecordType {
  return Object.hasOwn(table, text);
}

export const definitionOf = (type: RecordType): TypeDefinition => table[type];

/** The number that a DNS message carries for this type. */
export const typeCode = (type: RecordType): number => table[type].code;

export const typeFromCode = (code: number): RecordType | undefined => byCode.get(code);

const byCode = new Map(recordTypes.map((type) => [typeCode(type), type]));
