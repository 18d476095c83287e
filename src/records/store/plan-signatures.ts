import { isDeepStrictEqual } from "node:util";
import { generatedChanges } from "../../core/dnssec/generated-changes.ts";
import {
  type NameChange,
  type NamePlan,
  planningSigning,
  type SigningInput,
  type SigningPlan,
  type StoredSignedNames,
  type TouchedName,
} from "../../core/dnssec/plan-signing.ts";
import type { SignedName } from "../../core/dnssec/signed-name.ts";
import { apex } from "../../core/names/name.ts";
import { typeCode } from "../../core/rdata/table.ts";
import type { Change } from "../../core/records/changes.ts";
import type { RRset, SetKey } from "../../core/records/rrset.ts";
import { negativeTtlIn } from "../../core/records/soa-timers.ts";
import { mapInSteps, type Steps } from "../../core/steps.ts";
import { isLarge, type Zone, type ZoneSigning } from "../model.ts";
import { type SigningTime, signingTime } from "../signing/signer.ts";
import { signingOf } from "../signing/signing-of.ts";
import { atZoneSerial } from "./rows.ts";
import { logRow, type SignedNamesSwitch, type WriteEffect, type WrittenBy } from "./write-effect.ts";

/** A signed zone as it is before a write. */
export type SignedReads = {
  readonly names: StoredSignedNames;
  readonly everyName: () => Iterable<SignedName>;
  readonly setsAt: (owner: string) => readonly RRset[];
  /** The owner and type of every set. */
  readonly everySetKey: () => Iterable<SetKey>;
};

export type PlannedSignatures = {
  /**
   * How many sets must be signed; if more than `mostSignatures` names are looked at, the number of those names instead.
   */
  readonly count: number;
  readonly at: SigningTime;
  /**
   * Reads the zone when it is used: the caller must have a snapshot of it, or must check afterwards that it has not
   * changed.
   */
  readonly namePlans: () => Iterable<NamePlan>;
  /** Where the names are stored from now on, if that changes. */
  readonly signedNamesSwitch: SignedNamesSwitch | undefined;
  /** The effect, with the changes of the signed names. */
  readonly signed: (names: readonly NameChange[]) => WriteEffect;
};

/** Names of a large zone that were signed before the write that makes the zone use them (`presign.ts`). */
export type PresignedNames = {
  readonly number: number;
  /** They are signed as of this position in the log, */
  readonly position: number;
  /** with these settings, */
  readonly settings: SigningSettings;
  /** and with these changes, which the write makes. */
  readonly changes: readonly Change[];
};

/** The presigned names of a write; `none` if everything has to be done in the write itself. */
export type PresignedForWrite = PresignedByZone | "none" | undefined;

/** By the number of the zone. */
export type PresignedByZone = ReadonlyMap<number, PresignedNames>;

/** The settings that decide how names are signed. */
export type SigningSettings = { readonly ttl: number; readonly dnssec: ZoneSigning | undefined };

/** With the owners whose sets have changed since. */
export type CurrentPresignedNames = PresignedNames & { readonly changedSince: ReadonlySet<string> };

/** All names of a large zone must be signed first, in short steps, and then the write must be repeated with them. */
export class PresignNeeded extends Error {
  readonly zone: Zone;
  readonly effect: WriteEffect;
  readonly by: WrittenBy;

  constructor(zone: Zone, effect: WriteEffect, by: WrittenBy) {
    super("the names of this zone must be signed before this write");
    [this.zone, this.effect, this.by] = [zone, effect, by];
  }
}

/** If more names change, the log does not list their signatures, and followers read the zone again. */
const mostListed = 1_000;
/** If more names are touched, it is faster to look at every name of the zone. */
const mostTouched = 1_000;
/** If more names have changed since they were presigned, they are presigned again. */
export const mostMissed = 100;

/** If there are more signatures, they are made in another thread: each takes about 80 µs. */
export const mostSignatures = 50;

/** Most zones are signed neither before a write nor after it. */
export const concernsSigning = (before: Zone, after: Zone): boolean =>
  (before.settings.dnssec ?? after.settings.dnssec) !== undefined;

export type PlanningOptions = {
  /** Names whose signatures are renewed; or all are signed again. */
  readonly renew?: readonly string[] | "all" | undefined;
  /**
   * `none`: everything has to be done in this write. Then `reads.names` are the zone's own, otherwise the presigned
   * ones.
   */
  readonly presigned?: CurrentPresignedNames | "none" | undefined;
};

