import { parseSeconds } from "../rdata/fields/number.ts";
import type { TextToken } from "../rdata/fields/tokens.ts";
import { parseType, type RecordType, recordTypes } from "../rdata/table.ts";
import { parseTtl } from "../records/rrset.ts";
import { type Fault, fail, ok, type Result } from "../result.ts";

/** What is between a record's owner and its data. */
export type RecordHead = {
  readonly ttl: number | undefined;
  readonly type: RecordType;
  /** Where the data begins. */
  readonly next: number;
};

/** RFC 1035 section 5.1: TTL and class, in either order and both optional, then the type. */
export function readHead(tokens: readonly TextToken[], start: number, where: string): Result<RecordHead> {
  const faults: Fault[] = [];
  let ttl: number | undefined;
  let classGiven = false;
  for (let next = start; ; next++) {
    const token = tokens[next];
    if (token === undefined) return fail(...faults, missingType(where));
    if (ttl === undefined && /^\d/.test(token.raw) && !token.quoted) {
      const fileTtl = parseFileTtl(token.raw, where);
      if (!fileTtl.ok) faults.push(...fileTtl.faults);
      ttl = fileTtl.ok ? fileTtl.value : 0;
    } else if (!classGiven && className.test(token.raw) && !token.quoted) {
      classGiven = true;
      if (!internet.test(token.raw)) faults.push(badClass(token.raw, where));
    } else {
      const type = token.quoted ? undefined : parseType(token.raw);
      if (type === undefined) faults.push(unknownType(token.raw, where));
      return type === undefined || faults.length > 0 ? fail(...faults) : ok({ ttl, type, next: next + 1 });
    }
  }
}

/** Seconds, or with units: `1h30m`. */
export function parseFileTtl(text: string, where: string): Result<number> {
  const ttl = parseTtl(parseSeconds(text), where);
  if (ttl.ok) return ttl;
  return fail(...ttl.faults.map((fault) => ({ ...fault, todo: "write seconds such as 3600, or 1h, 1d, 1w2d" })));
}

const className = /^(?:IN|CH|CS|HS|CLASS\d{1,5})$/i;
const internet = /^(?:IN|CLASS0*1)$/i;

const missingType = (where: string): Fault => ({
  code: "missing-type",
  where,
  message: "the record has no type",
  todo: "write name, TTL, class, type and data, such as www 3600 IN A 192.0.2.1",
});

const badClass = (text: string, where: string): Fault => ({
  code: "bad-class",
  where,
  message: `the class ${text} is not IN`,
  todo: "write IN, or omit the class",
});

const unknownType = (text: string, where: string): Fault => ({
  code: "unknown-type",
  where,
  message: `${JSON.stringify(text.slice(0, 40))} is not a known record type`,
  todo: `use a registered type such as ${recordTypes.join(", ")}, or write TYPE and its number, with its data as \\# length hex`,
});
