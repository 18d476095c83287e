import { type Label, lowerByte, printLabels } from "../../core/names/label.ts";
import { headerLength } from "./codes.ts";

/** A name as labels, as canonical text, and as bytes without pointers. */
export type NameInMessage = {
  readonly labels: readonly Label[];
  readonly text: string;
  readonly bytes: Uint8Array;
};

/** Reads the name at `at`; its bytes there must end at `end` or before. Undefined if it is not a name. */
export type ReadName = (at: number, end: number) => { readonly name: NameInMessage; readonly end: number } | undefined;

const maximumName = 255;
/** As many as a name can have labels: more pointers can only be pointers to pointers. */
const maximumHops = 127;
const freeExpansion = 4_096;
const expansionPerByte = 8;

/**
 * A reader for the names of one message (RFC 1035 section 4.1.4). Each pointer must lead further back than the one
 * before, so that no name loops. The total expanded size of all names is limited in proportion to the message, so that
 * a small message cannot take much time. The target of a pointer is read once.
 */
export function createNameReader(message: Uint8Array): ReadName {
  let budget = freeExpansion + expansionPerByte * message.length;
  const pointedAt = new Map<number, NameInMessage>();

  const pointer = (at: number, stop: number, lowest: number, hops: number): NameInMessage | undefined => {
    if (at + 1 >= stop || hops === 0) return undefined;
    const target = (((message[at] ?? 0) & 0x3f) << 8) | (message[at + 1] ?? 0);
    if (target < headerLength || target >= lowest) return undefined;
    const cachedName = pointedAt.get(target);
    if (cachedName !== undefined) return cachedName;
    const read = part(target, message.length, target, hops - 1);
    if (read !== undefined) pointedAt.set(target, read.name);
    return read?.name;
  };

  /** `lowest` is the target of the last pointer: the next must point before it. */
  const part = (start: number, stop: number, lowest: number, hops: number): ReturnType<ReadName> => {
    const labels: Label[] = [];
    let size = 1;
    for (let at = start; at < stop; ) {
      const length = message[at] ?? 0;
      if (length === 0) return { name: nameOf(labels, size, undefined), end: at + 1 };
      if (length >= 0xc0) {
        const tail = pointer(at, stop, lowest, hops);
        if (tail === undefined || size - 1 + tail.bytes.length > maximumName) return undefined;
        return { name: labels.length === 0 ? tail : nameOf(labels, size, tail), end: at + 2 };
      }
      size += length + 1;
      if (length > 63 || at + 1 + length > stop || size > maximumName) return undefined;
      labels.push(labelAt(message, at + 1, length));
      at += length + 1;
    }
    return undefined;
  };

  return (start, stop) => {
    const read = part(start, stop, start, maximumHops);
    budget -= read?.name.bytes.length ?? 0;
    return budget < 0 ? undefined : read;
  };
}

function labelAt(bytes: Uint8Array, at: number, length: number): Label {
  let label = "";
  for (let i = 0; i < length; i++) label += lowerByte(bytes[at + i] ?? 0);
  return label;
}

/** `size` includes the labels and the root's zero; the tail already contains the zero. */
function nameOf(own: readonly Label[], size: number, tail: NameInMessage | undefined): NameInMessage {
  const bytes = new Uint8Array(size - 1 + (tail?.bytes.length ?? 1));
  let at = 0;
  for (const label of own) {
    bytes[at++] = label.length;
    for (let i = 0; i < label.length; i++) bytes[at++] = label.charCodeAt(i);
  }
  if (tail === undefined) return { labels: own, text: printLabels(own), bytes };
  bytes.set(tail.bytes, at);
  const text = tail.text === "" ? printLabels(own) : `${printLabels(own)}.${tail.text}`;
  return { labels: [...own, ...tail.labels], text, bytes };
}
