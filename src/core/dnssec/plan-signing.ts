import { absoluteName, apex } from "../names/name.ts";
import { typeCode } from "../rdata/table.ts";
import type { RRset } from "../records/rrset.ts";
import type { Steps } from "../steps.ts";
import { type Chain, type ChainSet, linkingChain } from "./chain.ts";
import { type Algorithm, dnssecTypes } from "./codes.ts";
import {
  type Authority,
  createPlannedNames,
  type Generated,
  generatedIn,
  generatedKey,
  type PlannedName,
  signaturesIn,
  signedName,
} from "./planned-names.ts";
import {
  dataOfText,
  haveSame,
  haveSameContent,
  headOfSignature,
  type SignedName,
  setLike,
  textOfData,
  typeNamed,
} from "./signed-name.ts";
import { keyTtl } from "./timing.ts";

/** The signed names of a zone as they are stored. */
export type StoredSignedNames = Chain & { readonly at: (owner: string) => SignedName | undefined };

export type DenialKind = "nsec" | "nsec3";

/** A key in use, by its id: the private part is not known here. */
export type UsedKey = { readonly id: string; readonly tag: number; readonly algorithm: Algorithm };

/** How a zone is signed. Times are in seconds. */
export type SigningParameters = {
  readonly denial: DenialKind;
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

/** All sets of a name after a write that touches it, and the types that the write changed. */
export type TouchedName = { readonly sets: readonly RRset[]; readonly changed: ReadonlySet<RRset["type"]> };

export type SigningInput = {
  readonly zone: string;
  /** For sets without their own TTL. */
  readonly ttl: number;
  /** How long negative answers may be cached. */
  readonly negativeTtl: number;
  readonly signing: SigningParameters;
  /**
   * The types that each touched name has after the write. The apex is always one of them, because every write changes
   * the SOA record.
   */
  readonly touched: ReadonlyMap<string, readonly number[]>;
  readonly setsAt: (owner: string) => TouchedName;
  readonly names: StoredSignedNames;
  /** Every stored name, when `touched` contains every name of the zone. */
  readonly allNames?: readonly SignedName[];
};

/** One set that needs a signature by each of these keys. */
export type ToSign = {
  readonly name: string;
  readonly covers: number;
  readonly ttl: number;
  readonly data: readonly Uint8Array[];
  readonly keys: readonly UsedKey[];
};

/** The data of the RRSIG records of one set: one for each of its keys. */
export type SetSignatures = readonly Uint8Array[];

export type NameChange = { readonly before: SignedName | undefined; readonly after: SignedName | undefined };

/** What a plan does to one name. */
export type NamePlan = {
  readonly toSign: readonly ToSign[];
  /** Takes the signatures of each set in `toSign`, in the same order. Undefined if nothing changes. */
  readonly change: (signatures: readonly SetSignatures[]) => NameChange | undefined;
};

export type SigningPlan = {
  /** How many names it looks at. */
  readonly size: number;
  /** These names, without those that are only removed. */
  readonly owners: () => Iterable<string>;
  readonly planAt: (owner: string) => NamePlan;
  /** One by one, because a large zone would need much memory. */
  readonly namePlans: () => Iterable<NamePlan>;
};

/**
 * What a write changes in the signed part of its zone (RFC 4035 section 2). It looks only at the names that are
 * touched, the names above them, and their neighbours in the chain. If a delegation or a DNAME above other names was
 * added or removed, the result is `"needs-all-names"`: the write must be planned with every name of the zone.
 */
export function* planningSigning(input: SigningInput): Steps<SigningPlan | "needs-all-names"> {
  const { zone, signing, touched, names, allNames, negativeTtl } = input;
  const plannedNames = createPlannedNames(names.at, allNames !== undefined);
  for (const [owner, types] of touched) {
    yield;
    if (!plannedNames.setTypes(owner, types) && allNames === undefined) return "needs-all-names";
  }
  const chainSetOf = yield* linkingChain({
    zone,
    plannedNames,
    touched,
    denial: signing.denial,
    ttl: negativeTtl,
    chain: allNames === undefined ? names : noChain,
    apexTypes: signing.apexSets.map(({ type }) => type),
  });
  const namePlanOf = (planned: PlannedName): NamePlan => {
    const namePlan = new SignedNamePlan(input, planned);
    if (touched.has(planned.owner)) namePlan.signOwnSets(plannedNames.authorityOf(planned.owner));
    if (planned.owner === apex) namePlan.signApexSets();
    const chainSet = chainSetOf(planned);
    if (chainSet !== undefined) namePlan.signChainSet(chainSet);
    return namePlan;
  };
  return {
    size: plannedNames.size(),
    owners: plannedNames.owners,
    planAt: (owner) => namePlanOf(plannedNames.at(owner)),
    *namePlans() {
      for (const planned of plannedNames.all()) yield namePlanOf(planned);
      for (const before of allNames ?? [])
        if (!plannedNames.has(before.owner)) yield { toSign: [], change: () => ({ before, after: undefined }) };
    },
  };
}

type SetHead = Pick<ToSign, "covers" | "ttl">;

class SignedNamePlan implements NamePlan {
  readonly toSign: ToSign[] = [];
  /** The owner and type of each set in `toSign`. */
  readonly #toSignKeys: string[] = [];
  readonly #input: SigningInput;
  readonly #planned: PlannedName;
  readonly #generated: Generated;

  constructor(input: SigningInput, planned: PlannedName) {
    this.#input = input;
    this.#planned = planned;
    const isStored = input.allNames === undefined && !input.touched.has(planned.owner);
    this.#generated = generatedIn(isStored ? planned.stored : undefined);
  }

  readonly change: NamePlan["change"] = (signatures) => {
    for (const [i, key] of this.#toSignKeys.entries()) {
      const texts = signatures[i]?.map((data) => textOfData(dnssecTypes.rrsig, data));
      if (texts === undefined) throw new Error(`there is no signature for ${key}`);
      this.#generated.signatures.set(key, texts);
    }
    return changeOf({ before: this.#planned.stored, after: signedName(this.#planned, this.#generated) });
  };

  signOwnSets(authority: Authority): void {
    const { owner } = this.#planned;
    const { sets, changed } = this.#input.setsAt(owner);
    for (const { type, ttl, records } of sets) {
      const covers = typeCode(type);
      if (records.length === 0 || authority === "occluded" || (authority === "delegated" && covers !== dnssecTypes.ds))
        continue;
      const data = () => records.map(({ rdata }) => dataOfText(type, rdata));
      this.#sign(owner, { covers, ttl: ttl ?? this.#input.ttl }, data, !changed.has(type));
    }
  }

  signApexSets(): void {
    const { stored } = this.#planned;
    for (const { type: covers, data } of this.#input.signing.apexSets) {
      const set = { owner: apex, type: typeNamed(covers), ttl: keyTtl, values: textsOf(covers, data) };
      const old = stored && setLike(stored.generated, set);
      this.#generated.sets.set(generatedKey(apex, covers), set);
      this.#sign(apex, { covers, ttl: keyTtl }, () => data, old !== undefined && haveSameContent(old, set));
    }
  }

  signChainSet({ set, same }: ChainSet): void {
    const covers = typeCode(set.type);
    this.#generated.sets.set(generatedKey(set.owner, covers), set);
    const data = () => set.values.map((text) => dataOfText(set.type, text));
    this.#sign(set.owner, { covers, ttl: this.#input.negativeTtl }, data, same);
  }

  /** Keeps the stored signatures if they are still good. */
  #sign(at: string, set: SetHead, dataOf: () => ToSign["data"], same: boolean): void {
    const { zone, signing } = this.#input;
    const { stored } = this.#planned;
    const { signatures } = this.#generated;
    const key = generatedKey(at, set.covers);
    const keys = keySets.has(set.covers) ? signing.keySetKeys : signing.zoneKeys;
    const old = same && stored ? signaturesIn(stored).get(key) : undefined;
    if (old !== undefined && areGood(old, set.ttl, keys, signing)) {
      signatures.set(key, old);
      return;
    }
    signatures.delete(key);
    this.toSign.push({ name: absoluteName(at, zone), keys, data: dataOf(), ...set });
    this.#toSignKeys.push(key);
  }
}

/** Cached, because the caller passes the same array from one write to the next. */
function textsOf(type: number, data: readonly Uint8Array[]): readonly string[] {
  const texts = cachedTexts.get(data) ?? data.map((each) => textOfData(type, each));
  cachedTexts.set(data, texts);
  return texts;
}
const cachedTexts = new WeakMap<readonly Uint8Array[], readonly string[]>();

const keySets: ReadonlySet<number> = new Set([dnssecTypes.dnskey, dnssecTypes.cds, dnssecTypes.cdnskey]);
const noChain: Chain = { before: () => undefined, after: () => undefined };

/** Whether the signatures are by exactly these keys, for this TTL, and valid for long enough. */
function areGood(
  stored: readonly string[],
  ttl: number,
  keys: readonly UsedKey[],
  { renewBefore, now }: SigningParameters,
): boolean {
  if (stored.length !== keys.length) return false;
  const heads = stored.map(headOfSignature);
  return (
    heads.every((head) => head.ttl === ttl && head.expires >= renewBefore && head.inception <= now) &&
    keys.every(({ tag }) => heads.some((head) => head.tag === tag))
  );
}

function changeOf(change: NameChange): NameChange | undefined {
  const { before, after } = change;
  const isSame = before === undefined || after === undefined ? before === after : areEqualNames(before, after);
  return isSame ? undefined : change;
}

const areEqualNames = (a: SignedName, b: SignedName): boolean =>
  a.chainKey === b.chainKey &&
  a.children === b.children &&
  haveSame(a.types, b.types) &&
  a.generated.length === b.generated.length &&
  a.generated.every((set) => {
    const other = setLike(b.generated, set);
    return other !== undefined && haveSameContent(set, other);
  });
