import { setImmediate as nextTurn } from "node:timers/promises";
import type { NameChange } from "../../../core/dnssec/plan-signing.ts";
import type { SignedName } from "../../../core/dnssec/signed-name.ts";
import { apex, enclosing } from "../../../core/names/name.ts";
import { type Neighbourhood, type NewZoneName, refusalOfName } from "../../../core/names/zone-neighbours.ts";
import type { RecordType } from "../../../core/rdata/table.ts";
import { diffSets } from "../../../core/records/changes.ts";
import type { RRset } from "../../../core/records/rrset.ts";
import { finish } from "../../../core/steps.ts";
import { type Action, isLarge, type LoggedRow, type NewZone, type Zone, type ZoneKey } from "../../model.ts";
import type { SealedKey, Signer } from "../../signing/signer.ts";
import { accessKeys } from "../access-ended.ts";
import { keysKept } from "../kept-actions.ts";
import {
  type CurrentNamesAhead,
  concernsSigning,
  mostSignatures,
  type PlannedSignatures,
  planningSignatures,
} from "../plan-signatures.ts";
import { AccessEnded, type Command, type NotCreated, type Once, type WriteRequest, type WriteView } from "../port.ts";
import { marksToText, type SetRow, setFromRow } from "../rows.ts";
import { inGroups, signPartsBeside, signPartsNow } from "../sign-parts.ts";
import {
  effectOf,
  firstEffect,
  idsOnlyIn,
  serialAfter,
  type Wanted,
  type WriteEffect,
  type Writer,
} from "../write-effect.ts";
import { createSignedPart } from "./signed/part.ts";
import { surroundings } from "./surroundings.ts";

/** A zone that a write concerns, and the sets that the write needs to see. */
export type Need = Pick<WriteRequest, "account" | "owners" | "records"> & { readonly at: WriteRequest["at"] | ZoneKey };

export type PlacedSet = SetRow & { readonly zone: number };
export type Place = { readonly zone: number; readonly owner: string; readonly type?: string };
export type KeptKey = { readonly actor: string; readonly at: number; readonly outcome: string } & Once;

/** What was read for a batch, under the locks of its zones. */
export type Loaded = {
  readonly zones: readonly Zone[];
  readonly sets: readonly PlacedSet[];
  /** Owners whose sets were read, by zone. */
  readonly owners: ReadonlyMap<number, "all" | ReadonlySet<string>>;
  /** The sets that contain the requested records. */
  readonly places: ReadonlyMap<string, Place>;
  readonly keys: readonly KeptKey[];
  /** For new zones: the names that are taken. */
  readonly taken: ReadonlySet<string>;
  /** By `wishKey`. */
  readonly neighbours: ReadonlyMap<string, Neighbourhood>;
  /** For new zones: the last serials of deleted zones of the same name. */
  readonly departed: ReadonlyMap<string, number>;
  readonly freshZones: readonly number[];
  readonly freshActions: readonly number[];
  /** Tokens, sessions and transfer keys that have ended, by `accessKeys`. */
  readonly ended: ReadonlySet<string>;
  /** Of signed zones, by their number. */
  readonly signedNames: ReadonlyMap<number, readonly SignedName[]>;
  /** What was signed ahead, by the number of the zone. Then `signedNames` has these names instead. */
  readonly ahead: ReadonlyMap<number, CurrentNamesAhead>;
  /** Of signed zones, if the signer has not opened them yet. */
  readonly sealedKeys: readonly SealedKey[];
};

/**
 * This write must be repeated in a separate batch: something it needs was not read for this one, this batch has changed what was read, or it
 * needs many signatures. Thrown before the write has changed anything.
 */
export class RunAlone extends Error {}
/** Signing has to look at the whole zone. */
export class ReadWhole extends RunAlone {}
/** An applied write turned out to be invalid: nothing of the batch may be written. */
export class SpoiledBatch extends Error {}

const keyOf = (...parts: readonly (string | number)[]): string => parts.join(" ");
export type Batch = ReturnType<typeof createBatch>;

/**
 * Zones, sets and ids as the writes of one transaction see them: read once, changed in memory, written once. Each
 * write sees the effects of those before it.
 */
