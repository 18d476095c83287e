import { family, type Sample } from "../../process/metrics.ts";
import {
  type DnsCounters,
  directions,
  limitedPlace,
  transferKinds,
  transferPlace,
  transferResults,
} from "./counters.ts";

/** All threads together, in the text format of Prometheus. */
export function printDnsMetrics(threads: readonly DnsCounters[]): string {
  const sum = (of: (counters: DnsCounters) => number | undefined) =>
    threads.reduce((total, counters) => total + (of(counters) ?? 0), 0);
  const byCode = (transport: "udp" | "tcp"): readonly Sample[] =>
    codeNames.flatMap((rcode, i) => {
      const count = sum((counters) => counters[transport][i]);
      return count > 0 || i === 0 ? [[{ transport, rcode }, count] as const] : [];
    });
  const transfers = directions.flatMap((direction) =>
    transferKinds.flatMap((kind) =>
      transferResults.flatMap((result): readonly Sample[] => {
        const count = sum((counters) => counters.transfers[transferPlace(direction, kind, result)]);
        return count > 0 || result === "done" ? [[{ direction, kind, result }, count]] : [];
      }),
    ),
  );
  return [
    family("moor_dns_answers_total", "counter", "DNS replies made, by response code.", [
      ...byCode("udp"),
      ...byCode("tcp"),
    ]),
    family("moor_dns_limited_total", "counter", "DNS questions and replies over the limit of their network.", [
      [{ how: "cut" }, sum(({ limited }) => limited[limitedPlace.cut])],
      [{ how: "dropped" }, sum(({ limited }) => limited[limitedPlace.drop])],
    ]),
    family(
      "moor_dns_transfers_total",
      "counter",
      "Zone transfers, out to secondaries and in from primaries.",
      transfers,
    ),
  ].join("");
}

/** By number: RFC 6895 section 2.3. */
const codeNames = [
  "NOERROR",
  "FORMERR",
  "SERVFAIL",
  "NXDOMAIN",
  "NOTIMP",
  "REFUSED",
  "YXDOMAIN",
  "YXRRSET",
  "NXRRSET",
  "NOTAUTH",
  "NOTZONE",
  "11",
  "12",
  "13",
  "14",
  "15",
];
