import { absoluteName, apex } from "../names/name.ts";
import { typeCode } from "../rdata/table.ts";
import { base32hex } from "../records/nsec3-hash.ts";
import type { RRset } from "../records/rrset.ts";
import type { Steps } from "../steps.ts";
import { placeOf } from "./canonical.ts";
import { type Chain, linkingChain } from "./chain.ts";
import { type Algorithm, dnssecTypes } from "./codes.ts";
import { createDrafts, type Draft, madeKey, signaturesIn, signedName } from "./drafts.ts";
import { hashedName } from "./records.ts";
import {
  dataOfText,
  haveSame,
  headOfSignature,
  madeLike,
  type SignedName,
  sameMade,
  textOfData,
  typeNamed,
} from "./signed-name.ts";

/** The signed names of a zone as they are stored. */
export type Names = Chain & { readonly at: (owner: string) => SignedName | undefined };

export type Denial = "nsec" | "nsec3";

/** A key in use, by its id: the private part is not known here. */
export type UsedKey = { readonly id: string; readonly tag: number; readonly algorithm: Algorithm };

/** How a zone is signed. Times are in seconds. */
export type Signing = {
  readonly denial: Denial;
  /** They sign the records of the zone. */
  readonly zoneKeys: readonly UsedKey[];
  /** They sign the DNSKEY, CDS and CDNSKEY sets. */
  readonly keySetKeys: readonly UsedKey[];
  /** Sets that DNSSEC adds to the apex. */
  readonly apexSets: readonly { readonly type: number; readonly data: readonly Uint8Array[] }[];
  /** Signatures that expire earlier are renewed. */
  readonly renewBefore: number;
  /** Signatures that begin later are replaced: the clock was ahead. */
  readonly now: number;
};

/** A name that a write touches: all its sets after the write, and the types that the write changed. */
export type Touched = { readonly sets: readonly RRset[]; readonly changed: ReadonlySet<RRset["type"]> };

export type SigningWish = {
  readonly zone: string;
  /** For sets without their own TTL. */
  readonly ttl: number;
  /** How long negative answers may be cached. */
  readonly negativeTtl: number;
  readonly signing: Signing;
  /** The apex is always one of them, because every write changes the SOA record. */
  readonly touched: ReadonlyMap<string, Touched>;
  readonly names: Names;
  /** Every stored name, when `touched` contains every name of the zone. */
  readonly whole?: readonly SignedName[];
};

/** One set that needs a signature by each of these keys. `done` takes the data of the RRSIG records. */
export type ToSign = {
  readonly name: string;
  readonly covers: number;
  readonly ttl: number;
  /** Made when it is signed: a large zone would keep all of it in memory until then. */
  readonly data: () => readonly Uint8Array[];
  readonly keys: readonly UsedKey[];
  readonly done: (signatures: readonly Uint8Array[]) => void;
};

export type NameChange = { readonly before: SignedName | undefined; readonly after: SignedName | undefined };

export type SigningPlan = {
  readonly toSign: readonly ToSign[];
  /** Call it when everything is signed. */
  readonly changes: () => Steps<readonly NameChange[]>;
};

/** In seconds. Resolvers may cache an old DNSKEY set for this long, so every change of keys waits for it. */
export const keyTtl = 3_600;

/**
 * What a write changes in the signed part of its zone (RFC 4035 section 2). It looks only at the names that are touched, the names
 * above them, and their neighbours in the chain. `"whole"`: a delegation or a DNAME above other names was added or removed, so the
 * write must be planned with every name of the zone.
 */
