import { parentPort, workerData } from "node:worker_threads";
import { followZones } from "../answer/followed-zones.ts";
import { defaultLoadLimits } from "../answer/load-limits.ts";
import { createResponder, type Responder, type RespondTo } from "../answer/respond.ts";
import { createDnsCounters } from "../metrics/metrics.ts";
import { asksBelow, classify } from "../transfer/classify.ts";
import type { UdpOptions } from "./answer-datagrams.ts";
import { BatchListeners } from "./batch/batch-listeners.ts";
import { MainThread } from "./main-thread.ts";
import { createRateLimit, defaultRateLimit } from "./rate-limit.ts";
import { type Listening, listenUdp } from "./udp.ts";
import type { FromWorker, SocketKind, WorkerStart } from "./worker-messages.ts";

/**
 * A thread that answers plain queries over UDP. It has its own copy of the zones, sent by the main thread, and answers
 * only when every write from before the query has arrived. It passes all other packets to the main thread, and sends
 * the replies.
 */
export async function answerAsWorker(): Promise<void> {
  const port = parentPort;
  if (port === null) throw new Error("this function must run in a worker thread");
  const start = workerData as WorkerStart;
  const { written, reported, restrictedZone, identity, rateLimit: limit, expected, isReplacement } = start;
  const opened: Listening[] = [];
  const close = async () => {
    for (const each of opened) await each.close();
    port.close();
  };
  const main = new MainThread(port, { written, reported, limit: defaultLoadLimits.wait, close: () => void close() });
  // Zones are loaded by the main thread, which logs failures.
  const onTrouble = () => undefined;
  const { zones } = followZones(main, { seed: limit.seed, onTrouble });
  const answer = createResponder({ zones, onTrouble });
  const respond: RespondTo = (bytes, transport, from, allowedWork = "any") => {
    const kind = classify(bytes);
    if (kind === "silence") return undefined;
    const isForMain = kind !== "plain" || (restrictedZone !== undefined && asksBelow(bytes, restrictedZone));
    if (isForMain) return allowedWork === "any" ? main.pass(bytes, from) : undefined;
    const news = main.wait();
    if (news === undefined) return answer(bytes, transport, allowedWork);
    return allowedWork === "any" ? news.then(() => answer(bytes, transport)) : undefined;
  };
  const rateLimit = createRateLimit({ ...defaultRateLimit, memory: limit.memory });
  const counters = createDnsCounters(start.counters);
  // Without a promise, and so without the memory that it takes.
  const atHand: Responder["atHand"] = (query, length, reply) =>
    main.wait() === undefined ? answer.atHand(query, length, reply) : 0;
  const options = { respond, atHand, rateLimit, seed: limit.seed, identity, counters };
  const loaded = zones.loadExpected(expected);
  if (!isReplacement) await loaded;
  const sockets = await openSockets(start, options, opened);
  port.postMessage({ kind: "listens", ...sockets } satisfies FromWorker);
}

/** Opens those that read and send in batches, where that is possible, and otherwise Node's own. */
async function openSockets(
  { listen, sockets: { inBatches, fds } }: WorkerStart,
  options: UdpOptions,
  opened: Listening[],
): Promise<{ readonly sockets: SocketKind; readonly because?: string }> {
  let failed: { readonly because: string } | undefined;
  try {
    if (inBatches) {
      const listeners = new BatchListeners({ reusePort: true, fds: new Int32Array(fds) });
      for (const at of listen) opened.push(await listeners.listen(at, options));
      return { sockets: "batch" };
    }
  } catch (error) {
    for (const each of opened.splice(0)) await each.close();
    failed = { because: (error as Error).message };
  }
  for (const at of listen) opened.push(await listenUdp(at, { ...options, reusePort: true }));
  return { sockets: "dgram", ...failed };
}
