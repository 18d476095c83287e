import type { ChangedSet, ChangedZone, ChangeEvent } from "../../../src/contract/change-events.ts";
import type { WriteEntry } from "../../../src/contract/console.ts";
import { counted } from "../../shared/counted.ts";
import { shownValue } from "../sets/shown-value.ts";

/** What happened to a set. */
export const verbs = {
  create: "added",
  replace: "changed",
  delete: "deleted",
  settings: "changed",
} as const satisfies Record<ChangeEvent["kind"], string>;

export const sizeOf = ({ added, changed, deleted }: WriteEntry): number => added + changed + deleted;

/** `450 sets added, 2 deleted` */
export function summaryOf(write: WriteEntry): string {
  const [first, ...others] = (["added", "changed", "deleted"] as const).filter((verb) => write[verb] > 0);
  if (first === undefined) return "";
  const rest = others.map((verb) => `, ${write[verb].toLocaleString("en-GB")} ${verb}`);
  return `${counted(write[first], "set")} ${first}${rest.join("")}`;
}

/** The stages in a few words. */
const stageNames: Readonly<Record<string, string>> = {
  new: "waits until unsigned records have expired from caches",
  "new-parent": "waits for the DS record at the parent",
  secure: "on",
  "roll-show": "new key published",
  "roll-parent": "waits for the DS record of the new key",
  "roll-sign": "new key signs",
  "algorithm-sign": "new key signs too",
  "algorithm-show": "new key published",
  "algorithm-parent": "waits for the DS record of the new key",
  "algorithm-hide": "old key no longer published",
  leaving: "is being switched off",
};

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

const isAspect = (line: string): boolean => /^(?:TTL|DNSSEC|labels|protected|mode|primary)\b/.test(line);

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
    ...(side.dnssec ? [`DNSSEC ${stageNames[side.dnssec.stage] ?? side.dnssec.stage}`] : []),
    ...(side.dnssec?.keys.map((tag) => `DNSSEC key ${tag}`) ?? []),
  ];
}
