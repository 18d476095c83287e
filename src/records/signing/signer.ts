import {
  createCipheriv,
  createDecipheriv,
  createPrivateKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  randomInt,
  sign,
} from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { basename } from "node:path";
import { promisify } from "node:util";
import { type Algorithm, algorithms } from "../../core/dnssec/codes.ts";
import type { SetSignatures, ToSign, UsedKey } from "../../core/dnssec/plan-signing.ts";
import { dnskeyData, joined, keyTag, signatureInput } from "../../core/dnssec/records.ts";
import { type SignedName, soaExpiry } from "../../core/dnssec/signed-name.ts";
import type { Instant } from "../../core/instant.ts";
import { types } from "../../lib/dns/codes.ts";
import { StoreBusy } from "../../lib/limits/store-busy.ts";
import type { SigningKey } from "../model.ts";
import { type SigningThread, startSigningThread } from "./signing-thread.ts";

/** The private part of a key, encrypted. */
export type EncryptedKey = { readonly id: string; readonly encrypted: string };

/**
 * Creates keys and signs with them. Private keys are encrypted with a key file, which is not part of the store or its
 * backups.
 */
export type Signer = {
  readonly generateKey: (
    algorithm: Algorithm,
    now: Instant,
  ) => { readonly key: SigningKey; readonly encrypted: EncryptedKey };
  readonly encryptKey: (id: string, key: KeyObject) => EncryptedKey;
  readonly decryptKey: (key: EncryptedKey) => KeyObject;
  /** For other secrets that have to be stored; `id` says what it is for. */
  readonly encryptText: (id: string, text: string) => string;
  readonly decryptText: (id: string, encrypted: string) => string;
  /** Which of these keys have not been loaded yet, by id. */
  readonly notLoaded: (keys: readonly UsedKey[]) => readonly string[];
  readonly load: (keys: readonly EncryptedKey[]) => void;
  /** Blocks; for a few signatures inside a transaction. */
  readonly signNow: (zone: string, work: readonly ToSign[], at: SigningTime) => readonly SetSignatures[];
  /** In other threads, for many; with a low priority only where the system allows that. */
  readonly offThread: (isLowPriority: boolean) => OffThreadSigner;
};

export type OffThreadSigner = {
  readonly sign: (zone: string, work: readonly ToSign[], at: SigningTime) => Promise<readonly SetSignatures[]>;
  readonly end: () => Promise<void>;
};

/** `until`: when the signatures expire, in seconds; if undefined, after the usual time. */
export type SigningTime = { readonly now: Instant; readonly until: number | undefined };

/**
 * The key file is missing, unreadable, or not the one that the keys were encrypted with. Callers of the APIs see the
 * message, so it does not contain the folder. It works again once the file is there, without a restart.
 */
class KeyFileTrouble extends StoreBusy {
  constructor(message: string, options?: ErrorOptions) {
    super(message, { ...options, retryAfter: 60 });
  }
}

const day = 86_400;
/** How long signatures are valid, in seconds. They begin in the past, because other clocks may be slow. */
const validity = { before: 3_600, after: 21 * day, jitter: 2 * day };
/** In seconds. The clocks of two nodes may differ by this much. */
export const clockTolerance = 300;
/** In seconds. */
const mostSkew = 90 * day;

/** When the last write was, by its own clock, from the expiry of the SOA record's signature. */
export const signedAt = (apex: SignedName | undefined): Instant => ((soaExpiry(apex) ?? 0) - validity.after) * 1000;

/**
 * The clock is so far behind the last write that its signatures would have expired by the clock of everybody else.
 * Nothing of the zone is signed then, so that it keeps the signatures that it has.
 */
class ClockFarBehind extends StoreBusy {
  constructor(now: Instant, last: Instant) {
    super(
      `the clock of this service (${printDay(now)}) is more than ${mostSkew / day} days behind the last change of the zone (${printDay(last)}), so its records cannot be signed; correct the clock`,
      { retryAfter: 60 },
    );
  }
}

const printDay = (at: Instant): string => new Date(at).toISOString().slice(0, 10);

export const isFarBehind = (apex: SignedName | undefined, now: Instant): boolean =>
  signedAt(apex) - now > mostSkew * 1000;

/**
 * The time for new signatures of a zone. If the clock of the last write was ahead of the current one, one of them is
 * wrong, and we cannot know which: signatures that begin by the current clock and expire by the other one are valid by
 * both. Throws `ClockFarBehind`.
 */
