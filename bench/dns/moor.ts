import { startNameserver } from "../../src/nameserver/start.ts";
import { createLog } from "../../src/process/log.ts";
import { zonesInMemory } from "../../test/nameserver/zones-in-memory.ts";
import { benchZone, signedBenchZone } from "./zone.ts";

/**
 * moor's nameserver in its main thread, or in workers, with the zone of the bench.
 * `node bench/dns/moor.ts PORT [WORKERS] [nsec|nsec3|plain] [dgram]`
 */
const log = createLog({ format: "text", write: (line) => process.stderr.write(line) });
const workers = Number(process.argv[3] ?? 0);
const chain = process.argv[4];
const zone = chain === "nsec" || chain === "nsec3" ? signedBenchZone(chain) : benchZone;
const listen = [{ host: "127.0.0.1", port: Number(process.argv[2]) }];
await startNameserver({ listen, source: zonesInMemory(zone), log, workers, inBatches: process.argv[5] !== "dgram" });
console.log("listens");
