import { randomBytes, scrypt, timingSafeEqual } from "node:crypto";

/**
 * The cost of one guess: 128 MB and a few tenths of a second, as OWASP recommends. Stored with each hash, so that it
 * can be raised later.
 */
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

/**
 * Without a stored hash, or with an old one, it does at least the same work, so that the time does not reveal which
 * users exist.
 */
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
  const derivedKey = await derive(password, Buffer.from(salt, "base64url"), storedCost);
  const matches = stored !== undefined && wanted.length === derivedKey.length && timingSafeEqual(wanted, derivedKey);
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

/** Characters. NIST SP 800-63B requires 8 and recommends more without a second factor. */
const [shortest, longest] = [12, 1_000];

/** Different letters that must remain of a password without the parts that attackers try first. */
const leastOwn = 6;

/**
 * Why a password is refused, and what to do; undefined for a good one. Most common passwords are a word, a name or a
 * row of keys, with digits and signs around it: none of these count.
 */
export function passwordFault(text: unknown, name: string): string | undefined {
  if (typeof text !== "string" || text.length < shortest || text.length > longest)
    return `A password must have ${shortest} to ${longest} characters.`;
  return new Set(ownLetters(text, name)).size < leastOwn ? tooCommon : undefined;
}

const tooCommon =
  "This password is easy to guess: it consists of a common word, a name or a simple pattern. " +
  "Choose another, for example four unrelated words.";

const lettersOf = (text: string): string =>
  text
    .normalize("NFKC")
    .toLowerCase()
    .replaceAll(/[^\p{L}]/gu, "");

function ownLetters(password: string, name: string): string {
  const names = name.split(/[^\p{L}]+/u).map(lettersOf);
  const words = [...names, ...common].filter((word) => word.length > 2).toSorted((a, b) => b.length - a.length);
  return words.reduce((left, word) => left.replaceAll(word, ""), lettersOf(password));
}

/** Our own choice: words and rows of keys that common passwords consist of, and words related to this program. */
const common = `
  password passwort passwd pass kennwort geheim secret login signin welcome willkommen hello hallo letmein access
  admin administrator root toor user guest test tester default changeme change please temp demo system master super
  superman batman dragon monkey shadow sunshine princess prinzessin football fussball baseball soccer hockey
  iloveyou loveyou love baby angel flower freedom whatever trustno trust killer pepper cookie cheese summer winter
  spring autumn sommer herbst january february monday friday michael michelle jennifer jessica daniel thomas andrea
  charlie jordan ashley computer internet network netzwerk server service router firewall gateway office company
  google facebook windows linux debian ubuntu samsung starwars pokemon matrix hunter ranger mustang ferrari porsche
  moor moorddns records record console opnsense pfsense hetzner fritzbox dyndns domain zone updater nameserver
  abcdefghijklm nopqrstuvwxyz abcdefghijkl abcdef qwertyuiop qwertzuiop qwerty qwertz asdfghjkl asdfgh asdf zxcvbnm
  yxcvbnm qazwsxedc qazwsx qawsedrftgyh azsxdcfvgbhn poiuytrewq lkjhgfdsa
  pwd psswrd the and for you not are yes
`
  .trim()
  .split(/\s+/);
