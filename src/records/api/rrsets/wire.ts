import type { ChangedSet, ChangedZone, ChangeEvent } from "../../../contract/change-events.ts";
import type { Rrset, RrsetsGrant, RrsetsZone, WireAction } from "../../../contract/rrsets.ts";
import type { Instant } from "../../../core/instant.ts";
import { isQuoted } from "../../../core/rdata/fields/tokens.ts";
import type { RecordType } from "../../../core/rdata/table.ts";
import type { RRset, ZoneRecord } from "../../../core/records/rrset.ts";
import { utcText } from "../../../core/utc-text.ts";
import type { Action, Grant, LoggedChange, PrimaryServer, Zone, ZoneSettings } from "../../model.ts";
import type { ObfuscatedIds } from "../../queries/obfuscated-ids.ts";
import type { ZoneStatus } from "../../queries/status.ts";

/** Objects of the record-set API. */

export function zoneToWire(zone: Zone, status: ZoneStatus, nameservers: readonly string[]): RrsetsZone {
  const { settings } = zone;
  return {
    id: zone.number,
    name: zone.name,
    created: timeText(zone.created),
    mode: settings.mode,
    ttl: settings.ttl,
    labels: settings.labels,
    primary_nameservers: settings.primaries.map(serverToWire),
    protection: { delete: settings.locked },
    status,
    record_count: zone.recordCount,
    authoritative_nameservers: {
      assigned: nameservers.map((server) => `${server}.`),
      delegated: [],
      // This API does not check delegations; the vendor's reference says null until a check was made.
      delegation_last_check: null,
      delegation_status: "unknown",
    },
    registrar: "other",
    serial: zone.serial,
    dnssec: settings.dnssec
      ? { stage: settings.dnssec.stage, parent_fault: settings.dnssec.parentFault?.kind ?? null }
      : null,
  };
}

export const grantToWire = ({ id, name, accountName, created }: Grant): RrsetsGrant => ({
  id,
  name,
  account: accountName,
  created: timeText(created),
});

const serverToWire = ({ address, port, tsig }: PrimaryServer) => ({
  address,
  port,
  ...(tsig && { tsig_algorithm: tsig.algorithm, tsig_key: tsig.key }),
});

export function setToWire(set: RRset, zone: number): Rrset {
  const { owner, type, ttl } = set;
  return { id: `${owner}/${type}`, name: owner, type, ttl, ...marksOf(set), records: recordsOf(set), zone };
}

const marksOf = ({ labels = {}, locked = false }: RRset) => ({ labels, protection: { change: locked } });

/** Sorted by value, as in the original. */
const recordsOf = ({ type, records }: RRset) =>
  records
    .map((record) => ({ value: shownValue(type, record), comment: record.comment }))
    .sort((a, b) => (a.value < b.value ? -1 : a.value > b.value ? 1 : 0));

/**
 * Most actions are stored in the transaction of their write, so they are finished. docs/decisions/0004 explains why the
 * answer says so.
 */
export function actionToWire(action: Action, { show }: ObfuscatedIds): WireAction {
  const { id, command, at, zone, status = "success", finished = at, error } = action;
  const isRunning = status === "running";
  return {
    id: show(id),
    command,
    status,
    progress: isRunning ? 0 : 100,
    started: timeText(at),
    finished: isRunning ? null : timeText(finished),
    resources: [{ id: zone, type: "zone" }],
    error: error === undefined ? null : { code: "action_failed", message: error },
  };
}

export function changeToWire(logged: LoggedChange, { show }: ObfuscatedIds): ChangeEvent {
  const { position, zone, zoneName, serial, at, actor, change } = logged;
  const place = change.kind === "settings" ? { name: null, type: null } : { name: change.owner, type: change.type };
  const [before, after] =
    change.kind === "settings"
      ? [changedZone(change.before), changedZone(change.after)]
      : [changedSet(change.before), changedSet(change.after)];
  return {
    id: show(position),
    zone: { id: zone, name: zoneName },
    serial,
    at: timeText(at),
    by: actor,
    kind: change.kind,
    ...place,
    before,
    after,
  };
}

const changedSet = (set: RRset | null): ChangedSet | null =>
  set && { ttl: set.ttl, ...marksOf(set), records: recordsOf(set) };

/** Without TSIG keys: more people read the history than the settings. */
const changedZone = ({ ttl, mode, labels, locked, primaries, dnssec }: ZoneSettings): ChangedZone => ({
  ttl,
  mode,
  labels,
  protection: { delete: locked },
  primary_nameservers: primaries.map(({ address, port }) => ({ address, port })),
  ...(dnssec && {
    dnssec: {
      stage: dnssec.stage,
      denial: dnssec.denial,
      parent_fault: dnssec.parentFault?.kind ?? null,
      keys: [...dnssec.keys, ...(dnssec.others ?? [])].map(({ tag }) => tag),
    },
  }),
});

/** `2026-01-13T14:17:29Z` */
export function timeText(instant: Instant): string {
  const { day, time } = utcText(instant);
  return `${day}T${time}Z`;
}

/** The value that this API shows. TXT values written through the v1 API may be unquoted. */
export const shownValue = (type: RecordType, { value, rdata }: ZoneRecord): string =>
  type === "TXT" && !isQuoted(value) ? rdata : value;
