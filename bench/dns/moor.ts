import { startNameserver } from "../../src/nameserver/start.ts";
import { createLog } from "../../src/process/log.ts";
import { zonesInMemory } from "../../test/nameserver/zones-in-memory.ts";
import { benchZone } from "./zone.ts";

/** moor's nameserver in its main thread, or in workers, with the zone of the bench. `node bench/dns/moor.ts PORT [WORKERS]` */
const log = createLog({ format: "text", write: (line) => process.stderr.write(line) });
const workers = Number(process.argv[3] ?? 0);
const listen = [{ host: "127.0.0.1", port: Number(process.argv[2]) }];
await startNameserver({ listen, source: zonesInMemory(benchZone), log, workers });
console.log("listens");
