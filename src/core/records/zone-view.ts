import type { Label } from "../names/label.ts";
import { apex, labelsOf } from "../names/name.ts";
import { parseRdata, type Rdata, rdataToWire } from "../rdata/rdata.ts";
import type { RecordType } from "../rdata/table.ts";
import type { Steps } from "../steps.ts";
import type { Change } from "./changes.ts";
import { dname } from "./dname.ts";
import type { RRset } from "./rrset.ts";
import { withSerial } from "./serial.ts";

/**
 * One zone as a tree of labels, for answering queries. A name without sets but with names below it is a node like any other, so
 * empty non-terminals need no special rule, and a wildcard is the child `*` of its parent (RFC 4592).
 *
 * A write changes it in place, between two queries, so that it costs the same in a zone of any size. The counters show whether a cached answer is still valid; see `answer.ts`.
 */
export type ZoneView = {
  readonly name: string;
  readonly labels: readonly Label[];
  readonly apex: ZoneNode;
  /** For sets without their own TTL. */
  readonly ttl: number;
  serial: number;
  /** How many sets there are. */
  size: number;
  /** Incremented when a set is added or removed. */
  shape: number;
  /** Incremented when a delegation is added or removed, or a DNAME set changes: other sets then answer for the names below. */
  cuts: number;
  /** The number of DNAME sets. Nearly every zone has none, and then lookups skip the check. */
  dnames: number;
};

export type ZoneNode = {
  sets: readonly ViewSet[];
  children: Map<Label, ZoneNode> | undefined;
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
};

export type ZoneContent = {
  readonly name: string;
  readonly ttl: number;
  readonly serial: number;
  readonly sets: readonly RRset[];
};

const setsInStep = 64;

/** Builds a view in steps, because a zone may be large. Throws when there is no SOA set: nothing could be answered. */
export function* zoneViewSteps(zone: ZoneContent): Steps<ZoneView> {
  const { name, ttl, serial } = zone;
  const view: ZoneView = {
    name,
    labels: labelsOf(name),
    apex: { sets: [], children: undefined },
    ttl,
    serial,
    size: 0,
    shape: 0,
    cuts: 0,
    dnames: 0,
  };
  let placed = 0;
  for (const set of zone.sets) {
    placeSet(view, set.owner, set.type, set);
    placed += 1;
    if (placed % setsInStep === 0) yield;
  }
  if (setAt(view.apex, "SOA") === undefined) throw new Error(`the zone ${name} has no SOA record`);
  renewSoa(view, serial);
  return view;
}

/** Applies one write. The SOA set takes the serial whether or not the changes name it. */
export function changeZoneView(view: ZoneView, serial: number, changes: readonly Change[]): void {
  for (const { owner, type, after } of changes) placeSet(view, owner, type, after);
  renewSoa(view, serial);
}

export const setAt = (node: ZoneNode, type: RecordType): ViewSet | undefined =>
  node.sets.find((set) => set.type === type);

/** Values were checked when they were written, so an invalid one is a bug. */
export function rdataOf(set: ViewSet): readonly Rdata[] {
  set.rdata ??= set.values.map((text) => {
    const read = parseRdata(set.type, text, "");
    if (!read.ok) throw new Error(`the value of a ${set.type} record cannot be read: ${text}`);
    return read.value;
  });
  return set.rdata;
}

export function wireOf(set: ViewSet): readonly Uint8Array[] {
  set.wire ??= rdataOf(set).map(rdataToWire);
  return set.wire;
}

/** All sets of the zone, the SOA first, as a transfer needs them. Names are absolute. */
export function* setsOfView(view: ZoneView): Generator<{ readonly name: readonly Label[]; readonly set: ViewSet }> {
  const soa = setAt(view.apex, "SOA");
  if (soa) yield { name: view.labels, set: soa };
  const waiting: { readonly name: readonly Label[]; readonly node: ZoneNode }[] = [
    { name: view.labels, node: view.apex },
  ];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { name, node } = next;
    for (const set of node.sets) if (set !== soa) yield { name, set };
    for (const [label, child] of node.children ?? []) waiting.push({ name: [label, ...name], node: child });
  }
}

function placeSet(view: ZoneView, owner: string, type: RecordType, after: RRset | null): void {
  const labels = owner === apex ? [] : labelsOf(owner);
  const path = pathTo(view.apex, labels, after !== null);
  const node = path?.at(-1);
  if (path === undefined || node === undefined) return;
  const old = setAt(node, type);
  const set = after === null || after.records.length === 0 ? undefined : toViewSet(after, view.ttl);
  if (old !== undefined) old.gone = true;
  node.sets = [...node.sets.filter((each) => each !== old), ...(set ? [set] : [])];
  view.size += (set ? 1 : 0) - (old ? 1 : 0);
  if ((old === undefined) !== (set === undefined)) {
    view.shape += 1;
    if (type === "NS" && node !== view.apex) view.cuts += 1;
    if (type === dname) view.dnames += set ? 1 : -1;
  }
  if (type === dname) view.cuts += 1;
  if (set === undefined) prune(path, labels);
}

/** The nodes from the apex down to the owner; undefined when it does not exist and must not be created. */
function pathTo(from: ZoneNode, labels: readonly Label[], make: boolean): readonly ZoneNode[] | undefined {
  const path = [from];
  let node = from;
  for (let i = labels.length - 1; i >= 0; i--) {
    const label = labels[i] ?? "";
    let child = node.children?.get(label);
    if (child === undefined) {
      if (!make) return undefined;
      child = { sets: [], children: undefined };
      node.children ??= new Map();
      node.children.set(label, child);
    }
    node = child;
    path.push(node);
  }
  return path;
}

/** Removes nodes without sets and children, from the owner upwards. */
function prune(path: readonly ZoneNode[], labels: readonly Label[]): void {
  for (let depth = path.length - 1; depth > 0; depth--) {
    const node = path[depth];
    const parent = path[depth - 1];
    if (!node || !parent || node.sets.length > 0 || node.children !== undefined) return;
    parent.children?.delete(labels[labels.length - depth] ?? "");
    if (parent.children?.size === 0) parent.children = undefined;
  }
}

function toViewSet(set: RRset, zoneTtl: number): ViewSet {
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
  view.apex.sets = view.apex.sets.map((set) => (set === soa ? renewed : set));
}
