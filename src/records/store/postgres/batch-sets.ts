import { apex, enclosing } from "../../../core/names/name.ts";
import type { RecordType } from "../../../core/rdata/table.ts";
import { dname, type StoredNames } from "../../../core/records/dname.ts";
import type { RRset } from "../../../core/records/rrset.ts";
import { type Steps, sortInSteps } from "../../../core/steps.ts";
import type { Zone } from "../../model.ts";
import type { Need } from "../plan-rule.ts";
import type { ActorKey } from "../port.ts";
import { marksToText, type SetRow, setFromRow } from "../rows.ts";
import { idsOnlyIn, type WriteEffect } from "../write-effect.ts";

export type StoredSet = SetRow & { readonly zone: number };
/** A stored idempotency key, with the answer to its request. */
export type KeptKey = ActorKey & { readonly at: number; readonly outcome: string };
export type SetKeyInBatch = { readonly zone: number; readonly owner: string; readonly type?: string };

/** An applied write turned out to be invalid: nothing of the batch may be written. */
export class SpoiledBatch extends Error {}

/** The sets and record ids of a batch: as they were read, then as its writes change them. */
export class BatchSets {
  /** By zone, owner and type. */
  readonly #sets = new Map<number, Map<string, Map<string, SetRow>>>();
  readonly #places: Map<string, SetKeyInBatch>;
  readonly #touchedSets = new Map<string, Required<SetKeyInBatch> & { readonly existed: boolean }>();
  readonly #touchedIds = new Map<
    string,
    { readonly was: SetKeyInBatch | undefined; now: Required<SetKeyInBatch> | undefined }
  >();

  constructor(sets: readonly StoredSet[], places: ReadonlyMap<string, SetKeyInBatch>) {
    this.#places = new Map(places);
    for (const row of sets) this.#typesAt(row.zone, row.owner).set(row.type, row);
  }

  /** Where each record is, by its id. */
  get places(): ReadonlyMap<string, SetKeyInBatch> {
    return this.#places;
  }

  at(zone: Zone, owner: string): readonly RRset[] {
    const rows = [...(this.#sets.get(zone.number)?.get(owner)?.values() ?? [])];
    return rows.sort((a, b) => (a.type < b.type ? -1 : 1)).map((row) => setFromRow(row, zone));
  }

  *all(zone: Zone): Steps<readonly RRset[]> {
    const all: RRset[] = [];
    for (const owner of yield* sortInSteps([...this.#ownersIn(zone.number).keys()], (a, b) => (a < b ? -1 : 1))) {
      for (const set of this.at(zone, owner)) all.push(set);
      yield;
    }
    return all;
  }

  everySetKey({ number }: Zone): readonly { readonly owner: string; readonly type: RecordType }[] {
    return [...this.#ownersIn(number).values()].flatMap((types) =>
      [...types.values()].map(({ owner, type }) => ({ owner, type: type as RecordType })),
    );
  }

  /** DNAME sets above the owners of a write were read with them; `mustBeWhole` throws if the rest was not read. */
  storedNames({ number }: Zone, mustBeWhole: () => void): StoredNames {
    const sets = this.#ownersIn(number);
    return {
      hasDname: (owner) => sets.get(owner)?.has(dname) ?? false,
      endingWith: (owner) => {
        mustBeWhole();
        const named = [...sets].flatMap(([name, types]) => (types.size > 0 ? [name] : []));
        return named.filter((name) => (owner === apex ? name !== apex : name.endsWith(`.${owner}`)));
      },
    };
  }

  *apply(zone: number, changes: WriteEffect["changes"]): Steps<void> {
    const placeOf = ({ owner, type }: WriteEffect["changes"][number]) => ({ zone, owner, type });
    // Ids are unique, and a record may move from one set to another: delete all ids before inserting any.
    for (const change of changes) {
      for (const id of idsOnlyIn(change.before, change.after)) this.#leaveId(id, placeOf(change));
      yield;
    }
    for (const change of changes) {
      const { owner, type, before, after } = change;
      const key = `${zone} ${owner} ${type}`;
      if (!this.#touchedSets.has(key)) this.#touchedSets.set(key, { ...placeOf(change), existed: before !== null });
      if (after === null) this.#typesAt(zone, owner).delete(type);
      else this.#typesAt(zone, owner).set(type, rowOf(after));
      for (const id of idsOnlyIn(after, before)) this.#enterId(id, placeOf(change));
      yield;
    }
  }

  /** What is to be written. */
  outcome() {
    return { ...this.#setsOutcome(), ...this.#idsOutcome() };
  }

  #ownersIn(zone: number): Map<string, Map<string, SetRow>> {
    const owners = this.#sets.get(zone) ?? new Map<string, Map<string, SetRow>>();
    this.#sets.set(zone, owners);
    return owners;
  }

  #typesAt(zone: number, owner: string): Map<string, SetRow> {
    const owners = this.#ownersIn(zone);
    const types = owners.get(owner) ?? new Map<string, SetRow>();
    owners.set(owner, types);
    return types;
  }

  #leaveId(id: string, place: Required<SetKeyInBatch>): void {
    const touchedId = this.#touchedIds.get(id);
    if (touchedId === undefined) this.#touchedIds.set(id, { was: place, now: undefined });
    else touchedId.now = undefined;
    this.#places.delete(id);
  }

  #enterId(id: string, place: Required<SetKeyInBatch>): void {
    const touchedId = this.#touchedIds.get(id);
    if (touchedId === undefined) this.#touchedIds.set(id, { was: undefined, now: place });
    else if (touchedId.now === undefined) touchedId.now = place;
    else throw new SpoiledBatch(`the id of a record is not unique: ${id}`);
    this.#places.set(id, place);
  }

  #setsOutcome() {
    const sets: StoredSet[] = [];
    const goneSets: Required<SetKeyInBatch>[] = [];
    for (const place of this.#touchedSets.values()) {
      const row = this.#sets.get(place.zone)?.get(place.owner)?.get(place.type);
      if (row !== undefined) sets.push({ ...row, zone: place.zone });
      else if (place.existed) goneSets.push(place);
    }
    return { sets, goneSets };
  }

  #idsOutcome() {
    const all = [...this.#touchedIds].map(([id, { was, now }]) => ({ id, was, now }));
    const present = all.flatMap(({ id, was, now }) => (now === undefined ? [] : [{ id, was, ...now }]));
    return {
      goneIds: all.filter(({ was, now }) => was !== undefined && now === undefined).map(({ id }) => id),
      movedIds: present.filter(({ was }) => was !== undefined),
      newIds: present.filter(({ was }) => was === undefined),
    };
  }
}

/** The zones of a batch: as they were read, then as its writes create, change and delete them. */
export class BatchZones {
  readonly #zones = new Map<number, Zone>();
  readonly #numbers = new Map<string, number>();
  readonly #changed = new Set<number>();
  readonly #created = new Set<number>();
  readonly #removed = new Set<number>();
  /** Names of created and deleted zones, and all names above them. */
  readonly #movedNames = new Set<string>();
  readonly #namesAboveMoved = new Set<string>();
  /** The last serials of deleted zones, by name. */
  readonly #departed = new Map<string, number>();

