import { nodeOf } from "../../core/records/answer.ts";
import type { ZoneNode } from "../../core/records/zone-view.ts";
import { flags, rcodes } from "../../process/dns/codes.ts";
import { createKeptMap } from "./kept-map.ts";
import type { LoadedZone, LoadedZones } from "./loaded-zones.ts";
import { keyAbove, labelsOfKey, type NameKey } from "./name-key.ts";
import type { NegativeAnswer } from "./prepare.ts";

/** An existing name below which missing names were queried, with no wildcard, delegation or DNAME that covers them. */
type Encloser = {
  readonly zone: LoadedZone;
  readonly node: ZoneNode;
  readonly below: number;
  readonly shape: number;
  readonly cuts: number;
};

/**
 * A flood of random names hits few existing parents. Missing siblings get the same answer, so that one lookup among the parent's
 * children is enough for each of them.
 */
export function createEnclosers(zones: Pick<LoadedZones, "isNoZone">, limit: number) {
  const kept = createKeptMap<Encloser>(limit);

  return {
    /** The answer if the name, the first `end` characters of `key`, certainly does not exist; undefined when that is not certain. */
    noName: (key: string, end: number, dnssecOk: boolean): NegativeAnswer | undefined => {
      const cut = 1 + key.charCodeAt(0);
      if (cut >= end) return undefined;
      const encloser = kept.get(key.slice(cut, end));
      if (encloser === undefined || !holds(encloser)) return undefined;
      const { zone, node } = encloser;
      const { tail } = zone;
      // In a signed zone, each name needs its own proof.
      if (dnssecOk && zone.view.signed > 0) return undefined;
      if (tail === undefined || tail.sets[0]?.gone !== false || node.children?.has(key.slice(1, cut))) return undefined;
      if (!zones.isNoZone(key, end)) return undefined;
      zone.used = true;
      return { kind: "negative", tail, bits: noNameBits, dependsOn: undefined };
    },
    /** Call this when the zone has answered that the name does not exist. */
    note: (zone: LoadedZone, name: NameKey): void => {
      const above = keyAbove(name);
      const node = nodeOf(zone.view, labelsOfKey(above));
      const { shape, cuts } = zone.view;
      if (node !== undefined) kept.set(above, { zone, node, below: zone.below, shape, cuts });
    },
  };
}

const noNameBits = flags.response | flags.authoritative | rcodes.nxDomain;

const holds = ({ zone, below, shape, cuts }: Encloser): boolean =>
  zone.current && below === zone.below && shape === zone.view.shape && cuts === zone.view.cuts;
