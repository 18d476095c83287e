import { KeyedSemaphore } from "../../lib/limits/semaphore.ts";
import type { ManagedRecord } from "./managed-records.ts";

const mostParallel = 4;

/**
 * The queue of one record service: a few keys at a time. A key is a name, or a zone whose names are written
 * together.
 */
export class ServiceQueue<Entry> {
  readonly #permits = new KeyedSemaphore(mostParallel);
  /** Those that wait or run. */
  readonly #jobs = new Map<string, Map<Entry, () => Promise<void>>>();
  readonly #running = new Set<Promise<void>>();

  /**
   * An entry that is already waiting keeps its position and runs once, with the latest function. Entries of
   * one key are done one after the other, so that a Retry-After for the first also applies to the second.
   */
  add(key: string, entry: Entry, job: () => Promise<void>): void {
    const jobs = this.#jobs.get(key);
    if (jobs) jobs.set(entry, job);
    else this.#enqueue(key, new Map([[entry, job]]));
  }

  /** Resolves when nothing is under way and nothing waits. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  #enqueue(key: string, jobs: Map<Entry, () => Promise<void>>): void {
    this.#jobs.set(key, jobs);
    this.#permits.enqueue([{ name: key, most: 1 }], (release) => {
      const running = this.#run(key, jobs).finally(() => {
        this.#running.delete(running);
        release();
      });
      this.#running.add(running);
    });
  }

  async #run(key: string, jobs: Map<Entry, () => Promise<void>>): Promise<void> {
    // The loop also visits entries that are added meanwhile.
    for (const [entry, job] of jobs) {
      jobs.delete(entry);
      await job();
    }
    this.#jobs.delete(key);
  }
}

/** One queue per service: a slow one never delays another. */
export type ServiceQueues = {
  add(record: ManagedRecord, job: () => Promise<void>, key?: string): void;
  readonly idle: () => Promise<void>;
};

export function openServiceQueues(serviceOf: (record: ManagedRecord) => string): ServiceQueues {
  const queues = new Map<string, ServiceQueue<ManagedRecord>>();
  return {
    add(record, job, key = nameKeyOf(record)) {
      const service = serviceOf(record);
      const queue = queues.get(service) ?? new ServiceQueue<ManagedRecord>();
      queues.set(service, queue);
      queue.add(key, record, job);
    },
    async idle() {
      await Promise.all([...queues.values()].map((queue) => queue.idle()));
    },
  };
}

/** Both families of a name. */
export const nameKeyOf = ({ spec: { zone, name } }: ManagedRecord): string => `${zone} ${name}`;
