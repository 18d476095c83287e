import { printLabels } from "../../core/names/label.ts";
import { labelsOf } from "../../core/names/name.ts";

/**
 * A name in wire format, one character per byte, in lower case, ending in the root's zero: the name of a question can
 * be looked up without converting it. From any label on, the rest of a key is the key of a parent name.
 */
export type NameKey = string;

export function keyOfName(name: string): NameKey {
  let key = "";
  for (const label of labelsOf(name)) key += String.fromCharCode(label.length) + label;
  return `${key}\0`;
}

/** The parent's key. The root has no parent. */
export const keyAbove = (key: NameKey): NameKey => key.slice(1 + key.charCodeAt(0));

export const isRootKey = (key: NameKey): boolean => key.length <= 1;

export function labelsOfKey(key: NameKey): readonly string[] {
  const labels: string[] = [];
  for (let at = 0; key.charCodeAt(at) > 0; at += 1 + key.charCodeAt(at)) {
    labels.push(key.slice(at + 1, at + 1 + key.charCodeAt(at)));
  }
  return labels;
}

export const nameOfKey = (key: NameKey): string => printLabels(labelsOfKey(key));
