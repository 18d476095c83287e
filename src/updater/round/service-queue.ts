import { KeyedSemaphore } from "../../lib/limits/semaphore.ts";
import type { ManagedRecord } from "./managed-records.ts";

const mostParallel = 4;

/**
 * The queue of one record service: a few lanes at a time. A lane is a name, or a zone whose names are written
 * together.
 */
export class ServiceQueue<Entry> {
  readonly #permits = new KeyedSemaphore(mostParallel);
  /** Those that wait or run. */
  readonly #lanes = new Map<string, Map<Entry, () => Promise<void>>>();
  readonly #running = new Set<Promise<void>>();

  /**
   * An entry that is already waiting keeps its position and gets a single turn, with the latest function. Entries of
   * one lane take turns one after the other, so that a Retry-After for the first also applies to the second.
   */
  add(lane: string, entry: Entry, job: () => Promise<void>): void {
    const jobs = this.#lanes.get(lane);
    if (jobs) jobs.set(entry, job);
    else this.#enqueue(lane, new Map([[entry, job]]));
  }

  /** Resolves when nothing is under way and nothing waits. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  #enqueue(lane: string, jobs: Map<Entry, () => Promise<void>>): void {
    this.#lanes.set(lane, jobs);
    this.#permits.enqueue([{ name: lane, most: 1 }], (release) => {
      const running = this.#run(lane, jobs).finally(() => {
        this.#running.delete(running);
        release();
      });
      this.#running.add(running);
    });
  }

  async #run(lane: string, jobs: Map<Entry, () => Promise<void>>): Promise<void> {
    // The loop also visits entries that are added meanwhile.
    for (const [entry, job] of jobs) {
      jobs.delete(entry);
      await job();
    }
    this.#lanes.delete(lane);
  }
}

/** One queue per service: a slow one never delays another. */
export type ServiceQueues = {
  add(record: ManagedRecord, job: () => Promise<void>, lane?: string): void;
  readonly idle: () => Promise<void>;
};

export function openServiceQueues(serviceOf: (record: ManagedRecord) => string): ServiceQueues {
  const queues = new Map<string, ServiceQueue<ManagedRecord>>();
  return {
    add(record, job, lane = laneOfName(record)) {
      const service = serviceOf(record);
      const queue = queues.get(service) ?? new ServiceQueue<ManagedRecord>();
      queues.set(service, queue);
      queue.add(lane, record, job);
    },
    async idle() {
      await Promise.all([...queues.values()].map((queue) => queue.idle()));
    },
  };
}

/** Both families of a name. */
export const laneOfName = ({ spec: { zone, name } }: ManagedRecord): string => `${zone} ${name}`;
