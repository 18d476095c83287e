import { hash } from "node:crypto";
import { isObject } from "../../../core/is-object.ts";
import { apex } from "../../../core/names/name.ts";
import type { RRset } from "../../../core/records/rrset.ts";
import { compareSerials } from "../../../core/records/serial.ts";
import { isAboutSigning, type LoggedRow } from "../../model.ts";
import type { ChangeRow, SetRow, ZoneRow } from "../../store/rows.ts";
import { eachPart, type Row, storeTables, type Tables } from "../tables/table.ts";
import { named, parsed, type Step } from "./step.ts";

type Logged = ChangeRow & { readonly read: LoggedRow["change"] };
/** What the log has said about one zone so far. Sets are kept as digests, by owner and type. */
export type ZoneHistory = {
  readonly zone: number;
  /** A zone keeps its name. */
  readonly name: string;
  first: number;
  last: { readonly serial: number; readonly position: number };
  /** Its log begins with the creation of the zone, so it covers every set. */
  whole: boolean;
  readonly sets: Map<string, string>;
  /** Owners whose last changes are not signed yet, or `allNames`, with the positions of these. */
  readonly unsigned: Map<string, number>;
};

/**
 * Reads the log zone by zone. Serials must rise, and each row must begin where the previous one ended. `where`
 * selects the rows.
 */
export async function* histories(tables: Tables, where: string, step: Step): AsyncGenerator<ZoneHistory, undefined> {
  let history: ZoneHistory | undefined;
  for await (const rows of eachPart(tables, storeTables.changes, { by: ["zone", "position"], where })) {
    for (const row of rows) {
      const entry = readEntry(row, step);
      if (entry === undefined) continue;
      if (history !== undefined && history.zone !== entry.zone) yield history;
      if (history?.zone !== entry.zone) history = begin(entry);
      follow(history, entry, step);
    }
    step.read(rows.length);
  }
  if (history !== undefined) yield history;
}

function readEntry(row: Row, step: Step): Logged | undefined {
  const entry = named<ChangeRow>(storeTables.changes, row);
  const change = parsed(entry.change);
  if (isChange(change)) return { ...entry, read: change };
  step.fault("change-unreadable", placeOf(entry), "its content is not valid");
  return undefined;
}

function isChange(value: unknown): value is LoggedRow["change"] {
  if (!isObject(value)) return false;
  const { kind, before, after, sets, owners, settings } = value;
  if (kind === "signatures") return sets === null || Array.isArray(sets);
  if (kind === "signing") return owners === "all" || Array.isArray(owners);
  if (kind === "settings") return isObject(before) && isObject(after);
  const shapes = { create: [false, true], replace: [true, true], delete: [true, false] } as const;
  const shape = kind === "create" || kind === "replace" || kind === "delete" ? shapes[kind] : undefined;
  const hasShape = shape !== undefined && isSet(before) === shape[0] && isSet(after) === shape[1];
  return hasShape && (settings === undefined || isObject(settings));
}

const isSet = (value: unknown): boolean => isObject(value) && Array.isArray(value.records);

const begin = ({ zone, zone_name: name, serial }: Logged): ZoneHistory => ({
  zone,
  name,
  first: serial,
  last: { serial, position: 0 },
  whole: false,
  sets: new Map(),
  unsigned: new Map(),
});

function follow(history: ZoneHistory, entry: Logged, step: Step): void {
  const { read, serial, position } = entry;
  noteSigning(history, entry);
  // Signatures of earlier changes may follow later ones.
  if (read.kind === "signatures" && read.through !== undefined) return;
  if (history.last.position > 0 && serial !== history.last.serial) {
    // A primary server may choose any serial.
    if (entry.actor !== "transfer" && compareSerials(serial, history.last.serial) !== 1)
      step.fault(
        "serial-went-back",
        placeOf(entry),
        `the serial ${serial} is not higher than the previous one, ${history.last.serial}`,
        "secondaries may have missed it: write to the zone again, and make them transfer the whole zone",
      );
  }
  if (serial === history.first && read.kind === "create" && read.type === "SOA" && read.owner === apex)
    history.whole = true;
  history.last = { serial, position };
  if (isAboutSigning(read)) return;
  const key = read.kind === "settings" ? settingsKey : `${read.owner} ${read.type}`;
  // The zone ends. If it was large, its other sets are not listed.
  if (read.kind === "delete" && read.type === "SOA" && read.owner === apex) {
    history.sets.clear();
    history.whole = false;
    return;
  }
  const latestEntry = history.sets.get(key);
  if (latestEntry !== undefined && latestEntry !== digestOf(read.before))
    step.fault(
      "log-torn",
      placeOf(entry),
      `the state of ${key} before this change is not what the previous change of ${key} left`,
    );
  history.sets.set(key, digestOf(read.after));
  if (read.kind === "create" && read.settings !== undefined) history.sets.set(settingsKey, digestOf(read.settings));
}

