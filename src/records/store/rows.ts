import type { SignedName } from "../../core/dnssec/signed-name.ts";
import type { Scope } from "../../core/may.ts";
import type { Consent } from "../../core/names/zone-neighbours.ts";
import type { RecordType } from "../../core/rdata/table.ts";
import type { RRset, ZoneRecord } from "../../core/records/rrset.ts";
import { withSerial } from "../../core/records/serial.ts";
import {
  type Grant,
  isAboutSigning,
  type LoggedRow,
  type RecordInZone,
  type Token,
  type TransferKey,
  type Zone,
  type ZoneSettings,
} from "../model.ts";

/**
 * Rows as either database returns them, and their conversion to the model. The columns are those of `sqlite/schema.ts`.
 */

export type ZoneRow = {
  readonly number: number;
  readonly id: string;
  readonly account: number;
  readonly name: string;
  readonly settings: string;
  readonly serial: number;
  readonly record_count: number;
  readonly created: number;
  readonly modified: number;
  readonly names_at: number | null;
};

export function zoneFromRow(row: ZoneRow): Zone {
  const { number, id, account, name, serial, created, modified } = row;
  const settings = settingsIn(row.settings);
  return {
    number,
    id,
    account,
    name,
    settings,
    serial,
    created,
    modified,
    recordCount: row.record_count,
    signedNamesNumber: row.names_at ?? undefined,
  };
}

/** Zones of earlier versions may have the drift rule `theirs`, which is gone: they ask. */
function settingsIn(text: string): ZoneSettings {
  const settings = JSON.parse(text) as ZoneSettings;
  const { published } = settings;
  return published && published.drift !== "ours"
    ? { ...settings, published: { ...published, drift: "ask" } }
    : settings;
}

export type SetRow = {
  readonly owner: string;
  readonly type: string;
  readonly ttl: number | null;
  readonly records: string;
  readonly marks: string | null;
};

type Marks = Pick<RRset, "labels" | "locked">;

export function setFromRow({ owner, type, ttl, records, marks }: SetRow, zone: Zone): RRset {
  const set = { owner, type: type as RecordType, ttl, records: recordsFromText(records, type, zone) };
  return marks === null ? set : { ...set, ...(JSON.parse(marks) as Marks) };
}

/** Null for most sets. */
export function marksToText(set: Marks): string | null {
  const marks = marksOf(set);
  return marks === undefined ? null : JSON.stringify(marks);
}

function marksOf({ labels, locked }: Marks): Marks | undefined {
  const hasLabels = labels !== undefined && Object.keys(labels).length > 0;
  return hasLabels || locked ? { ...(hasLabels && { labels }), ...(locked && { locked }) } : undefined;
}

/** The sets written for one owner, in the form in which they will be read: sorted by type. */
export function allReadBack(sets: readonly RRset[]): readonly RRset[] {
  const read = sets.filter((set) => set.records.length > 0).map(asReadBack);
  return read.length > 1 ? read.sort((a, b) => (a.type < b.type ? -1 : 1)) : read;
}

function asReadBack({ owner, type, ttl, records, ...marks }: RRset): RRset {
  return { owner, type, ttl, records, ...marksOf(marks) };
}

export const atZoneSerial = (set: RRset, zone: Zone): RRset =>
  set.type === "SOA" ? { ...set, records: set.records.map((record) => atSerial(record, zone)) } : set;

/**
 * The SOA changes with every write to its zone. It is not stored each time; the zone's serial and time are filled in
 * on reading.
 */
function recordsFromText(text: string, type: string, zone: Zone): readonly ZoneRecord[] {
  const records = JSON.parse(text) as readonly ZoneRecord[];
  return type === "SOA" ? records.map((record) => atSerial(record, zone)) : records;
}

function atSerial(record: ZoneRecord, zone: Zone): ZoneRecord {
  const rdata = withSerial(record.rdata, zone.serial);
  return { ...record, rdata, value: rdata, modified: zone.modified };
}

/** A zone, and the set in it that contains a record. */
export type RowOfRecord = ZoneRow & SetRow;
export const recordColumns = "zones.*, rrsets.owner, rrsets.type, ttl, records";

