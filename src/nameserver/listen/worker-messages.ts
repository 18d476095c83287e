import type { ListenAddress } from "../../process/listen-address.ts";
import type { ZoneNews } from "../answer/zone-source.ts";

/** What a worker is started with. */
export type WorkerStart = {
  readonly listen: readonly ListenAddress[];
  /** One 32-bit number that all threads see: the count of writes, raised before the writer gets its answer. */
  readonly coming: SharedArrayBuffer;
  /** The count that this worker starts at. */
  readonly told: number;
  /** The zone that only the main thread answers for, as it is on the wire. */
  readonly hidden: Uint8Array | undefined;
  readonly rateLimit: WorkerRateLimit;
  /** Where it counts what it answers. */
  readonly counters: SharedArrayBuffer;
};

export type WorkerRateLimit = {
  readonly seed: number;
  /** Shared, so that a client has the same limit however many threads it reaches. */
  readonly memory: SharedArrayBuffer;
};

/** What a worker asks of the main thread; each has an answer under its id. */
export type WorkerQuestion =
  | { readonly kind: "closest"; readonly names: readonly string[] }
  /** The sets of a zone from a place on: the zone is read for the first part, and what is left is kept under `load`. */
  | { readonly kind: "load"; readonly zone: string; readonly load: number; readonly from: number }
  /** The names of all zones: the first part, or the one after the last that was given. */
  | { readonly kind: "names"; readonly first: boolean }
  /** A packet that is not a plain question: transfers, updates and notices are for the main thread. */
  | { readonly kind: "packet"; readonly bytes: Uint8Array; readonly from: string };

/** Sets of a zone in one message: each thread reads or writes a message without a pause. A shorter part is the last. */
export const setsInMessage = 500;

export type FromWorker =
  | { readonly kind: "asks"; readonly id: number; readonly question: WorkerQuestion }
  | { readonly kind: "listens" };

export type ToWorker =
  | { readonly kind: "answer"; readonly id: number; readonly value: unknown }
  /** The main thread knows why, and has logged it. */
  | { readonly kind: "no-answer"; readonly id: number }
  | { readonly kind: "news"; readonly news: readonly ZoneNews[]; readonly told: number }
  | { readonly kind: "close" };

/** A copy of the bytes: posting a view would send the whole buffer under it. */
export const alone = (bytes: Uint8Array): Uint8Array => new Uint8Array(bytes);
