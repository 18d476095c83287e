import { createPrivateKey, type KeyObject } from "node:crypto";
import { type Algorithm, algorithmName, algorithms, keyFlags } from "../../core/dnssec/codes.ts";
import type { Instant } from "../../core/instant.ts";
import { type Fault, fail, ok, type Result } from "../../core/result.ts";
import type { SigningKey, ZoneSigning } from "../model.ts";
import { notInParent, otherAlgorithm, readDnskeys } from "./multi-signer-keys.ts";
import { publicPart } from "./signer.ts";

export type ReadKey = { readonly key: KeyObject; readonly algorithm: Algorithm };

/**
 * Reads a private key in the formats of other servers: PKCS #8 in PEM, or BIND's `.private` file. `beside` is the text
 * of its `.key` file, if there is one. The text is secret, so no message quotes it.
 */
export function readPrivateKey(text: string, beside?: string): Result<ReadKey> {
  const read = text.includes("-----BEGIN") ? fromPem(text) : fromBind(text);
  if (!read.ok || beside === undefined) return read;
  const published = readDnskeys(beside);
  if (!published.ok) return published;
  const own = publicPart(read.value.key).toString("base64");
  const match = published.value.find(({ publicKey }) => publicKey === own);
  if (match === undefined)
    return fail(
      badKey("the .key file next to the private key belongs to a different key", "give both files of the same key"),
    );
  if (match.flags !== keyFlags) return fail(notInParent(match));
  return read;
}

function fromPem(text: string): Result<ReadKey> {
  if (/ENCRYPTED/.test(text))
    return fail(badKey("the private key is encrypted with a password", "decrypt it first: openssl pkcs8 -in FILE"));
  try {
    const key = createPrivateKey(text);
    const algorithm = algorithmOf(key);
    if (algorithm === algorithms.ecdsap256) {
      const { d = "" } = key.export({ format: "jwk" });
      return isInRange(Buffer.from(d, "base64url")) ? ok({ key, algorithm }) : fail(outOfRange);
    }
    if (algorithm === algorithms.ed25519) return ok({ key, algorithm });
    if (algorithm !== undefined) return fail(otherAlgorithm(algorithm));
  } catch {
    // The error is dropped, because it could quote the secret text.
  }
  return fail(noKey);
}

/** An RSA key does not say which hash it is used with; the usual one is assumed. */
function algorithmOf({ asymmetricKeyType: type, asymmetricKeyDetails: details }: KeyObject): number | undefined {
  return algorithmsOfKeys[(type === "ec" ? details?.namedCurve : type) ?? ""];
}

const algorithmsOfKeys: Readonly<Record<string, number>> = {
  prime256v1: 13,
  secp384r1: 14,
  ed25519: 15,
  ed448: 16,
  rsa: 8,
};

/** BIND stores only the number, without the PKCS #8 structure around it (RFC 5915, RFC 8410). */
function fromBind(text: string): Result<ReadKey> {
  const field = (name: string) => new RegExp(`^${name}:\\s*(\\S+)`, "m").exec(text)?.[1];
  const algorithm = Number(field("Algorithm"));
  if (!(algorithm > 0)) return fail(noKey);
  const frame = algorithm === 13 || algorithm === 15 ? frames[algorithm] : undefined;
  if (frame === undefined || (algorithm !== 13 && algorithm !== 15)) return fail(otherAlgorithm(algorithm));
  if (field("Label") !== undefined)
    return fail(
      badKey("the private key is in a hardware module (HSM)", "move the zone without its key: see docs/dnssec.md"),
    );
  const secret = Buffer.from(field("PrivateKey") ?? "", "base64");
  if (algorithm === algorithms.ecdsap256 && secret.length === 32 && !isInRange(secret)) return fail(outOfRange);
  try {
    if (secret.length === 32)
      return ok({
        key: createPrivateKey({ key: Buffer.concat([frame, secret]), format: "der", type: "pkcs8" }),
        algorithm,
      });
  } catch {
    // The error is dropped, because it could quote the secret text.
  }
  return fail(noKey);
}

const frames: Readonly<Record<Algorithm, Buffer>> = {
  13: Buffer.from("3041020100301306072a8648ce3d020106082a8648ce3d030107042730250201010420", "hex"),
  15: Buffer.from("302e020100300506032b657004220420", "hex"),
};

/** The number of points of P-256. */
const order = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;

function isInRange(secret: Buffer): boolean {
  const number = BigInt(`0x${secret.toString("hex") || "0"}`);
  return number > 0n && number < order;
}

const badKey = (message: string, todo: string): Fault => ({ code: "bad-key", where: "key", message, todo });
const outOfRange = badKey(
  "the private key is not a number in the range of the curve P-256, so it is damaged",
  "copy it from the other server again",
);
const noKey = badKey(
  "this is not a private key for algorithm 13 (ECDSAP256SHA256) or 15 (ED25519)",
  "give a .private file (BIND, PowerDNS), or a PEM file (PKCS #8), as Knot stores it",
);

/** The key as BIND's `.private` file, which other servers can import. */
export function printPrivateKey(privateKey: KeyObject, { algorithm, created }: SigningKey): string {
  const { d = "" } = privateKey.export({ format: "jwk" });
  const secret = Buffer.from(d, "base64url").toString("base64");
  const at = bindTime(created);
  return `Private-key-format: v1.3\nAlgorithm: ${algorithm} (${algorithmName(algorithm)})\nPrivateKey: ${secret}
Created: ${at}\nPublish: ${at}\nActivate: ${at}\n`;
}

/**
 * BIND's `.state` file. Without it, a dnssec-policy treats the key as a KSK that it does not need, and replaces it
 * immediately.
 */
export function printKeyState(key: SigningKey, { keys, stage }: Pick<ZoneSigning, "keys" | "stage">): string {
  const at = bindTime(key.created);
  const state = (is: boolean) => (is ? "omnipresent" : "hidden");
  const states = {
    DNSKEY: state(key.shown),
    ZRRSIG: state(key.signs),
    KRRSIG: state(key.shown),
    DS: state(key.inParent && !stage.startsWith("new")),
  };
  return [
    // BIND skips the first line.
    `; This is the state of key ${key.tag}`,
    ...[`Algorithm: ${key.algorithm}`, "Length: 256", "Lifetime: 0", "KSK: yes", "ZSK: yes"],
    ...["Generated", "Published", "Active", ...Object.keys(states).map((name) => `${name}Change`)].map(
      (name) => `${name}: ${at}`,
    ),
    ...Object.entries(states).map(([name, is]) => `${name}State: ${is}`),
    `GoalState: ${state(key === keys.at(-1))}\n`,
  ].join("\n");
}

const bindTime = (at: Instant): string => new Date(at).toISOString().replaceAll(/[-:T]|\..*/g, "");
