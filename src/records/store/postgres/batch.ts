import type { NameChange } from "../../../core/dnssec/plan-signing.ts";
import type { SignedName } from "../../../core/dnssec/signed-name.ts";
import { apex } from "../../../core/names/name.ts";
import { type Neighbourhood, refusalOfName } from "../../../core/names/zone-neighbours.ts";
import type { Change } from "../../../core/records/changes.ts";
import type { RRset } from "../../../core/records/rrset.ts";
import type { Steps } from "../../../core/steps.ts";
import { type Action, isLarge, type LoggedRow, type NewZone, type Zone } from "../../model.ts";
import { type EncryptedKey, signingTime } from "../../signing/signer.ts";
import { accessKeys } from "../access-ended.ts";
import { changedNothing, keysKept, untilPublished } from "../kept-actions.ts";
import type { ActionBy, Need, StoreSnapshot, StoreTransaction, ZoneWrite } from "../plan-rule.ts";
import { AccessEnded, type ActionResult, type Command, type WriteView } from "../port.ts";
import { isSignedAlike, type SigningStep } from "../signed/plan-step.ts";
import { firstEffect, serialAfter, type WriteEffect, type WrittenBy } from "../write-effect.ts";
import { BatchSets, BatchZones, type KeptKey, ownersOf, type SetKeyInBatch, type StoredSet } from "./batch-sets.ts";
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
  /** Numbers of names signed aside that are still reserved. */
  readonly asides: ReadonlySet<number>;
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

type BatchOptions = {
  /** It has one write. */
  readonly isAlone: boolean;
  /** As in `WriteView`. */
  readonly mostValues: number | undefined;
};

/**
 * Zones, sets and ids as the writes of one transaction see them: read once, changed in memory, written once. Each
 * write sees the effects of those before it.
 */
export class PostgresBatch implements StoreTransaction {
  readonly #zoneCounts: Map<number, number>;
  readonly #loaded: Loaded;
  readonly #options: BatchOptions;
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

  constructor(loaded: Loaded, options: BatchOptions) {
    this.#zoneCounts = new Map(loaded.zoneCounts);
    this.#signedThrough = new Map(loaded.signedThrough);
    this.#loaded = loaded;
    this.#options = options;
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

  readonly view: StoreSnapshot["view"] = (need) => {
    const number = this.#numberOf(need.at);
    const zone = number === undefined ? undefined : this.#zones.get(number);
    if (zone === undefined || zone.account !== need.account) return undefined;
    if (need.owners === "all" || need.owners === "to-remove") return this.#viewingAll(zone, need.owners);
    const sets = this.#sets;
    const owners = [...ownersOf(need, zone, sets.places)];
    for (const owner of owners) this.#mustBeRead(zone, owner);
    return this.#viewOf(
      zone,
      owners.flatMap((owner) => sets.at(zone, owner)),
    );
  };

  *#viewingAll(zone: Zone, owners: "all" | "to-remove"): Steps<WriteView> {
    if (owners === "all" || !isLarge(zone)) {
      this.#mustBeRead(zone);
      return this.#viewOf(zone, yield* this.#sets.all(zone));
    }
    const kept = (yield* this.#sets.all(zone)).filter(({ owner, locked }) => owner === apex || locked);
    return this.#viewOf(zone, kept);
  }

  #viewOf(zone: Zone, sets: readonly RRset[]): WriteView {
    const storedNames = this.#sets.storedNames(zone, () => this.#mustBeWhole(zone));
    return { zone, sets, storedNames, mostValues: this.#options.mostValues };
  }

  /** Returns the zone as it is then. */
  *write(write: ZoneWrite): Steps<Zone> {
    if (write.kind === "create") return yield* this.#create(write.zone, write.changes, write.by);
    yield* this.#apply(write.effect);
    const { zone } = write.effect;
    if (write.kind === "remove") {
      this.#signed.remove(write.before);
      this.#zones.remove(write.before, zone.serial);
    }
    return zone;
  }