/** Adds what must be signed to the effect of a write. Throws `PresignNeeded` if that is the whole of a large zone. */
export function* planningSignatures(
  before: Zone,
  effect: WriteEffect,
  reads: SignedReads,
  by: WrittenBy,
  { renew = [], presigned }: PlanningOptions = {},
): Steps<PlannedSignatures> {
  const [signingBefore, signingAfter] = [before.settings.dnssec, effect.zone.settings.dnssec];
  if (signingAfter === undefined) return yield* planningUnsigned(before, effect, reads, by);
  if (presigned !== undefined && presigned !== "none")
    return yield* planningPresigned(before, effect, reads, by, presigned);
  const { zone, changes } = effect;
  const owners = new Set([apex, ...changes.map(({ owner }) => owner), ...(renew === "all" ? [] : renew)]);
  const isWhole = renew === "all" || isSignedOtherwise(before, zone) || owners.size > mostTouched;
  const mustPresign = (isLarge(before) || isLarge(zone)) && presigned !== "none";
  if (isWhole && mustPresign) throw new PresignNeeded(before, effect, by);
  const stored = signingBefore ? reads.names : noNames;
  const at = signingTime(stored.at(apex), by.now);
  const touchedAt = touchedAfter(effect, reads.setsAt);
  const signingZone = zoneToSign(effect.zone, signingAfter, touchedAt(apex).sets, by);
  if (!isWhole) {
    const touched = new Map([...owners].map((owner) => [owner, touchedAt(owner)]));
    const plan = yield* planningSigning(inputFor({ ...signingZone, names: stored }, touched));
    if (plan !== "needs-all-names") return withPlan(effect, by, at, plan);
    if (mustPresign) throw new PresignNeeded(before, effect, by);
  }
  const names = signingBefore ? yield* mapInSteps(reads.everyName(), (name) => name) : [];
  const namesByOwner = new Map(names.map((name) => [name.owner, name]));
  const plan = yield* planningAllNames({
    ...signingZone,
    touched: yield* typesAfter(effect, reads.everySetKey()),
    // Sets that earlier writes have changed may not be signed yet (decisions/0024).
    setsAt: renew === "all" || isSignedOtherwise(before, zone) ? (owner) => allChanged(touchedAt(owner)) : touchedAt,
    names: { ...stored, at: (owner) => namesByOwner.get(owner) },
    allNames: names,
  });
  return withPlan(signingBefore ? effect : { ...effect, signedNamesSwitch: { to: "new" } }, by, at, plan);
}

/** The zone is no longer signed. The names of a large zone are deleted later. */
function* planningUnsigned(
  before: Zone,
  effect: WriteEffect,
  reads: SignedReads,
  by: WrittenBy,
): Steps<PlannedSignatures> {
  const isLater = isLarge(before) && before.signedNamesNumber !== undefined;
  const names = isLater ? [] : yield* mapInSteps(reads.everyName(), (name) => name);
  const signedNamesSwitch = { to: undefined, leaves: isLater ? before.signedNamesNumber : undefined };
  const removal = { size: names.length, namePlans: () => names.map(withoutName) };
  return withPlan({ ...effect, signedNamesSwitch }, by, { now: by.now, until: undefined }, removal, !isLater);
}

/** All names were presigned, apart from those that have changed since. */
function* planningPresigned(
  before: Zone,
  effect: WriteEffect,
  reads: SignedReads,
  by: WrittenBy,
  presigned: CurrentPresignedNames,
): Steps<PlannedSignatures> {
  const { zone, changes } = effect;
  const owners = new Set([apex, ...presigned.changedSince, ...differing(changes, presigned.changes)]);
  if (zone.settings.dnssec === undefined || !isSignedWith(presigned, zone) || owners.size > mostMissed)
    throw new PresignNeeded(before, effect, by);
  const touchedAt = touchedAfter(effect, reads.setsAt);
  const touched = new Map([...owners].map((owner) => [owner, allChanged(touchedAt(owner))]));
  const signingZone = zoneToSign(zone, zone.settings.dnssec, touched.get(apex)?.sets ?? [], by);
  const plan = yield* planningSigning(inputFor({ ...signingZone, names: reads.names }, touched));
  if (plan === "needs-all-names") throw new PresignNeeded(before, effect, by);
  const at = signingTime(reads.names.at(apex), by.now);
  const signedNamesSwitch: SignedNamesSwitch = { to: presigned.number, leaves: before.signedNamesNumber };
  return withPlan({ ...effect, signedNamesSwitch }, by, at, plan, false);
}

export const isSignedWith = ({ settings }: PresignedNames, { settings: { ttl, dnssec } }: Zone): boolean =>
  isDeepStrictEqual(settings, { ttl, dnssec });

/** Owners whose changes are not in both lists. */
function differing(changes: readonly Change[], others: readonly Change[]): readonly string[] {
  if (changes === others) return [];
  const keyOf = ({ owner, type, after }: Change) =>
    `${owner} ${type} ${after && JSON.stringify([after.ttl, ...after.records.map(({ rdata }) => rdata)])}`;
  const [these, those] = [changes, others].map((list) => new Map(list.map((change) => [keyOf(change), change.owner])));
  const only = (some = new Map<string, string>(), other = new Map<string, string>()) =>
    [...some].flatMap(([key, owner]) => (other.has(key) ? [] : [owner]));
  return [...only(these, those), ...only(those, these)];
}

