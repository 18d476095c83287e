import { type TSchema, Type } from "typebox";
import { parseAddress } from "../core/addresses/address.ts";
import { portOf } from "../core/addresses/primary-address.ts";
import { isRecordType } from "../core/rdata/table.ts";
import { highestTtl } from "../core/records/rrset.ts";
import { hasControls } from "../core/visible-text.ts";
import { longestComment, lowestTtl, mostChanges, mostRecords } from "./rrsets-limits.ts";

/**
 * Bodies of requests to the record-set API. `records/http-rrsets/input.ts` reads by them, and the OpenAPI document shows them. A
 * refinement says what is wrong with a value; `Unsafe` accepts any type, because the refinement speaks about that too or because clients
 * may send anything. Faults are reported in the order of the properties.
 */

const Nullable = <T extends TSchema>(type: T) => Type.Union([type, Type.Null()]);
const Labels = Type.Record(Type.String(), Type.String());
const Ttl = Type.Integer({ minimum: lowestTtl, maximum: highestTtl });
const TtlInput = Type.Optional(Nullable(Ttl));

const OneOf = <T extends string>(values: readonly T[], message: string, options: object = {}) =>
  Type.Refine(
    Type.Unsafe<T>({ type: "string", ...options }),
    (value) => values.includes(value),
    () => message,
  );

/** An empty one is refused together with its name, where the set is looked for. */
const RecordTypeName = Type.Refine(
  Type.String(),
  (type) => type === "" || isRecordType(type),
  () => "is not a supported record type",
);

const commentRules: readonly (readonly [isGood: (comment: string) => boolean, message: string])[] = [
  [(comment) => new TextEncoder().encode(comment).length <= longestComment, `is longer than ${longestComment} bytes`],
  [(comment) => !hasControls(comment), "has a line break or another control character"],
  [(comment) => comment.isWellFormed(), "is not valid Unicode"],
];
const Comment = commentRules.reduce(
  (type, [isGood, message]) => Type.Refine(type, isGood, () => message),
  Type.String(),
);

const listOf = <T extends TSchema>(record: T) => Type.Array(record, { minItems: 1, maxItems: mostRecords });
const Records = listOf(Type.Object({ comment: Type.Optional(Nullable(Comment)), value: Type.String() }));

/** One client sends what it knows of protection along with a new zone or set. Only `true` counts. */
const Protection = (what: "change" | "delete") =>
  Type.Optional(
    Type.Unsafe<Readonly<Record<string, unknown>>>({ type: "object", properties: { [what]: { type: "boolean" } } }),
  );

const SetInput = Type.Object({
  ttl: TtlInput,
  labels: Type.Optional(Labels),
  name: Type.String(),
  type: RecordTypeName,
  records: Records,
  protection: Protection("change"),
});

const RemovedSet = Type.Object({
  delete: Type.Literal(true, { description: "the set shall not be there" }),
  records: Type.Optional(
    Type.Refine(
      Type.Unsafe<never>({ not: {} }),
      () => false,
      () => "cannot be given together with delete",
    ),
  ),
  name: Type.String(),
  type: RecordTypeName,
});

export const tsigAlgorithms: readonly string[] = ["hmac-md5", "hmac-sha1", "hmac-sha256"];
export const badAlgorithm = `must be one of ${tsigAlgorithms.join(", ")}`;
export const badKey = "must be base64";

const PrimaryNameserver = Type.Object({
  address: Type.Refine(
    Type.String(),
    (text) => parseAddress(text) !== undefined,
    () => "is not an IP address",
  ),
  port: Type.Optional(
    Type.Refine(
      Type.Unsafe<number | string>({ type: "integer", default: 53 }),
      (port) => portOf(port) !== undefined,
      () => "is not a port",
    ),
  ),
  tsig_algorithm: Type.Optional(
    OneOf(tsigAlgorithms, badAlgorithm, { description: "hmac-md5, hmac-sha1 or hmac-sha256" }),
  ),
  tsig_key: Type.Optional(
    Type.Refine(
      Type.Unsafe<string>({ type: "string", description: "base64" }),
      (key) => typeof key === "string" && /^[A-Za-z0-9+/]+={0,2}$/.test(key),
      () => badKey,
    ),
  ),
});
const PrimaryNameservers = Type.Array(PrimaryNameserver, { minItems: 1, maxItems: 20 });

const zone = {
  name: Type.String(),
  ttl: Type.Optional(Ttl),
  labels: Type.Optional(Labels),
  protection: Protection("delete"),
};

export const bodies = {
  /** What belongs to zones of the other mode is ignored. */
  zone: Type.Union([
    Type.Object({
      mode: Type.Literal("secondary"),
      ...zone,
      primary_nameservers: Type.Optional(PrimaryNameservers),
    }),
    Type.Object({
      mode: OneOf(["primary"], "must be primary or secondary"),
      zonefile: Type.Optional(Type.String()),
      rrsets: Type.Optional(Type.Array(SetInput, { maxItems: mostChanges })),
      ...zone,
    }),
  ]),
  labels: Type.Object({ labels: Type.Optional(Labels) }),
  primaries: Type.Object({ primary_nameservers: PrimaryNameservers }),
  zoneProtection: Type.Object({ delete: Type.Optional(Type.Boolean()) }),
  zoneTtl: Type.Object({ ttl: Ttl }),
  zonefile: Type.Object({ zonefile: Type.String() }),
  set: SetInput,
  setLabels: Type.Object({
    labels: Type.Optional(Labels),
    records: Type.Optional(Type.Unsafe<unknown>({ description: "refused: records have their own calls" })),
  }),
  setProtection: Type.Object({ change: Type.Boolean() }),
  setTtl: Type.Object({ ttl: TtlInput }),
  records: Type.Object({ records: Records }),
  recordsAndTtl: Type.Object({ ttl: TtlInput, labels: Type.Optional(Labels), records: Records }),
  comments: Type.Object({ records: listOf(Type.Object({ comment: Comment, value: Type.String() })) }),
  grant: Type.Object({ account: Type.String(), name: Type.String() }),
  changes: Type.Object({
    expected_serial: Type.Optional(
      Nullable(Type.Integer({ description: "refused with 409 when the zone has another serial by now" })),
    ),
    changes: Type.Array(Type.Union([RemovedSet, SetInput]), { minItems: 1, maxItems: mostChanges }),
  }),
  nothing: Type.Object({}),
};
