import { createHash } from "node:crypto";
import { absoluteName, apex, labelsOf } from "../../../src/core/names/name.ts";
import { nameToWire } from "../../../src/core/names/wire.ts";
import { typeCode } from "../../../src/core/rdata/table.ts";
import type { RRset } from "../../../src/core/records/rrset.ts";
import type { ZoneContent } from "../../../src/core/records/zone-view.ts";
import { writtenSets, writtenZone } from "./written-sets.suite.ts";

/**
 * How a signer would chain the zone; the signatures themselves are arbitrary bytes. `optOut`: delegations without DS
 * are left out of the chain.
 */
export type Chaining = {
  readonly kind: "nsec" | "nsec3" | "none";
  readonly optOut?: boolean;
  readonly iterations?: number;
  /** The length of a signature. */
  readonly bytes?: number;
  /** How many keys sign each set. */
  readonly keys?: number;
  /** How many blocks each list of types has. */
  readonly windows?: number;
};

/** A zone from lines such as `www 300 A 192.0.2.1`, signed. */
export function signedZone(name: string, text: string, chaining: Chaining, serial = 1): ZoneContent {
  const zone = writtenZone(name, text, serial);
  return { ...zone, sets: signedSets(zone, chaining) };
}

function signedSets(
  { name, ttl, sets }: ZoneContent,
  { kind, optOut, iterations = 0, bytes = 8, keys = 1, windows = 1 }: Chaining,
): readonly RRset[] {
  const parents = (owner: string) => labelsOf(owner).map((_, i, labels) => labels.slice(i).join("."));
  const setsOf = Map.groupBy(sets, ({ owner }) => owner);
  const has = (owner: string, ...types: readonly string[]) =>
    setsOf.get(owner)?.some(({ type }) => types.includes(type)) ?? false;
  const isBelowCut = (owner: string) =>
    parents(owner)
      .slice(1)
      .some((above) => has(above, "NS", "TYPE39"));
  const isCut = (owner: string) => owner !== apex && has(owner, "NS");
  const own = sets.filter(({ owner }) => owner === apex || !isBelowCut(owner));
  const isChained = (owner: string) => !(optOut && isCut(owner) && !has(owner, "DS"));
  const owners = [...new Set(own.map(({ owner }) => owner))].filter(isChained);
  const lines: string[] = [];
  const add = (owner: string, ownTtl: number, type: number, data: Uint8Array) =>
    lines.push(`${owner} ${ownTtl} TYPE${type} \\# ${data.length} ${Buffer.from(data).toString("hex")}`);
  const sign = (owner: string, covers: number, ownTtl: number) => {
    for (let key = 0; key < keys; key++) {
      const head = [u16(covers), Buffer.of(13, 0), u32(ownTtl), Buffer.alloc(8), u16(key), nameToWire(name)];
      add(owner, 1, 46, Buffer.concat([...head, Buffer.alloc(bytes, owner)]));
    }
  };
  const furtherTypes = Array.from({ length: windows - 1 }, (_, i) =>
    Buffer.concat([Buffer.of(i + 1, 32), Buffer.alloc(32, 1)]),
  );
  const bitmap = (owner: string) => Buffer.concat([Buffer.of(0, 1, has(owner, "NS") ? 0x20 : 0x40), ...furtherTypes]);

  for (const { owner, type, ttl: set } of own) {
    if (!isCut(owner) || type === "DS") sign(owner, typeCode(type), set ?? ttl);
  }
  if (kind === "nsec") {
    const sorted = owners.sort((a, b) => (canonical(a) < canonical(b) ? -1 : 1));
    for (const [i, owner] of sorted.entries()) {
      const next = absoluteName(sorted[(i + 1) % sorted.length] ?? apex, name);
      add(owner, 300, 47, Buffer.concat([nameToWire(next), bitmap(owner)]));
      sign(owner, 47, 300);
    }
  }
  if (kind === "nsec3") {
    add(apex, 0, 51, Buffer.of(1, 0, 0, iterations, 1, 0xab));
    sign(apex, 51, 0);
    const names = [...new Set([apex, ...owners.filter((owner) => owner !== apex).flatMap(parents)])];
    const sorted = names
      .map((owner) => ({ owner, hash: hashOf(absoluteName(owner, name), iterations) }))
      .sort((a, b) => Buffer.compare(a.hash, b.hash));
    for (const [i, { owner, hash }] of sorted.entries()) {
      const next = sorted[(i + 1) % sorted.length]?.hash ?? hash;
      const head = Buffer.of(1, optOut ? 1 : 0, 0, iterations, 1, 0xab, 20);
      add(base32hex(hash), 300, 50, Buffer.concat([head, next, bitmap(owner)]));
      sign(base32hex(hash), 50, 300);
    }
  }
  return [...sets, ...writtenSets(name, lines.join("\n"))];
}

/** The label of a name's NSEC3 record in such a zone. */
export const hashedLabelOf = (name: string, iterations = 0): string => base32hex(hashOf(name, iterations));

function hashOf(name: string, iterations: number): Buffer {
  const salt = Buffer.of(0xab);
  let hash = digest(Buffer.concat([nameToWire(name), salt]));
  for (let i = 0; i < iterations; i++) hash = digest(Buffer.concat([hash, salt]));
  return hash;
}

const digest = (data: Uint8Array): Buffer => createHash("sha1").update(data).digest();

/** By arithmetic on one large number, unlike the code under test. */
const base32hex = (bytes: Buffer): string =>
  BigInt(`0x${bytes.toString("hex")}`)
    .toString(32)
    .padStart(32, "0");

/** RFC 4034 section 6.1, for names of letters, digits and asterisks: the separator is before all of them. */
const canonical = (owner: string): string => (owner === apex ? "" : owner.split(".").toReversed().join("\0"));

const u16 = (value: number): Buffer => Buffer.of(value >> 8, value & 0xff);
const u32 = (value: number): Buffer => Buffer.concat([u16(value >>> 16), u16(value & 0xffff)]);
