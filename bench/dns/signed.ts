import { writeFile } from "node:fs/promises";
import type { Table } from "../table.ts";
import { type DnsLoad, type DnsServer, dnsperf, median, noLoad } from "./dnsperf.ts";
import { benchQuestions } from "./zone.ts";

const rounds = 5;
const options = { seconds: 1, dnssecOk: true };

/**
 * Signed answers compared with unsigned ones of the same zone, which the first server has. All queries have the DO bit.
 */
export async function benchSigned(servers: readonly DnsServer[], file: string): Promise<Table> {
  const rows: string[][] = [];
  for (const [what, questions] of Object.entries(benchQuestions)) {
    await writeFile(file, questions.join("\n"));
    // In the first seconds with a new kind of question, V8 still compiles what it needs.
    for (const server of servers) await dnsperf(server, file, { ...options, seconds: 3 });
    const turns: DnsLoad[][] = [];
    for (let i = 0; i < rounds; i++) {
      const turn: DnsLoad[] = [];
      for (const server of servers) turn.push(await dnsperf(server, file, options));
      turns.push(turn);
    }
    for (const [i, { name }] of servers.entries()) {
      const loads = turns.map((turn) => turn[i] ?? noLoad);
      const ratio = median(turns.map((turn) => (turn[i] ?? noLoad).perSecond / (turn[0] ?? noLoad).perSecond));
      const cpu = `${median(loads.map((load) => load.cpu)).toFixed(1)} µs`;
      const perSecond = median(loads.map((load) => load.perSecond)).toFixed(0);
      const lost = `${loads.reduce((sum, load) => sum + load.lost, 0)}`;
      rows.push([what, name, perSecond, ratio.toFixed(2), i === 0 ? "" : "0.95", cpu, lost]);
    }
  }
  return {
    title: "Signed zones: answers with signatures and proofs",
    how: "npm run bench dns",
    heads: ["question", "zone", "queries/s", "ratio to unsigned", "target", "CPU per query", "unanswered"],
    rows,
  };
}
