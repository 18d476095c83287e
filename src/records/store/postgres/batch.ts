import type { NameChange } from "../../../core/dnssec/plan-signing.ts";
import type { SignedName } from "../../../core/dnssec/signed-name.ts";
import { apex } from "../../../core/names/name.ts";
import { type Neighbourhood, refusalOfName } from "../../../core/names/zone-neighbours.ts";
import { diffingSets } from "../../../core/records/changes.ts";
import { finish, type Steps } from "../../../core/steps.ts";
import { type Action, isLarge, type LoggedRow, type NewZone, type Zone } from "../../model.ts";
import { type EncryptedKey, type Signer, signingTime } from "../../signing/signer.ts";
import { accessKeys } from "../access-ended.ts";
import { changedNothing, keysKept, untilPublished } from "../kept-actions.ts";
import { AccessEnded, type Command, type NotCreated, type WriteView } from "../port.ts";
import { concernsSigning, isSignedAlike, type SigningStep, unsignedEffect } from "../signed/plan-step.ts";
import { type AsidesByZone, asideNeeded } from "../signed/sign-aside.ts";
import {
  effectOf,
  effectWith,
  firstEffect,
  serialAfter,
  type Wanted,
  type WriteEffect,
  type WrittenBy,
} from "../write-effect.ts";
import {
  BatchSets,
  BatchZones,
  type KeptKey,
  type Need,
  ownersOf,
  type SetKeyInBatch,
  type StoredSet,
} from "./batch-sets.ts";
import { newZoneKey } from "./neighbours.ts";
import { createSignedPart, type SignedPart } from "./signed/part.ts";

/** What was read for a batch, under the locks of its zones. */
export type Loaded = {
  readonly zones: readonly Zone[];
  readonly sets: readonly StoredSet[];
  /** Owners whose sets were read, by zone. */
  readonly owners: ReadonlyMap<number, "all" | ReadonlySet<string>>;
  /** The sets that contain the requested records. */
  readonly places: ReadonlyMap<string, SetKeyInBatch>;
  readonly keys: readonly KeptKey[];
  /** For new zones: the names that are taken. */
  readonly taken: ReadonlySet<string>;
  /** By `wishKey`. */
  readonly neighbours: ReadonlyMap<string, Neighbourhood>;
  /** For new zones: the last serials of deleted zones of the same name. */
  readonly departed: ReadonlyMap<string, number>;
  readonly freshZones: readonly number[];
  /** For new zones, if that is limited: how many their accounts have. */
  readonly zoneCounts: ReadonlyMap<number, number>;
  readonly freshActions: readonly number[];
  /** Tokens, sessions and transfer keys that have ended, by `accessKeys`. */
  readonly ended: ReadonlySet<string>;
  /** Of signed zones, by their number. */
  readonly signedApexes: ReadonlyMap<number, SignedName>;
  /** Of signed zones, if the signer has not loaded them yet. */
  readonly encryptedKeys: readonly EncryptedKey[];
  /** For zones whose signatures are stored: the position in the log up to which they are signed. */
  readonly signedThrough: ReadonlyMap<number, number>;
};

/**
 * This write must be repeated in a separate batch: something it needs was not read for this one, this batch has changed
 * what was read. Thrown before the write has changed anything.
 */
export class RunAlone extends Error {}
/** The rule has to look at the whole zone. */
export class ReadWholeZone extends RunAlone {}
/** A write that concerns more owners than this is done alone, a few milliseconds at a time. */
export const mostOwners = 1_000;

const keyOf = (...parts: readonly (string | number)[]): string => parts.join(" ");

type ActionToWrite = Action & {
  readonly account: number;
  readonly actor: string;
  readonly running_until?: number;
  readonly publishes?: number;
};

/**
 * Zones, sets and ids as the writes of one transaction see them: read once, changed in memory, written once. Each
 * write sees the effects of those before it.
 */
export class PostgresBatch {
  readonly zoneCounts: Map<number, number>;
  readonly #loaded: Loaded;
  readonly #signer: Signer | undefined;
  readonly #alone: boolean;
  readonly #zones: BatchZones;
  readonly #sets: BatchSets;
  readonly #freshZones: number[];
  readonly #freshActions: number[];
  readonly #signed: SignedPart;
  readonly #log: Omit<LoggedRow, "position">[] = [];
  readonly #actions: ActionToWrite[] = [];
  readonly #keys: Map<string, KeptKey>;
  readonly #newKeys = new Map<string, KeptKey>();
  readonly #signedThrough: Map<number, number>;

