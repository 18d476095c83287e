import { createPublicKey } from "node:crypto";
import { type Algorithm, algorithms } from "../../core/dnssec/codes.ts";

/** Whether these bytes of a DNSKEY record are a point of the curve, so that a signature can be verified with them. */
export const isOnCurve = (algorithm: Algorithm, bytes: Buffer): boolean =>
  algorithm === algorithms.ed25519 ? isOnEdwards(bytes) : isOnP256(bytes);

function isOnP256(bytes: Buffer): boolean {
  const [x, y] = [bytes.subarray(0, 32), bytes.subarray(32)].map((part) => part.toString("base64url"));
  try {
    createPublicKey({ key: { kty: "EC", crv: "P-256", x: x ?? "", y: y ?? "" }, format: "jwk" });
    return true;
  } catch {
    return false;
  }
}

const p = 2n ** 255n - 19n;
/** -121665/121666 */
const d = 37095705934669439343138083508754565189542113879843219016388785533085940283555n;

/** RFC 8032 section 5.1.3: x² = (y² − 1) / (d·y² + 1) must have a root; OpenSSL does not check this. */
function isOnEdwards(bytes: Buffer): boolean {
  const y = BigInt(`0x${Buffer.from(bytes).reverse().toString("hex")}`) & (2n ** 255n - 1n);
  if (y >= p) return false;
  const [above, below] = [(y * y - 1n + p) % p, (d * y * y + 1n) % p];
  // A fraction is a square exactly if the product of both parts is one.
  return powerOf((above * below) % p, (p - 1n) / 2n) <= 1n;
}

function powerOf(base: bigint, exponent: bigint): bigint {
  let [result, square] = [1n, base];
  for (let left = exponent; left > 0n; left >>= 1n) {
    if (left & 1n) result = (result * square) % p;
    square = (square * square) % p;
  }
  return result;
}
