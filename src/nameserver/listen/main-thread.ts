import { type MessagePort, receiveMessageOnPort } from "node:worker_threads";
import type { ShownSet, ZoneContent } from "../../core/records/zone-view.ts";
import { createCatchUp } from "../answer/catch-up.ts";
import type { Reply } from "../answer/respond.ts";
import type { BeginZone, ZoneEvent, ZoneSource } from "../answer/zone-source.ts";
import {
  copyForPosting,
  type FromWorker,
  setsInMessage,
  type ToWorker,
  type WorkerQuestion,
  type WorkerStart,
} from "./worker-messages.ts";

/** The main thread as a worker sees it: the source of its zones, and the handler of everything but plain queries. */
export type MainThread = ZoneSource & {
  /** Resolves when all earlier writes have arrived here; undefined when they already have. */
  readonly wait: () => Promise<void> | undefined;
  readonly pass: (packet: Buffer, from: string) => Promise<Reply>;
};

export type MainThreadOptions = Pick<WorkerStart, "written" | "reported"> & {
  /** The most milliseconds to wait for news. */
  readonly limit: number;
  readonly close: () => void;
};

export function openMainThread(port: MessagePort, options: MainThreadOptions): MainThread {
  const written = new Int32Array(options.written);
  const catchUp = createCatchUp({
    latest: () => Atomics.load(written, 0),
    start: options.reported,
    limit: options.limit,
  });
  const asked = new Map<number, PromiseWithResolvers<unknown>>();
  const listeners = new Set<(event: ZoneEvent) => void>();
  let lastId = 0;
  let loads = 0;

  const ask = (question: WorkerQuestion): Promise<unknown> => {
    lastId += 1;
    const waiting = Promise.withResolvers<unknown>();
    asked.set(lastId, waiting);
    port.postMessage({ kind: "asks", id: lastId, question } satisfies FromWorker);
    return waiting.promise;
  };

  const answered = (id: number): PromiseWithResolvers<unknown> | undefined => {
    const waiting = asked.get(id);
    asked.delete(id);
    return waiting;
  };

  const take = (message: ToWorker): void => {
    switch (message.kind) {
      case "answer":
        answered(message.id)?.resolve(message.value);
        break;
      case "no-answer":
        answered(message.id)?.reject(new Error("the main thread has no answer"));
        break;
      case "news":
        for (const event of message.news) for (const listener of listeners) listener(event);
        catchUp.reported(message.reported);
        break;
      case "close":
        options.close();
        break;
    }
  };
  port.on("message", take);

  return {
    names: async function* () {
      for (let first = true; ; first = false) {
        const part = (await ask({ kind: "names", first })) as readonly string[] | undefined;
        if (part === undefined) return;
        yield part;
      }
    },
    closest: (names) => ask({ kind: "closest", names }) as Promise<string | undefined>,
    load: async (zone, begin) => {
      loads += 1;
      const load = loads;
      const rest: ShownSet[] = [];
      let take: ReturnType<BeginZone> | undefined;
      for (let from = 0; ; from += setsInMessage) {
        const part = (await ask({ kind: "load", zone, load, from })) as ZoneContent<ShownSet> | undefined;
        if (part === undefined) return undefined;
        if (part.sets.length < setsInMessage) return { ...part, sets: [...rest, ...part.sets] };
        take ??= begin?.(part) ?? ((sets) => void rest.push(...sets));
        take(part.sets);
      }
    },
    follow: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    wait: () => {
      if (catchUp.wait() === undefined) return undefined;
      // The changes are usually in this thread's queue already, after the query.
      for (let next = receiveMessageOnPort(port); next !== undefined; next = receiveMessageOnPort(port)) {
        take(next.message as ToWorker);
      }
      return catchUp.wait();
    },
    pass: async (packet, from) => {
      const reply = (await ask({ kind: "packet", bytes: copyForPosting(packet), from })) as Uint8Array | undefined;
      return reply && Buffer.from(reply.buffer, reply.byteOffset, reply.length);
    },
  };
}
