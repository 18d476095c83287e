import { absoluteName, apex } from "../names/name.ts";
import { base32hex } from "../rdata/fields/base32hex.ts";
import type { RecordType } from "../rdata/table.ts";
import { countBefore } from "../records/canonical-order.ts";
import { type Steps, sortInSteps } from "../steps.ts";
import { canonicalSortKey } from "./canonical.ts";
import { dnssecTypes, occludingTypes } from "./codes.ts";
import type { Authority, PlannedName, PlannedNames } from "./planned-names.ts";
import { hashedName, nsec3Data, nsecData } from "./records.ts";
import { exists, type GeneratedSet, haveSame, textOfData, typeNamed } from "./signed-name.ts";

/** The stored chain is a circle: the first name follows the last. Undefined only if the chain is empty. */
export type Chain = {
  readonly before: (chainKey: string) => ChainMember | undefined;
  readonly after: (chainKey: string) => ChainMember | undefined;
};
export type ChainMember = { readonly owner: string; readonly chainKey: string | null };

/** What orders the names in a chain: the canonical order with NSEC, the hash with NSEC3. */
export const chainKeyOf = (owner: string, zone: string, denial: "nsec" | "nsec3"): string =>
  denial === "nsec" ? canonicalSortKey(owner) : base32hex(hashedName(absoluteName(owner, zone)));

type ChainInput = {
  readonly zone: string;
  readonly denial: "nsec" | "nsec3";
  /** The TTL of the chain's records: that of negative answers (RFC 9077). */
  readonly ttl: number;
  readonly plannedNames: PlannedNames;
  /** Names whose own records may have changed. */
  readonly touched: { readonly has: (owner: string) => boolean };
  readonly chain: Chain;
  /** Types of the sets that DNSSEC adds to the apex. */
  readonly apexTypes: readonly number[];
};

/** The NSEC or NSEC3 set of a name. */
export type ChainSet = {
  readonly set: GeneratedSet;
  /** Whether it is the same as stored, so that its signature can be kept. */
  readonly same: boolean;
};

/**
 * Closes the chain of NSEC or NSEC3 records around the names of a write. Returns a function that makes the set of a
 * name. That function returns undefined if the write cannot have changed the set.
 */
export function* linkingChain(input: ChainInput): Steps<(planned: PlannedName) => ChainSet | undefined> {
  const update = new ChainUpdate(input);
  yield* update.collecting();
  yield* update.closing();
  return (planned) => update.setOf(planned);
}

class ChainUpdate {
  readonly #input: ChainInput;
  /** The type of the chain's records. */
  readonly #chainType: number;
  readonly #apexTypeNames: readonly RecordType[];
  /** Names that this write adds to the chain, by their chain keys; `#joinedKeys` has these in order. */
  readonly #joined = new Map<string, PlannedName>();
  #joinedKeys: readonly string[] = [];
  /** The chain keys of names that it removes. */
  readonly #leftKeys = new Set<string>();
  readonly #changed = new Set<PlannedName>();

  constructor(input: ChainInput) {
    this.#input = input;
    this.#chainType = input.denial === "nsec" ? dnssecTypes.nsec : dnssecTypes.nsec3;
    this.#apexTypeNames = input.apexTypes.map(typeNamed);
  }

  *collecting(): Steps<void> {
    const { zone, denial, plannedNames, touched } = this.#input;
    for (const planned of [...plannedNames.all()]) {
      yield;
      const was = planned.stored?.chainKey ?? null;
      const wasMember = planned.chainKey !== null;
      planned.chainKey = isMember(planned, plannedNames.authorityOf(planned.owner), denial)
        ? (planned.chainKey ?? chainKeyOf(planned.owner, zone, denial))
        : null;
      if (planned.chainKey !== null && (touched.has(planned.owner) || !wasMember)) this.#changed.add(planned);
      if (planned.chainKey !== null && !wasMember) this.#joined.set(planned.chainKey, planned);
      if (planned.chainKey === null && was !== null && wasMember) this.#leftKeys.add(was);
    }
    this.#joinedKeys = yield* sortInSteps([...this.#joined.keys()], compareTexts);
  }