export function recordFromRow(row: RowOfRecord, record: string): RecordInZone {
  const { owner, type, ttl } = row;
  const zone = zoneFromRow(row);
  const zoneRecord = recordsFromText(row.records, type, zone).find((each) => each.id === record);
  if (zoneRecord === undefined) throw new Error(`the index lists a record that its set does not contain: ${record}`);
  return { zone, owner, type: type as RecordType, ttl, record: zoneRecord };
}

export type TokenRow = {
  readonly id: number;
  readonly account: number;
  readonly account_name: string;
  readonly name: string;
  readonly hash: string;
  readonly scope: string;
  readonly created: number;
  readonly revoked: number | null;
  readonly last_used: number | null;
  readonly uses: number;
};

export function tokenFromRow(row: TokenRow): Token {
  const { id, account, name, hash, created, uses } = row;
  const scope = JSON.parse(row.scope) as Scope;
  const [revoked, lastUsed] = [row.revoked ?? undefined, row.last_used ?? undefined];
  return { id, account, accountName: row.account_name, name, hash, scope, created, revoked, lastUsed, uses };
}

export type ChangeRow = {
  readonly position: number;
  readonly account: number;
  readonly zone: number;
  readonly zone_name: string;
  readonly serial: number;
  readonly at: number;
  readonly actor: string;
  readonly change: string;
};

export function changeFromRow(row: ChangeRow): LoggedRow {
  const { position, account, zone, serial, at, actor } = row;
  return {
    position,
    account,
    zone,
    zoneName: row.zone_name,
    serial,
    at,
    actor,
    change: JSON.parse(row.change) as LoggedRow["change"],
  };
}

/** The owners of changed sets, from the texts of changes. */
export function ownersIn(changes: readonly string[]): ReadonlySet<string> {
  const owners = new Set<string>();
  for (const text of changes) {
    const change = JSON.parse(text) as LoggedRow["change"];
    if (change.kind !== "settings" && !isAboutSigning(change)) owners.add(change.owner);
  }
  return owners;
}

export type TransferKeyRow = {
  readonly number: number;
  readonly name: string;
  readonly algorithm: string;
  readonly secret: string;
  readonly account: number | null;
  readonly account_name: string | null;
  readonly scope: string;
  readonly created: number;
  readonly revoked: number | null;
};

export const keyFromRow = (row: TransferKeyRow): TransferKey => ({
  number: row.number,
  name: row.name,
  algorithm: row.algorithm as TransferKey["algorithm"],
  secret: row.secret,
  account: row.account ?? undefined,
  accountName: row.account_name ?? undefined,
  scope: JSON.parse(row.scope) as Scope,
  created: row.created,
  revoked: row.revoked ?? undefined,
});

export type ConsentRow = { readonly zone: number | null; readonly account: number; readonly name: string };

export const consentFromRow = ({ zone, account, name }: ConsentRow): Consent => ({
  zone: zone ?? undefined,
  account,
  name,
});

export type GrantRow = ConsentRow & {
  readonly id: number;
  readonly actor: string;
  readonly created: number;
  readonly account_name: string;
  readonly zone_name: string | null;
};

export const grantFromRow = ({ id, actor, created, account_name, zone_name, ...consent }: GrantRow): Grant => ({
  ...consentFromRow(consent),
  id,
  actor,
  created,
  accountName: account_name,
  zoneName: zone_name ?? undefined,
});

export type SignedNameRow = {
  readonly owner: string;
  readonly link: string | null;
  readonly expires: number | null;
  readonly children: number;
  readonly types: string;
  readonly made: string;
};

export const signedNameColumns = "owner, link, expires, children, types, made";

export function signedNameFromRow({
  owner,
  link: chainKey,
  expires,
  children,
  types,
  made,
}: SignedNameRow): SignedName {
  return {
    owner,
    chainKey,
    expires,
    children,
    types: JSON.parse(types) as SignedName["types"],
    generated: JSON.parse(made) as SignedName["generated"],
  };
}

export const signedNameToRow = ({ types, generated, chainKey, ...name }: SignedName): SignedNameRow => ({
  ...name,
  types: JSON.stringify(types),
  link: chainKey,
  made: JSON.stringify(generated),
});
