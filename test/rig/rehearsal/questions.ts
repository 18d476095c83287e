import { dnssecTypes } from "../../../src/core/dnssec/codes.ts";
import { absoluteName, apex, parentOf } from "../../../src/core/names/name.ts";
import { typeCode } from "../../../src/core/rdata/table.ts";
import type { RRset } from "../../../src/core/records/rrset.ts";
import type { SetQuestion } from "./ask-all.ts";

const mostSets = 12;
const cname = 5;

/**
 * The questions for resolvers: a sample of the zone's sets, and names and types that do not exist. None leads a
 * resolver out of the zone: no name below a delegation, and aliases only by their own type.
 */
export function questionsFor(zone: string, sets: readonly RRset[]): readonly SetQuestion[] {
  const cuts = new Set(sets.filter(({ owner, type }) => isCut(owner, type)).map(({ owner }) => owner));
  const isInside = (owner: string): boolean => {
    for (let at: string | undefined = owner; at !== undefined; at = parentOf(at)) if (cuts.has(at)) return false;
    return true;
  };
  const inside = sets.filter(({ owner }) => isInside(owner));
  const every = Math.max(1, Math.ceil(inside.length / mostSets));
  const chosen = inside.filter((_, i) => i % every === 0);
  const [cut] = cuts;
  return [
    { name: zone, type: typeCode("SOA") },
    ...chosen.map(({ owner, type }) => ({
      name: absoluteName(owner.replace(/^\*/, unused), zone),
      type: typeCode(type),
    })),
    { name: absoluteName(unused, zone), type: cname },
    { name: zone, type: noSuchType },
    ...(cut === undefined ? [] : [{ name: absoluteName(cut, zone), type: dnssecTypes.ds }]),
  ];
}

const unused = "moor-rehearsal";
const noSuchType = 65_280;

const isCut = (owner: string, type: RRset["type"]): boolean =>
  (type === "NS" && owner !== apex) || typeCode(type) === dname;
const dname = 39;
