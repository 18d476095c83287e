import { type Address, addressBytes, type Family, parseAddress } from "./address.ts";
import { type HostPart, withHostPart } from "./host-part.ts";
import type { InterfaceReport, ReportedIpv4, ReportedIpv6 } from "./interface-report.ts";
import { sharesPrefix } from "./network.ts";
import { gate, type PublicRule, type UnfitScope } from "./publish-gate.ts";
import { scopeOf } from "./scope.ts";

export type AddressPolicy = {
  readonly device: string;
  readonly family: Family;
  readonly public?: PublicRule | undefined;
  /** Only the address of this virtual host id (CARP). */
  readonly vhid?: string | undefined;
  /** For a machine behind the firewall: the interface provides only the prefix. */
  readonly host?: HostPart | undefined;
  /** Addresses that were published with this policy before. The first of them that is as good as the best one stays. */
  readonly previousAddresses?: readonly string[];
};

/**
 * `none`: the interface was read and has no suitable address. `unknown-interface`: it is not in the report. `unknown`:
 * it could not be read. None of them ever deletes a record.
 */
export type Choice =
  | { readonly kind: "address"; readonly address: Address }
  | { readonly kind: "none"; readonly because: "no-addresses" | "no-fit-address" }
  | { readonly kind: "unknown"; readonly because: string }
  | { readonly kind: "unknown-interface"; readonly device: string; readonly knownDevices: readonly string[] };

export type AddressRefusal =
  | UnfitScope
  | "malformed"
  | "wrong-family"
  | "deprecated"
  | "tentative"
  | "detached"
  | "other-vhid"
  | "no-prefix"
  | "prefix-only"
  | "not-first"
  | "ula-behind-global"
  | "reserved-behind-others"
  | "virtual-behind-own"
  | "temporary-behind-permanent"
  | "shorter-lifetime"
  | "behind-published"
  | "later-in-report";

/** The verdict on one reported address, in report order. */
export type Considered = { readonly text: string; readonly verdict: "taken" | AddressRefusal };

export type ExplainedChoice = { readonly choice: Choice; readonly considered: readonly Considered[] };

export function chooseAddress(report: InterfaceReport, policy: AddressPolicy): ExplainedChoice {
  const { device, family } = policy;
  const reported = report.get(device);
  if (!reported) {
    const knownDevices = [...report.keys()];
    return { choice: { kind: "unknown-interface", device, knownDevices }, considered: [] };
  }
  const candidates = family === "ipv4" ? considerIpv4(reported.ipv4, policy) : considerIpv6(reported.ipv6, policy);
  return { choice: choiceOf(candidates), considered: candidates.map(({ text, verdict }) => ({ text, verdict })) };
}

type JudgedAddress = { readonly text: string; readonly address?: Address; readonly verdict: "taken" | AddressRefusal };

function choiceOf(candidates: readonly JudgedAddress[]): Choice {
  const taken = candidates.find(({ verdict }) => verdict === "taken")?.address;
  if (taken) return { kind: "address", address: taken };
  return { kind: "none", because: candidates.length === 0 ? "no-addresses" : "no-fit-address" };
}

/**
 * Only the first entry counts, or the first one of the VHID: if it is unsuitable there is no address, and aliases are
 * not used. That is the rule of the firewall. Who requires public addresses means the first public one: a VPS, or a
 * line behind a modem, may list a private one before it. A virtual one is the last choice.
 */
function considerIpv4(entries: readonly ReportedIpv4[], policy: AddressPolicy): JudgedAddress[] {
  const read = entries.map((entry): JudgedAddress => {
    if (isOtherVhid(entry, policy)) return { text: entry.text, verdict: "other-vhid" };
    return readAddress(entry.text, policy);
  });
  const first = policy.vhid === undefined ? 0 : entries.findIndex(({ vhid }) => vhid === policy.vhid);
  const taken = policy.public === "require" ? firstPublic(entries, read) : first;
  return read.map((each, index) =>
    each.verdict !== "taken" || index === taken ? each : { ...each, verdict: "not-first" },
  );
}

function firstPublic(entries: readonly ReportedIpv4[], read: readonly JudgedAddress[]): number {
  const isPublic = ({ verdict }: JudgedAddress) => verdict === "taken";
  const own = read.findIndex((each, index) => isPublic(each) && entries[index]?.vhid === undefined);
  return own < 0 ? read.findIndex(isPublic) : own;
}

function considerIpv6(entries: readonly ReportedIpv6[], policy: AddressPolicy): JudgedAddress[] {
  // If the delegated prefix is known, the connection's own prefix belongs to another network.
  const hasDelegated = entries.some(({ delegated }) => delegated);
  const fit = entries.map((entry) => considerAlone(entry, policy, hasDelegated));
  const ranked = entries.map((entry, index) => rank(fit[index], entry, index));
  const best = ranked.reduce(
    (leader, next) => (!leader || (next && outranked(leader, next)) ? next : leader),
    undefined,
  );
  const taken = best && (stayingOf(ranked, best, policy) ?? best);
  return fit.map((candidate, index) => {
    const own = ranked[index];
    if (!taken || !own || own === taken) return candidate;
    return { ...candidate, verdict: outranked(own, taken) ?? "behind-published" };
  });
}

