import { checkSignedZone, importedNameFaults, longNameFaults } from "../../../core/dnssec/check-signed-zone.ts";
import { diffSets } from "../../../core/records/changes.ts";
import { checkEdit, checkingNewSets } from "../../../core/records/check-new-sets.ts";
import { checkingOwners } from "../../../core/records/check-zone.ts";
import { type RRset, type SetKey, setKey } from "../../../core/records/rrset.ts";
import type { Fault } from "../../../core/result.ts";
import { finish, type Steps } from "../../../core/steps.ts";
import type { Zone } from "../../model.ts";
import type { WriteView } from "../../store/port.ts";
import { publishedEditFaults } from "./check-published.ts";

/** All reasons why the zone cannot take these sets, independent of the actor. */
export function checkWrite(view: WriteView, wanted: readonly RRset[]): readonly Fault[] {
  if (changesOnlyAddresses(view, wanted)) return [];
  const faults = finish(checkingWrite(view, wanted));
  // A signed zone refuses the types of its chain itself.
  return faults.length > 0 ? faults : [...checkEdit(view.sets, wanted, view.mostValues), ...nameFaults(view, wanted)];
}

/** The chain of a zone that is not signed here may be elsewhere in it, so such names only arrive with a whole zone. */
const nameFaults = ({ zone: { name, settings }, sets }: WriteView, wanted: readonly RRset[]): readonly Fault[] =>
  settings.dnssec === undefined ? longNameFaults(name, sets, wanted) : [];

/** Comparing each with each is then faster than the other checks. */
const fewSets = 8;

/**
 * Most writes give a name another address. Where an address set was, one with another address can be, so the other
 * checks would find nothing.
 */
function changesOnlyAddresses({ zone: { settings }, sets }: WriteView, wanted: readonly RRset[]): boolean {
  const { mode, dnssec, published } = settings;
  if (mode !== "primary" || dnssec !== undefined || published !== undefined) return false;
  if (sets.length !== wanted.length || sets.length > fewSets) return false;
  const isAt = ({ owner, type }: RRset) => wanted.some((set) => set.type === type && set.owner === owner);
  return (
    wanted.every(({ type, records }) => (type === "A" || type === "AAAA") && records.length === 1) &&
    sets.every((set) => !set.locked && isAt(set))
  );
}

/** `checkWrite` in steps, for sets that the zone has had before: they may be larger than what an edit may write. */
export function* checkingWrite(
  { zone, sets, storedNames }: WriteView,
  wanted: readonly RRset[],
): Steps<readonly Fault[]> {
  return [
    ...zoneFaults(zone),
    ...lockFaults(sets, wanted),
    ...signingFaults(zone, sets, wanted),
    ...(zone.settings.published ? publishedEditFaults(zone, sets, wanted) : []),
    ...(yield* checkingOwners(wanted, (set) => set)),
    ...(yield* checkingNewSets(sets, wanted, storedNames)),
  ];
}

export const signingFaults = ({ name, settings }: Zone, before: readonly RRset[], wanted: readonly RRset[]) =>
  settings.dnssec === undefined
    ? importedNameFaults(name, before, wanted)
    : checkSignedZone({ zone: name, denial: settings.dnssec.denial }, before, wanted);

export function zoneFaults(zone: Zone): readonly Fault[] {
  if (zone.settings.mode === "primary") return [];
  return [
    {
      code: "zone-is-secondary",
      where: "zone",
      message: `the records of ${zone.name} come from its primary servers`,
      todo: "change them there, or remove the primary servers first",
    },
  ];
}

export const signedStaysPrimary = (zone: string): Fault => ({
  code: "zone-is-signed",
  where: "zone",
  message: `the zone ${zone} is signed here, so its records cannot come from a primary server`,
  todo: "switch DNSSEC off first",
});

export const soaStays: Fault = {
  code: "soa-stays",
  where: "type",
  message: "the SOA record is created and deleted with its zone",
  todo: "delete the zone instead",
};

export function lockFaults(before: readonly RRset[], wanted: readonly RRset[]): readonly Fault[] {
  if (!before.some((set) => set.locked)) return [];
  return diffSets(before, wanted)
    .filter((change) => change.before?.locked)
    .map(lockFault);
}

export const lockFault = ({ owner, type }: SetKey): Fault => ({
  code: "set-locked",
  where: setKey(owner, type),
  message: `the ${type} set at ${owner} is protected against changes`,
  todo: "remove its protection first",
});
