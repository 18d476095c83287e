import { type Label, printLabels } from "../names/label.ts";
import { labelsOf } from "../names/name.ts";
import type { Rdata } from "../rdata/rdata.ts";
import type { RecordType } from "../rdata/table.ts";
import { dname, redirected, targetOfDname } from "./dname.ts";
import { rdataOf, setAt, type ViewSet, wireOf, type ZoneNode, type ZoneView } from "./zone-view.ts";

/** The type in a question. Undefined: a type that no set can have. */
export type QuestionType = RecordType | "ANY" | undefined;

/**
 * The kind of answer, which determines the content of the sections (RFC 1034 section 4.3.2). `too-long`: a DNAME leads to a name that
 * would be too long (RFC 6672 section 2.2).
 */
export type AnswerKind = "found" | "alias" | "referral" | "no-data" | "no-name" | "too-long" | "not-ours";

export type Answer = {
  readonly kind: AnswerKind;
  /** For an alias: how its last name ended. `elsewhere`: it is outside this zone. `loop`: the chain leads back to itself or is too long. */
  readonly end?: "found" | "referral" | "no-data" | "no-name" | "too-long" | "elsewhere" | "loop";
  readonly answer: readonly AnswerSet[];
  readonly authority: readonly AnswerSet[];
  readonly additional: readonly AnswerSet[];
  /**
   * The answer is valid as long as its sets are not gone, `cuts` of the view is the same and, when this is true, `shape` too: then it
   * also depends on sets that do not exist. (Negative answers contain the SOA, which every change replaces.)
   */
  readonly open: boolean;
  /** The answer comes from a wildcard, or the name does not exist: any number of names get this answer. */
  readonly forManyNames: boolean;
};

/** A set and the name that it answers for, which is not its owner if it comes from a wildcard. Names are absolute. */
export type AnswerSet = { readonly name: readonly Label[]; readonly ttl: number; readonly set: ViewSet };

/** Longer chains are cut here; resolvers follow the rest themselves, or give up. */
const longestChain = 16;

export function answerQuestion(view: ZoneView, name: readonly Label[], type: QuestionType): Answer {
  const chain: AnswerSet[] = [];
  let next = name;
  let open = false;
  let forManyNames = false;
  for (;;) {
    const relative = relativeTo(view, next);
    if (relative === undefined) return chain.length === 0 ? notOurs : alias("elsewhere");
    const place = findPlace(view, relative);
    open ||= place.kind === "at" && place.byWildcard;
    forManyNames ||= place.kind !== "at" || place.byWildcard;
    const step = answerAt(view, next, place, type);
    if (step.kind !== "alias") {
      const whole = { ...step, open: open || step.open, forManyNames };
      return chain.length === 0
        ? whole
        : { ...whole, kind: "alias", end: endOf(step), answer: [...chain, ...newIn(chain, step)] };
    }
    const link = step.answer.at(-1);
    if (link === undefined) throw new Error("an alias without a target");
    chain.push(...newIn(chain, step));
    next = targetOf(link.set);
    if (chain.length >= longestChain || chain.some((each) => isAliasOf(each, next))) return alias("loop");
  }

  function alias(end: "elsewhere" | "loop"): Answer {
    return { kind: "alias", end, answer: chain, authority: [], additional: [], open, forManyNames };
  }
}

const notOurs: Answer = {
  kind: "not-ours",
  answer: [],
  authority: [],
  additional: [],
  open: false,
  forManyNames: true,
};

/** The labels in front of the zone's own; undefined when the name is not inside the zone. */
function relativeTo(view: ZoneView, name: readonly Label[]): readonly Label[] | undefined {
  const depth = name.length - view.labels.length;
  if (depth < 0 || !view.labels.every((label, i) => label === name[depth + i])) return undefined;
  return name.slice(0, depth);
}

/** Where a name leads in the tree. `depth` is the number of labels between the apex and the cut or DNAME. */
type Place =
  | { readonly kind: "at"; readonly node: ZoneNode; readonly byWildcard: boolean }
  | { readonly kind: "cut"; readonly node: ZoneNode; readonly depth: number; readonly exact: boolean }
  | { readonly kind: "redirect"; readonly set: ViewSet; readonly target: readonly Label[]; readonly depth: number }
  | { readonly kind: "nowhere" };

function findPlace(view: ZoneView, relative: readonly Label[]): Place {
  let node = view.apex;
  for (let i = relative.length - 1; i >= 0; i--) {
    const redirect = view.dnames > 0 ? redirectAt(node) : undefined;
    if (redirect) return { kind: "redirect", ...redirect, depth: relative.length - 1 - i };
    const child = node.children?.get(relative[i] ?? "");
    if (child === undefined) {
      // RFC 4592 section 3.3.1: only the wildcard at the closest encloser applies, and only to names that do not exist.
      const wildcard = node.children?.get("*");
      return wildcard ? { kind: "at", node: wildcard, byWildcard: true } : { kind: "nowhere" };
    }
    node = child;
    if (setAt(node, "NS")) return { kind: "cut", node, depth: relative.length - i, exact: i === 0 };
  }
  return { kind: "at", node, byWildcard: false };
}

