import type { SignedName } from "../../../../core/dnssec/signed-name.ts";
import { isLarge, type Zone } from "../../../model.ts";
import type { EncryptedKey } from "../../../signing/signer.ts";
import type { LeftOver } from "../../leftovers.ts";
import { signedNameToRow } from "../../rows.ts";
import type { WriteEffect } from "../../write-effect.ts";
import { createBatchNames } from "./names.ts";

type LoadedNames = {
  readonly zones: readonly Zone[];
  readonly signedNames: ReadonlyMap<number, readonly SignedName[]>;
};

export type SignedPart = ReturnType<typeof createSignedPart>;

/**
 * The signed names of zones, and the keys that sign them, as the writes of a batch see and change them. `fresh`: new
 * numbers.
 */
export function createSignedPart(loaded: LoadedNames, fresh: number[]) {
  const namesByZone = new Map<number, ReturnType<typeof createBatchNames>>();
  const keys: { readonly zone: Zone; readonly added: readonly EncryptedKey[] }[] = [];
  /** Under which number the names of a zone are written. */
  const numbers = new Map(loaded.zones.map(({ number, signedNamesNumber = 0 }) => [number, signedNamesNumber]));
  const adopted: number[] = [];
  const leftovers = new Map<number, LeftOver>();

  const namesOf = ({ number }: Zone) => {
    const names = namesByZone.get(number) ?? createBatchNames(loaded.signedNames.get(number) ?? []);
    namesByZone.set(number, names);
    return names;
  };

  const move = ({ zone, signedNamesSwitch }: WriteEffect): Zone => {
    if (signedNamesSwitch === undefined) return zone;
    const { to, leaves } = signedNamesSwitch;
    if (typeof to === "number") adopted.push(to);
    if (leaves !== undefined) leftovers.set(leaves, "names");
    const signedNamesNumber = to === "new" ? fresh.shift() : to;
    if (signedNamesNumber !== undefined) numbers.set(zone.number, signedNamesNumber);
    return { ...zone, signedNamesNumber };
  };

  return {
    namesOf,
    /** Returns the zone with the number under which its names are stored now. */
    apply: (effect: WriteEffect): Zone => {
      const zone = move(effect);
      if (effect.signedNameChanges !== undefined) namesOf(zone).write(effect.signedNameChanges);
      if (effect.newSettings && (effect.keys || effect.signedNameChanges))
        keys.push({ zone, added: effect.keys ?? [] });
      return zone;
    },
    /** Of a large zone, the sets are deleted later too. */
    remove: (zone: Zone): void => {
      if (zone.signedNamesNumber !== undefined) leftovers.set(zone.signedNamesNumber, "names");
      if (isLarge(zone)) leftovers.set(zone.number, "zone");
    },
    outcome: (isRemoved: (zone: number) => boolean) => {
      const each = [...namesByZone]
        .filter(([zone]) => !isRemoved(zone))
        .map(([zone, names]) => ({ at: numbers.get(zone) ?? 0, ...names.outcome() }));
      return {
        names: each.flatMap(({ at, names }) => names.map((name) => ({ zone: at, ...signedNameToRow(name) }))),
        goneNames: each.flatMap(({ at, gone }) => gone.map((owner) => ({ zone: at, owner }))),
        adopted,
        leftovers: [...leftovers].map(([number, kind]) => ({ number, kind })),
        signingKeys: keys.flatMap(({ zone, added }) => added.map((key) => ({ ...key, zone: zone.number }))),
        /** Keys that are not listed here are deleted. */
        usedKeys: keys.map(({ zone }) => ({
          zone: zone.number,
          ids: zone.settings.dnssec?.keys.map(({ id }) => id).join(" ") ?? "",
        })),
      };
    },
  };
}
