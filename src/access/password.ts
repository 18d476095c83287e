import { randomBytes, scrypt, timingSafeEqual } from "node:crypto";

const [shortest, longest] = [10, 1_000];

export const passwordLength = `${shortest} to ${longest} characters`;

export const isPassword = (text: unknown): text is string =>
  typeof text === "string" && text.length >= shortest && text.length <= longest;

/** What a guess costs: 32 MB and about a tenth of a second. Stored with each hash, so that it can be raised later. */
const cost = { N: 32_768, r: 8, p: 1 };

/** `scrypt$N$r$p$salt$hash`: the method stands in front, so that a later one can be told apart. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16);
  const derived = await derive(password, salt, cost);
  return ["scrypt", cost.N, cost.r, cost.p, salt.toString("base64url"), derived.toString("base64url")].join("$");
}

/** Without a stored hash the work is the same, and the answer no. */
export async function matchesPassword(password: string, stored: string | undefined): Promise<boolean> {
  const [method, N, r, p, salt = "", hash = ""] = (stored ?? nobody).split("$");
  if (method !== "scrypt") return false;
  const wanted = Buffer.from(hash, "base64url");
  const given = await derive(password, Buffer.from(salt, "base64url"), { N: Number(N), r: Number(r), p: Number(p) });
  return stored !== undefined && wanted.length === given.length && timingSafeEqual(wanted, given);
}

const nobody = `scrypt$${cost.N}$${cost.r}$${cost.p}$AAAAAAAAAAAAAAAAAAAAAA$none`;

function derive(password: string, salt: Buffer, { N, r, p }: typeof cost): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  // One text has several ways to be written in Unicode, and keyboards differ in which they send.
  scrypt(password.normalize("NFC"), salt, 32, { N, r, p, maxmem: 256 * N * r }, (error, derived) => {
    if (error === null) resolve(derived);
    else reject(error);
  });
  return promise;
}