/**
 * Within a network, lifetimes differ only by the time of the last renewal: always taking the longest would make a name
 * switch between two addresses with every renewal. In another network, a longer lifetime may mean that the provider has
 * changed the prefix.
 */
function stayingOf(ranked: readonly (Ranked | undefined)[], best: Ranked, { previousAddresses = [] }: AddressPolicy) {
  const asGood = ranked.filter((each) => each && isAsGood(each, best));
  return previousAddresses.map((text) => asGood.find((each) => each?.address.text === text)).find((each) => each);
}

const isAsGood = (one: Ranked, best: Ranked): boolean =>
  one.reach === best.reach &&
  one.virtual === best.virtual &&
  one.temporary === best.temporary &&
  Number.isFinite(one.lifetime) === Number.isFinite(best.lifetime) &&
  sharesPrefix(addressBytes(one.address), { family: "ipv6", bytes: addressBytes(best.address), length: 64 });

/** Judges an address without looking at the others. The flags may be wrong, so the text is checked too. */
function considerAlone(entry: ReportedIpv6, policy: AddressPolicy, hasDelegated: boolean): JudgedAddress {
  if (isOtherVhid(entry, policy)) return { text: entry.text, verdict: "other-vhid" };
  if (entry.linkLocal) return { text: entry.text, verdict: "link-local" };
  const read = readAddress(entry.text, policy);
  if (read.verdict !== "taken" || !read.address) return read;
  if (entry.deprecated) return { ...read, verdict: "deprecated" };
  if (entry.tentative) return { ...read, verdict: "tentative" };
  if (entry.detached) return { ...read, verdict: "detached" };
  const { host } = policy;
  if (!host) return entry.delegated ? { ...read, verdict: "prefix-only" } : read;
  if (hasDelegated && !entry.delegated) return { ...read, verdict: "no-prefix" };
  // A single address, as assigned by DHCPv6, says nothing about the network that is routed here.
  if (!host.lengthIsGiven && (entry.prefixLength ?? 0) > host.prefixLength) return { ...read, verdict: "no-prefix" };
  return { ...read, address: withHostPart(read.address, host) };
}

const isOtherVhid = (entry: { readonly vhid?: string | undefined }, { vhid }: AddressPolicy) =>
  vhid !== undefined && entry.vhid !== vhid;

function readAddress(text: string, policy: AddressPolicy): JudgedAddress {
  const address = parseAddress(text);
  if (!address) return { text, verdict: "malformed" };
  const verdict = gate(address, policy.family, policy.public);
  return verdict.kind === "refuse" ? { text, verdict: verdict.because } : { text, address, verdict: "taken" };
}

type Ranked = {
  readonly address: Address;
  readonly reach: Reach;
  /** A CARP address: it belongs to the machine that is the master. */
  readonly virtual: boolean;
  readonly temporary: boolean;
  readonly lifetime: number;
  readonly index: number;
};
type Reach = "public" | "ula" | "reserved";

const reachOrder: readonly Reach[] = ["public", "ula", "reserved"];

/** An address without a lifetime never expires: static addresses, and all addresses before OPNsense 25.7.10. */
function rank(candidate: JudgedAddress | undefined, entry: ReportedIpv6, index: number): Ranked | undefined {
  if (candidate?.verdict !== "taken" || !candidate.address) return undefined;
  const { address } = candidate;
  const scope = scopeOf(address);
  // `private` and `cgnat` are the scopes of an embedded IPv4 address.
  const reach = scope === "ula" ? "ula" : ["reserved", "private", "cgnat"].includes(scope) ? "reserved" : "public";
  const lifetime = entry.validLifetime ?? Number.POSITIVE_INFINITY;
  return { address, reach, virtual: entry.vhid !== undefined, temporary: entry.temporary === true, lifetime, index };
}

/** Why `one` ranks below `other`, or undefined when it does not. */
function outranked(one: Ranked, other: Ranked): AddressRefusal | undefined {
  if (one.reach !== other.reach) {
    if (reachOrder.indexOf(one.reach) < reachOrder.indexOf(other.reach)) return undefined;
    return one.reach === "ula" ? "ula-behind-global" : "reserved-behind-others";
  }
  if (one.virtual !== other.virtual) return one.virtual ? "virtual-behind-own" : undefined;
  if (one.temporary !== other.temporary) return one.temporary ? "temporary-behind-permanent" : undefined;
  if (one.lifetime !== other.lifetime) return one.lifetime < other.lifetime ? "shorter-lifetime" : undefined;
  return one.index > other.index ? "later-in-report" : undefined;
}
