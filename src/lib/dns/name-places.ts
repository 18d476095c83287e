/**
 * Characters; longer names are also found as a whole, and by what follows their first label, without following the
 * other labels.
 */
const longName = 40;
/** The labels of a name, from its end, that later names can point to. An address below ip6.arpa has 34. */
const mostLabels = 36;

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
  #starts: readonly number[] = [];

  constructor(reach: number) {
    this.#reach = reach;
  }

  /** Looks up a name; the result is in `from` and `place`. */
  find(name: string): void {
    this.#starts = [];
    if (name.length > longName && (this.#findLong(name, 0) || this.#findLong(name, 1 + name.charCodeAt(0)))) return;
    this.#starts = startsOf(name);
    this.from = name.length - 1;
    this.place = 0;
    for (let i = this.#starts.length - 1; i >= 0; i--) {
      const next = this.#ends.get(endKey(name, this.#starts, i, this.place));
      if (next === undefined) return;
      this.place = next;
      this.from = this.#starts[i] ?? 0;
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
    for (let i = this.#starts.length - 1; i >= Math.max(this.#starts.length - mostLabels, 0); i--) {
      const start = this.#starts[i] ?? 0;
      if (start >= this.from) continue;
      if (at + start >= this.#reach) break;
      this.#ends.set(endKey(name, this.#starts, i, parent), at + start);
      parent = at + start;
    }
    if (name.length <= longName) return;
    this.#long.set(name, at);
    const second = 1 + name.charCodeAt(0);
    if (second < this.from && at + second < this.#reach) this.#long.set(name.slice(second), at + second);
  }
}

/** Where the labels of a name begin. */
function startsOf(name: string): readonly number[] {
  const starts: number[] = [];
  for (let from = 0; name.charCodeAt(from) > 0; from += 1 + name.charCodeAt(from)) starts.push(from);
  return starts;
}

const endKey = (name: string, starts: readonly number[], i: number, place: number): string =>
  String.fromCharCode(place >> 8, place & 0xff) + name.slice(starts[i], starts[i + 1] ?? name.length - 1);
