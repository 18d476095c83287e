import { type Address, addressBytes, addressFromBytes, parseAddress } from "../../../core/addresses/address.ts";
import { joinedAt } from "../../../core/addresses/host-part.ts";
import type { Network } from "../../../core/addresses/network.ts";
import { scopeOf } from "../../../core/addresses/scope.ts";
import type { Instant } from "../../../core/instant.ts";
import type { RRset, ZoneRecord } from "../../../core/records/rrset.ts";
import type { WantedAddresses } from "../requests.ts";

/** The wanted sets of one host, and the requested addresses that it will then have. */
export type PointedHost = { readonly wanted: readonly RRset[]; readonly addresses: readonly string[] };

/** One for a new record of each family. */
export type NewIds = { readonly A: string; readonly AAAA: string };

/** Seconds, for the first address of a host: it is expected to change. */
const newTtl = 300;

/**
 * Points a host at addresses. Undefined if it has no A or AAAA records and `mayCreate` is false: a typo in a router
 * creates no names. `ids` are for records of a family that the host did not have.
 */
export function pointHost(
  sets: readonly RRset[],
  owner: string,
  { ipv4, ipv6 }: WantedAddresses,
  { ids, now, mayCreate }: { readonly ids: NewIds; readonly now: Instant; readonly mayCreate: boolean },
): PointedHost | undefined {
  const [a, aaaa] = [setOf(sets, owner, "A"), setOf(sets, owner, "AAAA")];
  const isAddress = ipv4 !== undefined || (ipv6 !== undefined && !("prefix" in ipv6));
  const existing = a ?? aaaa ?? (mayCreate && isAddress ? { ttl: newTtl } : undefined);
  if (existing === undefined) return undefined;
  const addresses: string[] = [];
  const edited: RRset[] = [];
  const point = (set: RRset | undefined, type: "A" | "AAAA", address: Address) => {
    addresses.push(address.text);
    edited.push(withAddress(set ?? { owner, type, ttl: existing.ttl, records: [] }, address, { id: ids[type], now }));
  };
  if (ipv4 !== undefined) point(a, "A", ipv4);
  if (ipv6 !== undefined && "prefix" in ipv6) {
    const moved = aaaa && moveSet(aaaa, ipv6.prefix, now);
    addresses.push(...(moved?.records.map((record) => record.rdata) ?? []));
    if (moved) edited.push(moved);
  } else if (ipv6 !== undefined) {
    point(aaaa, "AAAA", ipv6);
  }
  const types = new Set(edited.map((set) => set.type));
  const others = sets.filter((set) => set.owner === owner && !types.has(set.type));
  return { wanted: [...others, ...edited], addresses };
}

const setOf = (sets: readonly RRset[], owner: string, type: "A" | "AAAA"): RRset | undefined =>
  sets.find((set) => set.owner === owner && set.type === type);

/**
 * Reduces the set to one record with this address: the first existing one keeps its id, otherwise a new one is created.
 */
function withAddress(
  set: RRset,
  { text }: Address,
  { id, now }: { readonly id: string; readonly now: Instant },
): RRset {
  const [first] = set.records;
  if (set.records.length === 1 && first?.rdata === text) return set;
  const { name, comment, created } = first ?? { name: set.owner, comment: "", created: now };
  const record = { id: first?.id ?? id, name, value: text, rdata: text, comment, created, modified: now };
  return { ...set, records: [record] };
}

/** Records that become equal are merged. */
function moveSet(set: RRset, prefix: Network, now: Instant): RRset {
  const moved = set.records.map((record) => moveRecord(record, prefix, now));
  if (moved.every((record, i) => record === set.records[i])) return set;
  const seen = new Set<string>();
  return { ...set, records: moved.filter(({ rdata }) => !seen.has(rdata) && seen.add(rdata)) };
}

/**
 * A public prefix does not change local addresses (ULA) in the same set, and a local prefix does not change public
 * ones.
 */
function moveRecord(record: ZoneRecord, prefix: Network, now: Instant): ZoneRecord {
  const network = addressFromBytes(prefix.bytes);
  if (network === undefined || isLocal(network) !== isLocal({ family: "ipv6", text: record.rdata })) return record;
  const rdata = movedAddress(record.rdata, prefix);
  return rdata === record.rdata ? record : { ...record, value: rdata, rdata, modified: now };
}

const isLocal = (address: Address): boolean => scopeOf(address) === "ula";

/** Replaces the first bits of the address with the prefix. */
export function movedAddress(text: string, { bytes, length }: Network): string {
  const address = parseAddress(text);
  if (address === undefined) throw new Error("the data of an AAAA record is not an address");
  return joinedAt(length, bytes, addressBytes(address)).text;
}
