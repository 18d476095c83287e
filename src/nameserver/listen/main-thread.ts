import { type MessagePort, receiveMessageOnPort } from "node:worker_threads";
import type { ServedSet, ZoneContent } from "../../core/records/zone-view.ts";
import { type CatchUp, createCatchUp } from "../answer/catch-up.ts";
import type { DnsReply } from "../answer/respond.ts";
import { type BeginZone, NoContent, type ZoneEvent, type ZoneSource } from "../answer/zone-source.ts";
import {
  copyForPosting,
  type FromWorker,
  setsInMessage,
  type ToWorker,
  type WorkerQuestion,
  type WorkerStart,
} from "./worker-messages.ts";

export type MainThreadOptions = Pick<WorkerStart, "written" | "reported"> & {
  /** The most milliseconds to wait for news. */
  readonly limit: number;
  readonly close: () => void;
};

/** The main thread as a worker sees it: the source of its zones, and the handler of everything but plain queries. */
export class MainThread implements ZoneSource {
  readonly #port: MessagePort;
  readonly #close: () => void;
  readonly #catchUp: CatchUp;
  readonly #asked = new Map<number, PromiseWithResolvers<unknown>>();
  readonly #listeners = new Set<(event: ZoneEvent) => void>();
  #lastId = 0;
  #loads = 0;

  constructor(port: MessagePort, options: MainThreadOptions) {
    const written = new Int32Array(options.written);
    this.#catchUp = createCatchUp({
      latest: () => Atomics.load(written, 0),
      start: options.reported,
      limit: options.limit,
    });
    this.#port = port;
    this.#close = options.close;
    port.on("message", (message: ToWorker) => this.#take(message));
  }

  readonly names = (): AsyncIterable<readonly string[]> => this.#names();

  async *#names(): AsyncGenerator<readonly string[]> {
    for (let first = true; ; first = false) {
      const part = (await this.#ask({ kind: "names", first })) as readonly string[] | undefined;
      if (part === undefined) return;
      yield part;
    }
  }

  readonly closest = (names: readonly string[]): Promise<string | undefined> => {
    return this.#ask({ kind: "closest", names }) as Promise<string | undefined>;
  };

  readonly load = async (zone: string, begin?: BeginZone): Promise<ZoneContent<ServedSet> | undefined> => {
    this.#loads += 1;
    const load = this.#loads;
    const rest: ServedSet[] = [];
    let take: ReturnType<BeginZone> | undefined;
    for (let from = 0; ; from += setsInMessage) {
      const part = (await this.#ask({ kind: "load", zone, load, from })) as ZoneContent<ServedSet> | undefined;
      if (part === undefined) return undefined;
      if (part.sets.length < setsInMessage) return { ...part, sets: [...rest, ...part.sets] };
      take ??= begin?.(part) ?? ((sets) => void rest.push(...sets));
      take(part.sets);
    }
  };

  readonly noteUse = (zone: string): void => {
    this.#port.postMessage({ kind: "uses", zone } satisfies FromWorker);
  };

  readonly follow = (listener: (event: ZoneEvent) => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Resolves when all earlier writes have arrived here; undefined when they already have. */
  readonly wait = (): Promise<void> | undefined => {
    if (this.#catchUp.wait() === undefined) return undefined;
    const port = this.#port;
    // The changes are usually in this thread's queue already, after the query.
    for (let next = receiveMessageOnPort(port); next !== undefined; next = receiveMessageOnPort(port)) {
      this.#take(next.message as ToWorker);
    }
    return this.#catchUp.wait();
  };

  readonly pass = async (packet: Buffer, from: string): Promise<DnsReply> => {
    const question: WorkerQuestion = { kind: "packet", bytes: copyForPosting(packet), from };
    const reply = (await this.#ask(question)) as Uint8Array | undefined;
    return reply && Buffer.from(reply.buffer, reply.byteOffset, reply.length);
  };

  #ask(question: WorkerQuestion): Promise<unknown> {
    this.#lastId += 1;
    const waiting = Promise.withResolvers<unknown>();
    this.#asked.set(this.#lastId, waiting);
    this.#port.postMessage({ kind: "asks", id: this.#lastId, question } satisfies FromWorker);
    return waiting.promise;
  }

  #answered(id: number): PromiseWithResolvers<unknown> | undefined {
    const waiting = this.#asked.get(id);
    this.#asked.delete(id);
    return waiting;
  }

  #take(message: ToWorker): void {
    switch (message.kind) {
      case "answer":
        this.#answered(message.id)?.resolve(message.value);
        break;
      case "no-answer":
        this.#answered(message.id)?.reject(
          message.isNoContent ? new NoContent() : new Error("the main thread has no answer"),
        );
        break;
      case "news":
        for (const event of message.news) for (const listener of this.#listeners) listener(event);
        this.#catchUp.reported(message.reported);
        break;
      case "close":
        this.#close();
        break;
    }
  }
}