/** The sets of an owner after the write. */
export function touchedAfter(
  { zone, changes }: WriteEffect,
  setsAt: SignedReads["setsAt"],
): (owner: string) => TouchedName {
  const byOwner = Map.groupBy(changes, ({ owner }) => owner);
  return (owner) => touchedBy(byOwner.get(owner) ?? [], owner, setsAt(owner), zone);
}

export const allChanged = ({ sets }: TouchedName): TouchedName => ({
  sets,
  changed: new Set(sets.map(({ type }) => type)),
});

type ZoneToSign = Pick<SigningInput, "zone" | "ttl" | "negativeTtl" | "signing">;

export const zoneToSign = (
  zone: Zone,
  signing: ZoneSigning,
  apexSets: readonly RRset[],
  by: WrittenBy,
): ZoneToSign => ({
  zone: zone.name,
  ttl: zone.settings.ttl,
  negativeTtl: negativeTtlIn(apexSets, zone.settings.ttl),
  signing: signingOf(signing, zone.name, by.now),
});

/** Signs only these owners. */
export const inputFor = (
  signingZone: ZoneToSign & Pick<SigningInput, "names">,
  touched: ReadonlyMap<string, TouchedName>,
): SigningInput => ({
  ...signingZone,
  touched: new Map([...touched].map(([owner, { sets }]) => [owner, typesIn(sets)])),
  setsAt: (owner) => {
    const touchedSets = touched.get(owner);
    if (touchedSets === undefined) throw new Error(`${owner} is signed, but not touched`);
    return touchedSets;
  },
});

export function* planningAllNames(signingZone: SigningInput): Steps<SigningPlan> {
  const plan = yield* planningSigning(signingZone);
  if (plan === "needs-all-names") throw new Error("a plan for the whole zone asked for the whole zone again");
  return plan;
}

/** The types of every name after the write. */
export function* typesAfter({ changes }: WriteEffect, everySetKey: Iterable<SetKey>): Steps<Map<string, number[]>> {
  const byOwner = Map.groupBy(changes, ({ owner }) => owner);
  const types = new Map<string, number[]>([apex, ...byOwner.keys()].map((owner) => [owner, []]));
  for (const { owner, type } of everySetKey) {
    yield;
    if (byOwner.get(owner)?.some((change) => change.type === type)) continue;
    const others = types.get(owner);
    if (others === undefined) types.set(owner, [typeCode(type)]);
    else others.push(typeCode(type));
  }
  for (const { owner, after } of changes) if (after !== null) types.get(owner)?.push(...typesIn([after]));
  return types;
}

export const noNames: StoredSignedNames = { at: () => undefined, before: () => undefined, after: () => undefined };

const withoutName = (before: SignedName): NamePlan => ({ toSign: [], change: () => ({ before, after: undefined }) });

const typesIn = (sets: readonly RRset[]): readonly number[] =>
  sets.filter(({ records }) => records.length > 0).map(({ type }) => typeCode(type));

function withPlan(
  effect: WriteEffect,
  by: WrittenBy,
  at: SigningTime,
  plan: Pick<SigningPlan, "size" | "namePlans">,
  isListed = true,
): PlannedSignatures {
  const namePlans = plan.size > mostSignatures ? undefined : [...plan.namePlans()];
  return {
    count: namePlans?.reduce((sum, { toSign }) => sum + toSign.length, 0) ?? plan.size,
    at,
    namePlans: () => namePlans ?? plan.namePlans(),
    signedNamesSwitch: effect.signedNamesSwitch,
    signed: (signedNameChanges) => {
      const sets = isListed && signedNameChanges.length <= mostListed ? generatedChanges(signedNameChanges) : null;
      const row = logRow(effect.zone, effect.zone.serial, by, { kind: "signatures", sets });
      return { ...effect, signedNameChanges, log: [...effect.log, row] };
    },
  };
}

/** Every write changes the SOA record. */
function touchedBy(changes: readonly Change[], owner: string, stored: readonly RRset[], zone: Zone): TouchedName {
  const changed = new Set(changes.map(({ type }) => type));
  const sets = [...stored.filter(({ type }) => !changed.has(type)), ...changes.flatMap(({ after }) => after ?? [])].map(
    (set) => atZoneSerial(set, zone),
  );
  return { sets, changed: owner === apex ? changed.add("SOA") : changed };
}

/** Whether all names must be signed again, or none any more. */
export const isSignedOtherwise = ({ settings: before }: Zone, { settings: after }: Zone): boolean =>
  before.ttl !== after.ttl || after.dnssec === undefined || signsOtherwise(before.dnssec, after.dnssec);

/** Whether all names must be signed again, not only the sets of keys. */
const signsOtherwise = (before: ZoneSigning | undefined, after: ZoneSigning): boolean =>
  before === undefined || before.denial !== after.denial || signersIn(before) !== signersIn(after);

const signersIn = ({ keys }: ZoneSigning): string =>
  keys
    .filter(({ signs }) => signs)
    .map(({ id }) => id)
    .join(" ");
