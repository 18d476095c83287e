import { setTimeout as sleep } from "node:timers/promises";
import type { Worker } from "node:worker_threads";
import type { ServedSet, ZoneContent } from "../../core/records/zone-view.ts";
import type { Logger } from "../../process/log.ts";
import { startThread } from "../../process/shipped-files.ts";
import type { RespondTo } from "../answer/respond.ts";
import { isNews, type ZoneNews, type ZoneSource } from "../answer/zone-source.ts";
import {
  copyForPosting,
  type FromWorker,
  setsInMessage,
  type ToWorker,
  type WorkerQuestion,
  type WorkerStart,
} from "./worker-messages.ts";

/** Threads that answer plain queries over UDP, all on the same ports: the kernel distributes the clients among them. */
export type Workers = { readonly close: () => Promise<void> };

export type WorkersOptions = {
  readonly count: number;
  readonly source: ZoneSource;
  /** For packets that are not plain queries. */
  readonly respond: RespondTo;
  readonly start: Omit<WorkerStart, "written" | "reported" | "counters">;
  /** Memory for the counters of a new thread. */
  readonly newCounters: () => SharedArrayBuffer;
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

/** Resolves when all workers listen. One that dies is replaced, until `close` is called. */
export async function startWorkers(options: WorkersOptions): Promise<Workers> {
  const { source, log, spawn = spawnWorker } = options;
  const written = new SharedArrayBuffer(4);
  const count = new Int32Array(written);
  const stop = new AbortController();
  const running = new Set<Worker>();

  const unfollow = source.follow((event) => {
    if (event.kind === "written") Atomics.store(count, 0, event.announcement);
  });

  /** Resolves when the new worker listens; throws immediately when no thread can be started. */
  const startOne = (): Promise<void> => {
    const started = Date.now();
    const reported = Atomics.load(count, 0);
    const worker = spawn({ ...options.start, written, reported, counters: options.newCounters() });
    running.add(worker);
    const unserve = serve(worker, reported, options);
    const listens = new Promise<void>((resolve, reject) => {
      worker.on("message", (message: FromWorker) => message.kind === "listens" && resolve());
      worker.once("error", reject);
      worker.once("exit", () => reject(new Error("a worker stopped before it listened")));
    });
    worker.once("error", (error) => log.error({ err: error }, "a DNS worker failed"));
    worker.once("exit", () => {
      unserve();
      running.delete(worker);
      if (!stop.signal.aborted) void replace(started).catch(() => undefined);
    });
    return listens;
  };

  const replace = async (started: number): Promise<void> => {
    await sleep(Date.now() - started < soon ? pause : 0, undefined, { signal: stop.signal });
    log.warn("a DNS worker stopped and is being replaced; the other threads keep answering");
    let listens: Promise<void> | undefined;
    while (listens === undefined) {
      try {
        listens = startOne();
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
  try {
    await Promise.all(Array.from({ length: options.count }, async () => startOne()));
  } catch (error) {
    await close();
    throw error;
  }
  return { close };
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
    if (message.kind !== "asks") return;
    const { id } = message;
    answers(message.question).then(
      (value) => post(worker, { kind: "answer", id, value }),
      (error: unknown) => {
        onTrouble(error);
        post(worker, { kind: "no-answer", id });
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
