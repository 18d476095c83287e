import { ownerOf, parseOwner, parseTarget } from "../names/name.ts";
import { isGenericMark, type TextToken } from "../rdata/fields/tokens.ts";
import { type Rdata, rdataFromTokens } from "../rdata/rdata.ts";
import { isKnownType, typeName } from "../rdata/table.ts";
import { type Fault, fail, failAll, ok, type Result } from "../result.ts";
import { finish, type Steps } from "../steps.ts";
import { findingClashes } from "./clashes.ts";
import { atLine, isDirective, maximumLength, readEntries, type ZoneFileEntry } from "./entries.ts";
import { parseFileTtl, type RecordHead, readHead } from "./head.ts";
import { type GrowingMarks, markingSets, readMark, type ZoneMarks } from "./marks.ts";
import { addRecord, type FileSet, finishingSets, type GrowingSets } from "./sets.ts";

/** The content of a zone file. */
export type ZoneFile = {
  /** The TTL of the first `$TTL`: the zone's default, for sets without their own TTL. */
  readonly ttl: number | undefined;
  readonly marks: ZoneMarks;
  readonly sets: readonly FileSet[];
  /** Not errors, but lines that were read differently than written. */
  readonly notes: readonly Fault[];
};

const maximumFaults = 1_000;

/**
 * A master file (RFC 1035 section 5). An origin may be any name, but every owner must be inside the zone. Sets that
 * cannot coexist are reported together with other faults, so that a file need not be corrected twice; without other
 * faults, the zone's check reports them.
 */
export const parseZoneFile = (text: string, zoneName: string): Result<ZoneFile> =>
  finish(parsingZoneFile(text, zoneName));

/** `parseZoneFile` in steps, one per line. Reading stops after `mostRecords`, so that the rest takes no memory. */
export function* parsingZoneFile(
  text: string,
  zoneName: string,
  mostRecords = Number.POSITIVE_INFINITY,
): Steps<Result<ZoneFile>> {
  if (text.length > maximumLength) return fail(fileTooLong);
  const reading = newReading(zoneName);
  for (const entry of readEntries(text)) {
    yield;
    if (entry === undefined) continue;
    readEntry(reading, entry);
    if (reading.records > mostRecords) return fail(...reading.faults, tooManyRecords(entry.line, mostRecords));
    if (reading.faults.length >= maximumFaults) return fail(...reading.faults, tooManyFaults(entry.line));
  }
  const { sets, notes } = yield* finishingSets(reading.sets, reading.zoneTtl);
  if (reading.faults.length > 0)
    return fail(...reading.faults, ...(reading.isOriginLost ? [] : yield* findingClashes(sets)));
  const marked = yield* markingSets(sets, reading.marks);
  if (marked.faults.length > 0) return failAll(marked.faults.slice(0, maximumFaults));
  return ok({
    ttl: reading.zoneTtl,
    marks: reading.marks.zone,
    sets: marked.sets,
    notes: [...reading.notes, ...notes],
  });
}

type Reading = {
  readonly zoneName: string;
  readonly sets: GrowingSets;
  readonly marks: GrowingMarks;
  /** How many were read. */
  records: number;
  readonly faults: Fault[];
  readonly notes: Fault[];
  origin: string;
  /** After a bad `$ORIGIN`, names may be read wrongly, so they are not checked for clashes. */
  isOriginLost: boolean;
  /**
   * The owner of the record before. `faulty`: it was invalid, which is reported once and not for every record that
   * inherits it.
   */
  owner: { readonly kind: "none" | "faulty" } | { readonly kind: "known"; readonly owner: string };
  zoneTtl: number | undefined;
  /** The current `$TTL`, and the last TTL of a record. */
  defaultTtl: number | undefined;
  lastTtl: number | undefined;
};

const newReading = (zoneName: string): Reading => ({
  zoneName,
  sets: new Map(),
  marks: { zone: {}, sets: new Map() },
  records: 0,
  faults: [],
  notes: [],
  origin: zoneName,
  isOriginLost: false,
  owner: { kind: "none" },
  zoneTtl: undefined,
  defaultTtl: undefined,
  lastTtl: undefined,
});

function readEntry(reading: Reading, entry: ZoneFileEntry): void {
  const where = atLine(entry.line);
  const [first] = entry.tokens;
  if (entry.fault !== undefined) {
    reading.faults.push(entry.fault);
    if (!entry.indented) reading.owner = { kind: "faulty" };
  } else if (first === undefined) {
    reading.faults.push(...readMark(reading.marks, entry.comment, reading.zoneName, where));
  } else if (isDirective(first)) {
    readDirective(reading, entry.tokens, where);
  } else {
    if (!entry.indented) readOwner(reading, first, where);
    readRecord(reading, entry, where);
  }
}

function readDirective(reading: Reading, tokens: readonly TextToken[], where: string): void {
  const [name, value, ...rest] = tokens;
  const isSupported = isDirective(name, "$ORIGIN") || isDirective(name, "$TTL");
  const before = reading.faults.length;
  if (!isSupported || value === undefined || rest.length > 0) {
    reading.faults.push(isSupported ? badDirective(name?.raw ?? "", where) : directiveRefused(name?.raw ?? "", where));
  } else if (isDirective(name, "$ORIGIN")) {
    const origin = parseTarget(value.raw, reading.origin, where);
    if (origin.ok) reading.origin = origin.value.slice(0, -1);
    else reading.faults.push(...origin.faults);
  } else {
    const ttl = parseFileTtl(value.raw, where);
    if (!ttl.ok) reading.faults.push(...ttl.faults);
    else reading.defaultTtl = ttl.value;
    reading.zoneTtl ??= reading.defaultTtl;
  }
  if (isDirective(name, "$ORIGIN") && reading.faults.length > before) reading.isOriginLost = true;
}