function noteSigning({ unsigned }: ZoneHistory, { read, position }: Logged): void {
  if (read.kind === "signatures") {
    const { through = position } = read;
    for (const [owner, last] of unsigned) if (last <= through) unsigned.delete(owner);
  } else if ("unsigned" in read) unsigned.set("owner" in read ? read.owner : allNames, position);
}

/** In place of an owner: the zone is to be signed otherwise. Owners have no spaces. */
export const allNames = "all names";

/** The key of a set contains a space, so no set has this key. */
const settingsKey = "settings";

export function compareZone(
  { name: logged, sets, last }: ZoneHistory,
  { name, serial, settings }: ZoneRow,
  step: Step,
): void {
  if (name !== logged)
    step.fault(
      "name-differs",
      `zone ${name}`,
      `its name in the log is ${logged}`,
      "a zone cannot be renamed: give it back its name, or create a new zone and import its records",
    );
  if (serial !== last.serial)
    step.fault(
      "serial-differs",
      `zone ${name}`,
      `its serial is ${serial}, but the last one in the log is ${last.serial}`,
    );
  const latestEntry = sets.get(settingsKey);
  if (latestEntry !== undefined && latestEntry !== digestOf(parsed(settings))) differs(`zone ${name}, settings`, step);
  sets.delete(settingsKey);
}

/** Removes the set from the history. `set` is undefined if its row could not be read. */
export function compareSet(
  history: ZoneHistory,
  { owner, type }: SetRow,
  set: RRset | undefined,
  where: string,
  step: Step,
): void {
  const key = `${owner} ${type}`;
  const latestEntry = history.sets.get(key);
  if (set !== undefined && (latestEntry === undefined ? history.whole : latestEntry !== digestOf(set)))
    differs(`${where}, ${key}`, step);
  history.sets.delete(key);
}

/** Sets that are left in the history must have been deleted. */
export function compareRest({ sets }: ZoneHistory, where: string, step: Step): void {
  sets.delete(settingsKey);
  for (const [key, digest] of sets) if (digest !== digestOf(null)) differs(`${where}, ${key}`, step);
}

const differs = (where: string, step: Step): void =>
  step.fault("log-differs", where, "it does not match the result of the last change in the log");

const placeOf = ({ position, zone_name: zone }: ChangeRow): string => `change ${position}, zone ${zone}`;

/**
 * Equal for equivalent values: the serial and time of an SOA are filled in on every read, and missing labels equal
 * empty ones.
 */
function digestOf(value: unknown): string {
  const same =
    isObject(value) && "records" in value ? comparable(value as unknown as RRset) : JSON.stringify(value, sortedKeys);
  return hash("sha256", same, "base64").slice(0, 16);
}

function comparable({ owner, type, ttl, records, labels = {}, locked = false }: RRset): string {
  const compared = records.map(({ id, name, value, rdata, comment, created, modified }) =>
    type === "SOA"
      ? [id, name, rdata.replace(soaSerial, "$1 0 "), comment, created]
      : [id, name, value, rdata, comment, created, modified],
  );
  return JSON.stringify([owner, type, ttl, compared, Object.entries(labels).toSorted(byName), locked]);
}

/** A damaged SOA may have too few fields; it is then compared as it is. */
const soaSerial = /^(\S+ \S+) \d+ /;

const byName = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number => (a < b ? -1 : 1);

const sortedKeys = (_: string, value: unknown): unknown =>
  isObject(value) ? Object.fromEntries(Object.entries(value).toSorted(byName)) : value;
