import { setImmediate as nextTurn } from "node:timers/promises";
import { keyOf, type SetKey } from "../../core/records/rrset.ts";
import type { LoggedChange, Zone } from "../model.ts";
import type { RecordStore } from "../store/port.ts";

/** Which sets the running actions of a zone still wait for. An action is known by the serial of its write. */
export class WaitingSerials {
  readonly #bySet = new Map<string, Set<number>>();
  readonly #left = new Map<number, { count: number; error: string | undefined }>();
  #ended: { readonly serial: number; readonly error: string | undefined }[] = [];

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
  /** Those that nobody has looked at. */
  #fresh = new Map<string, SetKey>();
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

  get places(): readonly SetKey[] {
    return [...this.#sets.values()];
  }

  /** A set that is pending already keeps its place. */
  add({ owner, type }: SetKey): void {
    const key = keyOf({ owner, type });
    this.#sets.set(key, { owner, type });
    this.#fresh.set(key, { owner, type });
  }

  /** Those that were added since they were looked at; they stay pending. */
  takeFresh(): readonly SetKey[] {
    const fresh = [...this.#fresh.values()];
    this.#fresh.clear();
    return fresh;
  }

  /** Nothing has to be sent, unless it was added again. */
  drop(place: SetKey): void {
    if (!this.#fresh.has(keyOf(place))) this.#sets.delete(keyOf(place));
  }

  /** A change of them that arrives from now on is another one. */
  take(most: number): readonly SetKey[] {
    const places = this.places.slice(0, most);
    for (const key of places.map(keyOf)) {
      this.#sets.delete(key);
      this.#fresh.delete(key);
    }
    this.#taken = places.length;
    return places;
  }

  /** Those that were taken have been dealt with. */
  settle(): void {
    this.#taken = 0;
  }

  /** Before everything that changed later. */
  putBack(places: readonly SetKey[]): void {
    const first = places.map(({ owner, type }) => [keyOf({ owner, type }), { owner, type }] as const);
    this.#sets = new Map([...first, ...this.#sets]);
  }
}

/** Rows of the log per read. */
const rowsAtOnce = 1_000;

/**
 * The sets that these writes have changed, by their serials. Reads the history once, back to the oldest of them; the
 * rows of a write are contiguous in it.
 */
export async function changedIn(
  store: Pick<RecordStore, "historyOf">,
  zone: Zone,
  serials: readonly number[],
  withDefault: readonly SetKey[],
): Promise<ReadonlyMap<number, readonly SetKey[]>> {
  const found = new Map<number, Map<string, SetKey>>();
  const wanted = new Set(serials);
  for (let before: number | undefined, isEnd = wanted.size === 0; !isEnd; await nextTurn()) {
    const rows = await store.historyOf(zone, { before, limit: rowsAtOnce });
    for (const { serial, change } of rows.filter((row) => wanted.has(row.serial))) {
      const places = found.get(serial) ?? new Map<string, SetKey>();
      found.set(serial, places);
      for (const { owner, type } of changedBy(change, withDefault)) places.set(keyOf({ owner, type }), { owner, type });
    }
    const last = rows.at(-1);
    before = last?.position;
    isEnd = rows.length < rowsAtOnce || (found.size === wanted.size && !wanted.has(last?.serial ?? 0));
  }
  return new Map([...found].map(([serial, places]) => [serial, [...places.values()]]));
}

/**
 * The sets that a change is about. A new default TTL changes those that have no TTL of their own; the publisher may
 * also be asked for sets that did not change.
 */
export function changedBy(change: LoggedChange["change"], withDefault: readonly SetKey[]): readonly SetKey[] {
  if (change.kind !== "settings") return [change];
  const { before, after } = change;
  const asked = before.published?.asked === after.published?.asked ? [] : (after.published?.askedFor ?? []);
  return [...(before.ttl === after.ttl ? [] : withDefault), ...asked];
}