function readOwner(reading: Reading, token: TextToken, where: string): void {
  const owner = token.quoted ? fail(quotedOwner(where)) : ownerIn(reading, token.raw, where);
  if (!owner.ok) reading.faults.push(...owner.faults);
  reading.owner = owner.ok ? { kind: "known", owner: owner.value } : { kind: "faulty" };
}

function ownerIn({ origin, zoneName }: Reading, text: string, where: string): Result<string> {
  // A shortcut for most owners. Not for names with dots: `parseOwner` takes the bare zone name for the apex, but in a
  // file it is relative.
  if (origin === zoneName && !text.includes(".")) return parseOwner(text, zoneName, where);
  const name = parseTarget(text, origin, where);
  if (!name.ok) return name;
  const owner = ownerOf(name.value.slice(0, -1), zoneName);
  return owner === undefined ? fail(outOfZone(name.value, zoneName, where)) : ok(owner);
}

function readRecord(reading: Reading, entry: ZoneFileEntry, where: string): void {
  if (reading.owner.kind === "none") {
    reading.faults.push(missingOwner(where));
    reading.owner = { kind: "faulty" };
  }
  const head = readHead(entry.tokens, entry.indented ? 0 : 1, where);
  if (!head.ok) {
    reading.faults.push(...head.faults);
    return;
  }
  const ttl = ttlOf(reading, head.value, where);
  const data = entry.tokens.slice(head.value.next);
  const rdata = rdataFromTokens(head.value.type, data, reading.origin, "");
  if (!rdata.ok) {
    reading.faults.push(...rdata.faults.map((fault) => dataFault(fault, head.value.type, where)));
  } else if (reading.owner.kind === "known") {
    const value = reading.origin === reading.zoneName ? asWritten(rdata.value, data) : rdata.value.text;
    reading.records += 1;
    addRecord(
      reading.sets,
      { owner: reading.owner.owner, type: head.value.type, ttl },
      { value, rdata: rdata.value.text, comment: entry.comment, line: entry.line },
    );
  }
}

/** The record's own TTL; else that of `$TTL`; else that of the record before (RFC 1035); else the zone's default. */
function ttlOf(reading: Reading, head: RecordHead, where: string): number | null {
  if (head.ttl !== undefined) {
    reading.lastTtl = head.ttl;
    return head.ttl;
  }
  if (reading.defaultTtl !== undefined) return reading.defaultTtl === reading.zoneTtl ? null : reading.defaultTtl;
  if (reading.lastTtl === undefined) return null;
  if (reading.notes.length === 0) reading.notes.push(lastTtlTaken(reading.lastTtl, where));
  return reading.lastTtl;
}

/** TXT values always get quotes: without them, an API may read blanks and semicolons as part of one string. */
function asWritten(rdata: Rdata, tokens: readonly TextToken[]): string {
  if (isKnownType(rdata.type) && isGenericMark(tokens[0])) return rdata.text;
  const quoted = rdata.type === "TXT";
  return tokens.map((token) => (quoted || token.quoted ? `"${token.raw}"` : token.raw)).join(" ");
}

/** `fault.where` is empty, or a dot and the name of a field. */
const dataFault = (fault: Fault, type: string, where: string): Fault => ({
  ...fault,
  where,
  message: `${typeName(type)}${fault.where.replace(".", " ")}: ${fault.message}`,
});

const fileTooLong: Fault = {
  code: "file-too-long",
  where: "file",
  message: `the zone file is longer than ${maximumLength} characters`,
  todo: "split the zone",
};

const tooManyRecords = (line: number, most: number): Fault => ({
  code: "too-many-records",
  where: atLine(line),
  message: `there are ${most} records before this line, the most that a zone may have; the rest of the file was not read`,
  todo: "ask the operator to allow larger zones (--records-per-zone), or split the zone",
});

const tooManyFaults = (line: number): Fault => ({
  code: "too-many-faults",
  where: atLine(line),
  message: `there are ${maximumFaults} faults up to here; the rest of the file was not read`,
  todo: "correct these first, and check that this is a zone file",
});

const badDirective = (name: string, where: string): Fault => ({
  code: "bad-directive",
  where,
  message: `${name} takes exactly one value`,
  todo: "write it as $ORIGIN example.org. or $TTL 3600",
});

const directiveRefused = (name: string, where: string): Fault => ({
  code: "directive-refused",
  where,
  message: `the directive ${name.slice(0, 40)} is not supported`,
  todo: /^\$include$/i.test(name)
    ? "paste the other file in its place: an uploaded file cannot include others"
    : "write the records in full; only $ORIGIN and $TTL are supported",
});

const quotedOwner = (where: string): Fault => ({
  code: "bad-quotes",
  where,
  message: "a name cannot be quoted",
  todo: "write the name without quotes",
});

const missingOwner = (where: string): Fault => ({
  code: "missing-owner",
  where,
  message: "the record has no name, and there is no earlier record to take it from",
  todo: "write a name, or @ for the zone itself, at the very start of the line",
});

const outOfZone = (name: string, zoneName: string, where: string): Fault => ({
  code: "out-of-zone",
  where,
  message: `the name ${name} is not inside the zone ${zoneName}`,
  todo: `remove the record, or use a name that ends with ${zoneName}.`,
});

const lastTtlTaken = (ttl: number, where: string): Fault => ({
  code: "last-ttl-taken",
  where,
  message: `the file has no $TTL, so from here on a record without a TTL gets the TTL of the record before it, here ${ttl}`,
});
