import type { Label } from "../names/label.ts";
import { apex, labelsOf } from "../names/name.ts";
import { type Rdata, rdataToWire } from "../rdata/rdata.ts";
import { readRdata } from "../rdata/read-rdata.ts";
import { type RecordType, typeCode } from "../rdata/table.ts";
import { finish, type Steps } from "../steps.ts";
import { answerLimits } from "./answer-work.ts";
import { insertLabel, type OrderedLabels, removeLabel, sortedSteps } from "./canonical-order.ts";
import type { Change } from "./changes.ts";
import { dname } from "./dname.ts";
import { findSet, hasSets, type NodeSets, replaceSet } from "./node-sets.ts";
import {
  countPacked,
  countsIn,
  firstOf,
  isPacked,
  isPackedType,
  isUnpacked,
  type NewPacked,
  nsec,
  nsec3,
  type Packed,
  type PackedSet,
  type PackedType,
  packed,
  packedAt,
  packedOf,
  packedSets,
  packedWire,
  rrsig,
  signaturesIn,
  withPacked,
} from "./packed-sets.ts";
import type { RRset } from "./rrset.ts";
import { withSerial } from "./serial.ts";

/**
 * One zone as a tree of labels, for answering queries. A name without sets but with names below it is a node like any
 * other, so empty non-terminals need no special rule, and a wildcard is the child `*` of its parent (RFC 4592).
 *
 * A write changes it in place, between two queries, so that it costs the same in a zone of any size. The counters show
 * whether a cached answer is still valid; see `answer.ts`.
 */
export type ZoneView = {
  readonly name: string;
  readonly labels: readonly Label[];
  readonly apex: ZoneNode;
  /** The NSEC3 sets and their signatures: their owners are not names of the zone (RFC 5155 section 7.2.8). */
  readonly hashed: ZoneNode;
  /** The names below each name in canonical order, for a zone with NSEC; those below `hashed`, for one with NSEC3. */
  order: Map<ZoneNode, OrderedLabels> | undefined;
  /** For sets without their own TTL. */
  readonly ttl: number;
  serial: number;
  /** How many sets there are; the signatures of a set count as another one. */
  size: number;
  /** How many sets have signatures. */
  signed: number;
  /** Incremented when a set or its signatures are added or removed. */
  shapeVersion: number;
  /**
   * Incremented when a delegation is added or removed, or a DNAME set changes: other sets then answer for the names
   * below. Also when the first signatures are added.
   */
  delegationVersion: number;
  /** The number of DNAME sets. Nearly every zone has none, and then lookups skip the check. */
  dnames: number;
};

export type ZoneNode = {
  sets: NodeSets<ViewSet>;
  children: Map<Label, ZoneNode> | undefined;
  /** Signatures, NSEC and NSEC3 sets. */
  packed: Packed;
};

/** An immutable set; a change replaces it. */
export type ViewSet = {
  readonly type: RecordType;
  readonly ttl: number;
  /** Canonical texts. */
  readonly values: readonly string[];
  /** No longer in its zone. */
  gone: boolean;
  /** Parsed when first needed. */
  rdata: readonly Rdata[] | undefined;
  /** Wire format; made when first needed. */
  wire: readonly Uint8Array[] | undefined;
  /** The names that its first records point to; read when first needed. */
  targets?: readonly (readonly Label[])[] | undefined;
};

export type ZoneContent<Set extends ServedSet = RRset> = {
  readonly name: string;
  readonly ttl: number;
  readonly serial: number;
  readonly sets: readonly Set[];
};

/**
 * What the nameserver serves of a set: not the ids, comments and labels. Later ones replace earlier ones, and one
 * without records removes them. `packed`: it is not one set, but all signatures, NSEC and NSEC3 sets of its owner.
 */
export type ServedSet = Pick<RRset, "owner" | "type" | "ttl"> & {
  readonly records: readonly { readonly rdata: string }[];
  readonly packed?: Packed;
};

