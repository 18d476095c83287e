import { type Label, lowerByte } from "../core/label.ts";
import { headerLength } from "./codes.ts";

export type LabelsOnWire = { readonly labels: readonly Label[]; readonly end: number };

/** Reads the name at `at`; the part of it that stands there ends before `end`. Undefined for what is no name. */
export type ReadName = (at: number, end: number) => LabelsOnWire | undefined;

const maximumName = 255;
const freeExpansion = 4_096;
const expansionPerByte = 8;

/**
 * A reader for the names of one message (RFC 1035 section 4.1.4). A pointer leads only backwards, and further back than
 * the one before it, so that no name loops; and all names of the message together may grow only so much beyond its bytes,
 * so that no small message costs much time.
 */
export function createNameReader(message: Uint8Array): ReadName {
  let budget = freeExpansion + expansionPerByte * message.length;
  return (start, limit) => {
    const labels: Label[] = [];
    let at = start;
    let stop = limit;
    let end: number | undefined;
    let lowest = start;
    let size = 1;
    while (at < stop) {
      const length = message[at] ?? 0;
      if (length === 0) {
        budget -= size;
        return budget < 0 ? undefined : { labels, end: end ?? at + 1 };
      }
      if (length >= 0xc0) {
        if (at + 1 >= stop) return undefined;
        const target = ((length & 0x3f) << 8) | (message[at + 1] ?? 0);
        if (target < headerLength || target >= lowest) return undefined;
        end ??= at + 2;
        budget -= 2;
        stop = message.length;
        lowest = target;
        at = target;
        continue;
      }
      size += length + 1;
      if (length > 63 || at + 1 + length > stop || size > maximumName) return undefined;
      labels.push(labelAt(message, at + 1, length));
      at += length + 1;
    }
    return undefined;
  };
}

function labelAt(bytes: Uint8Array, at: number, length: number): Label {
  let label = "";
  for (let i = 0; i < length; i++) label += lowerByte(bytes[at + i] ?? 0);
  return label;
}
