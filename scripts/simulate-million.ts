import { cpus } from "node:os";
import { parseArgs } from "node:util";
import { type Assumed, drawDay, type Measured, needsOf, percentileOf } from "../test/scale/arithmetic.ts";
import { measure } from "./simulate-measured.ts";

/**
 * Estimates what a million names need from the cost of a few thousand real ones:
 * `npx node scripts/simulate-million.ts --zones 20000`.
 */

const { values } = parseArgs({
  options: { zones: { type: "string", default: "20000" }, names: { type: "string", default: "1000000" } },
});
const zones = Number(values.zones);

const assumed: Assumed = {
  names: Number(values.names),
  setsPerName: 2,
  changesPerDay: 1,
  busiestHour: 0.25,
  returnMinutes: 10,
  questionsPerDay: 200,
  questionPeak: 3,
  askedFor: 0.2,
  secondaries: 2,
  keepDays: 400,
  utilization: 0.6,
};

const out = (text: string) => void process.stdout.write(`${text}\n`);
const measured = await measure({ zones, writes: zones }, (text) => void process.stderr.write(`${text}\n`));
const needs = needsOf(assumed, measured);
const perSecond = drawDay(assumed.names * assumed.changesPerDay, assumed.busiestHour, Math.random);

out(`Measured on ${zones} zones, ${cpus()[0]?.model ?? "a processor"}, Node ${process.version}:\n`);
table(rowsOfMeasured(measured));
out("\nAssumed:\n");
table(Object.entries(assumed).map(([key, value]) => [key, value.toLocaleString("en")]));
out(`\nComputed for ${assumed.names.toLocaleString("en")} names:\n`);
table(rowsOfNeeds());
out("\nDrawn, one day second by second: changes in one second\n");
table([
  ["half of all seconds, at most", String(percentileOf(perSecond, 0.5))],
  ["999 of 1,000 seconds, at most", String(percentileOf(perSecond, 0.999))],
  ["the worst second", String(percentileOf(perSecond, 1))],
]);

function rowsOfMeasured(of: Measured): readonly Row[] {
  return [
    ["store, a zone with SOA, A and AAAA, its log rows included", `${Math.round(of.bytesPerZone)} bytes`],
    ["store, one more change", `${Math.round(of.bytesPerChange)} bytes`],
    ["PUT of a record over HTTP, on disk", micro(of.secondsPerWrite)],
    ["GET of a record over HTTP", micro(of.secondsPerRead)],
    ["first DNS question for a zone", micro(of.secondsPerColdQuestion)],
    ["further DNS question", micro(of.secondsPerQuestion)],
    ["transfer of such a zone to a secondary", micro(of.secondsPerTransfer)],
    ["memory at the start", mega(of.memoryAtStart)],
    ["memory, a zone that was asked for", `${(of.memoryPerZone / 1_024).toFixed(1)} kB`],
  ];
}

function rowsOfNeeds(): readonly Row[] {
  const { writesPerSecond, questionsPerSecond, transfersPerSecond, cores } = needs;
  return [
    ["store without later changes", giga(needs.storeBytes)],
    ["writes a day", needs.writesPerDay.toLocaleString("en")],
    ["writes a second: mean", writesPerSecond.mean.toFixed(0)],
    ["writes a second: busiest hour", writesPerSecond.busiestHour.toFixed(0)],
    [`writes a second: all back within ${assumed.returnMinutes} minutes`, writesPerSecond.afterOutage.toFixed(0)],
    ["log a day", giga(needs.logBytesPerDay)],
    [`log kept for ${assumed.keepDays} days`, giga(needs.logBytesKept)],
    [
      "DNS questions a second: mean, peak",
      `${questionsPerSecond.mean.toFixed(0)}, ${questionsPerSecond.peak.toFixed(0)}`,
    ],
    [
      `transfers a second to ${assumed.secondaries} secondaries, busiest hour`,
      transfersPerSecond.busiestHour.toFixed(0),
    ],
    ["cores, busiest hour: writes with their reads", cores.writes.toFixed(2)],
    ["cores, busiest hour: DNS at its peak", cores.questions.toFixed(2)],
    ["cores, busiest hour: transfers", cores.transfers.toFixed(2)],
    ["cores, busiest hour: all", cores.all.toFixed(2)],
    [`cores, all back within ${assumed.returnMinutes} minutes`, needs.coresAfterOutage.toFixed(2)],
    ["memory of a node that is asked for a fifth of the names", giga(needs.memory)],
    [`nodes at ${assumed.utilization * 100} % of a core, one to spare`, String(needs.nodes)],
  ];
}

type Row = readonly [what: string, value: string];

function table(rows: readonly Row[]): void {
  out("| | |\n|---|---|");
  for (const [what, value] of rows) out(`| ${what} | ${value} |`);
}

function micro(seconds: number): string {
  return `${(seconds * 1e6).toFixed(0)} µs of processor`;
}

function mega(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(0)} MB`;
}

function giga(bytes: number): string {
  return `${(bytes / 2 ** 30).toFixed(2)} GB`;
}
