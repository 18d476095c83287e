import type { Instant } from "../instant.ts";
import type { RecordType } from "../rdata/table.ts";
import { fail, ok, type Result } from "../result.ts";

/** All records of one owner and type (RFC 2181 section 5): they share a TTL; null means the zone's default. */
export type RRset = {
  readonly owner: string;
  readonly type: RecordType;
  readonly ttl: number | null;
  readonly records: readonly ZoneRecord[];
  /** Set by users; not visible in DNS. */
  readonly labels?: Readonly<Record<string, string>>;
  /** While true, no write may change or remove the set. */
  readonly locked?: boolean;
};

/**
 * One value of a set. `rdata` is canonical and used for comparisons; `name` and `value` are returned as the client sent
 * them.
 */
export type ZoneRecord = {
  readonly id: string;
  readonly name: string;
  readonly value: string;
  readonly rdata: string;
  readonly comment: string;
  readonly created: Instant;
  readonly modified: Instant;
};

/** RFC 2181 section 8. */
export const highestTtl = 2_147_483_647;

export function parseTtl(value: unknown, where = "ttl"): Result<number> {
  if (typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= highestTtl) return ok(value);
  return fail({
    code: "bad-ttl",
    where,
    message: `a TTL is a whole number of seconds from 0 to ${highestTtl}`,
    todo: "send a number such as 300, or omit it to use the zone's default",
  });
}

/** Which set of a zone it is. */
export type SetKey = Pick<RRset, "owner" | "type">;

/** No owner contains a bare blank, so two different sets never share a key. */
export const setKey = (owner: string, type: RecordType): string => `${owner} ${type}`;
export const keyOf = ({ owner, type }: SetKey): string => setKey(owner, type);
