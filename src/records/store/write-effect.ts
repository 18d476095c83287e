import { isDeepStrictEqual } from "node:util";
import type { Instant } from "../../core/instant.ts";
import { apex } from "../../core/names/name.ts";
import type { Change } from "../../core/records/changes.ts";
import type { RRset } from "../../core/records/rrset.ts";
import { compareSerials, nextSerial } from "../../core/records/serial.ts";
import type { LoggedRow, LoggedSetChange, NewZone, Zone } from "../model.ts";
import type { EncryptedKey } from "../signing/signer.ts";
import type { Decision } from "./port.ts";

/** Who writes, and when. */
export type WrittenBy = { readonly actor: string; readonly now: Instant };

/** The effect of one write on one zone. */
export type WriteEffect = {
  readonly zone: Zone;
  readonly changes: readonly Change[];
  readonly newSettings: boolean;
  /** New private keys. */
  readonly keys?: readonly EncryptedKey[];
  /** The store assigns the positions. */
  readonly log: readonly Omit<LoggedRow, "position">[];
};

/** The effect of a decision; undefined if nothing differs and nothing is to be renewed. */
export function effectWith(
  zone: Zone,
  changes: readonly Change[],
  wanted: Pick<Decision, "settings" | "serial" | "renew">,
  by: WrittenBy,
): WriteEffect | undefined {
  const { settings = zone.settings } = wanted;
  const newSettings = settings !== zone.settings && !isDeepStrictEqual(settings, zone.settings);
  const isChanged = changes.length > 0 || newSettings;
  if (!isChanged && wanted.renew === undefined) return undefined;
  const serial = wanted.serial ?? nextSerial(zone.serial, by.now);
  const grown = changes.reduce((sum, { before, after }) => sum + sizeOf(after) - sizeOf(before), 0);
  const after = {
    ...zone,
    settings,
    serial,
    // In a signed zone it does not go back, so that a clock that was set back is reported until it has caught up.
    modified: !isChanged ? zone.modified : settings.dnssec ? Math.max(by.now, zone.modified) : by.now,
    recordCount: zone.recordCount + grown,
  };
  const all = newSettings
    ? [{ kind: "settings", before: zone.settings, after: settings } as const, ...changes]
    : changes;
  return { zone: after, changes, newSettings, log: all.map((change) => logRow(zone, serial, by, change)) };
}

/** What a trial shows of a zone that would be created. */
export const zoneTried = ({ sets: _, reserved, ...zone }: NewZone, recordCount: number): Zone => ({
  ...zone,
  number: 0,
  modified: zone.created,
  recordCount,
});

/** The first sets of a zone, under its initial serial. */
export function firstEffect(zone: Zone, changes: readonly Change[], by: WrittenBy): WriteEffect {
  const log = changes.map((change) => logRow(zone, zone.serial, by, firstLogged(zone, change)));
  return { zone, changes, newSettings: false, log };
}

/**
 * A zone begins with its SOA set. The settings are in the same row, so that followers of the log need not know another
 * kind of row.
 */
const firstLogged = ({ settings }: Pick<Zone, "settings">, change: Change): LoggedSetChange =>
  change.owner === apex && change.type === "SOA" ? { ...change, settings } : change;

export const logRow = (
  { account, number: zone, name: zoneName }: Zone,
  serial: number,
  { actor, now: at }: WrittenBy,
  change: LoggedRow["change"],
): Omit<LoggedRow, "position"> => ({ account, zone, zoneName, serial, at, actor, change });

const sizeOf = (set: RRset | null): number => set?.records.length ?? 0;

/** Ids of records that are in one set but not in the other. */
export function idsOnlyIn(set: RRset | null, other: RRset | null): readonly string[] {
  const otherIds = new Set(other?.records.map((record) => record.id));
  return set?.records.map((record) => record.id).filter((id) => !otherIds.has(id)) ?? [];
}

/**
 * The first serial of a zone. `last` is the last serial of a deleted zone of the same name. The new zone continues
 * from there, because a secondary that still has the old zone would ignore a lower serial.
 */
export const serialAfter = (last: number | undefined, { serial, created }: NewZone): number =>
  last === undefined || compareSerials(serial, last) === 1 ? serial : nextSerial(last, created);
