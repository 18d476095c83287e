import type { ListenAddress } from "../../lib/http/listen.ts";
import type { ExpectedZone, ZoneNews } from "../answer/zone-source.ts";
import type { ServerIdentity } from "../wire/edns-options.ts";

/** What a worker is started with. */
export type WorkerStart = {
  readonly listen: readonly ListenAddress[];
  /** One 32-bit number that all threads see: the count of writes, incremented before the writer gets its response. */
  readonly written: SharedArrayBuffer;
  /** The count that this worker starts at. */
  readonly reported: number;
  /** The zone that only the main thread answers for, in wire format. */
  readonly restrictedZone: Uint8Array | undefined;
  readonly identity?: ServerIdentity | undefined;
  /** Zones to load before it listens. */
  readonly expected: readonly ExpectedZone[];
  /** Instead of one that ended: clients wait, so it listens first. */
  readonly isReplacement: boolean;
  readonly rateLimit: WorkerRateLimit;
  /** Memory for its counters. */
  readonly counters: SharedArrayBuffer;
  /** The sockets that it may open itself: it notes their file descriptors in `fds`, -1 when there is none. */
  readonly sockets: { readonly inBatches: boolean; readonly fds: SharedArrayBuffer };
};

/** How the datagrams of a socket are read and sent: several per system call, or one by one by Node's `dgram`. */
export type SocketKind = "batch" | "dgram";

export type WorkerRateLimit = {
  readonly seed: number;
  /** Shared, so that a client's limit does not grow with the number of threads that it reaches. */
  readonly memory: SharedArrayBuffer;
};

/** A worker's question to the main thread; the answer has the same id. */
export type WorkerQuestion =
  | { readonly kind: "closest"; readonly names: readonly string[] }
  /**
   * One part of a zone, starting at set number `from`. The zone is read for the first part and kept under `load` until
   * the last.
   */
  | { readonly kind: "load"; readonly zone: string; readonly load: number; readonly from: number }
  /** The names of all zones: the first part, or the next one. */
  | { readonly kind: "names"; readonly first: boolean }
  /** A packet that is not a plain query: the main thread handles transfers, updates and NOTIFY messages. */
  | { readonly kind: "packet"; readonly bytes: Uint8Array; readonly from: string };

/** Sets per message: a thread does nothing else while it reads or writes one. A part with fewer sets is the last. */
export const setsInMessage = 500;

export type FromWorker =
  | { readonly kind: "asks"; readonly id: number; readonly question: WorkerQuestion }
  /** Somebody asks for this zone. */
  | { readonly kind: "uses"; readonly zone: string }
  /** `because`: why its sockets are not of the other kind. */
  | { readonly kind: "listens"; readonly sockets: SocketKind; readonly because?: string };

export type ToWorker =
  | { readonly kind: "answer"; readonly id: number; readonly value: unknown }
  /** The main thread has logged the reason. */
  | { readonly kind: "no-answer"; readonly id: number; readonly isNoContent: boolean }
  | { readonly kind: "news"; readonly news: readonly ZoneNews[]; readonly reported: number }
  | { readonly kind: "close" };

/** Posting a view would send the whole buffer that it is part of. */
export const copyForPosting = (bytes: Uint8Array): Uint8Array => new Uint8Array(bytes);