/** What the nameserver serves of a change: threads send it to each other, and the rest would take most of the time. */
export type ServedChange = Pick<Change, "kind" | "owner" | "type"> & { readonly after: ServedSet | null };

const setsInStep = 64;

/** A view without sets, to be filled with `placeSets` and finished with `zoneViewSteps`. */
export const emptyZoneView = ({ name, ttl }: Pick<ZoneContent, "name" | "ttl">): ZoneView => ({
  name,
  ttl,
  labels: labelsOf(name),
  apex: newNode(),
  hashed: newNode(),
  order: undefined,
  serial: 0,
  size: 0,
  signed: 0,
  shapeVersion: 0,
  delegationVersion: 0,
  dnames: 0,
});

export function placeSets(view: ZoneView, sets: readonly ServedSet[]): void {
  for (const set of sets) {
    if (set.packed === undefined) placeSet(view, set.owner, set.type, set);
    else placePacked(view, set.owner, set.packed);
  }
}

/**
 * Builds a view in steps, because a zone may be large; `begun` already has the first sets. Throws when there is no SOA
 * set: nothing could be answered.
 */
export function* zoneViewSteps(zone: ZoneContent<ServedSet>, begun?: ZoneView): Steps<ZoneView> {
  const view = begun ?? emptyZoneView(zone);
  for (let from = 0; from < zone.sets.length; from += setsInStep) {
    placeSets(view, zone.sets.slice(from, from + setsInStep));
    yield;
  }
  if (setAt(view.apex, "SOA") === undefined) throw new Error(`the zone ${zone.name} has no SOA record`);
  renewSoa(view, zone.serial);
  yield* orderingSteps(view);
  return view;
}

/**
 * Applies one write. The SOA set takes the serial whether or not the changes name it. False when the write adds a chain
 * of NSEC or NSEC3 records to a zone that is too large to sort without steps: the view has to be built again.
 */
export function changeZoneView(view: ZoneView, serial: number, changes: readonly ServedChange[]): boolean {
  for (const { owner, type, after } of changes) placeSet(view, owner, type, after);
  renewSoa(view, serial);
  if (unorderedRoots(view).length === 0) return true;
  if (view.size > mostInOneStep) return false;
  finish(orderingSteps(view));
  return true;
}

const mostInOneStep = 10_000;

/** The roots below which names must be sorted, because they form a chain, but are not yet. */
const unorderedRoots = (view: ZoneView): readonly ZoneNode[] =>
  [view.apex, view.hashed].filter(
    (root) => (root === view.apex ? packedAt(root, nsec) : root.children) !== undefined && !view.order?.has(root),
  );

/** Sorts the names below these roots. From then on, changes keep the order. */
function* orderingSteps(view: ZoneView): Steps<void> {
  for (const root of unorderedRoots(view)) {
    const order = view.order ?? new Map<ZoneNode, OrderedLabels>();
    view.order = order;
    const waiting = [root];
    for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
      if (node.children === undefined && node !== root) continue;
      order.set(node, yield* sortedSteps(node.children?.keys() ?? []));
      for (const child of node.children?.values() ?? []) waiting.push(child);
      yield;
    }
  }
}

/** For the types that are not packed. */
export const setAt = (node: ZoneNode, type: RecordType): ViewSet | undefined => findSet(node.sets, type);

/** For any type, except that signatures are found by what they cover. */
export const anySetAt = (node: ZoneNode, type: RecordType): ViewSet | PackedSet | undefined =>
  isPackedType(type) ? answeringAt(node, type) : setAt(node, type);

/** At most as many records as an answer may have: signatures are not a set, so a resolver needs only some of them. */
export function answeringAt(node: ZoneNode, type: PackedType, covers = 0): PackedSet | undefined {
  const set = packedAt(node, type, covers);
  return set && firstOf(set, answerLimits.signatures);
}

/** Whether it is no longer in its zone. */
export const isGone = (set: ViewSet | PackedSet): boolean => (isPacked(set) ? isUnpacked(set) : set.gone);

export function rdataOf(set: ViewSet): readonly Rdata[] {
  set.rdata ??= set.values.map((text) => readRdata(set.type, text));
  return set.rdata;
}

