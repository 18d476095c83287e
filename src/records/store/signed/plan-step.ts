import { generatedChanges } from "../../../core/dnssec/generated-changes.ts";
import {
  type NameChange,
  type NamePlan,
  planningSigning,
  type SigningInput,
  type SigningPlan,
  type StoredSignedNames,
  type TouchedName,
} from "../../../core/dnssec/plan-signing.ts";
import type { SignedName } from "../../../core/dnssec/signed-name.ts";
import type { Instant } from "../../../core/instant.ts";
import { apex } from "../../../core/names/name.ts";
import { typeCode } from "../../../core/rdata/table.ts";
import type { RRset, SetKey } from "../../../core/records/rrset.ts";
import { negativeTtlIn } from "../../../core/records/soa-timers.ts";
import { mapInSteps, type Steps } from "../../../core/steps.ts";
import {
  beginsSigning,
  isAboutSigning,
  isLarge,
  type LoggedRow,
  type NamesAside,
  type SignatureChange,
  type SigningRequest,
  type Zone,
  type ZoneSettings,
  type ZoneSigning,
} from "../../model.ts";
import { type SigningTime, signingTime } from "../../signing/signer.ts";
import { signingOf } from "../../signing/signing-of.ts";
import { atZoneSerial } from "../rows.ts";
import { isSameForSigning, isSignedOtherwise, mostTouched, type SignedAside } from "../signed-effect.ts";
import { logRow, type WrittenBy } from "../write-effect.ts";

/** The changes of a zone that are not signed yet, in the order of the log, and the zone after them. */
export type UnsignedChanges = {
  readonly zone: Zone;
  /** The position up to which the zone is signed. */
  readonly after: number;
  readonly rows: readonly LoggedRow[];
  /** Names that were signed aside, on which the step builds, and everything that was written after them. */
  readonly aside?: NamesAside & { readonly missed: readonly LoggedRow[] };
};

/** The zone as it is after the unsigned changes. `names`: those signed aside, if there are any. */
export type SignedReads = {
  readonly names: StoredSignedNames;
  readonly everyName: () => Iterable<SignedName>;
  readonly setsAt: (owner: string) => readonly RRset[];
  /** The owner and type of every set. */
  readonly everySetKey: () => Iterable<SetKey>;
};

/**
 * `to`: the number under which a zone's names are stored from now on: that of names signed aside, a new one, or none
 * if the zone is not signed any more. `leaves`: a number under which names are stored that are deleted later.
 */
export type NamesSwitch = { readonly to: number | "new" | undefined; readonly leaves?: number | undefined };

export type SignedRow = Omit<LoggedRow, "position" | "change"> & { readonly change: SignatureChange };

/** What signs the unsigned changes of a zone. */
export type SigningStep = Pick<UnsignedChanges, "zone" | "after"> & {
  /** The position of the last change that it signs. */
  readonly through: number;
  readonly at: SigningTime;
  readonly namePlans: readonly NamePlan[];
  readonly namesSwitch: NamesSwitch | undefined;
  /** The row of the log. */
  readonly row: (names: readonly NameChange[]) => SignedRow;
};

/** `whole`: all names of a large zone must be signed aside first. Undefined: nothing is to be done. */
export type PlannedStep = SigningStep | "whole" | undefined;

/** If more names change, the log does not list their signatures, and followers read the zone again. */
const mostListed = 1_000;

/** Plans the signatures of unsigned changes. `mayBeLarge`: all names of a large zone may be planned too. */
export function* planningStep(unsigned: UnsignedChanges, reads: SignedReads, mayBeLarge = false): Steps<PlannedStep> {
  const { zone, rows, aside } = unsigned;
  const last = rows.at(-1);
  if (last === undefined) return undefined;
  const { dnssec } = zone.settings;
  const by: WrittenBy = { actor: last.actor, now: Math.max(...rows.map(({ at }) => at)) };
  if (dnssec === undefined) {
    const namesSwitch = { to: undefined, leaves: zone.signedNamesNumber };
    return stepOf(unsigned, by, { now: by.now, until: undefined }, { namePlans: [], namesSwitch });
  }
  const { changed, renew, owners } = contentOf(aside?.missed ?? rows);
  const at = signingTime(reads.names.at(apex), by.now);
  const signingZone = zoneToSign(zone, dnssec, touchedAt(zone, reads, changed)(apex).sets, by.now);
  const isCut = (aside?.missed ?? rows).length > mostRows;
  const isNew =
    aside === undefined && (isCut || renew === "all" || isSignedOtherwise(settingsBefore(unsigned), zone.settings));
  if (!isNew && !isCut && owners.size <= mostTouched) {
    const touchedName = touchedAt(zone, reads, changed);
    const touched = new Map(
      [...owners].map((owner) => [owner, aside ? allChanged(touchedName(owner)) : touchedName(owner)]),
    );
    const plan = yield* planningSigning(inputFor({ ...signingZone, names: reads.names }, touched));
    const namesSwitch = aside && { to: aside.number, leaves: zone.signedNamesNumber };
    if (plan !== "needs-all-names") return stepOf(unsigned, by, at, { namePlans: yield* listed(plan), namesSwitch });
  }
  if ((isLarge(zone) && !mayBeLarge) || aside !== undefined) return "whole";
  const whole = yield* planningWhole(zone, reads, { signingZone, owners, changed, isNew });
  return stepOf(unsigned, by, at, whole);
}

