import type { Worker } from "node:worker_threads";
import { refuseUnread } from "../../src/nameserver/answer/reply.ts";
import { defaultRateLimit } from "../../src/nameserver/listen/rate-limit.ts";
import { bucketMemory } from "../../src/nameserver/listen/token-buckets.ts";
import { spawnWorker, startWorkers } from "../../src/nameserver/listen/workers.ts";
import { createDnsCounters } from "../../src/nameserver/metrics/metrics.ts";
import { createLog } from "../../src/process/log.ts";
import { writtenZone } from "../rig/core/written-sets.suite.ts";
import { zonesInMemory } from "./zones-in-memory.ts";

/** Small, so that most of the time goes to queries although everything is loaded all the time. */
const hosts = Array.from({ length: 50 }, (_, i) => `h${i} - A 192.0.2.${i}\nw${i} - CNAME h${i}`);
const zone = writtenZone("bench.example", ["@ - NS h1", ...hosts].join("\n"));

/**
 * Two workers whose zone is written to and loaded again all the time, and one of which is replaced after three seconds.
 * It ends at SIGTERM, and prints what its log has said and the milliseconds that closing took.
 * `node test/nameserver/siege-server.ts PORT`
 */
const said: string[] = [];
const log = createLog({ format: "text", write: (line) => said.push(line) });
const zones = zonesInMemory(zone);
const threads: Worker[] = [];
const { listening, close } = startWorkers({
  count: 2,
  inBatches: process.argv[3] !== "dgram",
  source: zones,
  respond: (bytes) => refuseUnread(bytes, 5),
  start: {
    listen: [{ host: "127.0.0.1", port: Number(process.argv[2]) }],
    restrictedZone: undefined,
    identity: { cookieSecret: new Uint8Array(16) },
    rateLimit: { seed: 1, memory: new SharedArrayBuffer(bucketMemory(defaultRateLimit.slots)) },
    expected: [],
  },
  newCounters: createDnsCounters,
  onTrouble: (error) => log.error({ err: error }, "trouble"),
  log,
  spawn: (start) => {
    const thread = spawnWorker(start);
    threads.push(thread);
    return thread;
  },
});
await listening;
const writes = setInterval(() => zones.write(zone.name, zone.sets), 100);
const reloads = setInterval(() => zones.tell({ kind: "lost" }), 2_000);
setTimeout(() => void threads[0]?.terminate(), 3_000).unref();
process.once("SIGTERM", () => {
  clearInterval(writes);
  clearInterval(reloads);
  const begun = performance.now();
  void close().then(() => {
    console.log(JSON.stringify({ said, closing: performance.now() - begun, threads: threads.length }));
  });
});
console.log("listens");
