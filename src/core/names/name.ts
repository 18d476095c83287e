import { type Fault, fail, ok, type Result } from "../result.ts";
import {
  fitsInName,
  type Label,
  type LabelledText,
  nameTooLong,
  printLabel,
  printLabels,
  readLabels,
} from "./label.ts";

/**
 * Names are texts in one canonical form, so that equal names are equal texts: lower case, escapes only where needed.
 * Absolute names have no dot at the end, and the root is the empty text. An owner is a name relative to its zone.
 */
export const apex = "@";

/** The name is absolute, with or without a trailing dot. */
export function parseName(text: string, where = "name"): Result<string> {
  if (isPlain(text)) return ok(text);
  if (text === ".") return ok("");
  const read = readName(text, where);
  return read.ok ? finish(read.value.labels, where) : read;
}

/**
 * A name that a zone can have: host name characters, two labels or more. Whether its top-level domain exists is not
 * checked.
 */
export function parseZoneName(text: string, where = "name"): Result<string> {
  if (text === ".") return fail(singleLabel(where));
  const name = readName(text, where);
  if (!name.ok) return name;
  const { labels } = name.value;
  const faults = labels.flatMap((label) => zoneLabelFaults(label, where));
  if (labels.length < 2) faults.push(singleLabel(where));
  return faults.length > 0 ? fail(...faults) : finish(labels, where);
}

/** A zone name from a request: in any case, with or without a trailing dot. */
export const zoneNameOf = (text: string): string => text.toLowerCase().replace(/\.$/, "");

/**
 * The owner that a text means inside a zone. A trailing dot makes it absolute; without one it is relative even when it
 * ends with the zone's name, as in zone files. Only the bare zone name means the apex, because clients send it that
 * way.
 */
export function parseOwner(text: string, zoneName: string, where = "name"): Result<string> {
  if (text === apex || text === "" || text === zoneName) return ok(apex);
  if (isPlain(text) && text.length + zoneName.length + 3 <= 255) return ok(text);
  const read = readName(text, where);
  if (!read.ok) return read;
  const { labels, absolute } = read.value;
  const name = printLabels(labels);
  if (absolute) {
    if (!fitsInName(labels)) return fail(nameTooLong(where));
    const owner = ownerOf(name, zoneName);
    return owner === undefined ? fail(outOfZone(text, zoneName, where)) : ok(owner);
  }
  if (name === zoneName) return ok(apex);
  return fitsInName([...labels, ...labelsOf(zoneName)]) ? ok(name) : fail(nameTooLong(where));
}

/**
 * The target of a record: canonical and absolute, with a trailing dot. A text without a trailing dot is relative to the
 * zone.
 */
export function parseTarget(text: string, zoneName: string, where = "value"): Result<string> {
  if (text.endsWith(".") && isPlain(text.slice(0, -1))) return ok(text);
  if (text === apex) return ok(`${zoneName}.`);
  if (text === ".") return ok(text);
  const read = readName(text, where);
  if (!read.ok) return read;
  const { labels, absolute } = read.value;
  const name = finish(absolute ? labels : [...labels, ...labelsOf(zoneName)], where);
  return name.ok ? ok(`${name.value}.`) : name;
}

/** The labels of a target whose upper case letters stay, for data that is kept as bytes. */
export function parseExactTarget(text: string, zoneName: string, where = "value"): Result<readonly Label[]> {
  if (text === ".") return ok([]);
  if (text === apex) return ok(labelsOf(zoneName));
  const read = readName(text, where, true);
  if (!read.ok) return read;
  const labels = read.value.absolute ? read.value.labels : [...read.value.labels, ...labelsOf(zoneName)];
  return fitsInName(labels) ? ok(labels) : fail(nameTooLong(where));
}

export const absoluteName = (owner: string, zoneName: string): string =>
  owner === apex ? zoneName : `${owner}.${zoneName}`;

