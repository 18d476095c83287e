import { keyOf, type SetKey } from "../../core/records/rrset.ts";
import { compareSerials } from "../../core/records/serial.ts";

/** Which sets the running actions of a zone still wait for. An action is known by the serial of its write. */
export class WaitingSerials {
  readonly #bySet = new Map<string, Set<number>>();
  readonly #left = new Map<number, { count: number; error: string | undefined }>();
  #ended: { readonly serial: number; readonly error: string | undefined }[] = [];
  /** Which write has replaced a set by the rule of the zone, and why the ones before it have failed. */
  readonly #replaced = new Map<string, { readonly by: number; readonly error: string }>();

  /** A write changed these sets; none if it changed only settings. */
  add(serial: number, keys: readonly string[]): void {
    const waitingWrite = this.#left.get(serial) ?? { count: 0, error: undefined };
    this.#left.set(serial, waitingWrite);
    for (const key of keys) {
      const serials = this.#bySet.get(key) ?? new Set();
      if (serials.has(serial)) continue;
      serials.add(serial);
      waitingWrite.count += 1;
      this.#bySet.set(key, serials);
    }
    if (waitingWrite.count === 0) this.#end(serial);
    for (const key of keys) this.#settleReplaced(key, [serial]);
  }

  /** The write `by` has replaced the set: those before it have failed, even if they are heard of only now. */
  replace(key: string, by: number, error: string): void {
    this.#replaced.set(key, { by, error });
    this.#settleReplaced(key, this.of(key));
  }

  #settleReplaced(key: string, serials: readonly number[]): void {
    const replaced = this.#replaced.get(key);
    if (replaced === undefined) return;
    const before = serials.filter((serial) => compareSerials(serial, replaced.by) === -1);
    this.settle(key, before, replaced.error);
  }

  /** Those that wait for the set now. */
  of(key: string): readonly number[] {
    return [...(this.#bySet.get(key) ?? [])];
  }

  /** The set is published as these writes left it or as a later one did; or it failed. */
  settle(key: string, serials: readonly number[], error?: string): void {
    const waiting = this.#bySet.get(key);
    for (const serial of serials) {
      const left = this.#left.get(serial);
      if (!waiting?.delete(serial) || left === undefined) continue;
      left.count -= 1;
      left.error ??= error;
      if (left.count === 0) this.#end(serial);
    }
    if (waiting?.size === 0) this.#bySet.delete(key);
  }

  /** The actions that have ended, by their error, or without one, until it is noted that they are stored. */
  get ended(): ReadonlyMap<string | undefined, readonly number[]> {
    const ended = Map.groupBy(this.#ended, ({ error }) => error);
    return new Map([...ended].map(([error, each]) => [error, each.map(({ serial }) => serial)]));
  }

  noteStored(serials: readonly number[]): void {
    this.#ended = this.#ended.filter(({ serial }) => !serials.includes(serial));
  }

  #end(serial: number): void {
    this.#ended.push({ serial, error: this.#left.get(serial)?.error });
    this.#left.delete(serial);
  }
}

/** The sets of a zone that may have to be sent, in the order of their changes. */
export class PendingSets {
  #sets = new Map<string, SetKey>();
  /** Those that were taken, and may be on their way. */
  #taken = 0;

  /** Those that were taken are pending no longer. */
  get size(): number {
    return this.#sets.size;
  }

  /** With those that were taken. */
  get left(): number {
    return this.#sets.size + this.#taken;
  }

  has(key: string): boolean {
    return this.#sets.has(key);
  }

  get places(): readonly SetKey[] {
    return [...this.#sets.values()];
  }

  /** A set that is pending already keeps its place. */
  add({ owner, type }: SetKey): void {
    this.#sets.set(keyOf({ owner, type }), { owner, type });
  }

  /** A change of them that arrives from now on is another one. */
  take(most: number): readonly SetKey[] {
    const places = this.places.slice(0, most);
    for (const place of places) this.#sets.delete(keyOf(place));
    this.#taken = places.length;
    return places;
  }

  /** Those that were taken have been dealt with. */
  settle(): void {
    this.#taken = 0;
  }

  /** Before everything that changed later. */
  putBack(places: readonly SetKey[]): void {
    const later = this.places;
    this.#sets = new Map();
    for (const place of [...places, ...later]) this.add(place);
  }
}