  constructor(zones: readonly Zone[]) {
    for (const zone of zones) this.#enter(zone);
  }

  get(number: number): Zone | undefined {
    return this.#zones.get(number);
  }

  numberOf(at: { readonly zone: string } | { readonly name: string }): number | undefined {
    return this.#numbers.get("zone" in at ? `id ${at.zone}` : `name ${at.name}`);
  }

  isCreated(number: number): boolean {
    return this.#created.has(number);
  }

  isRemoved(number: number): boolean {
    return this.#removed.has(number);
  }

  /** The neighbours that were read for this name are outdated. */
  hasMovedNear(name: string): boolean {
    return this.#namesAboveMoved.has(name) || enclosing(name).some((each) => this.#movedNames.has(each));
  }

  create({ number, name }: Zone): void {
    this.#created.add(number);
    this.#noteMoved(name);
  }

  change(zone: Zone): void {
    this.#enter(zone);
    this.#changed.add(zone.number);
  }

  remove({ id, number, name }: Zone, lastSerial: number): void {
    this.#departed.set(name, lastSerial);
    this.#removed.add(number);
    this.#noteMoved(name);
    this.#zones.delete(number);
    this.#numbers.delete(`id ${id}`);
    this.#numbers.delete(`name ${name}`);
  }

  /** What is to be written. */
  outcome() {
    const present = (numbers: Iterable<number>) => [...numbers].flatMap((number) => this.#zones.get(number) ?? []);
    return {
      zones: present([...this.#changed].filter((number) => !this.#created.has(number))),
      newZones: present(this.#created),
      goneZones: [...this.#removed].filter((number) => !this.#created.has(number)),
      departed: [...this.#departed],
    };
  }

  #enter(zone: Zone): void {
    this.#zones.set(zone.number, zone);
    this.#numbers.set(`id ${zone.id}`, zone.number).set(`name ${zone.name}`, zone.number);
  }

  #noteMoved(name: string): void {
    this.#movedNames.add(name);
    for (const each of enclosing(name)) this.#namesAboveMoved.add(each);
  }
}

const rowOf = (set: RRset): SetRow => ({
  owner: set.owner,
  type: set.type,
  ttl: set.ttl,
  records: JSON.stringify(set.records),
  marks: marksToText(set),
});

/** A zone that a write concerns, and the sets that the write needs to see. */
/** The owner of the record in `at` is always included. */
export function ownersOf(need: Need, zone: Zone, places: ReadonlyMap<string, SetKeyInBatch>): ReadonlySet<string> {
  const owners = new Set(
    typeof need.owners === "function" ? need.owners(zone) : need.owners === "to-remove" ? [apex] : [],
  );
  const named = "record" in need.at ? [need.at.record, ...(need.records ?? [])] : (need.records ?? []);
  for (const record of named) {
    const place = places.get(record);
    if (place?.zone === zone.number) owners.add(place.owner);
  }
  return owners;
}
