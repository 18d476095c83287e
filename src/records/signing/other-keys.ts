import { type Algorithm, algorithmName, algorithms, keyFlags, zoneKeyFlags } from "../../core/dnssec/codes.ts";
import { dnskeyData, keyTag } from "../../core/dnssec/records.ts";
import type { Instant } from "../../core/instant.ts";
import { type Fault, fail, failAll, ok, type Result } from "../../core/result.ts";
import type { OtherKey, ZoneSigning } from "../model.ts";

/** What a DNSKEY record of another server contains. */
export type PublicKey = Omit<OtherKey, "added">;

/** More would make the DNSKEY set too large for a datagram. */
const mostOthers = 8;

/**
 * The DNSKEY records in a text: a typed record, a `.key` file of BIND, or the output of dig. Other records are ignored.
 */
export function readDnskeys(text: string): Result<readonly PublicKey[]> {
  const lines = text
    .replaceAll(/;.*$/gm, "")
    .replaceAll(/\([^)]*\)/g, (inside) => inside.replaceAll(/[()\s]+/g, " "))
    .split("\n");
  const found = lines.flatMap((line) => (/\sRRSIG\s/i.test(line) ? [] : (dnskey.exec(line)?.slice(1) ?? [])));
  const keys: PublicKey[] = [];
  const faults: Fault[] = [];
  for (let at = 0; at < found.length; at += 3) {
    const [flags, algorithm] = [Number(found[at]), Number(found[at + 1])];
    const bytes = Buffer.from(found[at + 2] ?? "", "base64");
    if (!isOurs(algorithm)) faults.push(otherAlgorithm(algorithm));
    else if (flags !== keyFlags && flags !== zoneKeyFlags)
      faults.push(badKey(`a DNSKEY record has flags ${flags}`, "give only records with flags 256 or 257"));
    else if (bytes.length !== publicLengths[algorithm])
      faults.push(badKey("a DNSKEY record is not complete", "copy the whole record"));
    else {
      const tag = keyTag(dnskeyData(algorithm, bytes, flags));
      keys.push({ tag, flags, algorithm, publicKey: bytes.toString("base64") });
    }
  }
  if (found.length === 0)
    faults.push(
      badKey(
        "there is no DNSKEY record",
        "give a record such as `257 3 13 mdsswUyr…`, a .key file of BIND, or the output of dig",
      ),
    );
  return faults.length > 0 ? failAll(faults) : ok(keys);
}

const dnskey = /(?:^|\sDNSKEY)\s*\b(\d+)\s+3\s+(\d+)\s+([\w+/=\s]+)$/i;

const publicLengths: Readonly<Record<Algorithm, number>> = { 13: 64, 15: 32 };
const isOurs = (algorithm: number): algorithm is Algorithm => Object.values<number>(algorithms).includes(algorithm);

export const otherAlgorithm = (algorithm: number): Fault =>
  badKey(
    `the key uses algorithm ${algorithm} (${algorithmName(algorithm)}); moor supports only 13 (ECDSAP256SHA256) and 15 (ED25519)`,
    "change the algorithm at the other server first, and wait until that is finished",
  );

export const notInParent = ({ tag, flags }: PublicKey): Fault =>
  badKey(
    `key ${tag} is a ZSK (flags ${flags}); the parent's DS record refers to the KSK`,
    "give the private key with flags 257 (KSK or CSK), and the public part of the ZSK with --also-publish",
  );

const badKey = (message: string, todo: string): Fault => ({ code: "bad-key", where: "key", message, todo });

/** Ignores the zone's own keys, so that the whole DNSKEY set of the other server can be given. */
export function mergeOthers(
  zone: string,
  { keys, others = [] }: Pick<ZoneSigning, "keys" | "others">,
  given: readonly PublicKey[],
  now: Instant,
): Result<readonly OtherKey[]> {
  const isSame = (a: Pick<PublicKey, "publicKey">) => (b: Pick<PublicKey, "publicKey">) => a.publicKey === b.publicKey;
  const foreign = given.filter((each) => !keys.some(isSame(each)));
  const different = foreign.find(({ algorithm }) => keys.some((key) => key.algorithm !== algorithm));
  if (different !== undefined)
    return fail(
      badKey(
        `key ${different.tag} uses algorithm ${different.algorithm}, but ${zone} uses ${[...new Set(keys.map(({ algorithm }) => algorithm))].join(", ")}; servers that sign the same zone need the same algorithm (RFC 8901 section 5)`,
        "change the algorithm at one of the servers first",
      ),
    );
  const zoneKey = given.find((each) => keys.some(isSame(each)) && each.flags !== keyFlags);
  if (zoneKey !== undefined) return fail(notInParent(zoneKey));
  const isNew = (key: PublicKey, at: number) => !others.some(isSame(key)) && foreign.findIndex(isSame(key)) === at;
  const all = [...others, ...foreign.filter(isNew).map((key) => ({ ...key, added: now }))];
  return all.length > mostOthers
    ? fail(
        badKey(
          `at most ${mostOthers} keys of other servers can be published`,
          "withdraw those that are no longer used",
        ),
      )
    : ok(all);
}
