import { diffSets } from "../core/changes.ts";
import { checkDnames, checkOwners, checkWildcardServers } from "../core/check-zone.ts";
import type { Fault } from "../core/result.ts";
import { type RRset, setKey } from "../core/rrset.ts";
import { isTooLarge } from "../core/set-size.ts";
import type { WriteView, Zone } from "./store.ts";

/** Why a zone cannot become so, whoever wants it: every fault at once. */
export function checkWrite({ zone, sets }: WriteView, wanted: readonly RRset[]): readonly Fault[] {
  return [...zoneFaults(zone), ...lockFaults(sets, wanted), ...checkOwners(wanted), ...newSetFaults(sets, wanted)];
}

/** What a set is refused for unless it was so before. */
export const newSetFaults = (before: readonly SetData[], wanted: readonly SetData[]): readonly Fault[] => [
  ...sizeFaults(before, wanted),
  ...checkWildcardServers(before, wanted),
  ...checkDnames(before, wanted),
];

/** Of a set that is stored, or of one in a file. */
type SetData = Pick<RRset, "owner" | "type"> & { readonly records: readonly { readonly rdata: string }[] };

/** A set that was too large before this was looked at may become smaller, or stay as it is. */
function sizeFaults(before: readonly SetData[], wanted: readonly SetData[]): readonly Fault[] {
  return wanted.filter(isTooLarge).flatMap(({ owner, type, records }) => {
    const had = before.find((set) => set.owner === owner && set.type === type);
    if (had !== undefined && isTooLarge(had) && records.length <= had.records.length) return [];
    return {
      code: "set-too-large",
      where: setKey(owner, type),
      message: `the ${type} set at ${owner} would be too large for any DNS message`,
      todo: "spread its records over several names",
    };
  });
}

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

export const soaStays: Fault = {
  code: "soa-stays",
  where: "type",
  message: "the SOA record comes and goes with its zone",
  todo: "delete the zone instead",
};

export function lockFaults(before: readonly RRset[], wanted: readonly RRset[]): readonly Fault[] {
  if (!before.some((set) => set.locked)) return [];
  return diffSets(before, wanted)
    .filter((change) => change.before?.locked)
    .map(({ owner, type }) => ({
      code: "set-locked",
      where: setKey(owner, type),
      message: `the ${type} set at ${owner} is protected against changes`,
      todo: "remove its protection first",
    }));
}
