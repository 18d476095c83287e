import type { ChangedSet, ChangedZone, ChangeEvent } from "../../../src/contract/change-events.ts";
import type { WriteEntry } from "../../../src/contract/console.ts";
import type { RrsetsZone } from "../../../src/contract/rrsets.ts";
import { counted } from "../../shared/counted.ts";
import { shownValue } from "../sets/shown-value.ts";

/** What happened to a set. A comment alone is not in DNS: nothing was changed there. */
export function verbOf({ kind, before, after }: Pick<ChangeEvent, "kind" | "before" | "after">): string {
  if (kind === "create") return "added";
  if (kind === "delete") return "deleted";
  const [bare, next] = [withoutComments(before), withoutComments(after)];
  return kind === "replace" && bare === next ? "comment changed" : "changed";
}

function withoutComments(side: Side): string {
  if (side === null || !("records" in side)) return "";
  const records = side.records.map(({ value }) => ({ value, comment: "" }));
  return JSON.stringify(textsOf({ ...side, records }, true));
}

export const sizeOf = ({ added, changed, deleted }: WriteEntry): number => added + changed + deleted;

/** `450 sets added, 2 deleted` */
export function summaryOf(write: WriteEntry): string {
  const [first, ...others] = (["added", "changed", "deleted"] as const).filter((verb) => write[verb] > 0);
  if (first === undefined) return "";
  const rest = others.map((verb) => `, ${write[verb].toLocaleString("en-GB")} ${verb}`);
  return `${counted(write[first], "set")} ${first}${rest.join("")}`;
}

/**
 * The changes of a write by name and type, as in the table of records: the log has them in the order in which they were
 * made.
 */
export function inOrder(changes: readonly ChangeEvent[]): readonly ChangeEvent[] {
  const { compare } = new Intl.Collator("en", { numeric: true });
  const isApex = ({ name }: ChangeEvent) => Number(name === null) * 2 + Number(name === "@");
  return changes.toSorted(
    (a, b) =>
      isApex(b) - isApex(a) ||
      compare(a.name ?? "", b.name ?? "") ||
      compare(a.type ?? "", b.type ?? "") ||
      a.id - b.id,
  );
}

/** Whether the set can be written again as it was before the change. The SOA record follows from the zone. */
export const canRestore = ({ mode }: RrsetsZone, { kind, type, before }: ChangeEvent): boolean =>
  mode !== "secondary" && kind !== "settings" && type !== "SOA" && before !== null;

/** What an undo of the write does to how many sets: `3 sets deleted, 1 restored`. */
export const undoInWords = ({ added, changed, deleted }: Pick<WriteEntry, "added" | "changed" | "deleted">): string =>
  [
    [added, "deleted"],
    [changed, "changed back"],
    [deleted, "restored"],
  ]
    .filter(([count]) => count !== 0)
    .map(([count, verb], i) => (i === 0 ? `${counted(Number(count), "set")} ${verb}` : `${count} ${verb}`))
    .join(", ");

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

const parentFaults: Readonly<Record<string, string>> = {
  "wrong-ds": "the DS record fits no key",
  "no-ds": "the DS record is missing",
  "wrong-digest": "a DS record has a wrong digest",
  unverified: "not known what it has",
  differs: "its servers differ",
  "other-algorithm": "it also has a DS record of another algorithm",
};

type Side = ChangedSet | ChangedZone | null;

/** What was removed and what was added, one short text each. */
export function linesOf(
  before: Side,
  after: Side,
): { readonly gone: readonly string[]; readonly come: readonly string[]; readonly same: number } {
  const hasTtl = before !== null && after !== null && before.ttl !== after.ttl;
  const [old, next] = [textsOf(before, hasTtl), textsOf(after, hasTtl)];
  const [was, is] = [new Set(old), new Set(next)];
  return {
    gone: old.filter((line) => !is.has(line)),
    come: next.filter((line) => !was.has(line)),
    same: before === null || after === null ? 0 : next.filter((line) => was.has(line) && !isAspect(line)).length,
  };
}

const isAspect = (line: string): boolean => /^(?:TTL|DNSSEC|labels|protected|mode|primary)\b/.test(line);

/** `hasTtl`: names the TTL even if it is the zone's default, because the other side has another. */
function textsOf(side: Side, hasTtl: boolean): readonly string[] {
  if (side === null) return [];
  const labels = Object.entries(side.labels).map(([key, value]) => `${key}=${value}`);
  const marks = labels.length > 0 ? [`labels ${labels.join(", ")}`] : [];
  if ("records" in side) {
    const values = side.records.map(({ value, comment }) => shownValue(value) + (comment && ` ; ${comment}`));
    const ttl = side.ttl === null ? (hasTtl ? ["TTL default"] : []) : [`TTL ${side.ttl}`];
    return [...values, ...ttl, ...marks, ...(side.protection.change ? ["protected"] : [])];
  }
  const servers = side.primary_nameservers.map(({ address }) => `primary ${address}`);
  return [
    `TTL ${side.ttl}`,
    ...(side.mode === "secondary" ? ["mode secondary"] : []),
    ...marks,
    ...servers,
    ...(side.protection.delete ? ["protected"] : []),
    ...signingTexts(side),
  ];
}

function signingTexts({ dnssec }: ChangedZone): readonly string[] {
  if (dnssec === undefined) return [];
  const { stage, denial, parent_fault: fault, keys } = dnssec;
  return [
    `DNSSEC ${stageNames[stage] ?? stage}`,
    ...keys.map((tag) => `DNSSEC key ${tag}`),
    ...(denial === "nsec3" ? ["DNSSEC with NSEC3"] : []),
    ...(fault === null ? [] : [`DNSSEC parent: ${parentFaults[fault] ?? fault}`]),
  ];
}
