import type { Label } from "../names/label.ts";
import type { Steps } from "../steps.ts";

/**
 * The labels below one name, in canonical order (RFC 4034 section 6.1). A label has one character per byte, so the
 * order of texts is the order of bytes. Inserting into a million labels moves memory for a fraction of a millisecond;
 * that is rare enough.
 */
export type OrderedLabels = Label[];

/** How many labels come before this one. */
export const countBefore = (labels: readonly Label[], label: Label): number =>
  countFirst(labels, (each) => each < label);

/** The same for a label in bytes. */
export const countBeforeBytes = (labels: readonly Label[], bytes: Uint8Array, from: number, to: number): number =>
  countFirst(labels, (each) => {
    for (let i = 0; i < each.length && from + i < to; i++) {
      const difference = each.charCodeAt(i) - (bytes[from + i] ?? 0);
      if (difference !== 0) return difference < 0;
    }
    return each.length < to - from;
  });

function countFirst(labels: readonly Label[], isOneOf: (label: Label) => boolean): number {
  let low = 0;
  let high = labels.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isOneOf(labels[middle] ?? "")) low = middle + 1;
    else high = middle;
  }
  return low;
}

export function insertLabel(labels: OrderedLabels, label: Label): void {
  labels.splice(countBefore(labels, label), 0, label);
}

export function removeLabel(labels: OrderedLabels, label: Label): void {
  const at = countBefore(labels, label);
  if (labels[at] === label) labels.splice(at, 1);
}

const run = 512;

/** Sorts in steps (bottom-up merge sort), because there may be a million. */
export function* sortedSteps(labels: Iterable<Label>): Steps<OrderedLabels> {
  const all = [...labels];
  if (all.length <= run) return all.sort();
  let runs: Label[][] = [];
  for (let at = 0; at < all.length; at += run) {
    runs.push(all.slice(at, at + run).sort());
    yield;
  }
  while (runs.length > 1) {
    const merged: Label[][] = [];
    for (let i = 0; i < runs.length; i += 2) merged.push(yield* mergedSteps(runs[i] ?? [], runs[i + 1] ?? []));
    runs = merged;
  }
  return runs[0] ?? [];
}

function* mergedSteps(a: readonly Label[], b: readonly Label[]): Steps<Label[]> {
  const all = new Array<Label>(a.length + b.length);
  for (let i = 0, j = 0; i + j < all.length; ) {
    const [left, right] = [a[i], b[j]];
    const takeLeft = right === undefined || (left !== undefined && left < right);
    all[i + j] = (takeLeft ? left : right) ?? "";
    if (takeLeft) i += 1;
    else j += 1;
    if ((i + j) % run === 0) yield;
  }
  return all;
}
