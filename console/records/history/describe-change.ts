import type { ChangedSet, ChangedZone, ChangeEvent } from "../../../src/contract/change-events.ts";
import { shownValue } from "../sets/shown-value.ts";

/** Groups the changes of each write, in the order of the history. */
export function groupWrites(history: readonly ChangeEvent[]): readonly (readonly ChangeEvent[])[] {
  return [...Map.groupBy(history, ({ serial }) => serial).values()];
}

type Side = ChangedSet | ChangedZone | null;

/** What was removed and what was added, one short text each. */
export function linesOf(
  before: Side,
  after: Side,
): { readonly gone: readonly string[]; readonly come: readonly string[]; readonly same: number } {
  const [old, next] = [textsOf(before), textsOf(after)];
  const [was, is] = [new Set(old), new Set(next)];
  return {
    gone: old.filter((line) => !is.has(line)),
    come: next.filter((line) => !was.has(line)),
    same: before === null || after === null ? 0 : next.filter((line) => was.has(line) && !isAspect(line)).length,
  };
}

const isAspect = (line: string): boolean => /^(?:TTL|labels|protected|mode|primary)\b/.test(line);

function textsOf(side: Side): readonly string[] {
  if (side === null) return [];
  const labels = Object.entries(side.labels).map(([key, value]) => `${key}=${value}`);
  const marks = labels.length > 0 ? [`labels ${labels.join(", ")}`] : [];
  if ("records" in side) {
    const values = side.records.map(({ value, comment }) => shownValue(value) + (comment && ` ; ${comment}`));
    const ttl = side.ttl === null ? [] : [`TTL ${side.ttl}`];
    return [...values, ...ttl, ...marks, ...(side.protection.change ? ["protected"] : [])];
  }
  const servers = side.primary_nameservers.map(({ address }) => `primary ${address}`);
  return [
    `TTL ${side.ttl}`,
    ...(side.mode === "secondary" ? ["mode secondary"] : []),
    ...marks,
    ...servers,
    ...(side.protection.delete ? ["protected"] : []),
  ];
}