type Planned = { readonly namePlans: readonly NamePlan[]; readonly namesSwitch: NamesSwitch | undefined };

function stepOf(
  { zone, after, rows }: UnsignedChanges,
  by: WrittenBy,
  at: SigningTime,
  { namePlans, namesSwitch }: Planned,
): SigningStep {
  const through = rows.at(-1)?.position ?? 0;
  // If everything is signed otherwise, followers read the zone again.
  const isListed = namesSwitch === undefined && namePlans.length <= mostListed;
  const row = (names: readonly NameChange[]): SignedRow => {
    const sets = isListed ? generatedChanges(names) : null;
    const change = { kind: "signatures", sets, after, through } as const;
    return { ...logRow(zone, zone.serial, by, change), change };
  };
  return { zone, after, through, at, namePlans, namesSwitch, row };
}

type WholeZone = Changed & {
  readonly signingZone: ZoneToSign;
  readonly owners: ReadonlySet<string>;
  /** Whether everything is signed again, whatever is stored: with other keys, for another TTL, or to repair it. */
  readonly isNew: boolean;
};

function* planningWhole(
  zone: Zone,
  reads: SignedReads,
  { signingZone, owners, changed, isNew }: WholeZone,
): Steps<Planned> {
  const names = isNew ? [] : yield* mapInSteps(reads.everyName(), (name) => name);
  const namesByOwner = new Map(names.map((name) => [name.owner, name]));
  const touchedName = touchedAt(zone, reads, changed);
  const plan = yield* planningAllNames({
    ...signingZone,
    touched: yield* typesOfNames(owners, reads.everySetKey()),
    setsAt: isNew ? (owner) => allChanged(touchedName(owner)) : touchedName,
    names: { ...reads.names, at: (owner) => namesByOwner.get(owner) },
    allNames: names,
  });
  const namesSwitch = isNew ? { to: "new" as const, leaves: zone.signedNamesNumber } : undefined;
  return { namePlans: yield* listed(plan), namesSwitch };
}

const listed = (plan: SigningPlan): Steps<readonly NamePlan[]> => mapInSteps(plan.namePlans(), (namePlan) => namePlan);

/** The types that were changed, by owner. */
type Changed = { readonly changed: ReadonlyMap<string, ReadonlySet<RRset["type"]>> };

type Content = Changed & {
  /** The names that are to be renewed. */
  readonly renew: SigningRequest["owners"];
  /** The owners that a step looks at, unless it needs the whole zone. */
  readonly owners: ReadonlySet<string>;
};

/** What these rows change. */
function contentOf(rows: readonly LoggedRow[]): Content {
  const changed = new Map<string, Set<RRset["type"]>>();
  const renew: string[] = [];
  let isAll = false;
  for (const { change } of rows) {
    if (change.kind === "signing") {
      const { owners } = change;
      if (owners === "all") isAll = true;
      else renew.push(...owners);
    }
    if (change.kind === "settings" || isAboutSigning(change)) continue;
    const types = changed.get(change.owner) ?? new Set();
    changed.set(change.owner, types.add(change.type));
  }
  const owners = new Set([apex, ...changed.keys(), ...(isAll ? [] : renew)]);
  return { changed, renew: isAll ? "all" : renew, owners };
}

export const ownersToSign = (rows: readonly LoggedRow[]): ReadonlySet<string> => contentOf(rows).owners;

/** The settings with which the zone is signed. */
const settingsBefore = ({ zone, rows }: Pick<UnsignedChanges, "zone" | "rows">): ZoneSettings => {
  const [first] = rows.flatMap(({ change }) => (change.kind === "settings" ? change.before : []));
  return first ?? zone.settings;
};

