import { hash } from "node:crypto";
import { isObject } from "../../../core/is-object.ts";
import { apex } from "../../../core/names/name.ts";
import type { RRset } from "../../../core/records/rrset.ts";
import { compareSerials } from "../../../core/records/serial.ts";
import type { LoggedChange } from "../../model.ts";
import type { ChangeRow, SetRow, ZoneRow } from "../../store/rows.ts";
import { eachPart, keyOf, type Row, storeTables, type Tables } from "../tables/table.ts";
import { readSet } from "./set.ts";
import { type Accounts, checkAccount, named, parsed, restoreIt, type Step } from "./step.ts";

type Logged = ChangeRow & { readonly read: LoggedChange["change"] };
/** What is known of one zone from its log so far. Sets are kept as digests, by owner and type. */
type History = {
  readonly zone: number;
  first: number;
  last: { readonly serial: number; readonly position: number };
  /** Its log begins with the zone itself, so it tells of every set. */
  whole: boolean;
  readonly sets: Map<string, string>;
};

/** The log, zone by zone: serials rise, each row begins where the one before ended, and the last one is what is there now. */
export async function checkLog(tables: Tables, accounts: Accounts, step: Step): Promise<number> {
  const { changes } = storeTables;
  let history: History | undefined;
  let count = 0;
  for await (const rows of eachPart(tables, changes, { by: ["zone", "position"] })) {
    for (const row of rows) {
      const entry = readEntry(row, accounts, step);
      if (entry === undefined) continue;
      if (history !== undefined && history.zone !== entry.zone) await closeHistory(tables, history, step);
      if (history?.zone !== entry.zone) history = begin(entry);
      follow(history, entry, step);
    }
    count += rows.length;
    step.read(rows.length);
  }
  if (history !== undefined) await closeHistory(tables, history, step);
  return count;
}

function readEntry(row: Row, accounts: Accounts, step: Step): Logged | undefined {
  const entry = named<ChangeRow>(storeTables.changes, row);
  const where = placeOf(entry);
  checkAccount(accounts, entry.account, where, step);
  const change = parsed(entry.change);
  if (isChange(change)) return { ...entry, read: change };
  step.fault({ code: "change-unreadable", where, message: "what it changed cannot be read", todo: restoreIt });
  return undefined;
}

function isChange(value: unknown): value is LoggedChange["change"] {
  if (!isObject(value)) return false;
  const { kind, before, after } = value;
  if (kind === "settings") return isObject(before) && isObject(after);
  const shapes = { create: [false, true], replace: [true, true], delete: [true, false] } as const;
  const shape = kind === "create" || kind === "replace" || kind === "delete" ? shapes[kind] : undefined;
  return shape !== undefined && isSet(before) === shape[0] && isSet(after) === shape[1];
}

const isSet = (value: unknown): boolean => isObject(value) && Array.isArray(value.records);

const begin = ({ zone, serial }: Logged): History => ({
  zone,
  first: serial,
  last: { serial, position: 0 },
  whole: false,
  sets: new Map(),
});

function follow(history: History, entry: Logged, step: Step): void {
  const { read, serial, position } = entry;
  if (history.last.position > 0 && serial !== history.last.serial) {
    // A primary server gives its zone any serial that it likes.
    if (entry.actor !== "transfer" && compareSerials(serial, history.last.serial) !== 1)
      step.fault({
        code: "serial-went-back",
        where: placeOf(entry),
        message: `the serial is ${serial}, and was ${history.last.serial} before`,
        todo: "secondaries may have missed it: write to the zone once more, and have them fetch it whole",
      });
  }
  if (serial === history.first && read.kind === "create" && read.type === "SOA" && read.owner === apex)
    history.whole = true;
  history.last = { serial, position };
  const key = read.kind === "settings" ? settingsKey : `${read.owner} ${read.type}`;
  const known = history.sets.get(key);
  if (known !== undefined && known !== digestOf(read.before))
    step.fault({
      code: "log-torn",
      where: placeOf(entry),
      message: `it begins with another ${key} than the change before it left`,
      todo: restoreIt,
    });
  history.sets.set(key, digestOf(read.after));
}

/** No owner is empty, so no set has this key. */
const settingsKey = "settings";

async function closeHistory(tables: Tables, history: History, step: Step): Promise<void> {
  const [row] = await tables.find(storeTables.zones, [[history.zone]]);
  const zone = row && named<ZoneRow>(storeTables.zones, row);
  const differs = (what: string) =>
    step.fault({
      code: "log-differs",
      where: `zone ${zone?.name ?? history.zone}, ${what}`,
      message: "it is not what the last change in the log has left",
      todo: restoreIt,
    });
  if (zone !== undefined && zone.serial !== history.last.serial)
    step.fault({
      code: "serial-differs",
      where: `zone ${zone.name}`,
      message: `its serial is ${zone.serial}, and the last in the log is ${history.last.serial}`,
      todo: restoreIt,
    });
  const settings = history.sets.get(settingsKey);
  if (zone !== undefined && settings !== undefined && settings !== digestOf(parsed(zone.settings))) differs("settings");
  history.sets.delete(settingsKey);
  if (zone !== undefined) await comparePresent(tables, zone, history, differs);
  for (const [key, digest] of history.sets) if (digest !== digestOf(null)) differs(key);
}

/** Takes from the history what is there; what is left shall be gone. */
async function comparePresent(
  tables: Tables,
  zone: ZoneRow,
  history: History,
  differs: (what: string) => void,
): Promise<void> {
  const { sets } = storeTables;
  // No owner is empty.
  for (let after: Row = [zone.number, "", ""]; ; ) {
    const rows = await tables.read(sets, { after, to: [zone.number, last, last], limit });
    for (const row of rows) {
      const read = named<SetRow>(sets, row);
      // What is wrong with the set itself has been told.
      const set = readSet(read, zone.name, { fault: () => undefined });
      const key = `${read.owner} ${read.type}`;
      const known = history.sets.get(key);
      if (set !== undefined && (known === undefined ? history.whole : known !== digestOf(set))) differs(key);
      history.sets.delete(key);
    }
    const end = rows.at(-1);
    if (end === undefined || rows.length < limit) return;
    after = keyOf(sets, end);
  }
}

const limit = 1_000;
/** Behind every name. */
const last = "\u{10ffff}";

const placeOf = ({ position, zone_name: zone }: ChangeRow): string => `change ${position}, zone ${zone}`;

/** The same for what says the same: the serial and time inside an SOA are told anew each time, and an absent mark is none. */
function digestOf(value: unknown): string {
  const same =
    isObject(value) && "records" in value ? comparable(value as unknown as RRset) : JSON.stringify(value, sortedKeys);
  return hash("sha256", same, "base64").slice(0, 16);
}

function comparable({ owner, type, ttl, records, labels = {}, locked = false }: RRset): string {
  const told = records.map(({ id, name, value, rdata, comment, created, modified }) =>
    type === "SOA"
      ? [id, name, rdata.replace(soaSerial, "$1 0 "), comment, created]
      : [id, name, value, rdata, comment, created, modified],
  );
  return JSON.stringify([owner, type, ttl, told, Object.entries(labels).toSorted(byName), locked]);
}

/** A damaged one may have too few fields. */
const soaSerial = /^(\S+ \S+) \d+ /;

const byName = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number => (a < b ? -1 : 1);

const sortedKeys = (_: string, value: unknown): unknown =>
  isObject(value) ? Object.fromEntries(Object.entries(value).toSorted(byName)) : value;