export function* planningSigning(wish: SigningWish): Steps<SigningPlan | "whole"> {
  const { zone, signing, touched, names, whole, negativeTtl } = wish;
  const drafts = createDrafts(names.at, whole !== undefined);
  const toSign: ToSign[] = [];

  /** Keeps the stored signatures if they are still good. */
  const sign = (draft: Draft, at: string, set: Pick<ToSign, "covers" | "ttl" | "data">, same: boolean): void => {
    const key = madeKey(at, set.covers);
    const keys = keySets.has(set.covers) ? signing.keySetKeys : signing.zoneKeys;
    const stored = same && draft.known ? signaturesIn(draft.known).get(key) : undefined;
    if (stored !== undefined && areGood(stored, set.ttl, keys, signing)) {
      draft.signatures.set(key, stored);
      return;
    }
    draft.signatures.delete(key);
    const done: ToSign["done"] = (signatures) =>
      draft.signatures.set(
        key,
        signatures.map((data) => textOfData(dnssecTypes.rrsig, data)),
      );
    toSign.push({ name: absoluteName(at, zone), keys, done, ...set });
  };

  for (const [owner, { sets }] of touched) {
    yield;
    const same = drafts.enter(
      owner,
      sets.filter((set) => set.records.length > 0).map((set) => typeCode(set.type)),
    );
    if (!same && whole === undefined) return "whole";
  }
  for (const [owner, { sets, changed }] of touched) {
    yield;
    const standing = drafts.standingOf(owner);
    for (const set of sets) {
      const covers = typeCode(set.type);
      if (set.records.length === 0 || standing === "hidden" || (standing === "cut" && covers !== dnssecTypes.ds))
        continue;
      const data = () => set.records.map(({ rdata }) => dataOfText(set.type, rdata));
      sign(drafts.at(owner), owner, { covers, ttl: set.ttl ?? wish.ttl, data }, !changed.has(set.type));
    }
  }
  const top = drafts.at(apex);
  for (const { type: covers, data } of signing.apexSets) {
    const type = typeNamed(covers);
    const values = textsOf(covers, data);
    const old = top.known?.made.find((set) => set.type === type && set.owner === apex);
    const same =
      old?.ttl === keyTtl && old.values.length === values.length && values.every((v, i) => v === old.values[i]);
    top.sets.set(madeKey(apex, covers), { owner: apex, type, ttl: keyTtl, values });
    sign(top, apex, { covers, ttl: keyTtl, data: () => data }, same);
  }
  const linkOf = (owner: string): string =>
    signing.denial === "nsec" ? placeOf(owner) : base32hex(hashedName(absoluteName(owner, zone)));
  const chain = whole === undefined ? names : noChain;
  const linked = yield* linkingChain({
    zone,
    denial: signing.denial,
    ttl: negativeTtl,
    drafts,
    touched,
    chain,
    linkOf,
  });
  for (const { draft, at, covers, text, same } of linked) {
    yield;
    sign(draft, at, { covers, ttl: negativeTtl, data: () => [dataOfText(typeNamed(covers), text)] }, same);
  }

  return {
    toSign,
    *changes() {
      const seen = new Set<string>();
      const changes: NameChange[] = [];
      for (const draft of drafts.all()) {
        yield;
        const change = { before: draft.known, after: signedName(draft) };
        seen.add(draft.owner);
        if (isChange(change)) changes.push(change);
      }
      for (const before of whole ?? []) if (!seen.has(before.owner)) changes.push({ before, after: undefined });
      return changes;
    },
  };
}

/** Cached, because the caller passes the same array from one write to the next. */
function textsOf(type: number, data: readonly Uint8Array[]): readonly string[] {
  const texts = textsKept.get(data) ?? data.map((each) => textOfData(type, each));
  textsKept.set(data, texts);
  return texts;
}
const textsKept = new WeakMap<readonly Uint8Array[], readonly string[]>();

const keySets: ReadonlySet<number> = new Set([dnssecTypes.dnskey, dnssecTypes.cds, dnssecTypes.cdnskey]);
const noChain: Chain = { before: () => undefined, after: () => undefined };

/** Whether the signatures are by exactly these keys, for this TTL, and valid for long enough. */
function areGood(
  stored: readonly string[],
  ttl: number,
  keys: readonly UsedKey[],
  { renewBefore, now }: Signing,
): boolean {
  if (stored.length !== keys.length) return false;
  const heads = stored.map(headOfSignature);
  return (
    heads.every((head) => head.ttl === ttl && head.expires >= renewBefore && head.inception <= now) &&
    keys.every(({ tag }) => heads.some((head) => head.tag === tag))
  );
}

const isChange = ({ before, after }: NameChange): boolean =>
  before === undefined || after === undefined ? before !== after : !saySame(before, after);

const saySame = (a: SignedName, b: SignedName): boolean =>
  a.link === b.link &&
  a.children === b.children &&
  haveSame(a.types, b.types) &&
  a.made.length === b.made.length &&
  a.made.every((set) => {
    const other = madeLike(b.made, set);
    return other !== undefined && sameMade(set, other);
  });
