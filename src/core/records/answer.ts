import { type Label, printLabels } from "../names/label.ts";
import type { RecordType } from "../rdata/table.ts";
import { type AnswerWork, answerLimits, noWork } from "./answer-work.ts";
import { type Denial, type DenialSet, type Denied, proofOf, sharedProof } from "./denial.ts";
import { dname, redirected } from "./dname.ts";
import { bytesOf, wireName } from "./nsec3-hash.ts";
import { firstOf, isPacked, isSamePacked, isSignatures, nsec, type PackedSet, rrsig } from "./packed-sets.ts";
import { targetsOf } from "./targets.ts";
import {
  anySetAt,
  listSignatures,
  type NamedSet,
  rdataOf,
  setAt,
  signaturesAt,
  type ViewSet,
  type ZoneNode,
  type ZoneView,
} from "./zone-view.ts";

/** The type in a question. Undefined: a type that no set can have. */
export type QuestionType = RecordType | "ANY" | undefined;

/**
 * The kind of answer, which determines the content of the sections (RFC 1034 section 4.3.2). `too-long`: a DNAME leads
 * to a name that would be too long (RFC 6672 section 2.2).
 */
export type AnswerKind = "found" | "alias" | "referral" | "no-data" | "no-name" | "too-long" | "not-ours";

export type Answer = {
  readonly kind: AnswerKind;
  /**
   * For an alias: what the last name of its chain leads to. `elsewhere`: that name is outside this zone. `loop`: the
   * chain leads back to itself or is too long.
   */
  readonly end?: "found" | "referral" | "no-data" | "no-name" | "too-long" | "elsewhere" | "loop";
  readonly answer: readonly AnswerSet[];
  readonly authority: readonly AnswerSet[];
  readonly additional: readonly AnswerSet[];
  /**
   * The answer stays valid while its sets exist and `delegationVersion` of the view does not change. True: it also
   * depends on sets that do not exist, so `shapeVersion` must not change either. (Negative answers contain the SOA,
   * which every change replaces.)
   */
  readonly dependsOnAbsence: boolean;
  /** The answer comes from a wildcard, or the name does not exist: any number of names get this answer. */
  readonly forManyNames: boolean;
};

/**
 * A set and the name that it answers for, which is not its owner if it comes from a wildcard. Names are absolute. The
 * signatures of a set follow it; in the additional section they follow all sets, so that they can be left out.
 */
export type AnswerSet = NamedSet & { readonly ttl: number };

/** With `dnssecOk`, the answer has signatures and proofs, if the zone is signed. `work` counts what it costs. */
export function answerQuestion(
  view: ZoneView,
  name: readonly Label[],
  type: QuestionType,
  dnssecOk: boolean = false,
  work: AnswerWork = noWork(),
): Answer {
  const query = { view, type, signed: dnssecOk && view.signed > 0, work };
  const chain: AnswerSet[] = [];
  const proofs: AnswerSet[] = [];
  let next = name;
  let links = 0;
  let dependsOnAbsence = false;
  let forManyNames = false;
  for (;;) {
    const relative = relativeTo(view, next);
    if (relative === undefined) return chain.length === 0 ? notOurs : alias("elsewhere");
    const place = findPlace(view, relative);
    dependsOnAbsence ||= place.kind === "at" && place.byWildcard;
    forManyNames ||= place.kind !== "at" || place.byWildcard;
    const step = answerAt(query, { name: next, relative }, place);
    // Missing signatures may be added later.
    dependsOnAbsence ||= query.signed && step.answer.filter(isSignature).length * 2 < step.answer.length;
    if (step.kind !== "alias") {
      const whole = { ...step, dependsOnAbsence: dependsOnAbsence || step.dependsOnAbsence, forManyNames };
      if (chain.length === 0) return whole;
      const authority = [...proofs, ...newIn(proofs, step.authority)];
      return { ...whole, kind: "alias", end: endOf(step), answer: [...chain, ...newIn(chain, step.answer)], authority };
    }
    if (step.target === undefined) throw new Error("an alias without a target");
    chain.push(...newIn(chain, step.answer));
    proofs.push(...newIn(proofs, step.authority));
    next = step.target;
    links += step.answer.some(({ set }) => set.type === dname) ? answerLimits.linksPerDname : 1;
    work.labels += next.length;
    const isLong = links >= answerLimits.links || work.labels > answerLimits.aliasLabels;
    // With more hashes, the rest of the chain would lack its proofs.
    const isProved = proofs.length >= answerLimits.proofs || work.blocks > answerLimits.blocks / 4;
    if (isLong || isProved || chain.some((each) => isAliasOf(each, next))) return alias("loop");
  }

  function alias(end: "elsewhere" | "loop"): Answer {
    return { kind: "alias", end, answer: chain, authority: proofs, additional: [], dependsOnAbsence, forManyNames };
  }
}