export function createBatch(loaded: Loaded, signer?: Signer, alone = false) {
  const zones = new Map(loaded.zones.map((zone) => [zone.number, zone]));
  const numbers = new Map<string, number>();
  const sets = new Map<number, Map<string, Map<string, SetRow>>>();
  const places = new Map(loaded.places);
  const keys = new Map(loaded.keys.map((key) => [keyOf(key.actor, key.key), key]));
  const fresh = { zones: [...loaded.freshZones], actions: [...loaded.freshActions] };
  const changedZones = new Set<number>();
  const createdZones = new Set<number>();
  const removedZones = new Map<number, Zone>();
  /** Names of created and deleted zones, and all names above them. */
  const movedNames = new Set<string>();
  const namesAboveMoved = new Set<string>();
  const touchedSets = new Map<string, Required<Place> & { readonly existed: boolean }>();
  const touchedIds = new Map<string, { readonly was: Place | undefined; now: Required<Place> | undefined }>();
  const departed = new Map<string, number>();
  const log: Omit<LoggedRow, "position">[] = [];
  const actions: (Action & { readonly account: number; readonly actor: string })[] = [];
  const newKeys = new Map<string, KeptKey>();
  const signed = createSignedPart(loaded, fresh.zones);
  const unsigned: (PlannedSignatures & { readonly zone: Zone })[] = [];

  const enter = (zone: Zone): void => {
    zones.set(zone.number, zone);
    numbers.set(`id ${zone.id}`, zone.number).set(`name ${zone.name}`, zone.number);
  };
  const ownersIn = (zone: number) => {
    const known = sets.get(zone) ?? new Map<string, Map<string, SetRow>>();
    sets.set(zone, known);
    return known;
  };
  const typesAt = (zone: number, owner: string) => {
    const known = ownersIn(zone).get(owner) ?? new Map<string, SetRow>();
    ownersIn(zone).set(owner, known);
    return known;
  };
  for (const zone of loaded.zones) enter(zone);
  for (const row of loaded.sets) typesAt(row.zone, row.owner).set(row.type, row);

  const numberOf = (at: Need["at"]): number | undefined => {
    if ("record" in at) return places.get(at.record)?.zone;
    if ("number" in at) return at.number;
    return numbers.get("zone" in at ? `id ${at.zone}` : `name ${at.name}`);
  };

  const setsAt = (zone: Zone, owner: string): readonly RRset[] => {
    const rows = [...(sets.get(zone.number)?.get(owner)?.values() ?? [])];
    return rows.sort((a, b) => (a.type < b.type ? -1 : 1)).map((row) => setFromRow(row, zone));
  };
  const allSets = (zone: Zone): readonly RRset[] =>
    [...ownersIn(zone.number).keys()].sort().flatMap((owner) => setsAt(zone, owner));

  /** The whole zone if no owners are given. */
  const mustBeRead = (zone: Zone, owner?: string): void => {
    if (createdZones.has(zone.number)) return;
    const read = loaded.owners.get(zone.number);
    if (read === "all" || (owner !== undefined && read?.has(owner))) return;
    throw new RunAlone();
  };

  const mustBeWhole = ({ number }: Zone): void => {
    if (loaded.owners.get(number) !== "all" && !createdZones.has(number)) throw new ReadWhole();
  };
  const aroundIn = (zone: Zone) => surroundings(ownersIn(zone.number), () => mustBeWhole(zone));

  const noteMoved = (name: string): void => {
    movedNames.add(name);
    for (const each of enclosing(name)) namesAboveMoved.add(each);
  };
  /** The neighbours that were read are outdated. */
  const hasMovedNear = (name: string): boolean =>
    namesAboveMoved.has(name) || enclosing(name).some((each) => movedNames.has(each));

  const leaveId = (id: string, place: Required<Place>): void => {
    const known = touchedIds.get(id);
    if (known === undefined) touchedIds.set(id, { was: place, now: undefined });
    else known.now = undefined;
    places.delete(id);
  };
  const enterId = (id: string, place: Required<Place>): void => {
    const known = touchedIds.get(id);
    if (known === undefined) touchedIds.set(id, { was: undefined, now: place });
    else if (known.now === undefined) known.now = place;
    else throw new SpoiledBatch(`the id of a record is not unique: ${id}`);
    places.set(id, place);
  };

  const signaturesFor = (zone: Zone, effect: WriteEffect, by: Writer, renew: readonly string[] | undefined) => {
    if (!concernsSigning(zone, effect.zone)) return undefined;
    const names = signed.namesOf(zone);
    const reads = {
      names: names.view,
      everyName: () => {
        if (zone.settings.dnssec !== undefined) mustBeWhole(zone);
        return names.every();
      },
      setsAt: (owner: string) => {
        mustBeRead(zone, owner);
        return setsAt(zone, owner);
      },
      everyType: () => {
        mustBeWhole(zone);
        return [...ownersIn(zone.number).values()].flatMap((types) =>
          [...types.values()].map(({ owner, type }) => ({ owner, type: type as RecordType })),
        );
      },
    };
    if (signer === undefined)
      throw new Error("this store was opened without a key file, so signed zones cannot be changed");
    const ahead = loaded.ahead.get(zone.number);
    const planned = finish(planningSignatures(zone, effect, reads, by, { renew, ahead }));
    if (planned.namesMove?.to === "new" && fresh.zones.length === 0) throw new ReadWhole();
    if (planned.count > mostSignatures && !alone) throw new RunAlone();
    const missing = signer.missing(effect.zone.settings.dnssec?.keys ?? []);
    if (missing.length > 0)
      signer.open([...loaded.sealedKeys, ...(effect.keys ?? [])].filter(({ id }) => missing.includes(id)));
    return planned;
  };

  const apply = (effect: WriteEffect): void => {
    const { changes, log: rows } = effect;
    const zone = signed.apply(effect);
    const placeOf = ({ owner, type }: WriteEffect["changes"][number]) => ({ zone: zone.number, owner, type });
    // Ids are unique, and a record may move from one set to another: delete all ids before inserting any.
    for (const change of changes) {
      for (const id of idsOnlyIn(change.before, change.after)) leaveId(id, placeOf(change));
    }
    for (const change of changes) {
      const { owner, type, before, after } = change;
      const key = keyOf(zone.number, owner, type);
      if (!touchedSets.has(key)) touchedSets.set(key, { ...placeOf(change), existed: before !== null });
      if (after === null) typesAt(zone.number, owner).delete(type);
      else typesAt(zone.number, owner).set(type, rowOf(after));
      for (const id of idsOnlyIn(after, before)) enterId(id, placeOf(change));
    }
    for (const row of rows) log.push(row);
    enter(zone);
    changedZones.add(zone.number);
  };

  return {
    /** Throws if the token, session or transfer key of the command has ended. */
    expectAccess: (actor: Command["actor"]): void => {
      if (accessKeys(actor ?? {}).some((key) => loaded.ended.has(key))) throw new AccessEnded();
    },

    view: (need: Need): WriteView | undefined => {
      const number = numberOf(need.at);
      const zone = number === undefined ? undefined : zones.get(number);
      if (zone === undefined || zone.account !== need.account) return undefined;
      if (need.owners === "to-remove" && isLarge(zone))
        return {
          ...{ zone, around: aroundIn(zone) },
          sets: allSets(zone).filter(({ owner, locked }) => owner === apex || locked),
        };
      if (need.owners === "all" || need.owners === "to-remove") {
        mustBeRead(zone);
        return { zone, sets: allSets(zone), around: aroundIn(zone) };
      }
      const owners = [...ownersOf(need, zone, places)];
      for (const owner of owners) mustBeRead(zone, owner);
      return { zone, sets: owners.flatMap((owner) => setsAt(zone, owner)), around: aroundIn(zone) };
    },

    /** Plans a write; nothing changes until `apply` is called. */
    replace: ({ zone, sets: existing }: WriteView, { keys, ...wanted }: Wanted, by: Writer) => {
      const found = effectOf(zone, existing, wanted, by);
      const effect = found && keys ? { ...found, keys } : found;
      const signatures = effect && signaturesFor(zone, effect, by, wanted.renew);
      return {
        zone: effect?.zone ?? zone,
        apply: (): void => {
          if (effect === undefined) return;
          if (signatures === undefined) apply(effect);
          else if (signatures.count > mostSignatures) unsigned.push({ ...signatures, zone });
          else if (signer) apply(signatures.signed(signPartsNow(signer, zone.name, signatures)));
        },
      };
    },
    /** For a write with many signatures, which is alone in its batch. */
    signRest: async (): Promise<void> => {
      for (const { zone, ...signatures } of unsigned) {
        const names: NameChange[] = [];
        const way = { next: nextTurn, isUrgent: true };
        const parts = { ...signatures, groups: inGroups(signatures.parts()) };
        for await (const some of signer ? signPartsBeside(signer, zone.name, parts, way) : []) names.push(...some);
        apply(signatures.signed(names));
      }
    },

    create: (wish: NewZone, actor: string): Zone | NotCreated => {
      const { sets: first, reserved: _, ...identity } = wish;
      if (numbers.has(`name ${wish.name}`)) return "name-taken";
      // The neighbours that were read are outdated; also, one statement cannot delete a zone and insert a new one of the same name.
      if (hasMovedNear(wish.name)) throw new RunAlone();
      if (loaded.taken.has(wish.name)) return "name-taken";
      const around = loaded.neighbours.get(wishKey(wish));
      if (around === undefined) throw new RunAlone();
      const refusal = refusalOfName(wish, around);
      if (refusal !== undefined) return refusal;
      const number = fresh.zones.shift();
      if (number === undefined) throw new RunAlone();
      const recordCount = first.reduce((sum, set) => sum + set.records.length, 0);
      const serial = serialAfter(loaded.departed.get(wish.name), wish);
      const zone = { ...identity, number, serial, recordCount, modified: wish.created };
      createdZones.add(number);
      noteMoved(zone.name);
      apply(firstEffect(zone, diffSets([], first), { actor, now: wish.created }));
      return zone;
    },

    /** Returns the zone in its last state. */
    remove: ({ zone, sets: existing }: WriteView, by: Writer): Zone => {
      const effect = effectOf(zone, existing, { sets: [] }, by);
      if (effect !== undefined) apply(effect);
      const last = effect?.zone ?? zone;
      departed.set(zone.name, last.serial);
      removedZones.set(zone.number, zone);
      signed.remove(zone);
      noteMoved(zone.name);
      zones.delete(zone.number);
      numbers.delete(`id ${zone.id}`);
      numbers.delete(`name ${zone.name}`);
      return last;
    },

    /** The row stored under the key, unless it has expired. */
    kept: (actor: string, { key }: Once, now: number): KeptKey | undefined => {
      const known = keys.get(keyOf(actor, key));
      return known !== undefined && known.at > now - keysKept.time ? known : undefined;
    },
    /** `running`: the id of an action that was stored when the write began. */
    act: (of: Zone, command: string, { actor, now: at }: Writer, running?: number): Action => {
      const { account, number: zone, name: zoneName } = of;
      const id = running ?? fresh.actions.shift();
      if (id === undefined) throw new RunAlone();
      const action = { id, zone, zoneName, command, at };
      actions.push({ ...action, account, actor });
      return action;
    },
    keep: (key: KeptKey): void => {
      keys.set(keyOf(key.actor, key.key), key);
      newKeys.set(keyOf(key.actor, key.key), key);
    },

    /** What is to be written. */
    outcome: () => ({
      zones: [...changedZones].flatMap((number) => {
        const zone = zones.get(number);
        return zone === undefined || createdZones.has(number) ? [] : [zone];
      }),
      newZones: [...createdZones].flatMap((number) => zones.get(number) ?? []),
      goneZones: [...removedZones.keys()].filter((number) => !createdZones.has(number)),
      ...splitSets(touchedSets, (place) => sets.get(place.zone)?.get(place.owner)?.get(place.type)),
      ...splitIds(touchedIds),
      departed: [...departed],
      log,
      actions,
      keys: [...newKeys.values()],
      ...signed.outcome((zone) => removedZones.has(zone)),
    }),
  };
}