export function signingTime(apex: SignedName | undefined, now: Instant): SigningTime {
  const last = signedAt(apex);
  if (isFarBehind(apex, now)) throw new ClockFarBehind(now, last);
  return { now, until: last - now > clockTolerance * 1000 ? soaExpiry(apex) : undefined };
}

/**
 * Signatures are renewed this many seconds before they expire, so a secondary that was offline for days still has valid
 * ones.
 */
export const renewal = 9 * day;

const p256Prefix = 64;

export class KeyFileSigner implements Signer {
  readonly #keyFile: string;
  readonly #loaded = new Map<string, KeyObject>();
  #secret: Buffer | undefined;

  constructor(keyFile: string) {
    this.#keyFile = keyFile;
  }

  readonly generateKey: Signer["generateKey"] = (algorithm, now) => {
    const { privateKey } =
      algorithm === algorithms.ed25519
        ? generateKeyPairSync("ed25519")
        : generateKeyPairSync("ec", { namedCurve: "prime256v1" });
    const key = describeKey(privateKey, algorithm, now);
    this.#loaded.set(key.id, privateKey);
    return { key, encrypted: this.encryptKey(key.id, privateKey) };
  };

  readonly encryptKey: Signer["encryptKey"] = (id, key) => ({
    id,
    encrypted: this.#encrypt(id, key.export({ type: "pkcs8", format: "der" })),
  });

  readonly decryptKey: Signer["decryptKey"] = ({ id, encrypted }) =>
    createPrivateKey({ key: this.#decrypt(id, encrypted), format: "der", type: "pkcs8" });

  readonly encryptText: Signer["encryptText"] = (id, text) => this.#encrypt(id, Buffer.from(text));

  readonly decryptText: Signer["decryptText"] = (id, encrypted) => this.#decrypt(id, encrypted).toString();

  #encrypt(id: string, bytes: Buffer): string {
    const nonce = randomBytes(12);
    const cipher = createCipheriv("aes-256-gcm", this.#fileKey(true), nonce).setAAD(Buffer.from(id));
    const text = Buffer.concat([cipher.update(bytes), cipher.final()]);
    return Buffer.concat([nonce, cipher.getAuthTag(), text]).toString("base64");
  }

  #decrypt(id: string, encrypted: string): Buffer {
    const bytes = Buffer.from(encrypted, "base64");
    const nonce = bytes.subarray(0, 12);
    const decipher = createDecipheriv("aes-256-gcm", this.#fileKey(false), nonce).setAAD(Buffer.from(id));
    decipher.setAuthTag(bytes.subarray(12, 28));
    try {
      return Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]);
    } catch (error) {
      throw new KeyFileTrouble(
        `the keys in this store were encrypted with another file than the ${basename(this.#keyFile)} of this service; restore the original file`,
        { cause: error },
      );
    }
  }

  readonly notLoaded: Signer["notLoaded"] = (keys) => keys.map(({ id }) => id).filter((id) => !this.#loaded.has(id));

  readonly load: Signer["load"] = (keys) => {
    for (const key of keys) this.#loaded.set(key.id, this.decryptKey(key));
  };

  readonly signNow: Signer["signNow"] = (zone, work, at) =>
    this.#inputs(zone, work, at).map((each) =>
      each.map(({ start, signed, hash, key }) => joined([start, sign(hash, signed, key)])),
    );

  readonly offThread: Signer["offThread"] = (isLowPriority) => {
    // Started when it is needed: a zone that is unsigned has many names, but no signature to make.
    let thread: SigningThread | undefined;
    return {
      sign: async (zone, work, at) => {
        if (isLowPriority) thread ??= startSigningThread();
        const signAll = thread?.sign ?? signInPool;
        const all = this.#inputs(zone, work, at);
        const jobs = all.flat().map(({ hash, signed, key }) => ({ hash, signed, key }));
        const signatures = (await signAll(jobs)).values();
        return all.map((each) => each.map(({ start }) => joined([start, signatures.next().value as Uint8Array])));
      },
      end: async () => await thread?.end(),
    };
  };

