import { absoluteName, apex } from "../names/name.ts";
import { base32hex } from "../rdata/layout/base32hex.ts";
import type { RecordType } from "../rdata/table.ts";
import { countBefore } from "../records/canonical-order.ts";
import { type Steps, sortInSteps } from "../steps.ts";
import { placeOf } from "./canonical.ts";
import { dnssecTypes } from "./codes.ts";
import type { Authority, Draft, Drafts } from "./drafts.ts";
import { hashedName, nsec3Data, nsecData } from "./records.ts";
import { exists, haveSame, type MadeSet, textOfData, typeNamed } from "./signed-name.ts";

/** The stored chain is a circle: the first name follows the last. Undefined only if the chain is empty. */
export type Chain = {
  readonly before: (link: string) => ChainLink | undefined;
  readonly after: (link: string) => ChainLink | undefined;
};
export type ChainLink = { readonly owner: string; readonly link: string | null };

/** What orders the names in a chain. */
export const linkOf = (owner: string, zone: string, denial: "nsec" | "nsec3"): string =>
  denial === "nsec" ? placeOf(owner) : base32hex(hashedName(absoluteName(owner, zone)));

type ChainWish = {
  readonly zone: string;
  readonly denial: "nsec" | "nsec3";
  /** The TTL of the chain's records: that of negative answers (RFC 9077). */
  readonly ttl: number;
  readonly drafts: Drafts;
  /** Names whose own records may have changed. */
  readonly touched: { readonly has: (owner: string) => boolean };
  readonly chain: Chain;
  /** Types of the sets that DNSSEC adds to the apex. */
  readonly apexTypes: readonly number[];
};

/** The NSEC or NSEC3 set of a name. */
export type ChainSet = {
  readonly set: MadeSet;
  /** Whether it is the same as stored, so that its signature can be kept. */
  readonly same: boolean;
};

/**
 * Closes the chain of NSEC or NSEC3 records around the names of a write. Returns a function that makes the set of a
 * name. That function returns undefined if the write cannot have changed the set.
 */
export function* linkingChain(wish: ChainWish): Steps<(draft: Draft) => ChainSet | undefined> {
  const update = new ChainUpdate(wish);
  yield* update.collecting();
  yield* update.closing();
  return (draft) => update.setOf(draft);
}

class ChainUpdate {
  readonly #wish: ChainWish;
  /** The type of the chain's records. */
  readonly #covers: number;
  readonly #apexTypeNames: readonly RecordType[];
  /** Names that this write adds to the chain, by their links; `#fresh` has these links in order. */
  readonly #joined = new Map<string, Draft>();
  #fresh: readonly string[] = [];
  /** The links of names that it removes. */
  readonly #left = new Set<string>();
  readonly #changed = new Set<Draft>();

  constructor(wish: ChainWish) {
    this.#wish = wish;
    this.#covers = wish.denial === "nsec" ? dnssecTypes.nsec : dnssecTypes.nsec3;
    this.#apexTypeNames = wish.apexTypes.map(typeNamed);
  }

  *collecting(): Steps<void> {
    const { zone, denial, drafts, touched } = this.#wish;
    for (const draft of [...drafts.all()]) {
      yield;
      const was = draft.known?.link ?? null;
      const isStored = draft.link !== null;
      draft.link = isMember(draft, drafts.authorityOf(draft.owner), denial)
        ? (draft.link ?? linkOf(draft.owner, zone, denial))
        : null;
      if (draft.link !== null && (touched.has(draft.owner) || !isStored)) this.#changed.add(draft);
      if (draft.link !== null && !isStored) this.#joined.set(draft.link, draft);
      if (draft.link === null && was !== null && isStored) this.#left.add(was);
    }
    this.#fresh = yield* sortInSteps([...this.#joined.keys()], compareTexts);
  }

