import type { RRset, ZoneRecord } from "../../../src/core/records/rrset.ts";

/** When all that the suites of stores write is made. */
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

/** Of addresses. */
export const aSet = (owner: string, ...values: readonly string[]): RRset => ({
  owner,
  type: "A",
  ttl: null,
  records: values.map((value) => aRecord(owner, value)),
});