type AnswerQuery = {
  readonly view: ZoneView;
  readonly type: QuestionType;
  readonly signed: boolean;
  readonly work: AnswerWork;
};

const notOurs: Answer = {
  kind: "not-ours",
  answer: [],
  authority: [],
  additional: [],
  dependsOnAbsence: false,
  forManyNames: true,
};

/** The labels in front of the zone's own; undefined when the name is not inside the zone. */
function relativeTo(view: ZoneView, name: readonly Label[]): readonly Label[] | undefined {
  const depth = name.length - view.labels.length;
  if (depth < 0 || !view.labels.every((label, i) => label === name[depth + i])) return undefined;
  return name.slice(0, depth);
}

/**
 * Where a name leads in the tree. `depth` is the number of labels between the apex and the closest encloser, the cut or
 * the DNAME.
 */
type TreePosition =
  | { readonly kind: "at"; readonly node: ZoneNode; readonly depth: number; readonly byWildcard: boolean }
  | { readonly kind: "cut"; readonly node: ZoneNode; readonly depth: number; readonly exact: boolean }
  | (Redirect & { readonly kind: "redirect"; readonly depth: number })
  | { readonly kind: "nowhere"; readonly depth: number };

type Redirect = { readonly node: ZoneNode; readonly set: ViewSet; readonly target: readonly Label[] };

function findPlace(view: ZoneView, relative: readonly Label[]): TreePosition {
  let node = view.apex;
  for (let i = relative.length - 1; i >= 0; i--) {
    const depth = relative.length - 1 - i;
    const redirect = view.dnames > 0 ? redirectAt(node) : undefined;
    if (redirect) return { kind: "redirect", ...redirect, depth };
    const child = node.children?.get(relative[i] ?? "");
    if (child === undefined) {
      // RFC 4592 section 3.3.1: only the wildcard at the closest encloser applies, and only to names that do not exist.
      const wildcard = node.children?.get("*");
      return wildcard ? { kind: "at", node: wildcard, depth, byWildcard: true } : { kind: "nowhere", depth };
    }
    node = child;
    if (setAt(node, "NS")) return { kind: "cut", node, depth: depth + 1, exact: i === 0 };
  }
  return { kind: "at", node, depth: relative.length, byWildcard: false };
}

/** A DNAME answers for all names below its node, whatever records they have (RFC 6672 section 2.4). */
function redirectAt(node: ZoneNode): Redirect | undefined {
  const set = setAt(node, dname);
  const target = set && targetsOf(set)[0];
  return set && target && { node, set, target };
}

/** `target`: what an alias points to. */
type Step = Omit<Answer, "forManyNames"> & { readonly target?: readonly Label[] | undefined };

/** A name inside the zone: absolute, and relative to it. */
type InZone = { readonly name: readonly Label[]; readonly relative: readonly Label[] };

function answerAt(query: AnswerQuery, at: InZone, place: TreePosition): Step {
  const { view, type } = query;
  const { name, relative } = at;
  switch (place.kind) {
    case "nowhere":
      return negative(query, "no-name", proof(query, "no-name", { relative, existing: place.depth }));
    case "cut": {
      // The DS set is on the parent's side of a cut (RFC 4035 section 3.1.4.1).
      if (place.exact && type === "DS") return dataAt(query, at, { ...place, byWildcard: false });
      const above = relative.length - place.depth;
      return referral(query, { name: name.slice(above), relative: relative.slice(above) }, place.node);
    }
    case "redirect":
      return redirection(query, name, name.length - view.labels.length - place.depth, place);
    case "at":
      return dataAt(query, at, place);
  }
}

type Data = { readonly node: ZoneNode; readonly depth: number; readonly byWildcard: boolean };