/** The inverse of `absoluteName`; undefined when the name is not inside the zone. Both are canonical. */
export function ownerOf(name: string, zoneName: string): string | undefined {
  if (name === zoneName) return apex;
  const cut = name.length - zoneName.length - 1;
  // An escaped dot is inside a label and does not end it.
  if (cut < 1 || !name.endsWith(zoneName) || name[cut] !== "." || endsInEscape(name.slice(0, cut))) return undefined;
  return name.slice(0, cut);
}

/** The labels of a canonical name, or of an owner other than the apex; a text that is neither is a bug. */
export function labelsOf(name: string): readonly Label[] {
  if (name === "") return [];
  if (!name.includes("\\")) return name.split(".");
  const read = readLabels(name, "name");
  if (!("labels" in read)) throw new Error("not a canonical name");
  return read.labels;
}

/** A name and all its parents except the root. */
export function enclosing(name: string): readonly string[] {
  const names: string[] = [];
  for (const label of labelsOf(name).toReversed()) {
    const [below] = names.slice(-1);
    names.push(below === undefined ? printLabels([label]) : `${printLabels([label])}.${below}`);
  }
  return names.reverse();
}

/** The name above an owner; undefined for the apex. */
export function parentOf(owner: string): string | undefined {
  if (owner === apex) return undefined;
  if (!owner.includes("\\")) {
    const dot = owner.indexOf(".");
    return dot < 0 ? apex : owner.slice(dot + 1);
  }
  const above = labelsOf(owner).slice(1);
  return above.length === 0 ? apex : printLabels(above);
}

const plainName = /^[a-z0-9_*-]{1,63}(?:\.[a-z0-9_*-]{1,63})*$/;
const isPlain = (text: string): boolean => text.length <= 253 && plainName.test(text);

/** 255 bytes, each written as `\DDD`. Longer text is not parsed at all. */
const longestText = 1020;

function readName(text: string, where: string, keepsCase = false): Result<LabelledText> {
  if (text === "" || text === ".") return fail(emptyName(where));
  if (text.length > longestText) return fail(nameTooLong(where));
  const read = readLabels(text, where, keepsCase);
  return "labels" in read ? ok(read) : fail(...read);
}

const finish = (labels: readonly Label[], where: string): Result<string> =>
  fitsInName(labels) ? ok(printLabels(labels)) : fail(nameTooLong(where));

const endsInEscape = (text: string): boolean => (/\\+$/.exec(text)?.[0].length ?? 0) % 2 === 1;

function zoneLabelFaults(label: Label, where: string): Fault[] {
  const faults: Fault[] = [];
  if (label.startsWith("-")) {
    faults.push({
      code: "label-starts-with-dash",
      where,
      message: `the label ${printLabel(label)} starts with a dash`,
      todo: "start each label of a zone's name with a letter or a digit",
    });
  }
  // The slash is for classless reverse zones (RFC 2317).
  if (!/^[a-z0-9_/-]*$/.test(label)) {
    faults.push({
      code: "bad-character",
      where,
      message: `the label ${printLabel(label)} contains a character that is not allowed in a zone's name`,
      todo: "use letters, digits, '-' and '_'",
    });
  }
  return faults;
}

const emptyName = (where: string): Fault => ({
  code: "empty-name",
  where,
  message: "the name is empty",
  todo: "enter a name such as www or example.org.",
});

const singleLabel = (where: string): Fault => ({
  code: "single-label",
  where,
  message: "a zone's name must have at least two labels",
  todo: "enter a name such as example.org",
});

const outOfZone = (text: string, zoneName: string, where: string): Fault => ({
  code: "out-of-zone",
  where,
  message: `the name ${text.length > 80 ? `${text.slice(0, 80)}...` : text} is not inside the zone ${zoneName}`,
  todo: `use a name that ends with ${zoneName}. or a relative name without a trailing dot`,
});

export const isRelated = (name: string, zoneName: string): boolean =>
  ownerOf(name, zoneName) !== undefined || enclosing(zoneName).includes(name);
