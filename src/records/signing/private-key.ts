import { createPrivateKey, type KeyObject } from "node:crypto";
import { type Algorithm, algorithms } from "../../core/dnssec/codes.ts";
import { fail, ok, type Result } from "../../core/result.ts";

export type ReadKey = { readonly key: KeyObject; readonly algorithm: Algorithm };

/** A private key as other servers keep it: PKCS #8 in PEM, or the `.private` file of BIND and Knot. */
export function readPrivateKey(text: string): Result<ReadKey> {
  try {
    const key = text.includes("-----BEGIN") ? createPrivateKey(text) : fromBind(text);
    const algorithm = key && algorithmOf(key);
    if (key !== undefined && algorithm !== undefined) return ok({ key, algorithm });
  } catch {
    // The parser's error is not passed on: it may quote the text, which is a secret.
  }
  return fail({
    code: "bad-key",
    where: "key",
    message: "this is not a private key for algorithm 13 (ECDSA P-256) or 15 (Ed25519)",
    todo: "give the .private file of BIND or Knot, or a key in PEM (PKCS #8)",
  });
}

function algorithmOf({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): Algorithm | undefined {
  if (asymmetricKeyType === "ed25519") return algorithms.ed25519;
  return asymmetricKeyType === "ec" && asymmetricKeyDetails?.namedCurve === "prime256v1"
    ? algorithms.ecdsap256
    : undefined;
}

/** The number alone, without the frame that PKCS #8 puts around it (RFC 5915, RFC 8410). */
function fromBind(text: string): KeyObject | undefined {
  const field = (name: string) => new RegExp(`^${name}:\\s*(\\S+)`, "m").exec(text)?.[1];
  const [number, secret] = [Number(field("Algorithm")), Buffer.from(field("PrivateKey") ?? "", "base64")];
  if (secret.length !== 32) return undefined;
  const frame = frames[number];
  return frame && createPrivateKey({ key: Buffer.concat([frame, secret]), format: "der", type: "pkcs8" });
}

const frames: Readonly<Record<number, Buffer>> = {
  13: Buffer.from("3041020100301306072a8648ce3d020106082a8648ce3d030107042730250201010420", "hex"),
  15: Buffer.from("302e020100300506032b657004220420", "hex"),
};

/** For another server that takes the zone over. */
export function printPrivateKey({ key, algorithm }: ReadKey): string {
  const { d = "" } = key.export({ format: "jwk" });
  const name = algorithm === algorithms.ed25519 ? "ED25519" : "ECDSAP256SHA256";
  const secret = Buffer.from(d, "base64url").toString("base64");
  return `Private-key-format: v1.3\nAlgorithm: ${algorithm} (${name})\nPrivateKey: ${secret}\n`;
}
