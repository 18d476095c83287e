import { nodeOf } from "../../core/records/answer.ts";
import type { ZoneNode } from "../../core/records/zone-view.ts";
import { flags, rcodes } from "../../process/dns/codes.ts";
import { createKeptMap } from "./kept-map.ts";
import type { LoadedZone, LoadedZones } from "./loaded-zones.ts";
import { keyAbove, labelsOfKey, type NameKey } from "./name-key.ts";
import type { NegativeAnswer } from "./prepare.ts";

/** A name below which others were asked for that are not there: no wildcard, delegation or DNAME speaks for them. */
type Encloser = {
  readonly zone: LoadedZone;
  readonly node: ZoneNode;
  readonly below: number;
  readonly shape: number;
  readonly cuts: number;
};

/**
 * A flood of invented names comes below few that are there. What holds for one name that is not there holds for its siblings,
 * so that these are answered by one look at the children of the name above.
 */
export function createEnclosers(zones: Pick<LoadedZones, "isNoZone">, limit: number) {
  const kept = createKeptMap<Encloser>(limit);

  return {
    /** The answer for a question whose name, `end` characters of `key`, certainly does not exist; undefined when that is not known. */
    noName: (key: string, end: number): NegativeAnswer | undefined => {
      const cut = 1 + key.charCodeAt(0);
      if (cut >= end) return undefined;
      const encloser = kept.get(key.slice(cut, end));
      if (encloser === undefined || !holds(encloser)) return undefined;
      const { zone, node } = encloser;
      const { tail } = zone;
      if (tail === undefined || tail.soa.gone || node.children?.has(key.slice(1, cut))) return undefined;
      if (!zones.isNoZone(key, end)) return undefined;
      zone.used = true;
      return { kind: "negative", tail, bits: noNameBits, rests: undefined };
    },
    /** The zone has answered that there is no such name. */
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
