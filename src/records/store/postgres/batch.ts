import { setImmediate as nextTurn } from "node:timers/promises";
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
import {
  type CurrentPresignedNames,
  concernsSigning,
  mostSignatures,
  type PlannedSignatures,
  planningSignatures,
  type SignedReads,
} from "../plan-signatures.ts";
import { AccessEnded, type Command, type NotCreated, type WriteView } from "../port.ts";
import { inGroups, signNamesNow, signNamesOffThread } from "../sign-names.ts";
import { isFollowed, isSignedAlike, type SigningStep, unsignedEffect } from "../signed/signing-follower.ts";
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
  readonly signedNames: ReadonlyMap<number, readonly SignedName[]>;
  /** The presigned names, by the number of the zone. Then `signedNames` has these names instead. */
  readonly presigned: ReadonlyMap<number, CurrentPresignedNames>;
  /** Of signed zones, if the signer has not loaded them yet. */
  readonly encryptedKeys: readonly EncryptedKey[];
  /** For zones whose signatures are stored: the position in the log up to which they are signed. */
  readonly signedThrough: ReadonlyMap<number, number>;
};

/**
 * This write must be repeated in a separate batch: something it needs was not read for this one, this batch has changed
 * what was read, or it needs many signatures. Thrown before the write has changed anything.
 */
export class RunAlone extends Error {}
/** Signing has to look at the whole zone. */
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
  readonly #unsigned: (PlannedSignatures & { readonly zone: Zone })[] = [];
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
    this.#signed = createSignedPart(loaded, this.#freshZones);
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

  /** Plans a write; nothing changes until `apply` is called. */
  *replace({ zone, sets: existing }: WriteView, { keys, ...wanted }: Wanted, by: WrittenBy, isTrial = false) {
    const changes = wanted.sets ? yield* diffingSets(existing, wanted.sets) : [];
    const effectWithoutKeys = effectWith(zone, changes, wanted, by);
    const effect = effectWithoutKeys && keys ? { ...effectWithoutKeys, keys } : effectWithoutKeys;
    if (effect && this.#isFollowed(zone, effect, wanted.renew)) {
      this.#expectSignable(zone, effect, by);
      const { renew = [] } = wanted;
      return { zone: effect.zone, apply: () => this.#apply(unsignedEffect(effect, renew === "all" ? [] : renew, by)) };
    }
    const signatures = effect && !isTrial ? yield* this.#signaturesFor(zone, effect, by, wanted.renew) : undefined;
    return {
      zone: effect?.zone ?? zone,
      apply: () => this.#applyPlanned(zone, effect, signatures),
    };
  }

  *#applyPlanned(zone: Zone, effect: WriteEffect | undefined, signatures: PlannedSignatures | undefined): Steps<void> {
    if (effect === undefined) return;
    if (signatures === undefined) yield* this.#apply(effect);
    else if (signatures.count > mostSignatures) this.#unsigned.push({ ...signatures, zone });
    else if (this.#signer) yield* this.#apply(signatures.signed(signNamesNow(this.#signer, zone.name, signatures)));
  }

  /** For a write with many signatures, which is alone in its batch. */
  async signRest(): Promise<void> {
    const signer = this.#signer;
    for (const { zone, ...signatures } of this.#unsigned) {
      const names: NameChange[] = [];
      const way = { next: nextTurn, isUrgent: true };
      const parts = { ...signatures, groups: inGroups(signatures.namePlans()) };
      for await (const some of signer ? signNamesOffThread(signer, zone.name, parts, way) : []) names.push(...some);
      finish(this.#apply(signatures.signed(names)));
    }
  }

  /** What the signer has made of earlier writes, unless others were faster. Nothing else of the zone changes. */
  applySigned({ zone, after, row }: SigningStep, names: readonly NameChange[]): void {
    const current = this.#zones.get(zone.number);
    if (current === undefined || !isSignedAlike(current, zone) || this.#signedThrough.get(zone.number) !== after)
      return;
    const signed = row(names);
    this.#signedThrough.set(zone.number, signed.change.through ?? 0);
    this.#signed.namesOf(zone).write(names);
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
      ...this.#signed.outcome((zone) => this.#zones.isRemoved(zone)),
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

  #isFollowed(zone: Zone, effect: WriteEffect, renew: Wanted["renew"]): boolean {
    const isSigned = concernsSigning(zone, effect.zone) && !this.#loaded.presigned.has(zone.number);
    return isSigned && this.#signer?.follows === true && isFollowed(zone, effect.zone, renew);
  }

  /** A signed zone cannot be changed while it cannot be signed. */
  #expectSignable(zone: Zone, effect: WriteEffect, { now }: WrittenBy): void {
    signingTime(this.#signed.namesOf(zone).view.at(apex), now);
    if (this.#signer) this.#loadKeys(this.#signer, effect);
  }

  #loadKeys(signer: Signer, { zone, keys = [] }: WriteEffect): void {
    const missing = signer.notLoaded(zone.settings.dnssec?.keys ?? []);
    if (missing.length > 0)
      signer.load([...this.#loaded.encryptedKeys, ...keys].filter(({ id }) => missing.includes(id)));
  }

  *#signaturesFor(zone: Zone, effect: WriteEffect, by: WrittenBy, renew: Wanted["renew"]) {
    if (!concernsSigning(zone, effect.zone)) return undefined;
    const signer = this.#signer;
    if (signer === undefined)
      throw new Error("this store was opened without a key file, so signed zones cannot be changed");
    const presigned = this.#loaded.presigned.get(zone.number);
    const planned = yield* planningSignatures(zone, effect, this.#signingReads(zone), by, { renew, presigned });
    if (planned.signedNamesSwitch?.to === "new" && this.#freshZones.length === 0) throw new ReadWholeZone();
    if (planned.count > mostSignatures && !this.#alone) throw new RunAlone();
    this.#loadKeys(signer, effect);
    return planned;
  }

  #signingReads(zone: Zone): SignedReads {
    const names = this.#signed.namesOf(zone);
    return {
      names: names.view,
      everyName: () => {
        if (zone.settings.dnssec !== undefined) this.#mustBeWhole(zone);
        return names.every();
      },
      setsAt: (owner: string) => {
        this.#mustBeRead(zone, owner);
        return this.#sets.at(zone, owner);
      },
      everySetKey: () => {
        this.#mustBeWhole(zone);
        return this.#sets.everySetKey(zone);
      },
    };
  }

  *#apply(effect: WriteEffect): Steps<void> {
    const zone = this.#signed.apply(effect);
    yield* this.#sets.apply(zone.number, effect.changes);
    for (const row of effect.log) this.#log.push(row);
    this.#zones.change(zone);
  }
}

export type BatchOutcome = ReturnType<PostgresBatch["outcome"]>;
