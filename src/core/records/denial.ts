import type { Label } from "../names/label.ts";
import { base32hex, base32hexDigit } from "../rdata/fields/base32hex.ts";
import type { RecordType } from "../rdata/table.ts";
import { type AnswerWork, answerLimits } from "./answer-work.ts";
import { countBefore, countBeforeBytes } from "./canonical-order.ts";
import { dname } from "./dname.ts";
import {
  blocksFor,
  type HashParameters,
  hashOfBytes,
  hashParameters,
  hasParameters,
  isAffordable,
  rememberedHash,
  wireName,
} from "./nsec3-hash.ts";
import { nsec, nsec3, type PackedSet } from "./packed-sets.ts";
import { answeringAt, setAt, wireOf, type ZoneNode, type ZoneView } from "./zone-view.ts";

/**
 * What has to be proved about a name (RFC 4035 section 3.1.3, RFC 5155 section 7.2). `wildcard`: that there is no
 * closer match than the wildcard that answers. `no-data` also proves that a delegation has no DS set.
 */
export type Denial = "no-name" | "no-data" | "wildcard" | "wildcard-no-data";

/** A name relative to the zone, and how many of its labels, counted from the end, exist. */
export type Denied = { readonly relative: readonly Label[]; readonly existing: number };

/** An NSEC or NSEC3 set, with the node that has its signatures. */
export type DenialSet = { readonly name: readonly Label[]; readonly set: PackedSet; readonly node: ZoneNode };

/**
 * The records that prove a denial. If the zone's chain is missing or incomplete, or would cost more than
 * `answerLimits`, so is the proof: resolvers then reject the answer if the zone is secure, and accept it if it is not.
 */
export function proofOf(view: ZoneView, denial: Denial, denied: Denied, work: AnswerWork): readonly DenialSet[] {
  const parameters = chainParameters(view);
  const links = parameters
    ? proofByHash({ view, parameters, work }, denial, denied)
    : view.order?.has(view.apex)
      ? proofByName(view, denial, denied, work)
      : [];
  const proofLinks = links.filter((link) => link !== undefined);
  return proofLinks.filter((link, i) => proofLinks.findIndex((each) => each.node === link.node) === i);
}

/**
 * The gap in the chain that a missing name is in, as a number. Until the zone changes, missing names below the same
 * existing name have the same proof if they are in the same gap. The name is the first `length` bytes, in wire format
 * and in lower case.
 */
export function gapOf(view: ZoneView, encloser: ZoneNode, name: Uint8Array, length: number): number {
  const parameters = chainParameters(view);
  if (parameters === undefined) return countBeforeBytes(view.order?.get(encloser) ?? [], name, 1, 1 + (name[0] ?? 0));
  return isAffordable(parameters) ? hashesBefore(view, hashOfBytes(name, length, parameters)) : 0;
}

/**
 * With NSEC3, the part of the proof that is the same for all missing names directly below an existing one; undefined if
 * there is none.
 */
export function sharedProof(
  view: ZoneView,
  encloser: readonly Label[],
  work: AnswerWork,
): readonly DenialSet[] | undefined {
  const parameters = chainParameters(view);
  if (parameters === undefined || !isAffordable(parameters)) return undefined;
  const chain = { view, parameters, work };
  const [own, wildcard] = [matching(chain, encloser), covering(chain, ["*", ...encloser])];
  return own && wildcard && (own.node === wildcard.node ? [own] : [own, wildcard]);
}

/** The rest of the proof that `sharedProof` begins: the record that covers the names in a gap. */
export function linkOfGap(view: ZoneView, gap: number): DenialSet | undefined {
  const parameters = chainParameters(view);
  return parameters && linkBefore({ view, parameters }, gap);
}

/** How many records of the chain come before this hash. */
function hashesBefore(view: ZoneView, hash: Uint8Array): number {
  for (let i = 0; i < digits.length; i++) digits[i] = base32hexDigit(hash, 5 * i);
  return countBeforeBytes(view.order?.get(view.hashed) ?? [], digits, 0, digits.length);
}

const digits = new Uint8Array(32);

const wildcardOf = ({ relative, existing }: Denied): readonly Label[] => ["*", ...encloserOf(relative, existing)];
const encloserOf = (relative: readonly Label[], existing: number): readonly Label[] =>
  relative.slice(relative.length - existing);

function proofByName(
  view: ZoneView,
  denial: Denial,
  denied: Denied,
  work: AnswerWork,
): readonly (DenialSet | undefined)[] {
  const own = nsecAtOrBefore(view, denied.relative, work);
  if (denial === "no-data" || denial === "wildcard") return [own];
  return [own, nsecAtOrBefore(view, wildcardOf(denied), work)];
}

/** The NSEC set of the name or, if it has none, of the last name before it in canonical order. */
function nsecAtOrBefore(view: ZoneView, relative: readonly Label[], work: AnswerWork): DenialSet | undefined {
  const path = [view.apex];
  for (let i = relative.length - 1; i >= 0; i--) {
    const child = path.at(-1)?.children?.get(relative[i] ?? "");
    if (child === undefined) break;
    path.push(child);
  }
  const exists = path.length > relative.length;
  const own = exists ? linkAt(view, relative, path.at(-1)) : undefined;
  if (own) return own;
  // Names below the name come after it.
  for (let depth = path.length - (exists ? 2 : 1); depth >= 0; depth--) {
    const node = path[depth];
    const before = node && lastBelow(view, node, relative[relative.length - 1 - depth], work);
    const above = relative.slice(relative.length - depth);
    const link = before
      ? linkAt(view, [...before.labels.toReversed(), ...above], before.node)
      : linkAt(view, above, node);
    if (link) return link;
  }
  return undefined;
}

