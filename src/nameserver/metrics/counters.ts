/**
 * What the nameserver has answered, as plain numbers. Each thread counts in its own memory, so that counting needs no lock;
 * the memory is shared, so that the main thread can read it.
 */
export type DnsCounters = {
  readonly memory: SharedArrayBuffer;
  /** Replies by response code: the four bits in the header. */
  readonly udp: Float64Array;
  readonly tcp: Float64Array;
  /** Over the limit of their network: replies truncated, and queries or replies dropped. */
  readonly limited: Float64Array;
  readonly transfers: Float64Array;
};

const codes = 16;
export const directions = ["out", "in"] as const;
/** `check`: there was nothing newer to transfer. */
export const transferKinds = ["axfr", "ixfr", "check"] as const;
export const transferResults = ["done", "refused", "failed"] as const;

type Direction = (typeof directions)[number];
type TransferKind = (typeof transferKinds)[number];
type TransferResult = (typeof transferResults)[number];

const transferPlaces = directions.length * transferKinds.length * transferResults.length;
const places = 2 * codes + 2 + transferPlaces;

/** Given the memory of another thread's counters, these are the same counters. */
export function createDnsCounters(memory = new SharedArrayBuffer(places * 8)): DnsCounters {
  const at = (start: number, length: number) => new Float64Array(memory, start * 8, length);
  return {
    memory,
    udp: at(0, codes),
    tcp: at(codes, codes),
    limited: at(2 * codes, 2),
    transfers: at(2 * codes + 2, transferPlaces),
  };
}

export function countReply(counts: Float64Array, reply: Uint8Array): void {
  const code = (reply[3] as number) & 0xf;
  counts[code] = (counts[code] as number) + 1;
}

export const limitedPlace = { cut: 0, drop: 1 } as const;

export function countLimited({ limited }: DnsCounters, passage: keyof typeof limitedPlace): void {
  const place = limitedPlace[passage];
  limited[place] = (limited[place] ?? 0) + 1;
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