function dataAt(query: AnswerQuery, { name, relative }: InZone, { node, depth, byWildcard }: Data): Step {
  const { type } = query;
  const denied = { relative, existing: depth };
  const closest = () => (byWildcard ? proof(query, "wildcard", denied) : []);
  const signatures = type === rrsig ? listSignatures(node, answerLimits.signatures) : [];
  if (signatures.length > 0) {
    const answer = signatures.map((set) => ({ name, ttl: set.ttl, set: firstOf(set, answerLimits.signatures) }));
    return { kind: "found", answer, authority: closest(), additional: [], dependsOnAbsence: true };
  }
  const set = type === "ANY" ? oneOf(node) : type && anySetAt(node, type);
  if (set !== undefined) {
    const additional = addressesFor(query, set);
    const answer = withSignatures(query, node, { name, ttl: set.ttl, set });
    const dependsOnAbsence = type === "ANY" || additional.lookedUp;
    return { kind: "found", answer, authority: closest(), additional: additional.sets, dependsOnAbsence };
  }
  // RFC 4035 section 2.5: an alias has its own NSEC and RRSIG sets, so they are not looked for at its target.
  const cname = type === nsec || type === rrsig ? undefined : setAt(node, "CNAME");
  if (cname !== undefined) {
    const answer = withSignatures(query, node, { name, ttl: cname.ttl, set: cname });
    return {
      kind: "alias",
      answer,
      authority: closest(),
      additional: [],
      dependsOnAbsence: false,
      target: targetsOf(cname)[0],
    };
  }
  return negative(query, "no-data", proof(query, byWildcard ? "wildcard-no-data" : "no-data", denied));
}

function withSignatures({ signed }: AnswerQuery, node: ZoneNode, each: AnswerSet): readonly AnswerSet[] {
  const set = signed ? signaturesAt(node, each.set.type) : undefined;
  return set ? [each, { ...each, set }] : [each];
}

function proof(query: AnswerQuery, denial: Denial, denied: Denied): readonly AnswerSet[] {
  if (!query.signed) return [];
  return proofOf(query.view, denial, denied, query.work).flatMap((link) => signedLink(query, link));
}

/**
 * What answers for missing names directly below an existing one share in the authority section. It lacks only the
 * record that covers the name (`linkOfGap`), unless that is shared too. Undefined if they share less.
 */
export function sharedDenial(view: ZoneView, encloser: readonly Label[]): SharedDenial | undefined {
  const work = noWork();
  const links = sharedProof(view, encloser.slice(0, encloser.length - view.labels.length), work);
  if (links === undefined) return undefined;
  const query = { view, type: undefined, signed: true, work };
  const proofs = links.flatMap((link) => signedLink(query, link));
  return { authority: negative(query, "no-name", proofs).authority, nodes: links.map(({ node }) => node) };
}

export type SharedDenial = { readonly authority: readonly AnswerSet[]; readonly nodes: readonly ZoneNode[] };

const signedLink = (query: AnswerQuery, { name, set, node }: DenialSet): readonly AnswerSet[] =>
  withSignatures(query, node, { name, ttl: set.ttl, set });

/** RFC 6672 section 3.1: the DNAME itself, and for clients that do not know it a CNAME for the queried name. */
function redirection(query: AnswerQuery, name: readonly Label[], above: number, { node, set, target }: Redirect): Step {
  const { ttl } = set;
  const rule = withSignatures(query, node, { name: name.slice(above), ttl, set });
  const rest = { authority: [], additional: [], dependsOnAbsence: false };
  const to = redirected(name.slice(0, above), target);
  if (to === undefined) return { kind: "too-long", answer: rule, ...rest };
  const answer = [...rule, { name, ttl, set: aliasTo(to, ttl) }];
  const isEnd = query.type === "CNAME" || query.type === "ANY";
  return { kind: isEnd ? "found" : "alias", answer, ...rest, target: to };
}

/** Its text is printed only if somebody reads it: names may be long, and each query makes other sets. */
const aliasTo = (target: readonly Label[], ttl: number): ViewSet => ({
  type: "CNAME",
  ttl,
  gone: false,
  rdata: undefined,
  wire: [bytesOf(wireName(target))],
  get values() {
    return [`${printLabels(target)}.`];
  },
});

/** A chain may pass the same DNAME twice, and need the same proof twice; each is included once. */
const newIn = (before: readonly AnswerSet[], sets: readonly AnswerSet[]): readonly AnswerSet[] =>
  sets.filter(({ name, set }) => !before.some((each) => isSameSet(each.set, set) && sameLabels(each.name, name)));

const isSameSet = (a: AnswerSet["set"], b: AnswerSet["set"]): boolean =>
  a === b || (isPacked(a) && isPacked(b) && isSamePacked(a, b));

