import { nodeOf, sharedDenial } from "../../core/records/answer.ts";
import { coveringName, gapOf } from "../../core/records/denial.ts";
import { isGone, type ZoneNode } from "../../core/records/zone-view.ts";
import { flags, rcodes } from "../../lib/dns/codes.ts";
import { createKeptMap } from "./kept-map.ts";
import type { LoadedZone, LoadedZones } from "./loaded-zones.ts";
import { keyAbove, labelsOfKey, type NameKey } from "./name-key.ts";
import { createNegativeTail, lastLink, type NegativeTail } from "./negative-tail.ts";
import type { NegativeAnswer } from "./prepare.ts";

/** An existing name below which missing names were queried, with no wildcard, delegation or DNAME that covers them. */
type Encloser = {
  /** With NSEC3: what all proofs have in common, and the nodes whose NSEC3 records it contains. */
  shared: { readonly tail: NegativeTail; readonly nodes: readonly ZoneNode[] } | undefined;
  /** Without `shared`: the tails with proofs, by the gap between names that each is for. When all enclosers together have too many, all are dropped. */
  tails: Tails;
  readonly zone: LoadedZone;
  readonly node: ZoneNode;
  readonly below: number;
  readonly shape: number;
  readonly cuts: number;
};

/** `all`: the generation that these belong to. When it is full, a new one begins and the old tails no longer count. */
type Tails = { readonly all: object; readonly byGap: Map<number, NegativeTail> };

/** Tails with proofs that are kept: about 5 MB. */
const mostTails = 5_000;
/** Larger ones are made again for each query. */
const mostBytes = 4_096;

/**
 * A flood of random names hits few existing parents. Missing siblings get the same answer, so one lookup among the parent's
 * children is enough for each of them. In a signed zone, the proof is the same for all in the same gap between names. With NSEC3,
 * random names hit all gaps, so only the part that all proofs share is kept, and the record that covers the name is added to it.
 */
export function createEnclosers(zones: Pick<LoadedZones, "isNoZone">, limit: number) {
  const kept = createKeptMap<Encloser>(limit);
  let all = { left: mostTails };

  const keepTail = (encloser: Encloser, name: NameKey, tail: NegativeTail): void => {
    const { zone, node } = encloser;
    if (all.left === 0) all = { left: mostTails };
    all.left -= 1;
    if (encloser.tails.all !== all) encloser.tails = { all, byGap: new Map() };
    encloser.tails.byGap.set(gapOf(zone.view, node, name), tail);
  };
  const keptTail = ({ zone, node, tails }: Encloser, name: NameKey): NegativeTail | undefined =>
    tails.all === all ? tails.byGap.get(gapOf(zone.view, node, name)) : undefined;

  type Proof = Pick<NegativeAnswer, "tail" | "last">;
  const proofFor = (encloser: Encloser, name: NameKey): Proof | undefined => {
    const { zone, shared } = encloser;
    if (shared === undefined) {
      const tail = keptTail(encloser, name);
      return tail && { tail };
    }
    // Checked first, so that no name is hashed for an outdated proof.
    const link = isCurrent(shared.tail) ? coveringName(zone.view, name) : undefined;
    return link && { tail: shared.tail, last: shared.nodes.includes(link.node) ? undefined : lastLink(link) };
  };

  return {
    /** The answer if the name, the first `end` characters of `key`, certainly does not exist; undefined when that is not certain. */
    noName: (key: string, end: number, dnssecOk: boolean): NegativeAnswer | undefined => {
      const cut = 1 + key.charCodeAt(0);
      if (cut >= end) return undefined;
      const encloser = kept.get(key.slice(cut, end));
      if (encloser === undefined || !holds(encloser)) return undefined;
      const { zone, node } = encloser;
      if (node.children?.has(key.slice(1, cut)) || !zones.isNoZone(key, end)) return undefined;
      const isProved = dnssecOk && zone.view.signed > 0;
      const { tail, last } = isProved ? (proofFor(encloser, key.slice(0, end)) ?? noProof) : { tail: zone.tail };
      if (tail === undefined || !isCurrent(tail)) return undefined;
      zone.used = true;
      return { kind: "negative", tail, last, bits: noNameBits, dependsOn: undefined };
    },
    /** Call this when the zone has answered that the name does not exist. */
    note: (zone: LoadedZone, name: NameKey, { tail }: NegativeAnswer): void => {
      const above = keyAbove(name);
      const known = kept.get(above);
      const encloser = known?.zone === zone && holds(known) ? known : newEncloser(zone, above);
      if (encloser === undefined) return;
      kept.set(above, encloser);
      if (tail === zone.tail) return;
      const shared = sharedDenial(zone.view, labelsOfKey(above));
      const sharedTail = shared && createNegativeTail(zone.view, shared.authority);
      encloser.shared = shared && sharedTail && { tail: sharedTail, nodes: shared.nodes };
      if (shared === undefined && tail.bytes.length <= mostBytes) keepTail(encloser, name, tail);
    },
  };

  function newEncloser(zone: LoadedZone, name: NameKey): Encloser | undefined {
    const node = nodeOf(zone.view, labelsOfKey(name));
    const { shape, cuts } = zone.view;
    return node && { shared: undefined, tails: { all, byGap: new Map() }, zone, node, below: zone.below, shape, cuts };
  }
}

/** Every change of the zone replaces the SOA. */
const isCurrent = ({ sets: [soa] }: NegativeTail): boolean => soa !== undefined && !isGone(soa);

const noProof = { tail: undefined, last: undefined };
const noNameBits = flags.response | flags.authoritative | rcodes.nxDomain;

const holds = ({ zone, below, shape, cuts }: Encloser): boolean =>
  zone.current && below === zone.below && shape === zone.view.shape && cuts === zone.view.cuts;
