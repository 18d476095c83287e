import { nodeOf, sharedDenial } from "../../core/records/answer.ts";
import { coveringName, gapOf } from "../../core/records/denial.ts";
import { isGone, type ZoneNode } from "../../core/records/zone-view.ts";
import { flags, rcodes } from "../../lib/dns/codes.ts";
import type { LoadedZone, LoadedZones } from "./loaded-zones.ts";
import { createLruCache, type LruCache } from "./lru-cache.ts";
import { keyAbove, labelsOfKey, type NameKey } from "./name-key.ts";
import { coveringNsec3, createNegativeAuthority, type NegativeAuthority } from "./negative-authority.ts";
import type { NegativeAnswer } from "./prepare.ts";

/** An existing name below which missing names were queried, with no wildcard, delegation or DNAME that covers them. */
type Encloser = {
  /** With NSEC3: what all proofs have in common, and the nodes whose NSEC3 records it contains. */
  shared: { readonly authority: NegativeAuthority; readonly nodes: readonly ZoneNode[] } | undefined;
  /**
   * Without `shared`: authority sections with proofs, by the gap between names that each is for. When all enclosers
   * together have too many, all are dropped.
   */
  authorities: CachedAuthorities;
  readonly zone: LoadedZone;
  readonly node: ZoneNode;
  readonly belowVersion: number;
  readonly shapeVersion: number;
  readonly delegationVersion: number;
};

/** `all`: the generation that these belong to. When it is full, a new one begins and the old one no longer counts. */
type CachedAuthorities = { readonly all: object; readonly byGap: Map<number, NegativeAuthority> };

/** Authority sections with proofs that are kept: about 5 MB. */
const mostAuthorities = 5_000;
/** Larger ones are made again for each query. */
const mostBytes = 4_096;

/**
 * A flood of random names hits few existing parents. Missing siblings get the same answer, so one lookup among the
 * parent's children is enough for each of them. In a signed zone, the proof is the same for all in the same gap between
 * names. With NSEC3, random names hit all gaps, so only the part that all proofs share is kept, and the record that
 * covers the name is added to it.
 */
export class Enclosers {
  readonly #zones: Pick<LoadedZones, "isNoZone">;
  readonly #cached: LruCache<Encloser>;
  #all = { left: mostAuthorities };

  constructor(zones: Pick<LoadedZones, "isNoZone">, limit: number) {
    this.#zones = zones;
    this.#cached = createLruCache(limit);
  }

  /**
   * The answer if the name, the first `end` characters of `key`, certainly does not exist; undefined when that is not
   * certain.
   */
  noName(key: string, end: number, dnssecOk: boolean): NegativeAnswer | undefined {
    const parentAt = 1 + key.charCodeAt(0);
    if (parentAt >= end) return undefined;
    const encloser = this.#cached.get(key.slice(parentAt, end));
    if (encloser === undefined || !holds(encloser)) return undefined;
    const { zone, node } = encloser;
    if (node.children?.has(key.slice(1, parentAt)) || !this.#zones.isNoZone(key, end)) return undefined;
    const isProved = dnssecOk && zone.view.signed > 0;
    const { authority, covering } = isProved
      ? (this.#proofFor(encloser, key.slice(0, end)) ?? noProof)
      : { authority: zone.negativeAuthority };
    if (authority === undefined || !isCurrent(authority)) return undefined;
    zone.used = true;
    return { kind: "negative", authority, covering, flagsAndRcode: noNameFlags, dependsOn: undefined };
  }

  /** Call this when the zone has answered that the name does not exist. */
  note(zone: LoadedZone, name: NameKey, { authority }: NegativeAnswer): void {
    const above = keyAbove(name);
    const cachedEncloser = this.#cached.get(above);
    const encloser =
      cachedEncloser?.zone === zone && holds(cachedEncloser) ? cachedEncloser : this.#newEncloser(zone, above);
    if (encloser === undefined) return;
    this.#cached.set(above, encloser);
    if (authority === zone.negativeAuthority) return;
    const shared = sharedDenial(zone.view, labelsOfKey(above));
    const sharedAuthority = shared && createNegativeAuthority(zone.view, shared.authority);
    encloser.shared = shared && sharedAuthority && { authority: sharedAuthority, nodes: shared.nodes };
    if (shared === undefined && authority.bytes.length <= mostBytes) this.#cacheAuthority(encloser, name, authority);
  }

  #newEncloser(zone: LoadedZone, name: NameKey): Encloser | undefined {
    const node = nodeOf(zone.view, labelsOfKey(name));
    if (node === undefined) return undefined;
    const { shapeVersion, delegationVersion } = zone.view;
    const authorities = { all: this.#all, byGap: new Map<number, NegativeAuthority>() };
    return {
      shared: undefined,
      authorities,
      zone,
      node,
      belowVersion: zone.belowVersion,
      shapeVersion,
      delegationVersion,
    };
  }

  #cacheAuthority(encloser: Encloser, name: NameKey, authority: NegativeAuthority): void {
    const { zone, node } = encloser;
    if (this.#all.left === 0) this.#all = { left: mostAuthorities };
    this.#all.left -= 1;
    if (encloser.authorities.all !== this.#all) encloser.authorities = { all: this.#all, byGap: new Map() };
    encloser.authorities.byGap.set(gapOf(zone.view, node, name), authority);
  }

  #cachedAuthority({ zone, node, authorities }: Encloser, name: NameKey): NegativeAuthority | undefined {
    return authorities.all === this.#all ? authorities.byGap.get(gapOf(zone.view, node, name)) : undefined;
  }

  #proofFor(encloser: Encloser, name: NameKey): Pick<NegativeAnswer, "authority" | "covering"> | undefined {
    const { zone, shared } = encloser;
    if (shared === undefined) {
      const authority = this.#cachedAuthority(encloser, name);
      return authority && { authority };
    }
    // Checked first, so that no name is hashed for an outdated proof.
    const link = isCurrent(shared.authority) ? coveringName(zone.view, name) : undefined;
    return (
      link && {
        authority: shared.authority,
        covering: shared.nodes.includes(link.node) ? undefined : coveringNsec3(link),
      }
    );
  }
}

/** Every change of the zone replaces the SOA. */
const isCurrent = ({ sets: [soa] }: NegativeAuthority): boolean => soa !== undefined && !isGone(soa);

const noProof = { authority: undefined, covering: undefined };
const noNameFlags = flags.response | flags.authoritative | rcodes.nxDomain;

const holds = ({ zone, belowVersion, shapeVersion, delegationVersion }: Encloser): boolean =>
  zone.current &&
  belowVersion === zone.belowVersion &&
  shapeVersion === zone.view.shapeVersion &&
  delegationVersion === zone.view.delegationVersion;
