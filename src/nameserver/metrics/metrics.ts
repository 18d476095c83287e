import { family, type Sample } from "../../process/metrics.ts";

/**
 * What the nameserver has answered, as plain numbers. Each thread counts in its own memory, so that counting needs no
 * lock; the memory is shared, so that the main thread can read it.
 */
export type DnsCounters = {
  readonly memory: SharedArrayBuffer;
  /** Replies by response code: the four bits in the header. */
  readonly udp: Float64Array;
  readonly tcp: Float64Array;
  /** Over the limit of their network: replies truncated, and queries or replies dropped. */
  readonly limited: Float64Array;
  readonly transfers: Float64Array;
  /** 1 if this thread answers over UDP now, by how it reads and sends datagrams. */
  readonly threads: Float64Array;
};

/** The loads of zones, by all threads. */
export type LoadCounts = { underway: number; done: number; failed: number };
const socketKinds = ["batch", "dgram"] as const;

const codes = 16;
const directions = ["out", "in"] as const;
/** `check`: there was nothing newer to transfer. */
const transferKinds = ["axfr", "ixfr", "check"] as const;
const transferResults = ["done", "refused", "failed"] as const;

type Direction = (typeof directions)[number];
type TransferKind = (typeof transferKinds)[number];
type TransferResult = (typeof transferResults)[number];

const transferPlaces = directions.length * transferKinds.length * transferResults.length;
const places = 2 * codes + 2 + transferPlaces + socketKinds.length;

/** Given the memory of another thread's counters, these are the same counters. */
export function createDnsCounters(memory = new SharedArrayBuffer(places * 8)): DnsCounters {
  const at = (start: number, length: number) => new Float64Array(memory, start * 8, length);
  return {
    memory,
    udp: at(0, codes),
    tcp: at(codes, codes),
    limited: at(2 * codes, 2),
    transfers: at(2 * codes + 2, transferPlaces),
    threads: at(2 * codes + 2 + transferPlaces, socketKinds.length),
  };
}

export function countReply(counts: Float64Array, reply: Uint8Array): void {
  const code = (reply[3] as number) & 0xf;
  counts[code] = (counts[code] as number) + 1;
}

export const limitedPlace = { truncate: 0, drop: 1 } as const;

export function countLimited({ limited }: DnsCounters, passage: keyof typeof limitedPlace): void {
  const place = limitedPlace[passage];
  limited[place] = (limited[place] ?? 0) + 1;
}

/** This thread answers over UDP on sockets of this kind, or no longer does. */
export function countThread(counters: DnsCounters | undefined, kind: (typeof socketKinds)[number] | undefined): void {
  for (const [i, each] of socketKinds.entries()) counters?.threads.fill(each === kind ? 1 : 0, i, i + 1);
}

export function countTransfer(
  { transfers }: DnsCounters,
  direction: Direction,
  kind: TransferKind,
  result: TransferResult,
): void {
  const place = transferPlace(direction, kind, result);
  transfers[place] = (transfers[place] ?? 0) + 1;
}

export const transferPlace = (direction: Direction, kind: TransferKind, result: TransferResult): number =>
  (directions.indexOf(direction) * transferKinds.length + transferKinds.indexOf(kind)) * transferResults.length +
  transferResults.indexOf(result);

/** All threads together, in the text format of Prometheus. */
export function printDnsMetrics(threads: readonly DnsCounters[], loads: Readonly<LoadCounts>): string {
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
      [{ how: "cut" }, sum(({ limited }) => limited[limitedPlace.truncate])],
      [{ how: "dropped" }, sum(({ limited }) => limited[limitedPlace.drop])],
    ]),
    family(
      "moor_dns_transfers_total",
      "counter",
      "Zone transfers, out to secondaries and in from primaries.",
      transfers,
    ),
    family("moor_dns_zones_loading", "gauge", "Zones that are being read from the database for DNS.", [
      [{}, loads.underway],
    ]),
    family("moor_dns_zone_loads_total", "counter", "Zones read from the database for DNS, by each thread.", [
      [{ result: "done" }, loads.done],
      [{ result: "failed" }, loads.failed],
    ]),
    family(
      "moor_dns_udp_threads",
      "gauge",
      "Threads that answer DNS over UDP, by how they read and send datagrams.",
      socketKinds.map((sockets, i) => [{ sockets }, sum(({ threads }) => threads[i])]),
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
