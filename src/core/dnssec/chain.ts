import { absoluteName, apex } from "../names/name.ts";
import { base32hex } from "../rdata/base32hex.ts";
import type { RecordType } from "../rdata/table.ts";
import { countBefore } from "../records/canonical-order.ts";
import { type Steps, sortInSteps } from "../steps.ts";
import { placeOf } from "./canonical.ts";
import { dnssecTypes } from "./codes.ts";
import type { Draft, Drafts, Standing } from "./drafts.ts";
import { hashedName, nsec3Data, nsecData } from "./records.ts";
import { exists, haveSame, type MadeSet, textOfData, typeNamed } from "./signed-name.ts";

/** The stored chain is a circle: the first name follows the last. Undefined only if the chain is empty. */
export type Chain = {
  readonly before: (link: string) => Link | undefined;
  readonly after: (link: string) => Link | undefined;
};
export type Link = { readonly owner: string; readonly link: string | null };

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
 * Closes the chain of NSEC or NSEC3 records around the names of a write. Returns a function that makes the set of a name.
 * That function returns undefined if the write cannot have changed the set.
 */
export function* linkingChain(wish: ChainWish): Steps<(draft: Draft) => ChainSet | undefined> {
  const { zone, denial, ttl, drafts, touched, chain, apexTypes } = wish;
  const joined = new Map<string, Draft>();
  const left = new Set<string>();
  const changed = new Set<Draft>();
  for (const draft of [...drafts.all()]) {
    yield;
    const was = draft.known?.link ?? null;
    const isStored = draft.link !== null;
    draft.link = isMember(draft, drafts.standingOf(draft.owner))
      ? (draft.link ?? linkOf(draft.owner, zone, denial))
      : null;
    if (draft.link !== null && (touched.has(draft.owner) || !isStored)) changed.add(draft);
    if (draft.link !== null && !isStored) joined.set(draft.link, draft);
    if (draft.link === null && was !== null && isStored) left.add(was);
  }
  const fresh = yield* sortInSteps([...joined.keys()], compareTexts);

  const stored = (step: Chain["before"], link: string): Link | undefined => {
    const start = step(link);
    let found = start;
    while (found?.link != null && left.has(found.link)) {
      found = step(found.link);
      if (found?.link === start?.link) return undefined;
    }
    return found;
  };
  /** The closest name before this link: a stored one, or one that this write adds. */
  const before = (link: string): Link | undefined => {
    const mine = fresh[countBefore(fresh, link) - 1] ?? fresh.at(-1);
    return nearest(stored(chain.before, link), mine, (a, b) => isBetween(b, a, link));
  };
  const after = (link: string): Link | undefined => {
    const mine = fresh[countBefore(fresh, `${link}\u0000`)] ?? fresh[0];
    return nearest(stored(chain.after, link), mine, (a, b) => isBetween(link, a, b));
  };
  const nearest = (
    found: Link | undefined,
    mine: string | undefined,
    isNearer: (a: string, b: string) => boolean,
  ): Link | undefined => {
    const own = mine === undefined ? undefined : joined.get(mine);
    if (found?.link == null || own?.link == null) return own ?? found;
    return isNearer(own.link, found.link) ? own : found;
  };

  for (const link of [...left, ...fresh]) {
    yield;
    const previous = before(link);
    if (previous !== undefined) changed.add(drafts.at(previous.owner));
  }
  const covers = denial === "nsec" ? dnssecTypes.nsec : dnssecTypes.nsec3;
  const type = typeNamed(covers);
  const isSameChain = left.size === 0 && fresh.length === 0;
  const textFor = (draft: Draft): string => {
    const proven = provenTypes(draft, drafts.standingOf(draft.owner), denial);
    const types = draft.owner === apex ? [...proven, ...apexTypes] : proven;
    const next = absoluteName((after(draft.link ?? "") ?? draft).owner, zone);
    return textOfData(covers, denial === "nsec" ? nsecData(next, types) : nsec3Data(hashedName(next), types));
  };
  const typesAdded = apexTypes.map(typeNamed);
  return (draft) => {
    if (!changed.has(draft)) return undefined;
    const at = denial === "nsec" ? draft.owner : (draft.link ?? "");
    const old = draft.known?.made.find((set) => set.owner === at && set.type === type);
    // Most writes change neither the names nor their types.
    const text = (isSameChain && hasSameTypes(draft, typesAdded) ? old?.values[0] : undefined) ?? textFor(draft);
    const same = old?.values[0] === text && old.ttl === ttl;
    return { set: { owner: at, type, ttl, values: [text] }, same };
  };

  function isMember(draft: Draft, standing: Standing): boolean {
    return standing !== "hidden" && (denial === "nsec" ? draft.types.length > 0 : exists(draft));
  }
}

/** The types that a name's NSEC or NSEC3 record lists (RFC 4034 section 4.1.2, RFC 5155 section 7.1). */
function provenTypes({ types }: Draft, standing: Standing, denial: "nsec" | "nsec3"): ReadonlySet<number> {
  const { ds, nsec, rrsig } = dnssecTypes;
  const own = standing === "cut" ? types.filter((type) => type === 2 || type === ds) : types;
  const proven = new Set(own);
  const isSigned = standing === "cut" ? own.includes(ds) : own.length > 0;
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
