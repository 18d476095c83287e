import { fitsInName, type Label } from "../names/label.ts";
import { apex, labelsOf, parentOf } from "../names/name.ts";
import { nameFromWire } from "../names/wire.ts";
import type { RecordType } from "../rdata/table.ts";
import type { Fault } from "../result.ts";
import type { Steps } from "../steps.ts";
import { keyOf, type SetKey, setKey } from "./rrset.ts";

/** Redirects all names below its owner to another domain (RFC 6672). Its data is kept as bytes. */
export const dname: RecordType = "TYPE39";

/** Undefined for bytes that are not a name. */
export function targetOfDname(data: Uint8Array | undefined): readonly Label[] | undefined {
  const read = data && nameFromWire(data);
  return read && read.end === data.length ? labelsOf(read.name) : undefined;
}

/** The labels before the DNAME's owner, now before its target; undefined when the name would be too long. */
export function redirected(below: readonly Label[], target: readonly Label[]): readonly Label[] | undefined {
  const name = [...below, ...target];
  return fitsInName(name) ? name : undefined;
}

/** The names that a zone has before a write. The sets of the write are checked against them. */
export type StoredNames = {
  /** Whether this name has a DNAME set. */
  readonly hasDname: (owner: string) => boolean;
  /** All names whose text ends with a dot and this name; for the apex, all other names. Read one by one. */
  readonly endingWith: (owner: string) => Iterable<string>;
};

/** For a write whose sets are the whole zone: there are no other names. */
export const noStoredNames: StoredNames = { hasDname: () => false, endingWith: () => [] };

/**
 * RFC 6672 section 2.4: nothing can be below a DNAME record, and NS records beside it only at the apex; Knot refuses
 * the zone. What a zone already has may stay.
 */
export function* checkingRedirects(
  before: readonly SetKey[],
  wanted: readonly SetKey[],
  storedNames: StoredNames,
): Steps<readonly Fault[]> {
  if (storedNames === noStoredNames && !wanted.some(({ type }) => type === dname)) return [];
  const had = new Set(before.map(keyOf));
  const isNew = ({ owner, type }: SetKey): boolean => !had.has(setKey(owner, type));
  const redirecting = ownersOfDname(wanted);
  const added = new Set([...redirecting].filter((owner) => isNew({ owner, type: dname })));
  const removed = ownersOfDname(before).difference(redirecting);
  const lookedUp = new Map<string, boolean>();
  const keepsDname = (owner: string): boolean => {
    const keeps = lookedUp.get(owner) ?? (!removed.has(owner) && storedNames.hasDname(owner));
    lookedUp.set(owner, keeps);
    return keeps;
  };
  const faults: Fault[] = [];
  for (const set of wanted) {
    yield;
    const fresh = isNew(set);
    if (set.owner === apex || (!fresh && added.size === 0)) continue;
    const { owner, type } = set;
    const at = nameAbove(owner, (above) => (fresh ? redirecting.has(above) || keepsDname(above) : added.has(above)));
    if (at !== undefined) faults.push(belowDname(at, owner, setKey(owner, type)));
    else if (type === "NS" && (fresh ? redirecting : added).has(owner)) faults.push(besideDname(owner));
  }
  if (added.size > 0) faults.push(...(yield* namesBelow(before, wanted, added, storedNames)));
  return faults;
}

const ownersOfDname = (sets: readonly SetKey[]): Set<string> =>
  new Set(sets.flatMap(({ owner, type }) => (type === dname ? [owner] : [])));

function nameAbove(owner: string, isIt: (above: string) => boolean): string | undefined {
  for (let above = parentOf(owner); above !== undefined; above = parentOf(above)) if (isIt(above)) return above;
  return undefined;
}

/** Stored names that the write does not concern. However many DNAME sets are added, the zone is read once. */
function* namesBelow(
  before: readonly SetKey[],
  wanted: readonly SetKey[],
  added: ReadonlySet<string>,
  storedNames: StoredNames,
): Steps<readonly Fault[]> {
  const concerned = new Set([...before, ...wanted].map(({ owner }) => owner));
  const [first = apex, second] = added;
  const faults = new Map<string, Fault>();
  // A dot may also be part of a label, so not every name that ends with another one is below it.
  for (const name of storedNames.endingWith(second === undefined ? first : apex)) {
    yield;
    const at = concerned.has(name) ? undefined : nameAbove(name, (above) => added.has(above) && !faults.has(above));
    if (at !== undefined) faults.set(at, belowDname(at, name, setKey(at, dname)));
    if (faults.size === added.size) break;
  }
  return [...faults.values()];
}

const belowDname = (at: string, owner: string, where: string): Fault => ({
  code: "below-dname",
  where,
  message: `${owner} is below ${at}, whose DNAME record redirects all names below it`,
  todo,
});

const besideDname = (owner: string): Fault => ({
  code: "ns-beside-dname",
  where: setKey(owner, "NS"),
  message: `${owner} has a DNAME record, so it cannot be delegated with NS records`,
  todo,
});

const todo = "remove one or the other; other nameservers refuse such a zone";