const isSignature = ({ set }: AnswerSet): boolean => isSignatures(set);

/** RFC 8482 section 4.1: one set is enough for `ANY`; most clients want addresses. */
const oneOf = (node: ZoneNode): AnswerSet["set"] | undefined =>
  setAt(node, "A") ?? setAt(node, "AAAA") ?? setAt(node, "CNAME") ?? firstSet(node) ?? anySetAt(node, nsec);

const firstSet = (node: ZoneNode): ViewSet | undefined => node.sets.values().next().value;

function negative(query: AnswerQuery, kind: "no-data" | "no-name", proofs: readonly AnswerSet[]): Step {
  const { apex, labels, name } = query.view;
  const set = setAt(apex, "SOA");
  if (set === undefined) throw new Error(`the zone ${name} has no SOA record`);
  // RFC 2308 section 3: the answer may be cached for the lesser of the SOA's TTL and its minimum.
  const minimum = Number(rdataOf(set)[0]?.fields.minimum ?? 0);
  const soa = withSignatures(query, apex, { name: labels, ttl: Math.min(set.ttl, minimum), set });
  return { kind, answer: [], authority: [...soa, ...proofs], additional: [], dependsOnAbsence: false };
}

/** With the DS set, or the proof that there is none (RFC 4035 section 3.1.4). */
function referral(query: AnswerQuery, { name, relative }: InZone, node: ZoneNode): Step {
  const set = setAt(node, "NS");
  if (set === undefined) throw new Error("a cut without nameservers");
  const ds = query.signed ? setAt(node, "DS") : undefined;
  const security = ds
    ? withSignatures(query, node, { name, ttl: ds.ttl, set: ds })
    : proof(query, "no-data", { relative, existing: relative.length });
  const authority = [{ name, ttl: set.ttl, set }, ...security];
  return { kind: "referral", answer: [], authority, additional: addressesFor(query, set).sets, dependsOnAbsence: true };
}

type Addresses = { readonly lookedUp: boolean; readonly sets: readonly AnswerSet[] };

/**
 * The zone's addresses of the hosts that a set points to; below a cut they are glue. Only of the first hosts, if there
 * are many.
 */
function addressesFor(query: AnswerQuery, set: ViewSet | PackedSet): Addresses {
  // A large set leaves little room for more; only a referral needs it.
  const isLarge = set.type !== "NS" && !isPacked(set) && set.values.length > answerLimits.hosts;
  if (isPacked(set) || isLarge || !withAddresses.has(set.type)) return { lookedUp: false, sets: [] };
  const { view, work } = query;
  const sets: AnswerSet[] = [];
  for (const name of targetsOf(set)) {
    work.labels += Math.max(name.length - view.labels.length, 0);
    if (work.labels > answerLimits.labels) break;
    const node = nodeOf(view, name);
    for (const type of ["A", "AAAA"] as const) {
      const addresses = node && setAt(node, type);
      if (addresses) sets.push(...withSignatures(query, node, { name, ttl: addresses.ttl, set: addresses }));
    }
  }
  return { lookedUp: true, sets: [...sets.filter((each) => !isSignature(each)), ...sets.filter(isSignature)] };
}

const withAddresses: ReadonlySet<RecordType> = new Set<RecordType>(["NS", "MX", "SRV"]);

/** The node of a name, if it exists and no DNAME above hides it. */
export function nodeOf(view: ZoneView, name: readonly Label[]): ZoneNode | undefined {
  let node: ZoneNode | undefined = view.apex;
  const relative = relativeTo(view, name);
  if (relative === undefined) return undefined;
  for (let i = relative.length - 1; node !== undefined && i >= 0; i--) {
    if (view.dnames > 0 && redirectAt(node)) return undefined;
    node = node.children?.get(relative[i] ?? "");
  }
  return node;
}

function endOf(step: Step): NonNullable<Answer["end"]> {
  switch (step.kind) {
    case "found":
    case "referral":
    case "no-data":
    case "no-name":
    case "too-long":
      return step.kind;
    case "alias":
    case "not-ours":
      throw new Error("not the end of a chain");
  }
}

const isAliasOf = ({ name, set }: AnswerSet, next: readonly Label[]): boolean =>
  set.type !== dname && sameLabels(name, next);

const sameLabels = (a: readonly Label[], b: readonly Label[]): boolean =>
  a.length === b.length && a.every((label, i) => label === b[i]);