  /** The record of the name before one that joined or left changes too. */
  *closing(): Steps<void> {
    for (const link of [...this.#left, ...this.#fresh]) {
      yield;
      const previous = this.#before(link);
      if (previous !== undefined) this.#changed.add(this.#wish.drafts.at(previous.owner));
    }
  }

  setOf(draft: Draft): ChainSet | undefined {
    if (!this.#changed.has(draft)) return undefined;
    const { denial, ttl } = this.#wish;
    const at = denial === "nsec" ? draft.owner : (draft.link ?? "");
    const type = typeNamed(this.#covers);
    const old = draft.known?.made.find((set) => set.owner === at && set.type === type);
    // Most writes change neither the names nor their types.
    const isSameChain = this.#left.size === 0 && this.#fresh.length === 0;
    const isSame = isSameChain && hasSameTypes(draft, this.#apexTypeNames);
    const text = (isSame ? old?.values[0] : undefined) ?? this.#textFor(draft);
    const same = old?.values[0] === text && old.ttl === ttl;
    return { set: { owner: at, type, ttl, values: [text] }, same };
  }

  #textFor(draft: Draft): string {
    const { zone, denial, drafts, apexTypes } = this.#wish;
    const proven = provenTypes(draft, drafts.authorityOf(draft.owner), denial);
    const types = draft.owner === apex ? [...proven, ...apexTypes] : proven;
    const next = absoluteName((this.#after(draft.link ?? "") ?? draft).owner, zone);
    return textOfData(this.#covers, denial === "nsec" ? nsecData(next, types) : nsec3Data(hashedName(next), types));
  }

  /** The closest name before this link: a stored one, or one that this write adds. */
  #before(link: string): ChainLink | undefined {
    const mine = this.#fresh[countBefore(this.#fresh, link) - 1] ?? this.#fresh.at(-1);
    return this.#nearest(this.#stored("before", link), mine, (a, b) => isBetween(b, a, link));
  }

  #after(link: string): ChainLink | undefined {
    const mine = this.#fresh[countBefore(this.#fresh, `${link}\u0000`)] ?? this.#fresh[0];
    return this.#nearest(this.#stored("after", link), mine, (a, b) => isBetween(link, a, b));
  }

  #stored(way: "before" | "after", link: string): ChainLink | undefined {
    const step = this.#wish.chain[way];
    const start = step(link);
    let found = start;
    while (found?.link != null && this.#left.has(found.link)) {
      found = step(found.link);
      if (found?.link === start?.link) return undefined;
    }
    return found;
  }

  #nearest(
    found: ChainLink | undefined,
    mine: string | undefined,
    isNearer: (a: string, b: string) => boolean,
  ): ChainLink | undefined {
    const own = mine === undefined ? undefined : this.#joined.get(mine);
    if (found?.link == null || own?.link == null) return own ?? found;
    return isNearer(own.link, found.link) ? own : found;
  }
}

const isMember = (draft: Draft, authority: Authority, denial: "nsec" | "nsec3"): boolean =>
  authority !== "hidden" && (denial === "nsec" ? draft.types.length > 0 : exists(draft));

/** The types that a name's NSEC or NSEC3 record lists (RFC 4034 section 4.1.2, RFC 5155 section 7.1). */
function provenTypes({ types }: Draft, authority: Authority, denial: "nsec" | "nsec3"): ReadonlySet<number> {
  const { ds, nsec, rrsig } = dnssecTypes;
  const own = authority === "cut" ? types.filter((type) => type === 2 || type === ds) : types;
  const proven = new Set(own);
  const isSigned = authority === "cut" ? own.includes(ds) : own.length > 0;
  if (isSigned || denial === "nsec") proven.add(rrsig);
  if (denial === "nsec") proven.add(nsec);
  return proven;
}

/** Whether a name's NSEC or NSEC3 record lists the same types as before. */
const hasSameTypes = ({ known, types }: Draft, added: readonly RecordType[]): boolean =>
  known !== undefined && haveSame(known.types, types) && (known.owner !== apex || haveSame(addedIn(known.made), added));

/** The types that signing adds to the apex, except those that it adds to every name. */
const addedIn = (sets: readonly MadeSet[]): readonly RecordType[] =>
  sets.filter(({ owner, type }) => owner === apex && !everywhere.has(type)).map(({ type }) => type);
const everywhere: ReadonlySet<RecordType> = new Set([dnssecTypes.rrsig, dnssecTypes.nsec].map(typeNamed));

/** Whether `link` comes before `to`, going up from `from` and around at the end. */
const isBetween = (from: string, link: string, to: string): boolean =>
  from < to ? from < link && link < to : link > from || link < to;

const compareTexts = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
