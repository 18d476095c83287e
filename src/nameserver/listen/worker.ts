import { parentPort, workerData } from "node:worker_threads";
import { followZones } from "../answer/followed-zones.ts";
import { defaultLoadLimits } from "../answer/loaded-zones.ts";
import { createResponder, type RespondTo } from "../answer/respond.ts";
import { createDnsCounters } from "../metrics/metrics.ts";
import { asksBelow, classify } from "../transfer/classify.ts";
import { MainThread } from "./main-thread.ts";
import { createRateLimit, defaultRateLimit } from "./rate-limit.ts";
import { type Listening, listenUdp } from "./udp.ts";
import type { FromWorker, WorkerStart } from "./worker-messages.ts";

/**
 * A thread that answers plain queries over UDP. It has its own copy of the zones, sent by the main thread, and answers
 * only when every write from before the query has arrived. It passes all other packets to the main thread, and sends
 * the replies.
 */
export async function answerAsWorker(): Promise<void> {
  const port = parentPort;
  if (port === null) throw new Error("this function must run in a worker thread");
  const {
    listen,
    written,
    reported,
    restrictedZone,
    identity,
    rateLimit: limit,
    counters: memory,
  } = workerData as WorkerStart;
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
  const rateLimit = createRateLimit({ ...defaultRateLimit, ...limit });
  const counters = createDnsCounters(memory);
  for (const at of listen)
    opened.push(await listenUdp(at, { respond, rateLimit, identity, counters, reusePort: true }));
  port.postMessage({ kind: "listens" } satisfies FromWorker);
}
