import { madeChanges } from "../../core/dnssec/made-changes.ts";
import {
  type Names,
  planningSigning,
  type SigningPlan,
  type ToSign,
  type Touched,
} from "../../core/dnssec/plan-signing.ts";
import { type SignedName, soaExpiry } from "../../core/dnssec/signed-name.ts";
import { apex } from "../../core/names/name.ts";
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
  readonly everySet: () => Iterable<RRset>;
};

/** Call `signed` when everything is signed. */
export type PlannedSignatures = {
  readonly toSign: readonly ToSign[];
  readonly at: SigningTime;
  readonly signed: () => Steps<WriteEffect>;
};

/** If there are more, the log does not list them, and followers read the zone again. */
const mostListed = 1_000;
/** If more names are touched, it is faster to look at every name of the zone. */
const mostTouched = 1_000;

/** If there are more signatures, they are made in other threads: each takes about 80 µs. */
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
  if (is === undefined)
    return withPlan(effect, by, undefined, { toSign: [], changes: () => mapInSteps(reads.everyName(), withoutName) });
  // Names of a zone that is not signed are left over from a signing that did not finish.
  const [stored, everyName] = was ? [reads.names, reads.everyName] : [noNames, () => []];
  const until = expiryAfter(soaExpiry(stored.at(apex)) ?? 0, by.now);
  const { zone, changes } = effect;
  const byOwner = Map.groupBy(changes, ({ owner }) => owner);
  const owners = new Set([apex, ...byOwner.keys(), ...renew]);
  const touchedAt = (owner: string, stored: readonly RRset[]): Touched =>
    touchedBy(byOwner.get(owner) ?? [], owner, stored, zone);
  const top = touchedAt(apex, reads.setsAt(apex));
  const wish = {
    zone: zone.name,
    ttl: zone.settings.ttl,
    negativeTtl: negativeTtlIn(top.sets, zone.settings.ttl),
    signing: signingOf(is, zone.name, by.now),
  };
  const isWhole = before.settings.ttl !== zone.settings.ttl || signsOtherwise(was, is) || owners.size > mostTouched;
  const part = isWhole
    ? "whole"
    : yield* planningSigning({
        ...wish,
        names: stored,
        touched: new Map(
          [...owners].map((owner) => [owner, owner === apex ? top : touchedAt(owner, reads.setsAt(owner))]),
        ),
      });
  if (part !== "whole") return withPlan(effect, by, until, part);
  const sets = Map.groupBy(yield* mapInSteps(reads.everySet(), (set) => set), ({ owner }) => owner);
  const names = yield* mapInSteps(everyName(), (name) => name);
  const known = new Map(names.map((name) => [name.owner, name]));
  const touched = yield* mapInSteps(
    new Set([...owners, ...sets.keys()]),
    (owner) => [owner, touchedAt(owner, sets.get(owner) ?? [])] as const,
  );
  const whole = yield* planningSigning({
    ...wish,
    names: { ...stored, at: (owner) => known.get(owner) },
    whole: names,
    touched: new Map(touched),
  });
  if (whole === "whole") throw new Error("a plan for the whole zone asked for the whole zone again");
  return withPlan(was ? effect : { ...effect, isNewlySigned: true }, by, until, whole);
}

const noNames: Names = { at: () => undefined, before: () => undefined, after: () => undefined };

const withoutName = (name: SignedName) => ({ before: name, after: undefined });

function withPlan(
  effect: WriteEffect,
  by: Writer,
  until: number | undefined,
  { toSign, changes }: SigningPlan,
): PlannedSignatures {
  return {
    toSign,
    at: { now: by.now, until },
    *signed() {
      const names = yield* changes();
      const sets = names.length > mostListed ? null : madeChanges(names);
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
