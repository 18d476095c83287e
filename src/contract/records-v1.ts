import { type Static, Type } from "typebox";
import { highestTtl } from "../core/records/rrset.ts";

/**
 * The wire format of the v1 API, in the key order that its clients rely on. Times are in Go's default format
 * (`2021-02-05 12:57:21.941 +0000 UTC`); a record without `ttl` uses its zone's.
 */

export const WireZone = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    ttl: Type.Integer(),
    registrar: Type.String(),
    legacy_dns_host: Type.String(),
    legacy_ns: Type.Union([Type.Array(Type.String()), Type.Null()]),
    ns: Type.Union([Type.Array(Type.String()), Type.Null()]),
    created: Type.String(),
    verified: Type.String(),
    modified: Type.String(),
    project: Type.String(),
    owner: Type.String(),
    permission: Type.String(),
    zone_type: Type.Object({
      id: Type.String(),
      name: Type.String(),
      description: Type.String(),
      prices: Type.Null(),
    }),
    status: Type.String({ description: "verified, failed or pending" }),
    paused: Type.Boolean(),
    is_secondary_dns: Type.Boolean(),
    txt_verification: Type.Object({ name: Type.String(), token: Type.String() }),
    records_count: Type.Integer(),
  },
  { title: "Zone" },
);
export type WireZone = Static<typeof WireZone>;

export const WireRecord = Type.Object(
  {
    id: Type.String(),
    type: Type.String(),
    name: Type.String({ description: "relative to the zone; @ is the zone itself" }),
    value: Type.String(),
    ttl: Type.Optional(Type.Integer()),
    zone_id: Type.String(),
    created: Type.String(),
    modified: Type.String(),
  },
  { title: "Record" },
);
export type WireRecord = Static<typeof WireRecord>;

export const WirePrimaryServer = Type.Object(
  {
    id: Type.String(),
    port: Type.Integer(),
    created: Type.String(),
    modified: Type.String(),
    zone_id: Type.String(),
    address: Type.String(),
  },
  { title: "PrimaryServer" },
);
export type WirePrimaryServer = Static<typeof WirePrimaryServer>;

export const Pagination = Type.Object({
  page: Type.Integer(),
  per_page: Type.Integer(),
  previous_page: Type.Integer(),
  next_page: Type.Integer(),
  last_page: Type.Integer(),
  total_entries: Type.Integer(),
});
export type Pagination = Static<typeof Pagination>;

const Meta = Type.Object({ pagination: Pagination });

export const WireError = Type.Object({ message: Type.String(), code: Type.Integer() }, { title: "Error" });
export type WireError = Static<typeof WireError>;

const MaybeError = Type.Optional(Type.Partial(WireError));
export const ZoneAnswer = Type.Object({ zone: WireZone, error: MaybeError });
export const ZonesAnswer = Type.Object({ zones: Type.Array(WireZone), meta: Meta, error: MaybeError });
export const RecordAnswer = Type.Object({ record: WireRecord, error: MaybeError });
export const RecordsAnswer = Type.Object({
  records: Type.Array(WireRecord),
  meta: Type.Optional(Meta),
  error: MaybeError,
});
export const FileCheckAnswer = Type.Object({
  parsed_records: Type.Integer(),
  valid_records: Type.Array(WireRecord, { description: "always empty, as in the original API" }),
  error: MaybeError,
});

/** Repeats an entry that was not processed: whatever was sent under the keys of a record. */
const EchoedRecord = Type.Partial(
  Type.Object({
    id: Type.Unknown(),
    type: Type.Unknown(),
    name: Type.Unknown(),
    value: Type.Unknown(),
    ttl: Type.Unknown(),
    zone_id: Type.Unknown(),
  }),
  { title: "EchoedRecord" },
);

export const BulkCreateAnswer = Type.Object({
  records: Type.Array(WireRecord),
  valid_records: Type.Array(EchoedRecord, { description: "valid, but not created because other entries are invalid" }),
  invalid_records: Type.Array(EchoedRecord),
  error: MaybeError,
});
export const BulkUpdateAnswer = Type.Object({
  records: Type.Array(WireRecord),
  failed_records: Type.Array(EchoedRecord),
  error: MaybeError,
});

export const PrimaryServerAnswer = Type.Object({ primary_server: WirePrimaryServer, error: MaybeError });
export const PrimaryServersAnswer = Type.Object({ primary_servers: Type.Array(WirePrimaryServer), error: MaybeError });

export const DeletedAnswer = Type.Object({ error: Type.Partial(WireError) });
/** What the original's gateway answers: missing or invalid token, too many calls, body too large. */
export const GatewayAnswer = Type.Object({ message: Type.String() }, { title: "GatewayAnswer" });
export const BadJsonAnswer = Type.Object({ error: Type.String() }, { title: "BadJsonAnswer" });
export const InternalAnswer = Type.Object({ error: WireError }, { title: "InternalAnswer" });

/**
 * Numeric strings and null are accepted too: some clients send them. `records/api/v1/input.ts` uses these schemas;
 * other keys are ignored.
 */
const TtlInput = Type.Optional(Type.Union([Type.Integer({ minimum: 0, maximum: highestTtl }), Type.Null()]));

export const ZoneInput = Type.Object({ name: Type.String(), ttl: TtlInput }, { title: "ZoneInput" });

export const RecordInput = Type.Object(
  {
    zone_id: Type.String(),
    type: Type.String(),
    name: Type.String(),
    value: Type.String(),
    ttl: TtlInput,
  },
  { title: "RecordInput" },
);

export const RecordId = Type.Object({ id: Type.String() });
export const BulkCreateInput = Type.Object({ records: Type.Array(RecordInput, { maxItems: 10_000 }) });
export const BulkUpdateInput = Type.Object({
  records: Type.Array(Type.Intersect([RecordId, RecordInput]), { maxItems: 10_000 }),
});

export const PrimaryServerInput = Type.Object(
  {
    zone_id: Type.String(),
    address: Type.String(),
    port: Type.Integer({ minimum: 1, maximum: 65_535 }),
  },
  { title: "PrimaryServerInput" },
);

export const ZoneFileText = Type.String({
  description: "a zone file (RFC 1035 section 5), at most 16 MiB; 1 MiB with a token that cannot write a whole zone",
});

const page = Type.Optional(Type.Integer({ minimum: 1, default: 1 }));

export const ZonesQuery = Type.Object({
  name: Type.Optional(Type.String({ description: "the exact zone name; 404 if there is none" })),
  search_name: Type.Optional(Type.String({ description: "part of a zone name" })),
  page,
  per_page: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 100 })),
});

export const RecordsQuery = Type.Object({
  zone_id: Type.Optional(Type.String({ description: "default: all records of the account" })),
  name: Type.Optional(Type.String()),
  type: Type.Optional(Type.String()),
  page,
  per_page: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 10_000, description: "default: all records in one answer" }),
  ),
});
