import { type Labels, readLabels } from "../labels.ts";
import { parseOwner } from "../names/name.ts";
import { parseType, typeName } from "../rdata/table.ts";
import { type RRset, setKey } from "../records/rrset.ts";
import type { Fault } from "../result.ts";
import { mapInSteps, type Steps } from "../steps.ts";

/**
 * What moor knows about a zone and its sets beyond the records. In a file it stands in comments, which other programs
 * skip:
 *
 *     ; moor: zone labels env=prod team=web
 *     ; moor: zone protected
 *     ; moor: zone signed
 *     ; moor: www A labels owner=anna
 *     ; moor: www A protected
 */
export type ZoneMarks = {
  readonly labels?: Labels;
  readonly locked?: boolean;
  /** Only for readers: its keys are secrets, and not in the file. */
  readonly signed?: boolean;
};

export type SetMarks = Pick<RRset, "labels" | "locked">;

/** The marks that were read so far. */
export type GrowingMarks = {
  zone: ZoneMarks;
  /** By set, with the place of the first one. */
  readonly sets: Map<string, { readonly where: string; readonly marks: SetMarks }>;
};

const sign = "moor: ";

export const isMark = (comment: string): boolean => comment.startsWith(sign);

export const zoneMarkLines = (marks: ZoneMarks): readonly string[] => markLines("zone", marks);

export const setMarkLines = ({ owner, type, ...marks }: SetMarks & Pick<RRset, "owner" | "type">): readonly string[] =>
  markLines(`${owner} ${typeName(type)}`, marks);

const markLines = (of: string, { labels = {}, locked, signed }: ZoneMarks): readonly string[] => {
  const pairs = Object.entries(labels).map(([key, value]) => `${key}=${value}`);
  const texts = [
    ...(pairs.length > 0 ? [`labels ${pairs.toSorted().join(" ")}`] : []),
    ...(locked ? ["protected"] : []),
    ...(signed ? ["signed"] : []),
  ];
  return texts.map((text) => `; ${sign}${of} ${text}`);
};

/** Adds the mark of a comment; its faults otherwise. */
export function readMark(marks: GrowingMarks, comment: string, zoneName: string, where: string): readonly Fault[] {
  const words = comment.slice(sign.length).split(" ");
  const isOfZone = words[0] === "zone" && words[1] !== undefined && zoneWords.includes(words[1]);
  if (isOfZone) {
    const mark = readWords(words.slice(1), where);
    if ("faults" in mark) return mark.faults;
    marks.zone = { ...marks.zone, ...mark };
    return [];
  }
  const owner = parseOwner(words[0] ?? "", zoneName, where);
  const type = parseType(words[1] ?? "");
  const mark = readWords(words.slice(2), where);
  if (!owner.ok || type === undefined || "faults" in mark || "signed" in mark)
    return "faults" in mark && type !== undefined ? mark.faults : [badMark(where)];
  const key = setKey(owner.value, type);
  const before = marks.sets.get(key);
  marks.sets.set(key, { where: before?.where ?? where, marks: { ...before?.marks, ...mark } });
  return [];
}

const zoneWords = ["labels", "protected", "signed"];

function readWords(
  [what, ...rest]: readonly string[],
  where: string,
): ZoneMarks | { readonly faults: readonly Fault[] } {
  if (what === "labels" && rest.length > 0) {
    const pairs = rest.map((text): [string, string] => {
      const [key = "", ...value] = text.split("=");
      return [key, value.join("=")];
    });
    const labels = readLabels(Object.fromEntries(pairs), "labels");
    return labels.ok ? { labels: labels.value } : { faults: labels.faults.map((fault) => ({ ...fault, where })) };
  }
  if (what === "protected" && rest.length === 0) return { locked: true };
  if (what === "signed" && rest.length === 0) return { signed: true };
  return { faults: [badMark(where)] };
}

/** The sets with their marks; a fault for each mark of a set that the file does not have. */
export function* markingSets<Set extends Pick<RRset, "owner" | "type">>(
  sets: readonly Set[],
  { sets: marks }: GrowingMarks,
): Steps<{ readonly sets: readonly (Set & SetMarks)[]; readonly faults: readonly Fault[] }> {
  if (marks.size === 0) return { sets, faults: [] };
  const without = new Map(marks);
  const marked = yield* mapInSteps(sets, (set) => {
    const key = setKey(set.owner, set.type);
    const mark = without.get(key);
    without.delete(key);
    return mark === undefined ? set : { ...set, ...mark.marks };
  });
  return { sets: marked, faults: [...without].map(([key, { where }]) => markWithoutSet(key, where)) };
}

const badMark = (where: string): Fault => ({
  code: "bad-mark",
  where,
  message: 'a comment that begins with "moor:" has labels or the word protected, and this one cannot be read',
  todo: 'write it as "; moor: www A labels key=value" or "; moor: www A protected", with zone instead of www A for the zone; or remove the line',
});

const markWithoutSet = (key: string, where: string): Fault => ({
  code: "mark-without-set",
  where,
  message: `the comment is about ${key}, and the file has no such records`,
  todo: "remove the line, or add the records",
});
