import type { RRset } from "../records/rrset.ts";
import { timersIn } from "../records/soa-timers.ts";

/**
 * In seconds. A secondary that cannot reach its primary serves a zone until this time has passed, and signatures must
 * not expire before. Every version of a zone has signatures that are valid for nine more days (`renewal` in
 * `records/signing/signer.ts`); RFC 6781 section 4.4.1 advises a third to a quarter of their lifetime.
 */
export const longestExpire = 7 * 86_400;

/** Whether a secondary may serve the signed zone for longer than its signatures are valid. */
export const isExpireTooLong = ({ type, records }: Pick<RRset, "type" | "records">): boolean =>
  type === "SOA" && records.some(({ rdata }) => timersIn(rdata).expire > longestExpire);

/** The sets of a signed zone; an SOA record that expires too late is shortened. */
export const withFittingExpire = (sets: readonly RRset[]): readonly RRset[] =>
  sets.some(isExpireTooLong) ? sets.map((set) => (isExpireTooLong(set) ? shortened(set) : set)) : sets;

const expireField = 5;

const shortened = (set: RRset): RRset => ({
  ...set,
  records: set.records.map((record) => {
    const rdata = record.rdata.split(" ").with(expireField, `${longestExpire}`).join(" ");
    return { ...record, rdata, value: rdata };
  }),
});
