import type { NameChange } from "../../../../core/dnssec/plan-signing.ts";
import { isLarge, type Zone } from "../../../model.ts";
import type { EncryptedKey } from "../../../signing/signer.ts";
import type { LeftOver } from "../../leftovers.ts";
import { type SignedNameRow, signedNameToRow } from "../../rows.ts";
import type { NamesSwitch } from "../../signed/plan-step.ts";
import type { WriteEffect } from "../../write-effect.ts";

export type SignedPart = ReturnType<typeof createSignedPart>;

/** What a batch writes of signed names, and of the keys that sign them. `fresh`: new numbers. */
export function createSignedPart(fresh: number[]) {
  const names: (SignedNameRow & { readonly zone: number })[] = [];
  const goneNames: { readonly zone: number; readonly owner: string }[] = [];
  const keys: { readonly zone: Zone; readonly added: readonly EncryptedKey[] }[] = [];
  const adopted: number[] = [];
  const leftovers = new Map<number, LeftOver>();

  const move = (zone: Zone, { to, leaves }: NamesSwitch): Zone => {
    if (typeof to === "number") adopted.push(to);
    if (leaves !== undefined) leftovers.set(leaves, "names");
    return { ...zone, signedNamesNumber: to === "new" ? fresh.shift() : to };
  };

  return {
    /** Returns the zone with the number under which its names are stored now. */
    sign: (before: Zone, changes: readonly NameChange[], namesSwitch: NamesSwitch | undefined): Zone => {
      const zone = namesSwitch ? move(before, namesSwitch) : before;
      const number = zone.signedNamesNumber ?? 0;
      for (const { before: old, after } of changes)
        if (after) names.push({ zone: number, ...signedNameToRow(after) });
        else if (old) goneNames.push({ zone: number, owner: old.owner });
      if (zone.settings.dnssec === undefined) keys.push({ zone, added: [] });
      return zone;
    },
    /** If the zone is no longer signed, they are deleted with its signatures. */
    noteKeys: ({ zone, newSettings, keys: added = [] }: WriteEffect): void => {
      if (newSettings && zone.settings.dnssec) keys.push({ zone, added });
    },
    /** Of a large zone, the sets are deleted later too. */
    remove: (zone: Zone): void => {
      if (zone.signedNamesNumber !== undefined) leftovers.set(zone.signedNamesNumber, "names");
      if (isLarge(zone)) leftovers.set(zone.number, "zone");
    },
    outcome: () => ({
      names,
      goneNames,
      adopted,
      leftovers: [...leftovers].map(([number, kind]) => ({ number, kind })),
      signingKeys: keys.flatMap(({ zone, added }) => added.map((key) => ({ ...key, zone: zone.number }))),
      /** Keys that are not listed here are deleted. */
      usedKeys: keys.map(({ zone }) => ({
        zone: zone.number,
        ids: zone.settings.dnssec?.keys.map(({ id }) => id).join(" ") ?? "",
      })),
    }),
  };
}
