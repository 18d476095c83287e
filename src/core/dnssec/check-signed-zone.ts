import { apex } from "../names/name.ts";
import { type RRset, setKey } from "../records/rrset.ts";
import type { Fault } from "../result.ts";
import { madeTypeFaults } from "./made-types.ts";

/** What a signed zone refuses. Pass all sets of the owners that a write touches, before and after it. */
export const checkSignedZone = (zone: string, before: readonly RRset[], wanted: readonly RRset[]): readonly Fault[] => [
  ...madeTypeFaults(zone, before, wanted),
  ...serverFaults(zone, before, wanted),
  ...delegationFaults(zone, before, wanted),
];

/** An unsigned zone without NS records is served with those of the service. In a signed one, they would have no signature. */
function serverFaults(zone: string, before: readonly RRset[], wanted: readonly RRset[]): readonly Fault[] {
  if (!before.some(isApexNs) || wanted.some(isApexNs)) return [];
  return [
    {
      code: "signed-without-ns",
      where: setKey(apex, "NS"),
      message: `${zone} is signed, so it needs NS records at its apex (@)`,
      todo: "replace them instead, or switch DNSSEC off first",
    },
  ];
}

const isApexNs = ({ owner, type }: RRset): boolean => owner === apex && type === "NS";

/** With NSEC3, BIND's resolver treats a name with a DS record as a child zone, and rejects every answer about names below it. */
function delegationFaults(zone: string, before: readonly RRset[], wanted: readonly RRset[]): readonly Fault[] {
  const misplaced = misplacedDs(wanted);
  if (misplaced.length === 0) return [];
  const old = new Set(misplacedDs(before));
  return misplaced
    .filter((owner) => !old.has(owner))
    .map((owner) => ({
      code: "ds-without-ns",
      where: setKey(owner, "DS"),
      message: `${zone} is signed and has no NS records at ${owner}, so it cannot have a DS record there`,
      todo: "add NS records before DS records, and remove DS records before NS records",
    }));
}

function misplacedDs(sets: readonly RRset[]): readonly string[] {
  const holding = (wanted: RRset["type"]) => sets.filter(({ type }) => type === wanted).map(({ owner }) => owner);
  const delegated = new Set(holding("NS"));
  return holding("DS").filter((owner) => !delegated.has(owner));
}