/** The sets of an owner and what of them was changed. Every write changes the SOA record. */
function touchedAt(
  zone: Zone,
  { setsAt }: Pick<SignedReads, "setsAt">,
  changed: Changed["changed"],
): (owner: string) => TouchedName {
  return (owner) => {
    const types = new Set(changed.get(owner));
    if (owner === apex) types.add("SOA");
    return { sets: setsAt(owner).map((set) => atZoneSerial(set, zone)), changed: types };
  };
}

export const allChanged = ({ sets }: TouchedName): TouchedName => ({
  sets,
  changed: new Set(sets.map(({ type }) => type)),
});

export type ZoneToSign = Pick<SigningInput, "zone" | "ttl" | "negativeTtl" | "signing">;

export const zoneToSign = (
  { name, settings: { ttl } }: Zone,
  signing: ZoneSigning,
  apexSets: readonly RRset[],
  now: Instant,
): ZoneToSign => ({
  zone: name,
  ttl,
  negativeTtl: negativeTtlIn(apexSets, ttl),
  signing: signingOf(signing, name, now),
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

/** The types of every name. `owners`: names that may have none any more. */
export function* typesOfNames(owners: Iterable<string>, everySetKey: Iterable<SetKey>): Steps<Map<string, number[]>> {
  const types = new Map<string, number[]>([apex, ...owners].map((owner) => [owner, []]));
  for (const { owner, type } of everySetKey) {
    yield;
    const others = types.get(owner);
    if (others === undefined) types.set(owner, [typeCode(type)]);
    else others.push(typeCode(type));
  }
  return types;
}

export const noNames: StoredSignedNames = { at: () => undefined, before: () => undefined, after: () => undefined };

const typesIn = (sets: readonly RRset[]): readonly number[] =>
  sets.filter(({ records }) => records.length > 0).map(({ type }) => typeCode(type));

/** Whether what was signed for one of them is right for the other. */
export const isSignedAlike = (a: Zone, b: Zone): boolean =>
  a.signedNamesNumber === b.signedNamesNumber && isSameForSigning(a.settings, b.settings);

/** A row of the log whose change is read only if that is needed: it takes as long as ten rows. */
export type UnreadRow = { readonly position: number; readonly change: string; readonly read: () => LoggedRow };

/** Changes of a zone that are planned one by one; if there are more, the whole zone is signed. */
export const mostRows = 2_000;

/**
 * The rows after the last signatures of a zone, from its rows, newest first; and up to where it is signed. Of more than
 * `mostRows` changes of sets, the oldest are left out.
 */
export function* readingUnsigned(
  { signedNamesNumber }: Zone,
  rows: Iterable<UnreadRow>,
): Steps<Pick<UnsignedChanges, "after" | "rows">> {
  const unsigned: LoggedRow[] = [];
  let after = 0;
  for (const { position, change, read } of rows) {
    yield;
    if (position <= after) break;
    // As text, a change begins with its kind.
    const isAboutZone = change.startsWith('{"kind":"s');
    if (!isAboutZone && unsigned.length > mostRows) continue;
    const row = read();
    if (row.change.kind === "signatures" && after === 0) after = row.change.through ?? position;
    if ("unsigned" in row.change) unsigned.push(row);
    if (signedNamesNumber === undefined && beginsSigning(row)) break;
  }
  return { after, rows: unsigned.filter(({ position }) => position > after).reverse() };
}

/** Whether a zone has unsigned rows, from its rows, newest first. */
export function hasUnsigned(rows: Iterable<UnreadRow>): boolean {
  let after = 0;
  for (const { position, read } of rows) {
    if (position <= after) return false;
    const { change } = read();
    if ("unsigned" in change) return true;
    if (change.kind === "signatures") after = change.through ?? position;
  }
  return false;
}

/** `signed`: names that the caller has signed aside, of no use if the zone is to be signed otherwise now. */
export const asideFor = (
  { settings }: Zone,
  rows: readonly LoggedRow[],
  signed: SignedAside | undefined,
): NamesAside | undefined => (signed && !isSignedOtherwise(signed.settings, settings) ? signed : asideIn(rows));

/** The names that were signed aside for these changes, unless the zone is to be signed otherwise since then. */
function asideIn(rows: readonly LoggedRow[]): NamesAside | undefined {
  const at = rows.findLastIndex(({ change }) => change.kind === "signing" && change.aside !== undefined);
  const change = rows[at]?.change;
  const isOutdated = rows
    .slice(at + 1)
    .some(({ change }) => change.kind === "settings" && isSignedOtherwise(change.before, change.after));
  return change?.kind === "signing" && !isOutdated ? change.aside : undefined;
}
