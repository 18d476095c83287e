import type { RRset, ZoneRecord } from "../../../src/core/records/rrset.ts";

/** The time of everything that the store suites write. */
export const at = Date.UTC(2026, 10, 15, 12);

export const aRecord = (owner: string, value: string): ZoneRecord => ({
  id: `${owner}-${value}`,
  name: owner,
  value,
  rdata: value,
  comment: "",
  created: at,
  modified: at,
});

/** A set of addresses. */
export const aSet = (owner: string, ...values: readonly string[]): RRset => ({
  owner,
  type: "A",
  ttl: null,
  records: values.map((value) => aRecord(owner, value)),
});
