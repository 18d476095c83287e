import type { Subject } from "./subjects.ts";

/** The queue of one record service: a few places at a time. A place is a name, or a zone whose names are written together. */
export type ServiceQueue<Entry> = {
  /**
   * An entry that is already waiting keeps its position and gets a single turn, with the latest function. Entries of one place take
   * turns one after the other, so that a Retry-After for the first also applies to the second.
   */
  add(place: string, entry: Entry, turn: () => Promise<void>): void;
  /** Resolves when nothing is under way and nothing waits. */
  idle(): Promise<void>;
};

const mostParallel = 4;

export function openServiceQueue<Entry>(): ServiceQueue<Entry> {
  const places = new Map<string, Map<Entry, () => Promise<void>>>();
  const busy = new Map<string, Promise<void>>();

  const beginSome = () => {
    for (const [place, turns] of places) {
      if (busy.size >= mostParallel) return;
      if (!busy.has(place)) busy.set(place, run(place, turns));
    }
  };
  const run = async (place: string, turns: Map<Entry, () => Promise<void>>) => {
    // The loop also visits entries that are added meanwhile.
    for (const [entry, turn] of turns) {
      turns.delete(entry);
      await turn();
    }
    places.delete(place);
    busy.delete(place);
    beginSome();
  };
  return {
    add(place, entry, turn) {
      const turns = places.get(place) ?? new Map<Entry, () => Promise<void>>();
      turns.set(entry, turn);
      places.set(place, turns);
      beginSome();
    },
    async idle() {
      while (busy.size > 0) await Promise.all(busy.values());
    },
  };
}

/** One queue per service: a slow one never delays another. */
export type ServiceQueues = {
  add(subject: Subject, turn: () => Promise<void>, place?: string): void;
  readonly idle: () => Promise<void>;
};

export function openServiceQueues(serviceOf: (subject: Subject) => string): ServiceQueues {
  const queues = new Map<string, ServiceQueue<Subject>>();
  return {
    add(subject, turn, place = placeOfName(subject)) {
      const service = serviceOf(subject);
      const queue = queues.get(service) ?? openServiceQueue<Subject>();
      queues.set(service, queue);
      queue.add(place, subject, turn);
    },
    async idle() {
      await Promise.all([...queues.values()].map((queue) => queue.idle()));
    },
  };
}

/** Both families of a name. */
export const placeOfName = ({ order: { zone, name } }: Subject): string => `${zone} ${name}`;