  constructor(loaded: Loaded, signer?: Signer, alone = false) {
    this.zoneCounts = new Map(loaded.zoneCounts);
    this.#signedThrough = new Map(loaded.signedThrough);
    this.#loaded = loaded;
    this.#signer = signer;
    this.#alone = alone;
    this.#zones = new BatchZones(loaded.zones);
    this.#sets = new BatchSets(loaded.sets, loaded.places);
    this.#freshZones = [...loaded.freshZones];
    this.#freshActions = [...loaded.freshActions];
    this.#signed = createSignedPart(this.#freshZones);
    this.#keys = new Map(loaded.keys.map((key) => [keyOf(key.actor, key.key), key]));
  }

  /** Throws if the token, session or transfer key of the command has ended. */
  expectAccess(actor: Command["actor"]): void {
    if (accessKeys(actor ?? {}).some((key) => this.#loaded.ended.has(key))) throw new AccessEnded();
  }

  *view(need: Need): Steps<WriteView | undefined> {
    const number = this.#numberOf(need.at);
    const zone = number === undefined ? undefined : this.#zones.get(number);
    if (zone === undefined || zone.account !== need.account) return undefined;
    const sets = this.#sets;
    const storedNames = sets.storedNames(zone, () => this.#mustBeWhole(zone));
    if (need.owners === "to-remove" && isLarge(zone)) {
      const kept = (yield* sets.all(zone)).filter(({ owner, locked }) => owner === apex || locked);
      return { zone, sets: kept, storedNames };
    }
    if (need.owners === "all" || need.owners === "to-remove") {
      this.#mustBeRead(zone);
      return { zone, sets: yield* sets.all(zone), storedNames };
    }
    const owners = [...ownersOf(need, zone, sets.places)];
    for (const owner of owners) this.#mustBeRead(zone, owner);
    return { zone, sets: owners.flatMap((owner) => sets.at(zone, owner)), storedNames };
  }

  /** Plans a write; nothing changes until `apply` is called. `asides`: names that were signed for it. */
  *replace(
    { zone, sets: existing }: WriteView,
    { keys, ...wanted }: Wanted,
    by: WrittenBy,
    { asides, isTrial }: { readonly asides?: AsidesByZone | undefined; readonly isTrial?: boolean | undefined },
  ) {
    const changes = wanted.sets ? yield* diffingSets(existing, wanted.sets) : [];
    const changed = effectWith(zone, changes, wanted, by);
    if (changed === undefined) return { zone, apply: nothing };
    const effect = keys ? { ...changed, keys } : changed;
    if (isTrial || !concernsSigning(zone, effect.zone)) return { zone: effect.zone, apply: () => this.#apply(effect) };
    this.#expectSignable(zone, effect, by);
    return {
      zone: effect.zone,
      needs: asideNeeded(zone, effect, by, wanted.renew, asides),
      apply: () => this.#apply(unsignedEffect(effect, by, wanted.renew, asides?.get(zone.number))),
    };
  }

  /** What the signer has made of earlier writes, unless others were faster. Nothing else of the zone changes. */
  applySigned({ zone, after, row, namesSwitch }: SigningStep, names: readonly NameChange[]): void {
    const current = this.#zones.get(zone.number);
    if (current === undefined || !isSignedAlike(current, zone) || this.#signedThrough.get(zone.number) !== after)
      return;
    const signed = row(names);
    this.#signedThrough.set(zone.number, signed.change.through ?? 0);
    this.#zones.change(this.#signed.sign(current, names, namesSwitch));
    this.#log.push(signed);
  }

  /** Why the zone cannot be created. */
  obstacleTo(newZone: NewZone): NotCreated | undefined {
    const { taken, neighbours } = this.#loaded;
    if (this.#zones.numberOf(newZone) !== undefined) return "name-taken";
    // The neighbours that were read are outdated; also, one statement cannot delete a zone and insert a new one of the
    // same name.
    const isLong = !this.#alone && newZone.sets.length > mostOwners;
    if (this.#zones.hasMovedNear(newZone.name) || isLong) throw new RunAlone();
    if (taken.has(newZone.name)) return "name-taken";
    const neighbourhood = neighbours.get(newZoneKey(newZone));
    if (neighbourhood === undefined) throw new RunAlone();
    return refusalOfName(newZone, neighbourhood);
  }

  *create(newZone: NewZone, actor: string): Steps<Zone | NotCreated> {
    const { sets: first, reserved: _, ...identity } = newZone;
    const obstacle = this.obstacleTo(newZone);
    if (obstacle !== undefined) return obstacle;
    const last = this.#loaded.departed.get(newZone.name);
    const [number, serial] = [this.#freshZones.shift(), serialAfter(last, newZone)];
    if (number === undefined) throw new RunAlone();
    const recordCount = first.reduce((sum, set) => sum + set.records.length, 0);
    const zone = { ...identity, number, serial, recordCount, modified: newZone.created };
    this.#zones.create(zone);
    yield* this.#apply(firstEffect(zone, yield* diffingSets([], first), { actor, now: newZone.created }));
    return zone;
  }

  /** Returns the zone in its last state. */
  remove({ zone, sets: existing }: WriteView, by: WrittenBy): Zone {
    const effect = effectOf(zone, existing, { sets: [] }, by);
    if (effect !== undefined) finish(this.#apply(effect));
    const last = effect?.zone ?? zone;
    this.#signed.remove(zone);
    this.#zones.remove(zone, last.serial);
    return last;
  }

  /** The row stored under the key, unless it has expired. */
  kept(actor: string, { key }: Pick<KeptKey, "key">, now: number): KeptKey | undefined {
    const storedKey = this.#keys.get(keyOf(actor, key));
    return storedKey !== undefined && storedKey.at > now - keysKept.time ? storedKey : undefined;
  }

  /**
   * `running`: the id of an action that was stored when the write began. If the write changed a zone that is
   * published at a provider, the action is running until the provider has the change.
   */
  addAction(
    of: Zone,
    command: string,
    { actor, now: at, isChanged }: WrittenBy & { isChanged: boolean },
    running?: number,
  ): Action {
    const { account, number: zone, name: zoneName } = of;
    const id = running ?? this.#freshActions.shift();
    if (id === undefined) throw new RunAlone();
    const action = { id, zone, zoneName, command, at };
    const isPublishing = isChanged && of.settings.published !== undefined;
    const until = isPublishing ? { running_until: untilPublished, publishes: of.serial } : undefined;
    this.#actions.push({ ...action, account, actor, ...until });
    if (of.settings.published === undefined) return action;
    return isPublishing ? { ...action, status: "running" } : { ...action, ...changedNothing };
  }

  keep(key: KeptKey): void {
    this.#keys.set(keyOf(key.actor, key.key), key);
    this.#newKeys.set(keyOf(key.actor, key.key), key);
  }

  /** What is to be written. */
  outcome() {
    return {
      ...this.#zones.outcome(),
      ...this.#sets.outcome(),
      log: this.#log,
      actions: this.#actions,
      keys: [...this.#newKeys.values()],
      ...this.#signed.outcome(),
    };
  }

  #numberOf(at: Need["at"]): number | undefined {
    if ("record" in at) return this.#sets.places.get(at.record)?.zone;
    return "number" in at ? at.number : this.#zones.numberOf(at);
  }

  /** The whole zone if no owner is given. */
  #mustBeRead({ number }: Zone, owner?: string): void {
    if (this.#zones.isCreated(number)) return;
    const read = this.#loaded.owners.get(number);
    if (read === "all" || (owner !== undefined && read?.has(owner))) return;
    throw new RunAlone();
  }

  #mustBeWhole({ number }: Zone): void {
    if (this.#loaded.owners.get(number) !== "all" && !this.#zones.isCreated(number)) throw new ReadWholeZone();
  }

  /** A signed zone cannot be changed while it cannot be signed. */
  #expectSignable({ number }: Zone, { zone, keys = [] }: WriteEffect, { now }: WrittenBy): void {
    if (this.#signer === undefined)
      throw new Error("this store was opened without a key file, so signed zones cannot be changed");
    if (zone.settings.dnssec === undefined) return;
    signingTime(this.#loaded.signedApexes.get(number), now);
    const missing = this.#signer.notLoaded(zone.settings.dnssec?.keys ?? []);
    if (missing.length > 0)
      this.#signer.load([...this.#loaded.encryptedKeys, ...keys].filter(({ id }) => missing.includes(id)));
  }

  *#apply(effect: WriteEffect): Steps<void> {
    this.#signed.noteKeys(effect);
    yield* this.#sets.apply(effect.zone.number, effect.changes);
    for (const row of effect.log) this.#log.push(row);
    this.#zones.change(effect.zone);
  }
}

function* nothing(): Steps<void> {}

export type BatchOutcome = ReturnType<PostgresBatch["outcome"]>;