type ClosestNode = { readonly node: ZoneNode; readonly labels: Label[] };

/**
 * The last name below a node that has an NSEC set, among those whose label comes before the given one. Its labels are
 * listed from the node down.
 */
function lastBelow(
  view: ZoneView,
  parent: ZoneNode,
  limit: Label | undefined,
  work: AnswerWork,
): ClosestNode | undefined {
  // Names below a cut or a DNAME are not part of the chain.
  if (parent !== view.apex && (setAt(parent, "NS") || setAt(parent, dname))) return undefined;
  const labels = view.order?.get(parent) ?? [];
  for (let i = (limit === undefined ? labels.length : countBefore(labels, limit)) - 1; i >= 0; i--) {
    const label = labels[i] ?? "";
    const node = parent.children?.get(label);
    work.steps += 1;
    if (node === undefined || work.steps > answerLimits.steps) return undefined;
    const below = lastBelow(view, node, undefined, work);
    below?.labels.unshift(label);
    const closestName = below ?? (answeringAt(node, nsec) && { node, labels: [label] });
    if (closestName) return closestName;
  }
  return undefined;
}

function linkAt(view: ZoneView, relative: readonly Label[], node: ZoneNode | undefined): DenialSet | undefined {
  const set = node && answeringAt(node, nsec);
  return node && set && { name: [...relative, ...view.labels], set, node };
}

/**
 * A complete chain has an NSEC3PARAM record (RFC 5155 section 4). The zone may also have a second chain, which is being
 * made or removed.
 */
function chainParameters(view: ZoneView): HashParameters | undefined {
  const set = view.order?.has(view.hashed) ? setAt(view.apex, nsec3param) : undefined;
  // RFC 5155 section 4.1.2: servers ignore those with flags.
  const data = set && set.values.length <= mostParameters && wireOf(set).find((each) => each[1] === 0);
  return data ? hashParameters(data) : undefined;
}

/** A zone has one chain, or two while one replaces the other. */
const mostParameters = 16;

const nsec3param = "TYPE51" satisfies RecordType;

type HashChain = { readonly view: ZoneView; readonly parameters: HashParameters };
type CountedChain = HashChain & { readonly work: AnswerWork };

function proofByHash(chain: CountedChain, denial: Denial, denied: Denied): readonly (DenialSet | undefined)[] {
  const { relative, existing } = denied;
  // Resolvers treat such a chain as insecure as soon as they see one of its records: any of them will do.
  if (!isAffordable(chain.parameters)) return [linkBefore(chain, 0)];
  const own = denial === "no-data" ? matching(chain, relative) : undefined;
  if (own) return [own];
  if (denial === "wildcard") return [covering(chain, encloserOf(relative, existing + 1))];
  const encloser = provableEncloser(chain, relative, Math.min(existing, relative.length - 1));
  if (encloser === undefined) return [];
  const nextCloser = covering(chain, encloserOf(relative, encloser.depth + 1));
  const wildcard = wildcardOf({ relative, existing: encloser.depth });
  switch (denial) {
    case "no-data":
      return [nextCloser, encloser.link];
    case "no-name":
      return [encloser.link, covering(chain, wildcard), nextCloser];
    case "wildcard-no-data":
      return [nextCloser, encloser.link, matching(chain, wildcard)];
  }
}

/**
 * RFC 5155 section 7.2.1. With opt-out, the closest encloser may have no NSEC3 record; then the closest one that has a
 * record is used.
 */
function provableEncloser(chain: CountedChain, relative: readonly Label[], existing: number) {
  // Half of the work is left for the rest of the proof.
  for (let depth = existing; depth >= 0 && chain.work.blocks < answerLimits.blocks / 2; depth--) {
    const link = matching(chain, encloserOf(relative, depth));
    if (link) return { link, depth };
  }
  return undefined;
}

/** Undefined when no more names may be hashed for this answer. */
function hashIn({ view, parameters, work }: CountedChain, relative: readonly Label[]): Uint8Array | undefined {
  const name = wireName([...relative, ...view.labels]);
  work.blocks += blocksFor(parameters, name.length);
  if (work.blocks > answerLimits.blocks) return undefined;
  const remembered = rememberedIn.get(view) ?? new Map<string, Uint8Array>();
  rememberedIn.set(view, remembered);
  return rememberedHash(remembered, name, parameters);
}

/** Hashes count as work even if they are remembered: an answer must not depend on earlier ones. */
const rememberedIn = new WeakMap<ZoneView, Map<string, Uint8Array>>();

function matching(chain: CountedChain, relative: readonly Label[]): DenialSet | undefined {
  const hash = hashIn(chain, relative);
  return hash && hashedLink(chain, base32hex(hash));
}

/** No name has this hash, so the record before the hash covers it. */
function covering(chain: CountedChain, relative: readonly Label[]): DenialSet | undefined {
  const hash = hashIn(chain, relative);
  return hash && linkBefore(chain, hashesBefore(chain.view, hash));
}

/** The last record is before the first: the chain is a circle. `start`: how many records come before the hash. */
function linkBefore(chain: HashChain, start: number): DenialSet | undefined {
  const labels = chain.view.order?.get(chain.view.hashed) ?? [];
  for (let steps = 1; steps <= Math.min(labels.length, 1 + answerLimits.otherChains); steps++) {
    const link = hashedLink(chain, labels.at((start - steps) % labels.length) ?? "");
    if (link) return link;
  }
  return undefined;
}

function hashedLink({ view, parameters }: HashChain, label: Label): DenialSet | undefined {
  const node = view.hashed.children?.get(label);
  const set = node && answeringAt(node, nsec3);
  // The data comes after its length.
  if (!set || !hasParameters(set.data, 2, parameters)) return undefined;
  return { name: [label, ...view.labels], set, node };
}
