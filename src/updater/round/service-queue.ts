import type { Subject } from "./subjects.ts";

/** The queue of one record service: a few names at a time. */
export type ServiceQueue<Entry> = {
  /**
   * An entry that is already waiting keeps its place and gets a single turn, with the latest function. Entries of one name take
   * turns one after the other, so that a Retry-After for the first also applies to the second.
   */
  add(name: string, entry: Entry, turn: () => Promise<void>): void;
  /** Resolves when nothing is under way and nothing waits. */
  idle(): Promise<void>;
};

const mostParallel = 4;

export function openServiceQueue<Entry>(): ServiceQueue<Entry> {
  const names = new Map<string, Map<Entry, () => Promise<void>>>();
  const busy = new Map<string, Promise<void>>();

  const beginSome = () => {
    for (const [name, turns] of names) {
      if (busy.size >= mostParallel) return;
      if (!busy.has(name)) busy.set(name, run(name, turns));
    }
  };
  const run = async (name: string, turns: Map<Entry, () => Promise<void>>) => {
    // The loop also visits entries that are added meanwhile.
    for (const [entry, turn] of turns) {
      turns.delete(entry);
      await turn();
    }
    names.delete(name);
    busy.delete(name);
    beginSome();
  };
  return {
    add(name, entry, turn) {
      const turns = names.get(name) ?? new Map<Entry, () => Promise<void>>();
      turns.set(entry, turn);
      names.set(name, turns);
      beginSome();
    },
    async idle() {
      while (busy.size > 0) await Promise.all(busy.values());
    },
  };
}

/** One queue per service: a slow one never delays another. */
export type ServiceQueues = {
  add(subject: Subject, turn: () => Promise<void>): void;
  readonly idle: () => Promise<void>;
};

export function openServiceQueues(serviceOf: (subject: Subject) => string): ServiceQueues {
  const queues = new Map<string, ServiceQueue<Subject>>();
  return {
    add(subject, turn) {
      const service = serviceOf(subject);
      const queue = queues.get(service) ?? openServiceQueue<Subject>();
      queues.set(service, queue);
      const { zone, name } = subject.order;
      queue.add(`${zone} ${name}`, subject, turn);
    },
    async idle() {
      await Promise.all([...queues.values()].map((queue) => queue.idle()));
    },
  };
}
