import { type Algorithm, algorithmName, algorithms, keyFlags, zoneKeyFlags } from "../../core/dnssec/codes.ts";
import { dnskeyData, keyTag } from "../../core/dnssec/records.ts";
import type { Instant } from "../../core/instant.ts";
import { zoneNameOf } from "../../core/names/name.ts";
import { type Fault, fail, failAll, ok, type Result } from "../../core/result.ts";
import type { MultiSignerKey, ZoneSigning } from "../model.ts";
import { isOnCurve } from "./curve-point.ts";

/**
 * What a DNSKEY record of another server contains. `owner`: in lower case, without the last dot; undefined if the text
 * has only the data.
 */
export type PublicKey = Omit<MultiSignerKey, "added"> & { readonly owner?: string };

/** More would make the DNSKEY set too large for a datagram. */
const mostMultiSignerKeys = 8;

/**
 * The DNSKEY records in a text: a typed record, a `.key` file of BIND, or the output of dig. Other records are ignored.
 */
export function readDnskeys(text: string): Result<readonly PublicKey[]> {
  const lines = text
    .replaceAll(/;.*$/gm, "")
    .replaceAll(/\([^)]*\)/g, (inside) => inside.replaceAll(/[()\s]+/g, " "))
    .split("\n");
  const dnskeyLines = lines.flatMap((line) => (/\sRRSIG\s/i.test(line) ? [] : (dnskey.exec(line) ?? [])).slice(0, 1));
  const keys: PublicKey[] = [];
  const faults: Fault[] = [];
  for (const line of dnskeyLines) {
    const { before = "", ...data } = dnskey.exec(line)?.groups ?? {};
    const [flags, algorithm] = [Number(data.flags), Number(data.algorithm)];
    const bytes = Buffer.from(data.key ?? "", "base64");
    if (!isOurs(algorithm)) faults.push(otherAlgorithm(algorithm));
    else if (flags !== keyFlags && flags !== zoneKeyFlags)
      faults.push(badKey(`a DNSKEY record has flags ${flags}`, "give only records with flags 256 or 257"));
    else if (bytes.length !== publicLengths[algorithm])
      faults.push(badKey("a DNSKEY record is not complete", "copy the whole record"));
    else if (!isOnCurve(algorithm, bytes))
      faults.push(badKey("the key in a DNSKEY record is not a point of its curve", "copy the whole record again"));
    else {
      const tag = keyTag(dnskeyData(algorithm, bytes, flags));
      keys.push({ tag, flags, algorithm, publicKey: bytes.toString("base64"), ...ownerIn(before) });
    }
  }
  if (dnskeyLines.length === 0)
    faults.push(
      badKey(
        "there is no DNSKEY record",
        "give a record such as `257 3 13 mdsswUyr…`, a .key file of BIND, or the output of dig",
      ),
    );
  return faults.length > 0 ? failAll(faults) : ok(keys);
}

const dnskey = /(?:^|^(?<before>.*)\sDNSKEY)\s*\b(?<flags>\d+)\s+3\s+(?<algorithm>\d+)\s+(?<key>[\w+/=\s]+)$/i;

/** `@` and an empty owner mean the zone, whatever it is called. */
function ownerIn(before: string): { readonly owner?: string } {
  const [first = ""] = before.split(/\s/);
  return /^(?:@|IN|\d+|)$/i.test(first) ? {} : { owner: zoneNameOf(first) };
}

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

const published = ({ tag, flags, algorithm, publicKey }: PublicKey, added: Instant): MultiSignerKey => ({
  tag,
  flags,
  algorithm,
  publicKey,
  added,
});

/** Ignores the zone's own keys, so that the whole DNSKEY set of the other server can be given. */
export function mergeMultiSignerKeys(
  zone: string,
  { keys, others = [] }: Pick<ZoneSigning, "keys" | "others">,
  publicKeys: readonly PublicKey[],
  now: Instant,
): Result<readonly MultiSignerKey[]> {
  const isSame = (a: Pick<PublicKey, "publicKey">) => (b: Pick<PublicKey, "publicKey">) => a.publicKey === b.publicKey;
  const misplaced = publicKeys.find(({ owner }) => owner !== undefined && owner !== zone);
  if (misplaced !== undefined)
    return fail(
      badKey(
        `key ${misplaced.tag} belongs to ${misplaced.owner}, not to ${zone}`,
        `give the DNSKEY records of ${zone}`,
      ),
    );
  const foreign = publicKeys.filter((each) => !keys.some(isSame(each)));
  const different = foreign.find(({ algorithm }) => keys.some((key) => key.algorithm !== algorithm));
  if (different !== undefined)
    return fail(
      badKey(
        `key ${different.tag} uses algorithm ${different.algorithm}, but ${zone} uses ${[...new Set(keys.map(({ algorithm }) => algorithm))].join(", ")}; servers that sign the same zone need the same algorithm (RFC 8901 section 5)`,
        "change the algorithm at one of the servers first",
      ),
    );
  const zoneKey = publicKeys.find((each) => keys.some(isSame(each)) && each.flags !== keyFlags);
  if (zoneKey !== undefined) return fail(notInParent(zoneKey));
  const isNew = (key: PublicKey, at: number) => !others.some(isSame(key)) && foreign.findIndex(isSame(key)) === at;
  const all = [...others, ...foreign.filter(isNew).map((key) => published(key, now))];
  return all.length > mostMultiSignerKeys
    ? fail(
        badKey(
          `at most ${mostMultiSignerKeys} keys of other servers can be published`,
          "withdraw those that are no longer used",
        ),
      )
    : ok(all);
}
