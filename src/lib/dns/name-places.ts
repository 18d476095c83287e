/**
 * Characters; longer names are also found as a whole, and by what follows their first label, without following the
 * other labels.
 */
const longName = 40;
/** The labels of a name, from its end, that later names can point to. An address below ip6.arpa has 34. */
const mostLabels = 36;
/** The same for names with still more labels: only floods ask for them, and each label costs as much as the last. */
const mostOfVeryLong = 8;

/**
 * Where the names of a message and their ends are, so that later names can point there. Names are in wire format, one
 * character per byte. An end is kept by its first label and the place of the rest: with the whole end as a key, names
 * of many labels would be expensive.
 */
export class NamePlaces {
  /** Where the longest known end begins in the name that was looked up; at its last character if none is known. */
  from = 0;
  /** Where that end is in the message; 0 if none is known. */
  place = 0;
  /** Names that begin here or later are not kept. */
  readonly #reach: number;
  readonly #ends = new Map<string, number>();
  readonly #long = new Map<string, number>();
  /** How many labels the name that was looked up has; their places are in `starts`. 0 if it was found as a whole. */
  #labels = 0;

  constructor(reach: number) {
    this.#reach = reach;
  }

  /** Looks up a name; the result is in `from` and `place`. */
  find(name: string): void {
    this.#labels = 0;
    const isLong = name.length > longName && this.#long.size > 0;
    if (isLong && (this.#findLong(name, 0) || this.#findLong(name, 1 + name.charCodeAt(0)))) return;
    this.#labels = findStarts(name);
    this.from = name.length - 1;
    this.place = 0;
    if (this.#ends.size === 0) return;
    for (let i = this.#labels - 1; i >= 0; i--) {
      const next = this.#ends.get(this.#endKey(name, i, this.place));
      if (next === undefined) return;
      this.place = next;
      this.from = starts[i] ?? 0;
    }
  }

  #findLong(name: string, from: number): boolean {
    const place = this.#long.get(from === 0 ? name : name.slice(from));
    if (place === undefined) return false;
    this.from = from;
    this.place = place;
    return true;
  }

  /** The name that was looked up last is written at `at`, up to its known end. */
  keep(name: string, at: number): void {
    if (this.from === 0 || at >= this.#reach) return;
    let parent = this.place;
    const first = this.#labels > mostLabels ? this.#labels - mostOfVeryLong : 0;
    for (let i = this.#labels - 1; i >= first; i--) {
      const start = starts[i] ?? 0;
      if (start >= this.from) continue;
      if (at + start >= this.#reach) break;
      this.#ends.set(this.#endKey(name, i, parent), at + start);
      parent = at + start;
    }
    if (name.length <= longName) return;
    this.#long.set(name, at);
    const second = 1 + name.charCodeAt(0);
    if (second < this.from && at + second < this.#reach) this.#long.set(name.slice(second), at + second);
  }

  #endKey(name: string, i: number, place: number): string {
    const end = i + 1 < this.#labels ? starts[i + 1] : name.length - 1;
    return String.fromCharCode(place >> 8, place & 0xff) + name.slice(starts[i], end);
  }
}

/** Where the labels of the name that was looked up last begin: an array per name would cost more than the look-up. */
const starts = new Uint8Array(128);

/** Returns how many labels there are. */
function findStarts(name: string): number {
  let labels = 0;
  for (let from = 0; name.charCodeAt(from) > 0; from += 1 + name.charCodeAt(from)) starts[labels++] = from;
  return labels;
}