export function wireOf(set: ViewSet | PackedSet): readonly Uint8Array[] {
  if (isPacked(set)) return packedWire(set);
  set.wire ??= rdataOf(set).map(rdataToWire);
  return set.wire;
}

export const countRecords = (set: ViewSet | PackedSet): number =>
  isPacked(set) ? countPacked(set) : (set.wire ?? set.values).length;

export const signaturesAt = (node: ZoneNode, type: RecordType): PackedSet | undefined =>
  answeringAt(node, rrsig, typeCode(type));

/** All sets of the zone and their signatures, the SOA first, as a transfer needs them. Names are absolute. */
export function* setsOfView(view: ZoneView): Generator<NamedSet> {
  const soa = setAt(view.apex, "SOA");
  if (soa) yield { name: view.labels, set: soa };
  const waiting: { readonly name: readonly Label[]; readonly node: ZoneNode }[] = [
    { name: view.labels, node: view.hashed },
    { name: view.labels, node: view.apex },
  ];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { name, node } = next;
    for (const set of node.sets.values()) if (set !== soa) yield { name, set };
    for (const each of packedSets(node)) yield { name, set: each };
    for (const [label, child] of node.children ?? []) waiting.push({ name: [label, ...name], node: child });
  }
}

export type NamedSet = { readonly name: readonly Label[]; readonly set: ViewSet | PackedSet };

function placeSet(view: ZoneView, owner: string, type: RecordType, after: ServedSet | null): void {
  if (type === rrsig) {
    placeAllSignatures(view, owner, after);
    return;
  }
  if (isPackedType(type)) {
    const values = after?.records.map((record) => record.rdata) ?? [];
    replacePacked(
      view,
      owner,
      { type, covers: 0 },
      values.length === 0 ? undefined : packedOf(type, values, after?.ttl ?? view.ttl),
    );
    return;
  }
  const place = openPlace(view, owner, type, after !== null);
  if (place === undefined) return;
  const { node } = place;
  const old = setAt(node, type);
  const set = after === null || after.records.length === 0 ? undefined : toViewSet(after, view.ttl);
  if (old !== undefined) old.gone = true;
  node.sets = replaceSet(node.sets, type, set);
  view.size += (set ? 1 : 0) - (old ? 1 : 0);
  if ((old === undefined) !== (set === undefined)) {
    view.shapeVersion += 1;
    if (type === "NS" && node !== view.apex) view.delegationVersion += 1;
    if (type === dname) view.dnames += set ? 1 : -1;
  }
  if (type === dname) view.delegationVersion += 1;
  if (set === undefined) prune(view, place);
}

/** An RRSIG set contains the signatures of all sets of its owner. */
function placeAllSignatures(view: ZoneView, owner: string, after: ServedSet | null): void {
  const wanted = signaturesIn(after?.records.map((record) => record.rdata) ?? [], after?.ttl ?? view.ttl);
  const ofHashed = typeCode(nsec3);
  for (const root of [rrsig, nsec3] as const) {
    const own = wanted.filter(({ covers }) => (covers === ofHashed) === (root === nsec3));
    const place = openPlace(view, owner, root, own.length > 0);
    if (place === undefined) continue;
    const { node } = place;
    const [old, before] = [listSignatures(node), view.signed];
    const covered = new Set(old.map(({ covers }) => covers));
    node.packed = packed([...packedSets(node).filter((set) => set.type !== rrsig), ...own]);
    view.size += own.length - old.length;
    view.signed += own.length - old.length;
    if (own.length !== old.length || own.some(({ covers }) => !covered.has(covers))) view.shapeVersion += 1;
    if (before === 0 && view.signed > 0) view.delegationVersion += 1;
    if (own.length === 0) prune(view, place);
  }
}