  /**
   * What is signed together expires together: it will be renewed together, and the index of expiry times changes in one
   * place only.
   */
  #inputs(zone: string, work: readonly ToSign[], { now, until }: SigningTime) {
    const at = Math.floor(now / 1000);
    const inception = at - validity.before;
    const [latest, jitter] = [until ?? at + validity.after, until === undefined ? randomInt(validity.jitter) : 0];
    return work.map(({ name, covers, ttl, data, keys }) =>
      keys.map((key) => {
        const { tag, algorithm } = key;
        // Every write signs the SOA record, so the expiry of that signature shows when the last write was (`signedAt`).
        const expires = covers === types.soa ? latest : latest - jitter;
        const head = { covers, ttl, tag, algorithm, zone, expires, inception };
        return { ...signatureInput(head, { name, data }), ...signOptionsOf(this.#loadedKey(key), algorithm) };
      }),
    );
  }

  #loadedKey({ id }: UsedKey): KeyObject {
    const key = this.#loaded.get(id);
    if (key === undefined) throw new Error(`the key ${id} was not loaded before it was used`);
    return key;
  }

  #fileKey(mayMake: boolean): Buffer {
    const file = this.#keyFile;
    this.#secret ??= readKeyFile(file) ?? (mayMake ? makeKeyFile(file) : undefined);
    if (this.#secret === undefined) {
      throw new KeyFileTrouble(
        `the key file ${basename(file)} is missing in the data folder of the service, so zones cannot be signed and signed zones cannot be changed; restore your copy of it, or copy it from another node (database backups do not contain it)`,
      );
    }
    return this.#secret;
  }
}

const signInThreadPool = promisify(sign);
const mostInPool = 32;

/** In Node's thread pool, a few at a time, because the database uses the same pool to wait for the disk. */
const signInPool: SigningThread["sign"] = async (jobs) => {
  const signatures: Uint8Array[] = [];
  while (signatures.length < jobs.length) {
    const some = jobs.slice(signatures.length, signatures.length + mostInPool);
    signatures.push(...(await Promise.all(some.map(({ hash, signed, key }) => signInThreadPool(hash, signed, key)))));
  }
  return signatures;
};

/** RFC 6605 section 4: only the two numbers of the signature, without the usual ASN.1 around them. */
const signOptionsOf = (key: KeyObject, algorithm: Algorithm) =>
  algorithm === algorithms.ed25519
    ? { hash: null, key: { key } }
    : { hash: "sha256", key: { key, dsaEncoding: "ieee-p1363" as const } };

/** The entry of a key in the zone's settings. It is not used for anything yet. */
export function describeKey(privateKey: KeyObject, algorithm: Algorithm, created: Instant): SigningKey {
  const bytes = publicPart(privateKey);
  const expected = algorithm === algorithms.ed25519 ? 32 : p256Prefix;
  if (bytes.length !== expected) throw new Error(`a key of algorithm ${algorithm} has ${expected} public bytes`);
  const tag = keyTag(dnskeyData(algorithm, bytes));
  const id = `${tag}-${randomBytes(6).toString("hex")}`;
  return {
    id,
    tag,
    algorithm,
    publicKey: bytes.toString("base64"),
    created,
    shown: false,
    signs: false,
    inParent: false,
  };
}

/** As in a DNSKEY record. */
export function publicPart(privateKey: KeyObject): Buffer {
  const { x = "", y = "" } = privateKey.export({ format: "jwk" });
  return Buffer.concat([x, y].map((part) => Buffer.from(part, "base64url")));
}

function readKeyFile(path: string): Buffer | undefined {
  try {
    const bytes = Buffer.from(readFileSync(path, "utf8").trim(), "base64");
    if (bytes.length !== 32)
      throw new KeyFileTrouble(
        `the key file ${basename(path)} does not contain 32 bytes in base64; restore your copy of it`,
      );
    return bytes;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error instanceof KeyFileTrouble ? error : cannot("be read", path, error);
  }
}

function makeKeyFile(path: string): Buffer {
  const bytes = randomBytes(32);
  try {
    writeFileSync(path, `${bytes.toString("base64")}\n`, { mode: 0o600, flag: "wx", flush: true });
  } catch (error) {
    throw cannot("be created", path, error);
  }
  return bytes;
}

const cannot = (what: string, path: string, cause: unknown): KeyFileTrouble =>
  new KeyFileTrouble(
    `the key file ${basename(path)} cannot ${what} (${(cause as NodeJS.ErrnoException).code}); make sure that the user who runs the service can read and write its data folder`,
    { cause },
  );
