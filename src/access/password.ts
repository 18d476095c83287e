import { randomBytes, scrypt, timingSafeEqual } from "node:crypto";

/** What a guess costs: 128 MB and some tenths of a second, as OWASP recommends. Stored with each hash, so that it can be raised later. */
const costOfToday = { N: 131_072, r: 8, p: 1 };

/** `scrypt$N$r$p$salt$hash`: the method stands in front, so that a later one can be told apart. */
export async function hashPassword(password: string, cost = costOfToday): Promise<string> {
  const salt = randomBytes(16);
  const derived = await derive(password, salt, cost);
  return ["scrypt", cost.N, cost.r, cost.p, salt.toString("base64url"), derived.toString("base64url")].join("$");
}

export type PasswordCheck = {
  readonly matches: boolean;
  /** What to store instead, when the password matches a hash that was cheaper than they are today. */
  readonly renewed?: string;
};

/** Without a stored hash, or with an old one, the work is at least the same: how long it takes does not tell who there is. */
export async function checkPassword(
  password: string,
  stored: string | undefined,
  cost = costOfToday,
): Promise<PasswordCheck> {
  const nobody = `scrypt$${cost.N}$${cost.r}$${cost.p}$AAAAAAAAAAAAAAAAAAAAAA$none`;
  const [method, N, r, p, salt = "", hash = ""] = (stored ?? nobody).split("$");
  if (method !== "scrypt") return { matches: false };
  const had = { N: Number(N), r: Number(r), p: Number(p) };
  const wanted = Buffer.from(hash, "base64url");
  const given = await derive(password, Buffer.from(salt, "base64url"), had);
  const matches = stored !== undefined && wanted.length === given.length && timingSafeEqual(wanted, given);
  if (had.N * had.r * had.p >= cost.N * cost.r * cost.p) return { matches };
  const renewed = await hashPassword(password, cost);
  return matches ? { matches, renewed } : { matches };
}

function derive(password: string, salt: Buffer, { N, r, p }: typeof costOfToday): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  // One text has several ways to be written in Unicode, and keyboards differ in which they send.
  scrypt(password.normalize("NFC"), salt, 32, { N, r, p, maxmem: 256 * N * r }, (error, derived) => {
    if (error === null) resolve(derived);
    else reject(error);
  });
  return promise;
}