/** In a new view. */
function placePacked(view: ZoneView, owner: string, text: Packed): void {
  const { sets, signatures, isHashed } = countsIn(text);
  const { node } = openPlace(view, owner, isHashed ? nsec3 : rrsig, true) ?? {};
  if (node === undefined) return;
  const old = countsIn(node.packed);
  node.packed = text;
  view.size += sets - old.sets;
  view.signed += signatures - old.signatures;
}

function replacePacked(
  view: ZoneView,
  owner: string,
  { type, covers }: Pick<PackedSet, "type" | "covers">,
  wanted: NewPacked | undefined,
): void {
  const place = openPlace(view, owner, covers === typeCode(nsec3) ? nsec3 : type, wanted !== undefined);
  if (place === undefined) return;
  const { node } = place;
  const old = packedAt(node, type, covers);
  if (old?.data === wanted?.data && old?.ttl === wanted?.ttl) return;
  node.packed = withPacked(node, old, wanted);
  const added = (wanted ? 1 : 0) - (old ? 1 : 0);
  view.size += added;
  if (type === rrsig) view.signed += added;
  if (added !== 0) view.shapeVersion += 1;
  if (type === rrsig && added === 1 && view.signed === 1) view.delegationVersion += 1;
  if (wanted === undefined) prune(view, place);
}

/** All, or the first `most`. */
export const listSignatures = (node: ZoneNode, most?: number): readonly PackedSet[] =>
  packedSets(node, most).filter((set) => set.type === rrsig);

/** The nodes from a root down to an owner. */
type NodePlace = { readonly path: readonly ZoneNode[]; readonly labels: readonly Label[]; readonly node: ZoneNode };

/** Undefined when the owner does not exist and must not be created. */
function openPlace(view: ZoneView, owner: string, type: RecordType, make: boolean): NodePlace | undefined {
  const labels = owner === apex ? [] : labelsOf(owner);
  let node = type === nsec3 ? view.hashed : view.apex;
  const isOrdered = view.order?.has(node);
  const path = [node];
  for (let i = labels.length - 1; i >= 0; i--) {
    const label = labels[i] ?? "";
    let child = node.children?.get(label);
    if (child === undefined) {
      if (!make) return undefined;
      child = newNode();
      node.children ??= new Map();
      node.children.set(label, child);
      if (isOrdered) insertLabel(orderBelow(view, node), label);
    }
    node = child;
    path.push(node);
  }
  return { path, labels, node };
}

/** Removes nodes without sets, signatures and children, from the owner upwards. */
function prune(view: ZoneView, { path, labels }: NodePlace): void {
  for (let depth = path.length - 1; depth > 0; depth--) {
    const node = path[depth];
    const parent = path[depth - 1];
    if (!node || !parent || hasSets(node.sets) || node.packed || node.children !== undefined) return;
    const label = labels[labels.length - depth] ?? "";
    parent.children?.delete(label);
    const order = view.order?.get(parent);
    if (order) removeLabel(order, label);
    if (parent.children?.size !== 0) continue;
    parent.children = undefined;
    if (depth > 1) view.order?.delete(parent);
  }
}

function orderBelow(view: ZoneView, node: ZoneNode): OrderedLabels {
  const order = view.order?.get(node) ?? [];
  view.order?.set(node, order);
  return order;
}

const newNode = (): ZoneNode => ({ sets: noSets, children: undefined, packed: "" });
const noSets: readonly ViewSet[] = [];

function toViewSet(set: ServedSet, zoneTtl: number): ViewSet {
  const values = set.records.map((record) => record.rdata);
  return { type: set.type, ttl: set.ttl ?? zoneTtl, values, gone: false, rdata: undefined, wire: undefined };
}

/** Always replaces the SOA set, whatever has changed: that invalidates all cached answers that contain it. */
function renewSoa(view: ZoneView, serial: number): void {
  view.serial = serial;
  const soa = setAt(view.apex, "SOA");
  if (soa === undefined) return;
  soa.gone = true;
  const values = soa.values.map((text) => withSerial(text, serial));
  const renewed = { ...soa, values, gone: false, rdata: undefined, wire: undefined };
  view.apex.sets = replaceSet(view.apex.sets, "SOA", renewed);
}
