import { KeyedSemaphore } from "../../lib/limits/semaphore.ts";

/** Where a zone queues: accounts take turns, and within an account its primary servers do. */
export type QueuePlace = { readonly account: number; readonly primary: string };

export type ZoneLimits = {
  /** Zones that run at the same time: in total, per account, and per primary server of an account. */
  readonly all: number;
  readonly account: number;
  readonly primary: number;
};

type RunZone = (zone: string, place: QueuePlace) => Promise<void>;

/**
 * Decides which zone is next: accounts take turns, and so do the servers of each. An account with slow servers cannot
 * use up all permits, nor can one slow server use up those of its account.
 */
export class ZoneQueue {
  readonly #limits: ZoneLimits;
  readonly #run: RunZone;
  readonly #permits: KeyedSemaphore;
  readonly #waiting = new Set<string>();
  readonly #running = new Map<string, Promise<void>>();
  /** Zones that were added while they ran. */
  readonly #again = new Map<string, QueuePlace>();
  #closed = false;

  /** `run` is called when it is a zone's turn. */
  constructor(limits: ZoneLimits, run: RunZone) {
    this.#limits = limits;
    this.#run = run;
    this.#permits = new KeyedSemaphore(limits.all);
  }

  /** A zone waits at most once; one that is running can be added for another turn. */
  add(zone: string, place: QueuePlace): void {
    if (this.#running.has(zone)) this.#again.set(zone, place);
    else if (!this.#waiting.has(zone)) this.#enqueue(zone, place);
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all(this.#running.values());
  }

  #enqueue(zone: string, place: QueuePlace): void {
    const { account, primary } = this.#limits;
    const holders = [
      { name: `${place.account}`, most: account },
      { name: `${place.account} ${place.primary}`, most: primary },
    ];
    this.#waiting.add(zone);
    this.#permits.enqueue(holders, (release) => {
      this.#waiting.delete(zone);
      if (this.#closed) release();
      else this.#running.set(zone, this.#runOne(zone, place, release));
    });
  }

  async #runOne(zone: string, place: QueuePlace, release: () => void): Promise<void> {
    try {
      await this.#run(zone, place);
    } finally {
      this.#running.delete(zone);
      const again = this.#again.get(zone);
      this.#again.delete(zone);
      if (again) this.#enqueue(zone, again);
      release();
    }
  }
}
