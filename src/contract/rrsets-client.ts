/**
 * What a client can rely on from any service with the rrsets API, moor's or the public one. Types only: the updater
 * checks by hand, so that it starts without a schema library.
 */
export type ReadableCloudZone = { readonly id: number; readonly name: string; readonly ttl?: number };

export type ReadableRRset = {
  /** Relative, `@` for the zone itself. */
  readonly name: string;
  readonly type: string;
  /** Null if the set uses the zone's default. */
  readonly ttl?: number | null;
  readonly records: readonly ReadableSetRecord[];
  readonly zone?: number;
};

export type ReadableSetRecord = { readonly value: string; readonly comment?: string | null };

/** A write that may continue after its answer. */
export type ReadableAction = {
  readonly id: number;
  readonly status: "running" | "success" | "error";
  readonly error?: { readonly code?: string; readonly message?: string } | null;
};

/** The body of `set_records`: the whole set, including comments. */
export type SetReplacement = { readonly records: readonly { readonly value: string; readonly comment: string }[] };

/** The body of `POST /zones/{zone}/rrsets`. */
export type NewRRset = SetReplacement & {
  readonly name: string;
  readonly type: string;
  readonly ttl?: number | null | undefined;
};

/** One of the changes of `POST /zones/{zone}/changes`, which only moor has. */
export type DeletedRRset = { readonly name: string; readonly type: string; readonly delete: true };