  /** The record of the name before one that joined or left changes too. */
  *closing(): Steps<void> {
    for (const chainKey of [...this.#leftKeys, ...this.#joinedKeys]) {
      yield;
      const previous = this.#before(chainKey);
      if (previous !== undefined) this.#changed.add(this.#input.plannedNames.at(previous.owner));
    }
  }

  setOf(planned: PlannedName): ChainSet | undefined {
    if (!this.#changed.has(planned)) return undefined;
    const { denial, ttl } = this.#input;
    const at = denial === "nsec" ? planned.owner : (planned.chainKey ?? "");
    const type = typeNamed(this.#chainType);
    const old = planned.stored?.generated.find((set) => set.owner === at && set.type === type);
    // Most writes change neither the names nor their types.
    const isSameChain = this.#leftKeys.size === 0 && this.#joinedKeys.length === 0;
    const isSame = isSameChain && hasSameTypes(planned, this.#apexTypeNames);
    const text = (isSame ? old?.values[0] : undefined) ?? this.#textFor(planned);
    const same = old?.values[0] === text && old.ttl === ttl;
    return { set: { owner: at, type, ttl, values: [text] }, same };
  }

  #textFor(planned: PlannedName): string {
    const { zone, denial, plannedNames, apexTypes } = this.#input;
    const proven = provenTypes(planned, plannedNames.authorityOf(planned.owner), denial);
    const types = planned.owner === apex ? [...proven, ...apexTypes] : proven;
    const next = absoluteName((this.#after(planned.chainKey ?? "") ?? planned).owner, zone);
    return textOfData(this.#chainType, denial === "nsec" ? nsecData(next, types) : nsec3Data(hashedName(next), types));
  }

  /** The closest name before this chain key: a stored one, or one that this write adds. */
  #before(chainKey: string): ChainMember | undefined {
    const joinedKey = this.#joinedKeys[countBefore(this.#joinedKeys, chainKey) - 1] ?? this.#joinedKeys.at(-1);
    return this.#nearest(this.#storedMember("before", chainKey), joinedKey, (a, b) => isBetween(b, a, chainKey));
  }

  #after(chainKey: string): ChainMember | undefined {
    const joinedKey = this.#joinedKeys[countBefore(this.#joinedKeys, `${chainKey}\u0000`)] ?? this.#joinedKeys[0];
    return this.#nearest(this.#storedMember("after", chainKey), joinedKey, (a, b) => isBetween(chainKey, a, b));
  }

  #storedMember(way: "before" | "after", chainKey: string): ChainMember | undefined {
    const step = this.#input.chain[way];
    const start = step(chainKey);
    let member = start;
    while (member?.chainKey != null && this.#leftKeys.has(member.chainKey)) {
      member = step(member.chainKey);
      if (member?.chainKey === start?.chainKey) return undefined;
    }
    return member;
  }

  #nearest(
    storedMember: ChainMember | undefined,
    joinedKey: string | undefined,
    isNearer: (a: string, b: string) => boolean,
  ): ChainMember | undefined {
    const joined = joinedKey === undefined ? undefined : this.#joined.get(joinedKey);
    if (storedMember?.chainKey == null || joined?.chainKey == null) return joined ?? storedMember;
    return isNearer(joined.chainKey, storedMember.chainKey) ? joined : storedMember;
  }
}

const isMember = (planned: PlannedName, authority: Authority, denial: "nsec" | "nsec3"): boolean =>
  authority !== "occluded" && (denial === "nsec" ? planned.types.length > 0 : exists(planned));

/** The types that a name's NSEC or NSEC3 record lists (RFC 4034 section 4.1.2, RFC 5155 section 7.1). */
function provenTypes({ types }: PlannedName, authority: Authority, denial: "nsec" | "nsec3"): ReadonlySet<number> {
  const { ds, nsec, rrsig } = dnssecTypes;
  const own = authority === "delegated" ? types.filter((type) => type === occludingTypes.ns || type === ds) : types;
  const proven = new Set(own);
  const isSigned = authority === "delegated" ? own.includes(ds) : own.length > 0;
  if (isSigned || denial === "nsec") proven.add(rrsig);
  if (denial === "nsec") proven.add(nsec);
  return proven;
}

/** Whether a name's NSEC or NSEC3 record lists the same types as before. */
const hasSameTypes = ({ stored, types }: PlannedName, added: readonly RecordType[]): boolean =>
  stored !== undefined &&
  haveSame(stored.types, types) &&
  (stored.owner !== apex || haveSame(addedIn(stored.generated), added));

/** The types that signing adds to the apex, except those that it adds to every name. */
const addedIn = (sets: readonly GeneratedSet[]): readonly RecordType[] =>
  sets.filter(({ owner, type }) => owner === apex && !everywhere.has(type)).map(({ type }) => type);
const everywhere: ReadonlySet<RecordType> = new Set([dnssecTypes.rrsig, dnssecTypes.nsec].map(typeNamed));

/** Whether `chainKey` comes before `to`, going up from `from` and around at the end. */
const isBetween = (from: string, chainKey: string, to: string): boolean =>
  from < to ? from < chainKey && chainKey < to : chainKey > from || chainKey < to;

const compareTexts = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
