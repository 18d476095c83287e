import { apex, parseOwner } from "../core/names/name.ts";
import { parseRdata, readableRdata } from "../core/rdata/rdata.ts";
import { parseType, type RecordType, typeName } from "../core/rdata/table.ts";
import { faultInWords } from "../core/result.ts";
import type { Content, ProviderChange, ProviderSet, UnreadableSet } from "./provider.ts";
import type { CurrentContent, ListedSet, ProviderRules, SetContent, SetName } from "./provider-calls.ts";

/** A set that a provider has listed, in moor's form. */
export function setFromProvider(
  zone: string,
  { name, type: typeText, ttl, values: texts, hasMixedTtl, proxied }: Omit<ListedSet<unknown>, "raw">,
): ProviderSet | UnreadableSet {
  const unreadable = (because: string): UnreadableSet => ({ name, type: typeText, values: texts, because });
  const type = parseType(typeText);
  if (type === undefined) return unreadable(`moor has no record type ${typeText}`);
  const owner = parseOwner(name, zone);
  if (!owner.ok) return unreadable(owner.faults.map(faultInWords).join("; "));
  // RFC 1034 section 3.6.2 forbids it beside SOA and NS; providers answer with the addresses of its target instead.
  if (owner.value === apex && type === "CNAME")
    return unreadable("a CNAME at the name of the zone, which only the provider can serve");
  const values: string[] = [];
  for (const text of texts) {
    const rdata = parseRdata(type, text, zone);
    if (!rdata.ok) return unreadable(rdata.faults.map(faultInWords).join("; "));
    values.push(rdata.value.text);
  }
  const marks = { ...(hasMixedTtl && { hasMixedTtl }), ...(proxied && { proxied }) };
  return { owner: owner.value, type, ttl, values: values.toSorted(), ...marks };
}

export const isReadable = (set: ProviderSet | UnreadableSet): set is ProviderSet => !("because" in set);

export const isUnreadable = (set: ProviderSet | UnreadableSet): set is UnreadableSet => !isReadable(set);

export const setNameOf = (zone: string, { owner, type }: Pick<ProviderChange, "owner" | "type">): SetName => ({
  zone,
  name: owner,
  type: typeName(type),
});

/** As people write it: providers rarely take `\# 4 …`. */
export const contentForProvider = (
  type: RecordType,
  { values, ttl, proxied }: NonNullable<ProviderChange["content"]>,
): SetContent => ({
  values: values.map((value) => readableRdata(type, value)),
  ttl,
  ...(proxied && { proxied }),
});

/** Whether the provider holds this, however it spells the values. */
export function holdsContent(
  set: SetName,
  content: Content | undefined,
  current: CurrentContent | undefined,
  { ttl: { zoneDefault, automatic } }: ProviderRules,
): boolean {
  if (content === undefined || current === undefined) return content === undefined && !current?.values.length;
  // Where a set must have a TTL, any will do if none was ordered.
  const isServedAlike = current.ttl === content.ttl || (current.ttl === null && content.ttl === automatic);
  const isSameTtl = !current.hasMixedTtl && (isServedAlike || (content.ttl === null && !zoneDefault));
  return isSameTtl && sameValues(set, content.values, current.values);
}

/** Whether these are the same records, in any order and spelling. */
export function sameValues({ zone, type }: SetName, some: readonly string[], others: readonly string[]): boolean {
  const canonical = (values: readonly string[]) => values.map((value) => canonicalValue(zone, type, value)).toSorted();
  const right = canonical(others);
  return some.length === others.length && canonical(some).every((value, at) => value === right[at]);
}

function canonicalValue(zone: string, typeText: string, value: string): string {
  const type = parseType(typeText);
  const rdata = type && parseRdata(type, value, zone);
  return rdata?.ok ? rdata.value.text : value;
}
