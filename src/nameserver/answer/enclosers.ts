import { nodeOf, sharedDenial } from "../../core/records/answer.ts";
import { gapOf, linkOfGap } from "../../core/records/denial.ts";
import { isGone, type ZoneNode } from "../../core/records/zone-view.ts";
import { flags, headerLength, rcodes } from "../../lib/dns/codes.ts";
import type { Transport } from "../wire/read-query.ts";
import type { LoadedZone, LoadedZones } from "./loaded-zones.ts";
import { lowerCase, NameCache } from "./name-cache.ts";
import { keyAbove, labelsOfKey, type NameKey } from "./name-key.ts";
import { coveringNsec3, createNegativeAuthority, type NegativeAuthority } from "./negative-authority.ts";
import type { NegativeAnswer } from "./prepare.ts";

/** An existing name below which missing names were queried, with no wildcard, delegation or DNAME that covers them. */
type Encloser = {
  /** With NSEC3: what all proofs have in common, and the nodes whose NSEC3 records it contains. */
  shared: { readonly authority: NegativeAuthority; readonly nodes: readonly ZoneNode[] } | undefined;
  /** By the gap between names that each is for. When all enclosers together have too many, all are dropped. */
  proofs: CachedProofs;
  readonly zone: LoadedZone;
  readonly node: ZoneNode;
  readonly belowVersion: number;
  readonly shapeVersion: number;
  readonly delegationVersion: number;
};

/** `all`: the generation that these belong to. When it is full, a new one begins and the old one no longer counts. */
type CachedProofs = { readonly all: object; readonly byGap: Map<number, Proof> };

type Proof = Pick<NegativeAnswer, "authority" | "covering">;

/** Proofs that are kept: about 5 MB. */
const mostProofs = 5_000;
/** Larger ones are made again for each query. */
const mostBytes = 4_096;

/**
 * A flood of random names hits few existing parents. Missing siblings get the same answer, so one lookup among the
 * parent's children is enough for each of them. In a signed zone, the proof is the same for all in the same gap between
 * names. With NSEC3, random names hit all gaps, so the part that all proofs share is kept once, and the record that
 * covers the name is added to it.
 */
export class Enclosers {
  readonly #zones: Pick<LoadedZones, "isNoZone">;
  readonly #cached: NameCache<Encloser>;
  #all = { left: mostProofs };

  constructor(zones: Pick<LoadedZones, "isNoZone">, { size, seed }: { readonly size: number; readonly seed: number }) {
    this.#zones = zones;
    this.#cached = new NameCache(size, seed);
  }

  /** The answer if the name of a query certainly does not exist; `end` is where the name ends. */
  noName(query: Buffer, end: number, dnssecOk: boolean, transport: Transport): NegativeAnswer | undefined {
    const parentAt = headerLength + 1 + (query[headerLength] ?? 0);
    if (parentAt >= end) return undefined;
    const encloser = this.#cached.get(query, parentAt, end);
    if (encloser === undefined || !holds(encloser)) return undefined;
    const { zone, node } = encloser;
    if (node.children?.has(textAt(query, headerLength + 1, parentAt))) return undefined;
    if (!this.#zones.isNoZone(query, headerLength, end)) return undefined;
    const isProved = dnssecOk && zone.view.signed > 0;
    const { authority, covering } = isProved
      ? (this.#proofFor(encloser, textAt(query, headerLength, end)) ?? noProof)
      : { authority: zone.negativeAuthority, covering: undefined };
    if (authority === undefined || !isCurrent(authority)) return undefined;
    if (authority.isOnlyForUdp && transport !== "udp") return undefined;
    zone.used = true;
    return { kind: "negative", authority, covering, flagsAndRcode: noNameFlags, dependsOn: undefined };
  }

  /** Call this when the zone has answered that the name does not exist. */
  note(zone: LoadedZone, name: NameKey, { authority }: NegativeAnswer, transport: Transport): void {
    const above = keyAbove(name);
    const cachedEncloser = this.#cached.get(Buffer.from(above, "latin1"), 0, above.length);
    const encloser =
      cachedEncloser?.zone === zone && holds(cachedEncloser) ? cachedEncloser : this.#newEncloser(zone, above);
    if (encloser === undefined) return;
    this.#cached.set(above, encloser);
    if (authority === zone.negativeAuthority) return;
    const shared = sharedDenial(zone.view, labelsOfKey(above));
    const sharedAuthority = shared && createNegativeAuthority(zone.view, shared.authority, transport);
    encloser.shared = shared && sharedAuthority && { authority: sharedAuthority, nodes: shared.nodes };
    if (shared === undefined && authority.bytes.length <= mostBytes)
      this.#keep(encloser, gapOf(zone.view, encloser.node, name), { authority });
  }

  #newEncloser(zone: LoadedZone, name: NameKey): Encloser | undefined {
    const node = nodeOf(zone.view, labelsOfKey(name));
    if (node === undefined) return undefined;
    const { shapeVersion, delegationVersion } = zone.view;
    const proofs = { all: this.#all, byGap: new Map<number, Proof>() };
    return {
      shared: undefined,
      proofs,
      zone,
      node,
      belowVersion: zone.belowVersion,
      shapeVersion,
      delegationVersion,
    };
  }

  #keep(encloser: Encloser, gap: number, proof: Proof): void {
    if (this.#all.left === 0) this.#all = { left: mostProofs };
    this.#all.left -= 1;
    if (encloser.proofs.all !== this.#all) encloser.proofs = { all: this.#all, byGap: new Map() };
    encloser.proofs.byGap.set(gap, proof);
  }

  #proofFor(encloser: Encloser, name: NameKey): Proof | undefined {
    const { zone, node, shared, proofs } = encloser;
    // Checked first, so that no name is hashed for an outdated proof, or for one that does not fit.
    if (shared?.authority.isOnlyForUdp) return { authority: shared.authority };
    if (shared !== undefined && !isCurrent(shared.authority)) return undefined;
    const gap = gapOf(zone.view, node, name);
    const cachedProof = proofs.all === this.#all ? proofs.byGap.get(gap) : undefined;
    if (shared === undefined || cachedProof?.authority === shared.authority) return cachedProof;
    const link = linkOfGap(zone.view, gap);
    if (link === undefined) return undefined;
    const covering = shared.nodes.includes(link.node) ? undefined : coveringNsec3(link);
    const proof = { authority: shared.authority, covering };
    if ((covering?.bytes.length ?? 0) <= mostBytes) this.#keep(encloser, gap, proof);
    return proof;
  }
}

/** Part of a name in wire format, in lower case. */
function textAt(query: Buffer, from: number, to: number): string {
  const text = query.toString("latin1", from, to);
  for (let i = from; i < to; i++)
    if (lowerCase(query[i] ?? 0) !== query[i]) return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
  return text;
}

/** Every change of the zone replaces the SOA. */
const isCurrent = ({ sets: [soa] }: NegativeAuthority): boolean => soa !== undefined && !isGone(soa);

const noProof = { authority: undefined, covering: undefined };
const noNameFlags = flags.response | flags.authoritative | rcodes.nxDomain;

const holds = ({ zone, belowVersion, shapeVersion, delegationVersion }: Encloser): boolean =>
  zone.state === "current" &&
  belowVersion === zone.belowVersion &&
  shapeVersion === zone.view.shapeVersion &&
  delegationVersion === zone.view.delegationVersion;
