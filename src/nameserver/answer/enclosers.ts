import { nodeOf, sharedDenial } from "../../core/records/answer.ts";
import { gapOf, linkOfGap } from "../../core/records/denial.ts";
import { isGone, type ZoneNode } from "../../core/records/zone-view.ts";
import { flags, headerLength, rcodes } from "../../lib/dns/codes.ts";
import type { Transport } from "../wire/read-query.ts";
import type { LoadedZone, LoadedZones } from "./loaded-zones.ts";
import { lowerCase, NameCache } from "./name-cache.ts";
import { createNameFilter } from "./name-filter.ts";
import { keyAbove, labelsOfKey, type NameKey } from "./name-key.ts";
import { coveringNsec3, createNegativeAuthority, type NegativeAuthority } from "./negative-authority.ts";
import type { NegativeAnswer } from "./prepare.ts";

/** An existing name below which missing names were queried, with no wildcard, delegation or DNAME that covers them. */
type Encloser = {
  /** With NSEC3: what all proofs have in common, and the nodes whose NSEC3 records it contains. */
  shared: { readonly authority: NegativeAuthority; readonly nodes: readonly ZoneNode[] } | undefined;
  /** By the gap between names that each is for. When all enclosers together have too many, all are dropped. */
  proofs: CachedProofs;
  /** Names below it that were queried, and its children once there were as many: a text per query takes longer. */
  asked: number;
  labels: ReturnType<typeof createNameFilter> | undefined;
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
/** Children that are listed, which takes a few milliseconds: queries wait meanwhile. */
const mostListed = 10_000;

/**
 * A flood of random names hits few existing parents. Missing siblings get the same answer, so one lookup among the
 * parent's children is enough for each of them. In a signed zone, the proof is the same for all in the same gap between
 * names. With NSEC3, random names hit all gaps, so the part that all proofs share is kept once, and the record that
 * covers the name is added to it.
 */
export class Enclosers {
  readonly #zones: Pick<LoadedZones, "isNoZone">;
  readonly #cached: NameCache<Encloser>;
  readonly #seed: number;
  #all = { left: mostProofs };

  constructor(zones: Pick<LoadedZones, "isNoZone">, { size, seed }: { readonly size: number; readonly seed: number }) {
    this.#zones = zones;
    this.#cached = new NameCache(size, seed);
    this.#seed = seed;
  }

  /** The answer if the name of a query certainly does not exist; `end` is where the name ends. */
  noName(query: Buffer, end: number, dnssecOk: boolean, transport: Transport): NegativeAnswer | undefined {
    const parentAt = headerLength + 1 + (query[headerLength] ?? 0);
    if (parentAt >= end) return undefined;
    const encloser = this.#cached.get(query, parentAt, end);
    if (encloser === undefined || !holds(encloser)) return undefined;
    const { zone } = encloser;
    if (this.#hasChild(encloser, query, parentAt) || !this.#zones.isNoZone(query, headerLength, end)) return undefined;
    const isProved = dnssecOk && zone.view.signed > 0;
    const { authority, covering } = isProved
      ? (this.#proofFor(encloser, query, end) ?? noProof)
      : { authority: zone.negativeAuthority, covering: undefined };
    if (authority === undefined || !isCurrent(authority)) return undefined;
    if (authority.isOnlyForUdp && transport !== "udp") return undefined;
    zone.used = true;
    return { kind: "negative", authority, covering, flagsAndRcode: noNameFlags, dependsOn: undefined };
  }

  /** Whether the first label of a query's name exists below the encloser; the label ends at `end`. */
  #hasChild(encloser: Encloser, query: Buffer, end: number): boolean {
    const { children } = encloser.node;
    if (children === undefined) return false;
    encloser.asked += 1;
    if (encloser.asked === children.size && children.size <= mostListed) {
      encloser.labels = createNameFilter(this.#seed);
      for (const label of children.keys()) encloser.labels.add(label);
    }
    if (encloser.labels?.mayHoldBytes(query, headerLength + 1, end) === false) return false;
    return children.has(lowered.toString("latin1", 0, lower(query, headerLength + 1, end)));
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
      this.#keep(encloser, gapOf(zone.view, encloser.node, Buffer.from(name, "latin1"), name.length), { authority });
  }

  #newEncloser(zone: LoadedZone, name: NameKey): Encloser | undefined {
    const node = nodeOf(zone.view, labelsOfKey(name));
    if (node === undefined) return undefined;
    const { shapeVersion, delegationVersion } = zone.view;
    const proofs = { all: this.#all, byGap: new Map<number, Proof>() };
    return {
      asked: 0,
      labels: undefined,
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

  #proofFor(encloser: Encloser, query: Buffer, end: number): Proof | undefined {
    const { zone, node, shared, proofs } = encloser;
    // Checked first, so that no name is hashed for an outdated proof, or for one that does not fit.
    if (shared?.authority.isOnlyForUdp) return { authority: shared.authority };
    if (shared !== undefined && !isCurrent(shared.authority)) return undefined;
    const gap = gapOf(zone.view, node, lowered, lower(query, headerLength, end));
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

/** Part of a name, in lower case, until the next call. */
const lowered = Buffer.alloc(255);

/** Returns its length. */
function lower(query: Buffer, from: number, to: number): number {
  for (let i = from; i < to; i++) lowered[i - from] = lowerCase(query[i] ?? 0);
  return to - from;
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
