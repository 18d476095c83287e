import { randomBytes, scrypt, timingSafeEqual } from "node:crypto";

/** The cost of one guess: 128 MB and a few tenths of a second, as OWASP recommends. Stored with each hash, so that it can be raised later. */
const currentCost: PasswordCost = { N: 131_072, r: 8, p: 1 };

export type PasswordCost = { readonly N: number; readonly r: number; readonly p: number };

/** `scrypt$N$r$p$salt$hash`: the method comes first, so that a later one can be distinguished. */
export async function hashPassword(password: string, cost = currentCost): Promise<string> {
  const salt = randomBytes(16);
  const derived = await derive(password, salt, cost);
  return ["scrypt", cost.N, cost.r, cost.p, salt.toString("base64url"), derived.toString("base64url")].join("$");
}

export type PasswordCheck = {
  readonly matches: boolean;
  /** A new hash to store, if the password matches one that is cheaper than today's. */
  readonly renewed?: string;
};

/** Without a stored hash, or with an old one, it does at least the same work, so that the time does not reveal which users exist. */
export async function checkPassword(
  password: string,
  stored: string | undefined,
  cost = currentCost,
): Promise<PasswordCheck> {
  const nobody = `scrypt$${cost.N}$${cost.r}$${cost.p}$AAAAAAAAAAAAAAAAAAAAAA$none`;
  const [method, N, r, p, salt = "", hash = ""] = (stored ?? nobody).split("$");
  if (method !== "scrypt") return { matches: false };
  const storedCost = { N: Number(N), r: Number(r), p: Number(p) };
  const wanted = Buffer.from(hash, "base64url");
  const given = await derive(password, Buffer.from(salt, "base64url"), storedCost);
  const matches = stored !== undefined && wanted.length === given.length && timingSafeEqual(wanted, given);
  if (storedCost.N * storedCost.r * storedCost.p >= cost.N * cost.r * cost.p) return { matches };
  const renewed = await hashPassword(password, cost);
  return matches ? { matches, renewed } : { matches };
}

function derive(password: string, salt: Buffer, { N, r, p }: PasswordCost): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  // Unicode has several encodings of the same text, and keyboards differ in which they send.
  scrypt(password.normalize("NFC"), salt, 32, { N, r, p, maxmem: 256 * N * r }, (error, derived) => {
    if (error === null) resolve(derived);
    else reject(error);
  });
  return promise;
}