  /** What the signer has made of earlier writes, unless others were faster. Nothing else of the zone changes. */
  applySigned({ zone, after, row, namesSwitch }: SigningStep, names: readonly NameChange[]): void {
    const current = this.#zones.get(zone.number);
    if (typeof namesSwitch?.to === "number" && !this.#loaded.asides.has(namesSwitch.to)) return;
    if (current === undefined || !isSignedAlike(current, zone) || this.#signedThrough.get(zone.number) !== after)
      return;
    const signed = row(names);
    this.#signedThrough.set(zone.number, signed.change.through ?? 0);
    this.#zones.change(this.#signed.sign(current, names, namesSwitch));
    this.#log.push(signed);
  }

  readonly zoneCount: StoreSnapshot["zoneCount"] = (account) => this.#zoneCounts.get(account);

  /** Why the zone cannot be created. */
  readonly obstacleTo: StoreSnapshot["obstacleTo"] = (newZone) => {
    const { taken, neighbours } = this.#loaded;
    if (this.#zones.numberOf(newZone) !== undefined) return "name-taken";
    // The neighbours that were read are outdated; also, one statement cannot delete a zone and insert a new one of the
    // same name.
    const isLong = !this.#options.isAlone && newZone.sets.length > mostOwners;
    if (this.#zones.hasMovedNear(newZone.name) || isLong) throw new RunAlone();
    if (taken.has(newZone.name)) return "name-taken";
    const neighbourhood = neighbours.get(newZoneKey(newZone));
    if (neighbourhood === undefined) throw new RunAlone();
    return refusalOfName(newZone, neighbourhood);
  };

  *#create({ sets, reserved: _, ...identity }: NewZone, changes: readonly Change[], by: WrittenBy): Steps<Zone> {
    const last = this.#loaded.departed.get(identity.name);
    const number = this.#freshZones.shift();
    if (number === undefined) throw new RunAlone();
    const serial = serialAfter(last, { ...identity, sets });
    const recordCount = sets.reduce((sum, { records }) => sum + records.length, 0);
    const zone = { ...identity, number, serial, recordCount, modified: identity.created };
    this.#zones.create(zone);
    yield* this.#apply(firstEffect(zone, changes, by));
    const count = this.#zoneCounts.get(zone.account);
    if (count !== undefined) this.#zoneCounts.set(zone.account, count + 1);
    return zone;
  }

  readonly earlierAnswer: StoreSnapshot["earlierAnswer"] = <T>({ actor, now, idempotencyKey }: ActionBy) => {
    const stored = idempotencyKey && this.#keys.get(keyOf(actor, idempotencyKey.key));
    if (stored === undefined || stored.at <= now - keysKept.time) return undefined;
    return stored.fingerprint === idempotencyKey?.fingerprint
      ? (JSON.parse(stored.outcome) as ActionResult<T>)
      : "key-taken";
  };

  readonly keep: StoreTransaction["keep"] = (zone, actionName, by, result, isChanged) => {
    const { actor, now: at, idempotencyKey } = by;
    const action = actionName === undefined ? undefined : this.#addAction(zone, actionName, by, isChanged);
    const actionResult = { result, action, serial: zone.serial };
    if (idempotencyKey !== undefined) {
      const key = { actor, ...idempotencyKey, at, outcome: JSON.stringify(actionResult) };
      this.#keys.set(keyOf(actor, key.key), key);
      this.#newKeys.set(keyOf(actor, key.key), key);
    }
    return actionResult;
  };

  /** If the write changed a zone that is published at a provider, it is running until the provider has the change. */
  #addAction(of: Zone, command: string, { actor, now: at, running }: ActionBy, isChanged: boolean): Action {
    const { account, number: zone, name: zoneName } = of;
    const id = running?.id ?? this.#freshActions.shift();
    if (id === undefined) throw new RunAlone();
    const action = { id, zone, zoneName, command, at };
    const isPublishing = isChanged && of.settings.published !== undefined;
    const until = isPublishing ? { running_until: untilPublished, publishes: of.serial } : undefined;
    this.#actions.push({ ...action, account, actor, ...until });
    if (of.settings.published === undefined) return action;
    return isPublishing ? { ...action, status: "running" } : { ...action, ...changedNothing };
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

  readonly expectSignable: StoreSnapshot["expectSignable"] = ({ zone, keys = [] }, signer, now) => {
    if (signer === undefined)
      throw new Error("this store was opened without a key file, so signed zones cannot be changed");
    if (zone.settings.dnssec === undefined) return;
    signingTime(this.#loaded.signedApexes.get(zone.number), now);
    const missing = signer.notLoaded(zone.settings.dnssec.keys);
    if (missing.length > 0)
      signer.load([...this.#loaded.encryptedKeys, ...keys].filter(({ id }) => missing.includes(id)));
  };

  *#apply(effect: WriteEffect): Steps<void> {
    this.#signed.noteKeys(effect);
    yield* this.#sets.apply(effect.zone.number, effect.changes);
    for (const row of effect.log) this.#log.push(row);
    this.#zones.change(effect.zone);
  }
}

export type BatchOutcome = ReturnType<PostgresBatch["outcome"]>;