export type Outcome = ReturnType<Batch["outcome"]>;

/** The owner of the record in `at` is always included. */
export function ownersOf(need: Need, zone: Zone, places: ReadonlyMap<string, Place>): ReadonlySet<string> {
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

export const wishKey = ({ account, name }: NewZoneName): string => keyOf(account, name);

const rowOf = (set: RRset): SetRow => ({
  owner: set.owner,
  type: set.type,
  ttl: set.ttl,
  records: JSON.stringify(set.records),
  marks: marksToText(set),
});

function splitSets<P extends { readonly zone: number; readonly existed: boolean }>(
  touched: ReadonlyMap<string, P>,
  rowAt: (place: P) => SetRow | undefined,
) {
  const newSets: PlacedSet[] = [];
  const goneSets: P[] = [];
  for (const place of touched.values()) {
    const row = rowAt(place);
    if (row !== undefined) newSets.push({ ...row, zone: place.zone });
    else if (place.existed) goneSets.push(place);
  }
  return { sets: newSets, goneSets };
}

function splitIds(
  touched: ReadonlyMap<string, { readonly was: Place | undefined; readonly now: Required<Place> | undefined }>,
) {
  const all = [...touched].map(([id, { was, now }]) => ({ id, was, now }));
  const present = all.flatMap(({ id, was, now }) => (now === undefined ? [] : [{ id, was, ...now }]));
  return {
    goneIds: all.filter(({ was, now }) => was !== undefined && now === undefined).map(({ id }) => id),
    movedIds: present.filter(({ was }) => was !== undefined),
    newIds: present.filter(({ was }) => was === undefined),
  };
}
