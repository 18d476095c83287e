import type { SetPlace } from "../store/port.ts";
import { keyOf } from "./theirs.ts";

/** The sets of a zone that may have to be sent, in the order of their changes. */
export class PendingSets {
  #sets = new Map<string, SetPlace>();
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

  get places(): readonly SetPlace[] {
    return [...this.#sets.values()];
  }

  /** A set that is pending already keeps its place. */
  add({ owner, type }: SetPlace): void {
    this.#sets.set(keyOf({ owner, type }), { owner, type });
  }

  /** A change of them that arrives from now on is another one. */
  take(most: number): readonly SetPlace[] {
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
  putBack(places: readonly SetPlace[]): void {
    const later = this.places;
    this.#sets = new Map();
    for (const place of [...places, ...later]) this.add(place);
  }
}
