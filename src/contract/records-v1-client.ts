/**
 * What a client can rely on from any service with the v1 API, moor's or another. Types only: the updater checks by
 * hand, so that it starts without a schema library.
 */
export type ReadableZone = { readonly id: string; readonly name: string; readonly ttl?: number | null };

export type ReadableRecord = {
  readonly id: string;
  readonly type: string;
  readonly name: string;
  readonly value: string;
  readonly zone_id: string;
  /** Absent (null from some services) if the record uses the zone's. */
  readonly ttl?: number | null;
};

/** The body of `PUT /api/v1/records/{id}`: a full replacement, so omitting `ttl` clears it. */
export type RecordReplacement = Omit<ReadableRecord, "id" | "ttl"> & { readonly ttl?: number | undefined };
