import { fitsInName } from "../names/label.ts";
import { absoluteName, apex, labelsOf } from "../names/name.ts";
import { type RRset, setKey } from "../records/rrset.ts";
import type { Fault } from "../result.ts";
import { dnssecTypes } from "./codes.ts";
import { generatedTypeFaults } from "./generated-types.ts";
import type { DenialKind } from "./plan-signing.ts";
import { typeNamed } from "./signed-name.ts";
import { isExpireTooLong, longestExpire } from "./soa-expire.ts";

/** What a signed zone refuses. Pass all sets of the owners that a write touches, before and after it. */
export const checkSignedZone = (
  { zone, denial }: { readonly zone: string; readonly denial: DenialKind },
  before: readonly RRset[],
  wanted: readonly RRset[],
): readonly Fault[] => [
  ...(denial === "nsec3" ? longNameFaults(zone, before, wanted) : []),
  ...generatedTypeFaults(zone, before, wanted),
  ...expireFaults(zone, before, wanted),
  ...serverFaults(zone, before, wanted),
  ...delegationFaults(zone, before, wanted),
];

/** For a zone that is not signed here. Pass all its sets: those of an NSEC3 chain can only arrive with the others. */
export const importedNameFaults = (
  zone: string,
  before: readonly RRset[],
  wanted: readonly RRset[],
): readonly Fault[] => (usesNsec3(wanted) ? longNameFaults(zone, usesNsec3(before) ? before : [], wanted) : []);

export const usesNsec3 = (sets: readonly RRset[]): boolean =>
  sets.some(({ owner, type }) => owner === apex && type === typeNamed(dnssecTypes.nsec3param));

/** New names that must not be in a zone with NSEC3. */
export function longNameFaults(zone: string, before: readonly RRset[], wanted: readonly RRset[]): readonly Fault[] {
  const long = longNames(zone, wanted);
  if (long.length === 0) return [];
  const old = new Set(longNames(zone, before));
  return long.filter((owner) => !old.has(owner)).map((owner) => longNameFault(zone, owner));
}

/**
 * The owners that are so long that no wildcard fits below them: NSD 4.6 (Debian 12) crashes when it hashes that
 * wildcard, and stops serving all its zones.
 */
export function longNames(zone: string, sets: readonly Pick<RRset, "owner">[]): readonly string[] {
  const long = new Set<string>();
  for (const { owner } of sets)
    if (owner.length + zone.length > nearlyTooLong && !fitsInName(["*", ...labelsOf(absoluteName(owner, zone))]))
      long.add(owner);
  return [...long];
}

/** No shorter text has more than 253 bytes on the wire. */
const nearlyTooLong = 245;

export const longNameFault = (zone: string, owner: string): Fault => ({
  code: "name-too-long-for-nsec3",
  where: owner,
  message: `the name ${owner} is too long for ${zone}: no wildcard fits below it, and some nameservers crash on such a name in a zone with NSEC3`,
  todo: "use a name that is at least two bytes shorter",
});

function expireFaults(zone: string, before: readonly RRset[], wanted: readonly RRset[]): readonly Fault[] {
  if (!wanted.some(isExpireTooLong) || before.some(isExpireTooLong)) return [];
  return [
    {
      code: "expire-too-long",
      where: setKey(apex, "SOA"),
      message: `${zone} is signed, so the expire field of its SOA record can be at most ${longestExpire} seconds: a secondary must not serve the zone for longer than its signatures are valid`,
      todo: `use ${longestExpire} or less`,
    },
  ];
}

/**
 * An unsigned zone without NS records is served with those of the service. In a signed one, they would have no
 * signature.
 */
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

/**
 * With NSEC3, BIND's resolver treats a name with a DS record as a child zone, and rejects every answer about names
 * below it.
 */
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
