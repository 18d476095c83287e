import type { Rrset } from "../../../src/contract/rrsets.ts";
import { mostRecords } from "../../../src/contract/rrsets-limits.ts";
import { nameToUnicode } from "../../../src/core/names/unicode.ts";
import { parseRdata, readableValue } from "../../../src/core/rdata/rdata.ts";
import { definitionOf, isRecordType, type RecordType } from "../../../src/core/rdata/table.ts";
import { isTarget, targetWithoutDot } from "../../../src/core/rdata/target-fields.ts";
import { checkOwners } from "../../../src/core/records/check-zone.ts";
import type { RRset } from "../../../src/core/records/rrset.ts";
import { faultInWords } from "../../../src/core/result.ts";
import { shownFaults } from "../shown-faults.ts";
import { typedTtl, typedTtlFault } from "./ttl.ts";
import { typedOwner } from "./typed-owner.ts";
import { fieldsOf, joinValue, splitValue } from "./value-fields.ts";

/** A set as the form has it: everything is text until it is checked. */
export type SetDraft = {
  readonly name: string;
  readonly type: RecordType;
  /** Empty: the zone's default. */
  readonly ttl: string;
  readonly labels: string;
  readonly values: readonly ValueDraft[];
  /** The key of the value that was added last. */
  readonly newest?: number;
};

export type ValueDraft = {
  readonly key: number;
  readonly texts: readonly string[];
  readonly comment: string;
  /** A target that stays as typed, although it looks like a full name without its final dot. */
  readonly keeps?: string | undefined;
};

export type SetChange = {
  readonly name: string;
  readonly type: string;
  readonly ttl: number | null;
  readonly labels: Readonly<Record<string, string>>;
  readonly records: readonly { readonly value: string; readonly comment: string }[];
};

/** What is wrong, by place: `name`, `ttl`, `labels`, `set`, or `0.1` for the second field of the first value. */
export type Faults = ReadonlyMap<string, string>;

export const emptyDraft = (type: RecordType, name = ""): SetDraft => ({
  name,
  type,
  ttl: "",
  labels: "",
  values: [emptyValue(0)],
});

export const draftOf = (set: Rrset): SetDraft => ({
  name: nameToUnicode(set.name),
  type: isRecordType(set.type) ? set.type : "TXT",
  ttl: set.ttl === null ? "" : String(set.ttl),
  labels: labelsText(set.labels),
  values: set.records.map(({ value, comment }, key) => valueDraftOf(set.type, value, comment, key)),
});

export const hasNotes = ({ labels, values }: SetDraft): boolean =>
  [labels, ...values.map(({ comment }) => comment)].some((text) => text.trim() !== "");

/** A target that is already stored is not asked about again. */
function valueDraftOf(type: string, value: string, comment: string, key: number): ValueDraft {
  const texts = isRecordType(type) ? splitValue(type, readableValue(type, value)) : [value];
  return { key, texts, comment, keeps: texts.find((_, i) => isRecordType(type) && isTarget(type, i))?.trim() };
}

export const labelsText = (labels: Readonly<Record<string, string>>): string =>
  Object.entries(labels)
    .map(([key, value]) => (value === "" ? key : `${key}=${value}`))
    .join(", ");

export function readLabels(text: string): Readonly<Record<string, string>> {
  const pairs = text.split(/[,\n]/).map((pair) => pair.trim().split(/=(.*)/, 2));
  return Object.fromEntries(pairs.filter(([key]) => key).map(([key = "", value = ""]) => [key.trim(), value.trim()]));
}

const emptyValue = (key: number): ValueDraft => ({ key, texts: [], comment: "" });

/** Adds what was typed for a new set to the existing set: the new values, and the TTL if one was typed. */
export function addedTo(set: Rrset, draft: SetDraft): SetDraft {
  const old = draftOf(set);
  const key = freeKey(draft);
  return {
    ...draft,
    ttl: draft.ttl.trim() === "" ? old.ttl : draft.ttl,
    labels: labelsText({ ...set.labels, ...readLabels(draft.labels) }),
    values: [
      ...draft.values,
      ...(isSingle(set.type) ? [] : old.values.map((value, i) => ({ ...value, key: key + i }))),
    ],
  };
}

/** An existing set with what was typed for a new record, without values that are still empty. */
export function openedWith(set: Rrset, draft: SetDraft): SetDraft {
  const values = addedTo(set, draft).values.filter(({ texts }) => texts.some((text) => text.trim() !== ""));
  return { ...draftOf(set), values };
}

/** A set of this type has exactly one value. */
export const isSingle = (type: string): boolean => type === "CNAME" || type === "SOA";

/** Adds an empty value. */
export function withOneMore(draft: SetDraft): SetDraft {
  const newest = freeKey(draft);
  return { ...draft, newest, values: [...draft.values, emptyValue(newest)] };
}

/** Never used before, even if the newest value was removed again: the form moves the focus to a new key. */
const freeKey = ({ values, newest = 0 }: SetDraft): number => Math.max(newest, ...values.map(({ key }) => key)) + 1;

/**
 * Several addresses pasted into the field for one: each becomes a separate value, after the existing one or in its
 * place. Undefined for any other text.
 */
