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

/** Characters. NIST SP 800-63B requires 8 and recommends more without a second factor. */
const [shortest, longest] = [12, 1_000];

/** Characters that must remain of a password without the parts that attackers try first. */
const leastOwn = 6;

/**
 * Why a password is refused, and what to do; undefined for a good one. Most common passwords are a word, a name or a
 * row of keys, followed by a number: those parts do not count here, in any case and spelling.
 */
export function passwordFault(text: unknown, name: string): string | undefined {
  if (typeof text !== "string" || text.length < shortest || text.length > longest)
    return `A password must have ${shortest} to ${longest} characters.`;
  return ownPart(text, name).length < leastOwn ? tooCommon : undefined;
}

const tooCommon =
  "This password is easy to guess: it consists of a common word, a name or a simple pattern. " +
  "Choose another, for example four unrelated words.";

/** The shortest remainder over all orders of removal: a row of keys may be part of a word, and a word part of a row. */
function ownPart(password: string, name: string): string {
  const plain = password.normalize("NFKC").toLowerCase();
  const names = name.toLowerCase().split(/[^\p{L}\p{N}]+/u);
  const words = [...names, ...common].filter((word) => word.length > 2).toSorted((a, b) => b.length - a.length);
  const withoutWords = (text: string) => words.reduce((left, word) => left.replaceAll(word, " "), text);
  const spelled = (text: string) => text.replaceAll(/[01345789@$!|+]/g, (sign) => meant[sign] ?? sign);
  const own = [plain, withoutRows(plain)]
    .flatMap((text) => [text, spelled(text)])
    .map((text) => withoutRows(withoutRepeats(withoutWords(text))).replaceAll(/[^\p{L}\p{N}]/gu, ""));
  return own.toSorted((a, b) => a.length - b.length)[0] ?? "";
}

const withoutRepeats = (text: string): string => text.replaceAll(/(.{1,8}?)\1+/gu, "$1");

/** Removes rows of keys, years, and runs of the alphabet. */
function withoutRows(text: string): string {
  let left = text.replaceAll(/(?:19|20)\d\d/g, " ");
  for (const row of rows) {
    for (let length = row.length; length >= 3; length -= 1)
      for (let at = 0; at + length <= row.length; at += 1) left = left.replaceAll(row.slice(at, at + length), " ");
  }
  return left;
}

const turned = (text: string): string => text.split("").toReversed().join("");
const forwards = [
  "abcdefghijklmnopqrstuvwxyz",
  "01234567890",
  "qwertyuiop",
  "qwertzuiop",
  "asdfghjkl",
  "zxcvbnm",
  "yxcvbnm",
];
const columns = ["1qaz", "2wsx", "3edc", "4rfv", "5tgb", "6zhn", "6yhn", "7ujm", "!@#$%^&*()"];
const zigzags = [
  "1q2w3e4r5t6y7u8i9o0p",
  "q1w2e3r4t5y6u7i8o9p0",
  "5t6z7u",
  "t5z6u7",
  "qawsedrftgyhujikolp",
  "azsxdcfvgbhnjm",
];
const rows = [...forwards, ...columns, ...zigzags].flatMap((row) => [row, turned(row)]);

/** Digits and signs that people write instead of letters. */
const meant: Readonly<Record<string, string>> = {
  ...{ "0": "o", "1": "i", "3": "e", "4": "a", "5": "s", "7": "t", "8": "b", "9": "g" },
  ...{ "@": "a", $: "s", "!": "i", "|": "l", "+": "t" },
};

/** Our own choice: words that common passwords consist of, and words related to this program. */
const common = `
  password passwort passwd pass kennwort geheim secret login signin welcome willkommen hello hallo letmein access
  admin administrator root toor user guest test tester default changeme change please temp demo system master super
  superman batman dragon monkey shadow sunshine princess prinzessin football fussball baseball soccer hockey
  iloveyou loveyou love baby angel flower freedom whatever trustno trust killer pepper cookie cheese summer winter
  spring autumn sommer herbst january february monday friday michael michelle jennifer jessica daniel thomas andrea
  charlie jordan ashley computer internet network netzwerk server service router firewall gateway office company
  google facebook windows linux debian ubuntu samsung starwars pokemon matrix hunter ranger mustang ferrari porsche
  moor moorddns records record console opnsense pfsense hetzner fritzbox dyndns domain zone updater nameserver qwerty
  the and for you not are yes
`
  .trim()
  .split(/\s+/);
