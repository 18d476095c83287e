import { availableParallelism } from "node:os";
import type { Table } from "../table.ts";
import { type DnsLoad, type DnsServer, dnsperf, median } from "./dnsperf.ts";

const rounds = 7;
const options = { seconds: 1, clients: 16, threads: 2 };

/**
 * Whether two workers answer more queries than one. The load generator needs processors too: the maximum that the
 * machine allows is computed from the CPU time of both sides per query, to distinguish a machine that is too small
 * from workers that do not scale.
 */
export async function benchWorkers(one: DnsServer, two: DnsServer, file: string): Promise<Table> {
  for (const server of [one, two]) await dnsperf(server, file, options);
  const loads = { one: [] as DnsLoad[], two: [] as DnsLoad[] };
  for (let i = 0; i < rounds; i++) {
    loads.one.push(await dnsperf(one, file, options));
    loads.two.push(await dnsperf(two, file, options));
  }
  const cores = availableParallelism();
  const ratio = median(loads.two.map((load, i) => load.perSecond / (loads.one[i]?.perSecond ?? Number.NaN)));
  const row = ({ name }: DnsServer, all: readonly DnsLoad[], workers: number) => [
    name,
    median(all.map((load) => load.perSecond)).toFixed(0),
    workers === 1 ? "1.00" : ratio.toFixed(2),
    workers === 1 ? "" : "1.90 by CPU per query",
    `${least(all, "cpu").toFixed(1)} µs`,
    `${least(all, "clientCpu").toFixed(1)} µs`,
    attainable(all, workers, cores).toFixed(0),
    `${all.reduce((sum, load) => sum + load.lost, 0)}`,
  ];
  return {
    title: `Two workers against one, on ${cores} processors shared with dnsperf`,
    how: "npm run bench dns",
    heads: [
      "moor with",
      "queries/s",
      "ratio",
      "target",
      "CPU per query",
      "dnsperf CPU per query",
      "queries/s possible on these processors",
      "unanswered",
    ],
    rows: [row(one, loads.one, 1), row(two, loads.two, 2)],
  };
}

const least = (loads: readonly DnsLoad[], what: "cpu" | "clientCpu"): number =>
  Math.min(...loads.map((load) => load[what]));

/** The lower of two limits: the workers with one processor each, and all processors including dnsperf. */
function attainable(loads: readonly DnsLoad[], workers: number, cores: number): number {
  const [server, client] = [least(loads, "cpu"), least(loads, "clientCpu")];
  return 1e6 * Math.min(Math.min(workers, cores) / server, cores / (server + client));
}
