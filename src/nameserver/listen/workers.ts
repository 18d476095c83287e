import { closeSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { Worker } from "node:worker_threads";
import type { ServedSet, ZoneContent } from "../../core/records/zone-view.ts";
import type { Logger } from "../../process/log.ts";
import { startThread } from "../../process/shipped-files.ts";
import type { RespondTo } from "../answer/respond.ts";
import { isNews, NoContent, type ZoneNews, type ZoneSource } from "../answer/zone-source.ts";
import { countThread, type DnsCounters } from "../metrics/metrics.ts";
import {
  copyForPosting,
  type FromWorker,
  type SocketKind,
  setsInMessage,
  type ToWorker,
  type WorkerQuestion,
  type WorkerStart,
} from "./worker-messages.ts";

/** Threads that answer plain queries over UDP, all on the same ports: the kernel distributes the clients among them. */
export type Workers = {
  /** Resolves when all of them listen. */
  readonly listening: Promise<void>;
  readonly close: () => Promise<void>;
};

export type WorkersOptions = {
  readonly count: number;
  /** Their sockets read and send several datagrams per system call, where that is possible. */
  readonly inBatches: boolean;
  readonly source: ZoneSource;
  /** For packets that are not plain queries. */
  readonly respond: RespondTo;
  readonly start: Omit<WorkerStart, "written" | "reported" | "counters" | "isReplacement" | "sockets">;
  /** The counters of a new thread. */
  readonly newCounters: () => DnsCounters;
  /** Called when something that a worker asked for could not be loaded. */
  readonly onTrouble: (error: unknown) => void;
  readonly log: Logger;
  /** Starts a thread; tests replace it. */
  readonly spawn?: Spawn;
};

export type Spawn = (start: WorkerStart) => Worker;

/**
 * Milliseconds. A worker that stops within `soon` of its start is replaced after `pause`; one that does not close
 * within `closing` is terminated.
 */
const soon = 10_000;
const pause = 1_000;
const closing = 2_000;
/** Workers with batch sockets that died before all new ones use `dgram`. */
const mostFaults = 2;

/** A worker that dies is replaced, until `close` is called. Throws when no thread can be started. */
export function startWorkers(options: WorkersOptions): Workers {
  const { source, log, spawn = spawnWorker } = options;
  const written = new SharedArrayBuffer(4);
  const count = new Int32Array(written);
  const stop = new AbortController();
  const batches = new BatchFaults(options.inBatches, log);
  const running = new Set<Worker>();

  const unfollow = source.follow((event) => {
    if (event.kind === "written") Atomics.store(count, 0, event.announcement);
  });

  /** Resolves when the new worker, or the one that replaced it, listens; throws when no thread can be started. */
  const startOne = (isReplacement: boolean): Promise<void> => {
    const started = Date.now();
    const reported = Atomics.load(count, 0);
    const sockets = openingSockets(options, batches);
    const worker = spawn({ ...options.start, isReplacement, written, reported, ...sockets.start });
    running.add(worker);
    const unserve = serve(worker, reported, options);
    worker.once("error", (error) => log.error({ err: error }, "a DNS worker failed"));
    return new Promise<void>((resolve) => {
      worker.on("message", (message: FromWorker) => {
        if (message.kind !== "listens") return;
        sockets.opened(message);
        resolve();
      });
      worker.once("exit", () => {
        unserve();
        running.delete(worker);
        sockets.ended(stop.signal.aborted);
        if (!stop.signal.aborted) void replace(started).then(resolve, () => undefined);
      });
    });
  };

  const replace = async (started: number): Promise<void> => {
    await sleep(Date.now() - started < soon ? pause : 0, undefined, { signal: stop.signal });
    log.warn("a DNS worker stopped and is being replaced; the other threads keep answering");
    let listens: Promise<void> | undefined;
    while (listens === undefined) {
      try {
        listens = startOne(true);
      } catch (error) {
        log.error({ err: error }, "a DNS worker could not be started; trying again");
        await sleep(pause, undefined, { signal: stop.signal });
      }
    }
    await listens;
  };

  const close = async () => {
    stop.abort();
    unfollow();
    await Promise.all([...running].map(closeWorker));
  };
  const listening = Promise.all(Array.from({ length: options.count }, () => startOne(false)));
  return { listening: listening.then(() => undefined), close };
}

type OpeningSockets = {
  readonly start: Pick<WorkerStart, "counters" | "sockets">;
  readonly opened: (message: Listens) => void;
  /** The thread has ended; `isClosing`: as it was asked to. */
  readonly ended: (isClosing: boolean) => void;
};

type Listens = Extract<FromWorker, { kind: "listens" }>;

/** The sockets of a new thread, and its counters. */
function openingSockets({ newCounters, start }: WorkersOptions, batches: BatchFaults): OpeningSockets {
  const counters = newCounters();
  const fds = new SharedArrayBuffer(4 * start.listen.length);
  new Int32Array(fds).fill(-1);
  let kind: SocketKind | undefined;
  return {
    start: { counters: counters.memory, sockets: { inBatches: batches.areUsed, fds } },
    opened: (message) => {
      kind = message.sockets;
      countThread(counters, kind);
      batches.note(message);
    },
    ended: (isClosing) => {
      countThread(counters, undefined);
      closeLeft(new Int32Array(fds));
      if (kind === "batch" && !isClosing) batches.countFault();
    },
  };
}

/**
 * Batch sockets are the worker's own, not Node's, which therefore does not close them when the thread dies. The kernel
 * would go on giving an open one its share of the clients.
 */
function closeLeft(fds: Int32Array): void {
  for (const fd of fds) if (fd >= 0) closeSync(fd);
}

/** Whether new workers read and send in batches, and what the log says about it. */
class BatchFaults {
  areUsed: boolean;
  readonly #log: Logger;
  #faults = 0;
  #noted: SocketKind | undefined;

  constructor(inBatches: boolean, log: Logger) {
    this.areUsed = inBatches;
    this.#log = log;
  }

  /** The first worker's sockets are logged, and other ones later. */
  note({ sockets, because }: Listens): void {
    if (sockets === this.#noted) return;
    this.#noted = sockets;
    const words = sockets === "batch" ? "in batches" : "one datagram at a time";
    this.#log.info({ sockets, ...(because && { because }) }, `DNS over UDP is read and sent ${words}`);
  }

  countFault(): void {
    this.#faults += 1;
    if (this.#faults < mostFaults || !this.areUsed) return;
    this.areUsed = false;
    this.#log.warn(
      `${mostFaults} DNS workers with batch sockets stopped unexpectedly: from now on, new ones send one datagram at a time, which takes more processor time`,
    );
  }
}

export const spawnWorker: Spawn = (start) => startThread("dns-worker", { workerData: start });

async function closeWorker(worker: Worker): Promise<void> {
  const ended = new Promise((resolve) => worker.once("exit", resolve));
  worker.postMessage({ kind: "close" } satisfies ToWorker);
  const timer = setTimeout(() => void worker.terminate(), closing);
  await ended;
  clearTimeout(timer);
}

/** Sends a worker the news, and answers its questions. */
function serve(worker: Worker, start: number, { source, respond, onTrouble }: WorkersOptions): () => void {
  let news: ZoneNews[] = [];
  let reported = start;
  let behind = false;
  const send = () => {
    post(worker, { kind: "news", news, reported });
    news = [];
  };
  const unfollow = source.follow((event) => {
    if (isNews(event)) news.push(event);
    if (event.kind === "written") behind = true;
    if (event.kind === "reported") [reported, behind] = [event.announcement, false];
    // All events of one write go in one message.
    if (event.kind === "reported" || !behind) send();
  });
  const answers = createAnswers(source, respond);
  worker.on("message", (message: FromWorker) => {
    if (message.kind === "uses") source.noteUse?.(message.zone);
    if (message.kind !== "asks") return;
    const { id } = message;
    answers(message.question).then(
      (value) => post(worker, { kind: "answer", id, value }),
      (error: unknown) => {
        onTrouble(error);
        post(worker, { kind: "no-answer", id, isNoContent: error instanceof NoContent });
      },
    );
  });
  return unfollow;
}

const post = (worker: Worker, message: ToWorker): void => worker.postMessage(message);

function createAnswers(source: ZoneSource, respond: RespondTo): (question: WorkerQuestion) => Promise<unknown> {
  let names: AsyncIterator<readonly string[]> | undefined;
  const loads = new Map<number, ZoneContent<ServedSet>>();
  return async (question) => {
    switch (question.kind) {
      case "closest":
        return await source.closest(question.names);
      case "load": {
        const { zone, load, from } = question;
        const content = from === 0 ? await source.load(zone) : loads.get(load);
        if (content === undefined) return undefined;
        const end = from + setsInMessage;
        if (end > content.sets.length) loads.delete(load);
        else loads.set(load, content);
        return { ...content, sets: content.sets.slice(from, end) } satisfies ZoneContent<ServedSet>;
      }
      case "names": {
        if (question.first) names = source.names?.()[Symbol.asyncIterator]();
        const part = await names?.next();
        return part === undefined || part.done ? undefined : part.value;
      }
      case "packet": {
        const { bytes, from } = question;
        const reply = await respond(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length), "udp", from);
        return reply && copyForPosting(reply);
      }
    }
  };
}
