import { checkingOwners } from "../records/check-zone.ts";
import type { RRset } from "../records/rrset.ts";
import type { Fault } from "../result.ts";
import type { Steps } from "../steps.ts";
import { type FileSet, placeInFile } from "./sets.ts";

/** Sets of a file that cannot coexist, with their lines. Whether the zone has an SOA record is not checked. */
export function* findingClashes(sets: readonly FileSet[]): Steps<readonly Fault[]> {
  return placeInFile(yield* checkingOwners(sets, withoutIds), sets);
}

const withoutIds = ({ owner, type, ttl, records }: FileSet): RRset => ({
  owner,
  type,
  ttl,
  records: records.map(({ value, rdata, comment }) => ({
    id: "",
    name: owner,
    value,
    rdata,
    comment,
    created: 0,
    modified: 0,
  })),
});