/** A DNAME answers for all names below its node, whatever records they have (RFC 6672 section 2.4). */
function redirectAt(node: ZoneNode): { readonly set: ViewSet; readonly target: readonly Label[] } | undefined {
  const set = setAt(node, dname);
  const target = set && targetOfDname(wireOf(set)[0]);
  return set && target && { set, target };
}

type Step = Omit<Answer, "forManyNames">;

function answerAt(view: ZoneView, name: readonly Label[], place: Place, type: QuestionType): Step {
  switch (place.kind) {
    case "nowhere":
      return negative(view, "no-name");
    case "cut":
      // The DS set is on the parent's side of a cut (RFC 4035 section 3.1.4.1).
      if (place.exact && type === "DS") return dataAt(view, name, place.node, type);
      return referral(view, name.slice(name.length - view.labels.length - place.depth), place.node);
    case "redirect":
      return redirection(name, name.length - view.labels.length - place.depth, place, type);
    case "at":
      return dataAt(view, name, place.node, type);
  }
}

function dataAt(view: ZoneView, name: readonly Label[], node: ZoneNode, type: QuestionType): Step {
  if (type === undefined) return cnameOr(name, node) ?? negative(view, "no-data");
  const set = type === "ANY" ? oneOf(node) : setAt(node, type);
  if (set === undefined) return cnameOr(name, node) ?? negative(view, "no-data");
  const answer = [{ name, ttl: set.ttl, set }];
  const additional = addressesFor(view, set);
  const open = type === "ANY" || additional.asked;
  return { kind: "found", answer, authority: [], additional: additional.sets, open };
}

function cnameOr(name: readonly Label[], node: ZoneNode): Step | undefined {
  const set = setAt(node, "CNAME");
  if (set === undefined) return undefined;
  return { kind: "alias", answer: [{ name, ttl: set.ttl, set }], authority: [], additional: [], open: false };
}

/** RFC 6672 section 3.1: the DNAME itself, and for clients that do not know it a CNAME for the queried name. */
function redirection(
  name: readonly Label[],
  above: number,
  { set, target }: { readonly set: ViewSet; readonly target: readonly Label[] },
  type: QuestionType,
): Step {
  const { ttl } = set;
  const rule = { name: name.slice(above), ttl, set };
  const rest = { authority: [], additional: [], open: false };
  const to = redirected(name.slice(0, above), target);
  if (to === undefined) return { kind: "too-long", answer: [rule], ...rest };
  const made: ViewSet = {
    type: "CNAME",
    ttl,
    values: [`${printLabels(to)}.`],
    ...{ gone: false, rdata: undefined, wire: undefined },
  };
  const asked = type === "CNAME" || type === "ANY";
  return { kind: asked ? "found" : "alias", answer: [rule, { name, ttl, set: made }], ...rest };
}

/** A chain may pass the same DNAME twice; it is included once. */
const newIn = (chain: readonly AnswerSet[], { answer }: Step): readonly AnswerSet[] =>
  answer.filter(({ set }) => set.type !== dname || !chain.some((each) => each.set === set));

/** RFC 8482 section 4.1: one set is enough for `ANY`; most clients want addresses. */
const oneOf = (node: ZoneNode): ViewSet | undefined =>
  setAt(node, "A") ?? setAt(node, "AAAA") ?? setAt(node, "CNAME") ?? node.sets[0];

function negative(view: ZoneView, kind: "no-data" | "no-name"): Step {
  const set = setAt(view.apex, "SOA");
  if (set === undefined) throw new Error(`the zone ${view.name} has no SOA record`);
  // RFC 2308 section 3: the answer may be cached for the lesser of the SOA's TTL and its minimum.
  const minimum = Number(rdataOf(set)[0]?.fields.minimum ?? 0);
  const authority = [{ name: view.labels, ttl: Math.min(set.ttl, minimum), set }];
  return { kind, answer: [], authority, additional: [], open: false };
}

function referral(view: ZoneView, name: readonly Label[], node: ZoneNode): Step {
  const set = setAt(node, "NS");
  if (set === undefined) throw new Error("a cut without nameservers");
  const { sets } = addressesFor(view, set);
  return { kind: "referral", answer: [], authority: [{ name, ttl: set.ttl, set }], additional: sets, open: true };
}

/** The zone's addresses of the hosts that a set points to; below a cut they are glue. */
function addressesFor(view: ZoneView, set: ViewSet): { readonly asked: boolean; readonly sets: readonly AnswerSet[] } {
  const field = hostField[set.type];
  if (field === undefined) return { asked: false, sets: [] };
  const hosts = new Set(rdataOf(set).map((rdata) => hostOf(rdata, field)));
  const sets: AnswerSet[] = [];
  for (const host of hosts) {
    const name = labelsOf(host);
    const node = nodeOf(view, name);
    for (const type of ["A", "AAAA"] as const) {
      const addresses = node && setAt(node, type);
      if (addresses) sets.push({ name, ttl: addresses.ttl, set: addresses });
    }
  }
  return { asked: true, sets };
}

const hostField: Readonly<Partial<Record<RecordType, string>>> = { NS: "host", MX: "exchange", SRV: "target" };

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

const hostOf = (rdata: Rdata, field: string): string => String(rdata.fields[field]).slice(0, -1);

function targetOf(set: ViewSet): readonly Label[] {
  const [rdata] = rdataOf(set);
  return rdata ? labelsOf(hostOf(rdata, "target")) : [];
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
