import { within } from "../../process/within.ts";
import { isRootKey, keyAbove, type NameKey } from "./name-key.ts";

export type LastKnownOptions = {
  /** Milliseconds that queries wait for a zone, even if it is being loaded. */
  readonly wait: number;
  /** Sets in memory. */
  readonly sets: number;
  readonly onTrouble: (error: unknown) => void;
};

type Sized = { readonly view: { readonly size: number } };

/**
 * Zones that have to be loaded again. Until they are, and if the source fails or does not answer, queries get answers
 * from their last known state.
 */
export class LastKnownZones<Zone extends Sized> {
  readonly #zones = new Map<NameKey, Zone>();
  /** Queries no longer wait for these. */
  readonly #late = new WeakSet<Zone>();
  readonly #waiting = new Set<() => void>();
  readonly #options: LastKnownOptions;
  #sets = 0;

  constructor(options: LastKnownOptions) {
    this.#options = options;
  }

  keep(name: NameKey, zone: Zone): void {
    this.forget(name);
    this.#zones.set(name, zone);
    this.#sets += zone.view.size;
  }

  /** It was loaded or deleted, or must not be answered from. */
  forget(name: NameKey): void {
    this.#sets -= this.#zones.get(name)?.view.size ?? 0;
    this.#zones.delete(name);
  }

  /** The source does not answer: nobody waits for it any more. */
  giveUp(): void {
    for (const zone of this.#zones.values()) this.#late.add(zone);
    for (const end of this.#waiting) end();
  }

  /** Current zones need the memory more. */
  makeRoom(currentSets: number): void {
    for (const name of this.#zones.keys()) {
      if (this.#sets + currentSets <= this.#options.sets) return;
      this.forget(name);
    }
  }

  /** `isOther`: a name may be a zone that is in neither of these. */
  find(name: NameKey, current: ReadonlyMap<NameKey, Zone>, isOther: (name: NameKey) => boolean): Zone | undefined {
    if (this.#zones.size === 0) return undefined;
    for (let candidate = name; !isRootKey(candidate); candidate = keyAbove(candidate)) {
      const zone = current.get(candidate) ?? this.#zones.get(candidate);
      if (zone !== undefined || isOther(candidate)) return zone;
    }
    return undefined;
  }

  /** The zone that is being looked up; the last known one if that fails or takes too long. */
  instead(last: Zone, lookup: Promise<Zone | undefined>): Zone | Promise<Zone | undefined> {
    const { wait, onTrouble } = this.#options;
    if (this.#late.has(last)) {
      lookup.catch(onTrouble);
      return last;
    }
    return new Promise((resolve) => {
      const end = () => resolve(last);
      this.#waiting.add(end);
      within(wait, lookup)
        .then(resolve, (error: unknown) => {
          this.#late.add(last);
          onTrouble(error);
          end();
        })
        .finally(() => this.#waiting.delete(end));
    });
  }
}
