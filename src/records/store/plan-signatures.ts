import { madeChanges } from "../../core/dnssec/made-changes.ts";
import {
  type NameChange,
  type Names,
  planningSigning,
  type SigningPart,
  type SigningPlan,
  type Touched,
} from "../../core/dnssec/plan-signing.ts";
import { type SignedName, soaExpiry } from "../../core/dnssec/signed-name.ts";
import { apex } from "../../core/names/name.ts";
import { typeCode } from "../../core/rdata/table.ts";
import type { Change } from "../../core/records/changes.ts";
import type { RRset } from "../../core/records/rrset.ts";
import { negativeTtlIn } from "../../core/records/soa-timers.ts";
import { mapInSteps, type Steps } from "../../core/steps.ts";
import type { Zone, ZoneSigning } from "../model.ts";
import { expiryAfter, type SigningTime } from "../signing/signer.ts";
import { signingOf } from "../signing/signing-of.ts";
import { atZoneSerial } from "./rows.ts";
import { logRow, type WriteEffect, type Writer } from "./write-effect.ts";

/** A signed zone as it is before a write. */
export type SignedReads = {
  readonly names: Names;
  readonly everyName: () => Iterable<SignedName>;
  readonly setsAt: (owner: string) => readonly RRset[];
  /** The owner and type of every set. */
  readonly everyType: () => Iterable<Pick<RRset, "owner" | "type">>;
};

export type PlannedSignatures = {
  /** How many sets must be signed; if more than `mostSignatures` names are looked at, the number of those names instead. */
  readonly count: number;
  readonly at: SigningTime;
  /** Reads the zone when it is used: the caller must have a snapshot of it, or must check afterwards that it has not changed. */
  readonly parts: () => Iterable<SigningPart>;
  readonly isNewlySigned: boolean;
  /** The effect with what the parts have changed. `count`: how many names that is, if not all of them are given. */
  readonly signed: (names: readonly NameChange[], count?: number) => WriteEffect;
};

/** If more names change, the log does not list their signatures, and followers read the zone again. */
export const mostListed = 1_000;
/** If more names are touched, it is faster to look at every name of the zone. */
const mostTouched = 1_000;

/** If there are more signatures, they are made in another thread: each takes about 80 µs. */
export const mostSignatures = 50;

/** Most zones are signed neither before a write nor after it. */
export const concernsSigning = (before: Zone, after: Zone): boolean =>
  (before.settings.dnssec ?? after.settings.dnssec) !== undefined;

/** Adds what must be signed to the effect of a write. */
export function* planningSignatures(
  before: Zone,
  effect: WriteEffect,
  reads: SignedReads,
  by: Writer,
  renew: readonly string[] = [],
): Steps<PlannedSignatures> {
  const [was, is] = [before.settings.dnssec, effect.zone.settings.dnssec];
  if (is === undefined) {
    const names = yield* mapInSteps(reads.everyName(), (name) => name);
    return withPlan(effect, by, undefined, { size: names.length, parts: () => names.map(withoutName) });
  }
  // Names of a zone that is not signed are left over from a signing that did not finish.
  const [stored, everyName] = was ? [reads.names, reads.everyName] : [noNames, () => []];
  const until = expiryAfter(soaExpiry(stored.at(apex)) ?? 0, by.now);
  const { zone, changes } = effect;
  const byOwner = Map.groupBy(changes, ({ owner }) => owner);
  const owners = new Set([apex, ...byOwner.keys(), ...renew]);
  const touchedAt = (owner: string): Touched => touchedBy(byOwner.get(owner) ?? [], owner, reads.setsAt(owner), zone);
  const top = touchedAt(apex);
  const wish = {
    zone: zone.name,
    ttl: zone.settings.ttl,
    negativeTtl: negativeTtlIn(top.sets, zone.settings.ttl),
    signing: signingOf(is, zone.name, by.now),
  };
  const isWhole = before.settings.ttl !== zone.settings.ttl || signsOtherwise(was, is) || owners.size > mostTouched;
  if (!isWhole) {
    const touched = new Map([...owners].map((owner) => [owner, owner === apex ? top : touchedAt(owner)]));
    const part = yield* planningSigning({
      ...wish,
      names: stored,
      touched: new Map([...touched].map(([owner, { sets }]) => [owner, typesIn(sets)])),
      setsAt: (owner) => {
        const known = touched.get(owner);
        if (known === undefined) throw new Error(`${owner} is signed, but not touched`);
        return known;
      },
    });
    if (part !== "whole") return withPlan(effect, by, until, part);
  }
  const touched = new Map<string, number[]>([...owners].map((owner) => [owner, []]));
  for (const { owner, type } of reads.everyType()) {
    yield;
    if (byOwner.get(owner)?.some((change) => change.type === type)) continue;
    const others = touched.get(owner);
    if (others === undefined) touched.set(owner, [typeCode(type)]);
    else others.push(typeCode(type));
  }
  for (const { owner, after } of changes) if (after !== null) touched.get(owner)?.push(...typesIn([after]));
  const names = yield* mapInSteps(everyName(), (name) => name);
  const known = new Map(names.map((name) => [name.owner, name]));
  const whole = yield* planningSigning({
    ...{ ...wish, touched, setsAt: touchedAt },
    names: { ...stored, at: (owner) => known.get(owner) },
    whole: names,
  });
  if (whole === "whole") throw new Error("a plan for the whole zone asked for the whole zone again");
  return withPlan(was ? effect : { ...effect, isNewlySigned: true }, by, until, whole);
}

const noNames: Names = { at: () => undefined, before: () => undefined, after: () => undefined };

const withoutName = (before: SignedName): SigningPart => ({ toSign: [], change: () => ({ before, after: undefined }) });

const typesIn = (sets: readonly RRset[]): readonly number[] =>
  sets.filter(({ records }) => records.length > 0).map(({ type }) => typeCode(type));

function withPlan(effect: WriteEffect, by: Writer, until: number | undefined, plan: SigningPlan): PlannedSignatures {
  const parts = plan.size > mostSignatures ? undefined : [...plan.parts()];
  return {
    count: parts?.reduce((sum, { toSign }) => sum + toSign.length, 0) ?? plan.size,
    at: { now: by.now, until },
    parts: () => parts ?? plan.parts(),
    isNewlySigned: effect.isNewlySigned === true,
    signed: (names, count = names.length) => {
      const sets = count > mostListed ? null : madeChanges(names);
      const row = logRow(effect.zone, effect.zone.serial, by, { kind: "signatures", sets });
      return { ...effect, names, log: [...effect.log, row] };
    },
  };
}

/** Every write changes the SOA record. */
function touchedBy(changes: readonly Change[], owner: string, stored: readonly RRset[], zone: Zone): Touched {
  const changed = new Set(changes.map(({ type }) => type));
  const sets = [...stored.filter(({ type }) => !changed.has(type)), ...changes.flatMap(({ after }) => after ?? [])].map(
    (set) => atZoneSerial(set, zone),
  );
  return { sets, changed: owner === apex ? changed.add("SOA") : changed };
}

/** Whether all names must be signed again, not only the sets of keys. */
const signsOtherwise = (was: ZoneSigning | undefined, is: ZoneSigning): boolean =>
  was === undefined || was.denial !== is.denial || signersIn(was) !== signersIn(is);

const signersIn = ({ keys }: ZoneSigning): string =>
  keys
    .filter(({ signs }) => signs)
    .map(({ id }) => id)
    .join(" ");
