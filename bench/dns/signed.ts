import type { Table } from "../table.ts";
import { type DnsServer, inTurns, lostIn, medianOf, microseconds, ratioOf } from "./dnsperf.ts";
import { type Question, writeQuestions } from "./zone.ts";

const options = { rounds: 5, seconds: 1, dnssecOk: true };
const target = 0.95;

/**
 * Signed answers compared with unsigned ones of the same zone, which the first server has. All queries have the DO bit.
 */
export async function benchSigned(
  servers: readonly DnsServer[],
  file: string,
  questions: readonly Question[],
): Promise<Table> {
  const rows: string[][] = [];
  for (const question of questions) {
    await writeQuestions(file, question);
    const all = await inTurns(servers, file, options);
    const [unsigned = []] = all;
    for (const [i, loads] of all.entries()) {
      const [bySpeed, byCpu] = [ratioOf(loads, unsigned, "perSecond"), ratioOf(unsigned, loads, "cpu")];
      rows.push([
        question,
        servers[i]?.name ?? "",
        medianOf(loads, "perSecond").toFixed(0),
        microseconds(medianOf(loads, "cpu")),
        bySpeed.toFixed(2),
        byCpu.toFixed(2),
        i === 0 ? "" : `${target}: ${Math.max(bySpeed, byCpu) >= target ? "met" : "not met"}`,
        lostIn(loads),
      ]);
    }
  }
  return {
    title: "Signed zones: answers with signatures and proofs",
    how: "npm run bench dns",
    heads: [
      "question",
      "zone",
      "queries/s",
      "CPU per query",
      "queries/s ÷ unsigned",
      "unsigned CPU ÷ its CPU",
      "target",
      "unanswered",
    ],
    rows,
  };
}