export function withPasted(draft: SetDraft, at: number, pasted: string, replaces: boolean): SetDraft | undefined {
  const { type, values } = draft;
  const addresses = pasted.split(/[\s,;]+/).filter((part) => part !== "");
  if ((type !== "A" && type !== "AAAA") || addresses.length < 2) return undefined;
  if (!addresses.every((address) => parseRdata(type, address, "").ok)) return undefined;
  const key = freeKey(draft);
  const made = addresses.map((address, i) => ({ ...emptyValue(key + i), texts: [address] }));
  const own = values.slice(at, at + 1);
  const first = replaces ? own.map((value) => ({ ...value, texts: addresses.slice(0, 1) })) : own;
  return { ...draft, values: values.toSpliced(at, 1, ...first, ...made.slice(replaces ? 1 : 0)) };
}

/** Checks a draft against the other sets, with the service's own rules. */
export function checkDraft(
  draft: SetDraft,
  zone: string,
  others: readonly Rrset[],
): { readonly faults: Faults; readonly change: SetChange | undefined } {
  const faults = new Map<string, string>();
  const owner = readOwner(draft.name, zone, faults);
  const ttl = readTtl(draft.ttl, faults);
  const records = draft.values.map((value, i) => readValue(draft.type, value, i, zone, faults));
  const readRecords = records.filter((record) => record !== undefined);
  if (readRecords.length > mostRecords) faults.set("set", `a set has at most ${mostRecords} records`);
  if (owner === undefined || faults.size > 0) return { faults, change: undefined };
  const labels = readLabels(draft.labels);
  const wanted = coreSet(owner, draft.type, ttl, readRecords);
  const beside = others
    .filter((set) => set.name === owner && set.type !== draft.type)
    .flatMap((set) => fromWire(set, zone));
  const together = shownFaults(checkOwners([...beside, wanted]));
  if (together.length > 0) faults.set("set", together.map(faultInWords).join(". "));
  if (faults.size > 0) return { faults, change: undefined };
  const values = readRecords.map(({ value, comment }) => ({ value, comment }));
  return { faults, change: { name: owner, type: draft.type, ttl, labels, records: values } };
}

function readOwner(text: string, zone: string, faults: Map<string, string>): string | undefined {
  // The service takes an empty name for the zone itself, but somebody may just have forgotten it.
  if (text.trim() === "") {
    faults.set("name", "required; @ is the zone itself");
    return undefined;
  }
  const owner = typedOwner(text, zone);
  if (owner.ok) return owner.value;
  faults.set("name", owner.faults.map(faultInWords).join(". "));
  return undefined;
}

function readTtl(text: string, faults: Map<string, string>): number | null {
  if (text.trim() === "") return null;
  const ttl = typedTtl(text);
  if (ttl !== undefined) return ttl;
  faults.set("ttl", `${typedTtlFault(text)}; empty: the zone's default`);
  return null;
}

type ReadRecord = { readonly value: string; readonly rdata: string; readonly comment: string };

function readValue(
  type: RecordType,
  { texts, comment }: ValueDraft,
  at: number,
  zone: string,
  faults: Map<string, string>,
): ReadRecord | undefined {
  if (type === "TXT" && !texts[0]?.trim()) {
    faults.set(`${at}.0`, 'required; write "" for an empty text');
    return undefined;
  }
  const value = joinValue(type, texts);
  const rdata = parseRdata(type, value, zone);
  if (rdata.ok) return { value, rdata: rdata.value.text, comment };
  const { fields } = definitionOf(type);
  const examples = fieldsOf(type);
  const isBlank = fields.map(({ kind }, i) => fields.length > 1 && kind.takes !== "rest" && !texts[i]?.trim());
  // The parser skips an empty field and would read the next one in its place.
  const filled = fields.map((_, i) => (isBlank[i] ? examples[i]?.example : texts[i]) ?? "");
  const rest = isBlank.includes(true) ? parseRdata(type, joinValue(type, filled), zone) : rdata;
  for (const { where, message } of rest.ok ? [] : rest.faults) {
    const field = fields.findIndex(({ name }) => where.endsWith(`.${name}`));
    faults.set(`${at}.${Math.max(0, field)}`, message);
  }
  for (const [i, blank] of isBlank.entries()) if (blank) faults.set(`${at}.${i}`, "required");
  return undefined;
}

/**
 * What a value means, if that differs from what was typed: the zone's name is appended to a name without a final dot.
 */
export function meaningOf(type: RecordType, texts: readonly string[], zone: string): string | undefined {
  const value = joinValue(type, texts);
  const rdata = parseRdata(type, value, zone);
  if (!rdata.ok || type === "TXT" || rdata.value.text === value) return undefined;
  const meant = readableValue(type, rdata.value.text);
  return meant.toLowerCase() === value.toLowerCase() ? undefined : meant;
}

/** The target to ask about, unless the user has answered already. */
export function openQuestion(type: RecordType, { texts, keeps }: ValueDraft): string | undefined {
  const target = targetWithoutDot(type, texts);
  return target === keeps ? undefined : target;
}

const fromWire = (set: Rrset, zone: string): readonly RRset[] => {
  const { type } = set;
  if (!isRecordType(type)) return [];
  const records = set.records.map(({ value, comment }) => {
    const rdata = parseRdata(type, value, zone);
    return { value, comment, rdata: rdata.ok ? rdata.value.text : value };
  });
  return [coreSet(set.name, type, set.ttl, records)];
};

const coreSet = (owner: string, type: RecordType, ttl: number | null, records: readonly ReadRecord[]): RRset => ({
  owner,
  type,
  ttl,
  records: records.map((record) => ({ ...record, id: "", name: owner, created: 0, modified: 0 })),
});
