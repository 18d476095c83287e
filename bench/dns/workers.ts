import type { Table } from "../table.ts";
import { type DnsServer, inTurns, lostIn, medianOf, microseconds, ratioOf } from "./dnsperf.ts";

const rate = 30_000;
const options = { rounds: 7, seconds: 1, clients: 16 };
const target = 1.9;

/**
 * Whether two workers take no more processor time for twice the queries than one does: then two processors answer twice
 * as many. So few are sent that the processors are never all busy, although dnsperf needs them too. Each worker gets as
 * many queries as the one, because batches are smaller if fewer arrive.
 */
export async function benchWorkers(one: DnsServer, two: DnsServer, file: string): Promise<Table> {
  const servers = [
    { ...one, rate },
    { ...two, rate: 2 * rate },
  ];
  const [single = [], double = []] = await inTurns(servers, file, options);
  const times = 2 * ratioOf(single, double, "cpu");
  return {
    title: "Two workers against one, at a fixed rate per worker",
    how: "npm run bench dns",
    heads: ["moor with", "queries/s", "CPU per query", "times as many by CPU", "target", "unanswered"],
    rows: [single, double].map((loads, i) => [
      servers[i]?.name ?? "",
      medianOf(loads, "perSecond").toFixed(0),
      microseconds(medianOf(loads, "cpu")),
      i === 0 ? "1.00" : times.toFixed(2),
      i === 0 ? "" : `${target}: ${times >= target ? "met" : "not met"}`,
      lostIn(loads),
    ]),
  };
}
