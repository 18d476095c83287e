import {
  isLarge,
  type NamesAside,
  type SigningRequest,
  type Zone,
  type ZoneSettings,
  type ZoneSigning,
} from "../model.ts";
import type { EncryptedKey } from "../signing/signer.ts";
import type { Decision } from "./port.ts";
import { logRow, type WriteEffect, type WrittenBy } from "./write-effect.ts";

/**
 * Most zones are signed neither before a write nor after it. One that was unsigned is served with its signatures until
 * the signer has removed them.
 */
export const concernsSigning = (before: Zone, after: Zone): boolean =>
  (before.settings.dnssec ?? after.settings.dnssec ?? before.signedNamesNumber) !== undefined;

/** The effect of a write whose signatures follow. */
export function unsignedEffect(
  effect: WriteEffect,
  by: WrittenBy,
  renew: SigningRequest["owners"] = [],
  aside?: NamesAside,
): WriteEffect {
  const names = aside && { aside: { number: aside.number, through: aside.through } };
  const request: SigningRequest = { kind: "signing", owners: renew, unsigned: true, ...names };
  const { zone } = effect;
  const requested = renew.length > 0 || aside ? [logRow(zone, zone.serial, by, request)] : [];
  const log = effect.log.map((row) => ({ ...row, change: { ...row.change, unsigned: true } }) as typeof row);
  return { ...effect, log: [...log, ...requested] };
}

/** Whether all names must be signed again, or none any more. */
export const isSignedOtherwise = (before: ZoneSettings, after: ZoneSettings): boolean =>
  before.ttl !== after.ttl || after.dnssec === undefined || signsOtherwise(before.dnssec, after.dnssec);

/** Whether all names must be signed again, not only the sets of keys. */
const signsOtherwise = (before: ZoneSigning | undefined, after: ZoneSigning): boolean =>
  before === undefined || before.denial !== after.denial || signersIn(before) !== signersIn(after);

const signersIn = ({ keys }: ZoneSigning): string =>
  keys
    .filter(({ signs }) => signs)
    .map(({ id }) => id)
    .join(" ");

/** If more names are touched, it is faster to look at every name of the zone. */
export const mostTouched = 1_000;

/** All names of this zone are to be signed with its settings. */
export type AsideNeeded = {
  readonly kind: "aside-needed";
  /** With the settings that it will have. */
  readonly zone: Zone;
  readonly by: WrittenBy;
  /** Keys that are not stored yet. */
  readonly keys: readonly EncryptedKey[];
};

/** By the number of the zone. */
export type AsidesByZone = ReadonlyMap<number, SignedAside>;

export type SignedAside = NamesAside & Pick<Zone, "settings">;

/**
 * A command that changes how a large zone is signed waits until its names are signed aside: until then, the zone is
 * served as before, and what others write to it too. If the command changes very many records, the zone is signed
 * afterwards.
 */
export function asideNeeded(
  before: Zone,
  { zone, changes, keys = [] }: WriteEffect,
  by: WrittenBy,
  renew: Decision["renew"],
  asides: AsidesByZone | undefined,
): AsideNeeded | undefined {
  if (zone.settings.dnssec === undefined || !isLarge(before) || changes.length > mostTouched) return undefined;
  if (renew !== "all" && !isSignedOtherwise(before.settings, zone.settings)) return undefined;
  const aside = asides?.get(before.number);
  if (aside && isSameForSigning(aside.settings, zone.settings)) return undefined;
  return { kind: "aside-needed", zone: { ...before, settings: zone.settings }, by, keys };
}

/** Whether names are signed alike. As JSON: what was read from a database has no keys without a value. */
export const isSameForSigning = (a: ZoneSettings, b: ZoneSettings): boolean =>
  a.ttl === b.ttl && JSON.stringify(a.dnssec) === JSON.stringify(b.dnssec);

export const isAsideNeeded = (outcome: unknown): outcome is AsideNeeded =>
  (outcome as AsideNeeded | undefined)?.kind === "aside-needed";
