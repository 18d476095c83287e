import { isObject } from "../../../core/is-object.ts";
import { apex, parseZoneName } from "../../../core/names/name.ts";
import { checkOwners } from "../../../core/records/check-zone.ts";
import { type RRset, setKey } from "../../../core/records/rrset.ts";
import type { SetRow, ZoneRow } from "../../store/rows.ts";
import { eachPart, placeIn, storeTables, type Table, type Tables, type Value, zoneCounts } from "../tables/table.ts";
import { checkIndexed, checkUnheld } from "./ids.ts";
import { readSet } from "./set.ts";
import { type Accounts, checkAccount, named, parsed, restoreIt, type Step } from "./step.ts";

type Counts = { readonly zones: number; readonly records: number };
type Walk = { readonly zone: ZoneRow; owner: readonly RRset[]; records: number; hasSoa: boolean };
type Sets = readonly (readonly [SetRow & { readonly zone: number }, RRset | undefined])[];

/** Zones and their sets, both in the order of zones' numbers, side by side. */
export async function checkZones(tables: Tables, accounts: Accounts, step: Step): Promise<Counts> {
  const ofAccount = new Map<number, number>();
  const zones = eachZone(tables, accounts, step);
  let open: Walk | undefined;
  let [zoneCount, records] = [0, 0];
  const next = async (): Promise<Walk | undefined> => {
    if (open !== undefined) closeZone(open, step);
    const { value, done } = await zones.next();
    if (done) return undefined;
    zoneCount += 1;
    ofAccount.set(value.account, (ofAccount.get(value.account) ?? 0) + 1);
    return { zone: value, owner: [], records: 0, hasSoa: false };
  };
  open = await next();
  for await (const rows of eachPart(tables, storeTables.sets)) {
    const sets: Sets[number][] = [];
    for (const row of rows.map((each) => named<SetRow & { zone: number }>(storeTables.sets, each))) {
      while (open !== undefined && open.zone.number < row.zone) open = await next();
      const zone: ZoneRow | undefined = open?.zone.number === row.zone ? open.zone : undefined;
      if (zone === undefined) step.fault(zoneMissing(row));
      const set = readSet(row, zone?.name ?? "zone.invalid", step);
      sets.push([row, set]);
      records += set?.records.length ?? 0;
      if (open !== undefined && zone !== undefined && set !== undefined) addSet(open, set, step);
    }
    await checkIndexed(tables, sets, step);
    step.read(rows.length);
  }
  while (open !== undefined) open = await next();
  await checkUnheld(tables, records, step);
  await checkZonesOf(tables, storeTables.secondaryState, (zone) => `state of the secondary zone ${zone}`, step);
  await checkZonesOf(tables, storeTables.grants, (zone) => `grant of the zone ${zone}`, step);
  await checkZoneCounts(tables, ofAccount, step);
  return { zones: zoneCount, records };
}

async function* eachZone(tables: Tables, accounts: Accounts, step: Step): AsyncGenerator<ZoneRow> {
  for await (const rows of eachPart(tables, storeTables.zones)) {
    for (const row of rows) {
      const zone = named<ZoneRow>(storeTables.zones, row);
      checkZoneRow(zone, accounts, step);
      yield zone;
    }
    step.read(rows.length);
  }
}

function checkZoneRow(zone: ZoneRow, accounts: Accounts, step: Step): void {
  const where = `zone ${zone.name}`;
  checkAccount(accounts, zone.account, where, step);
  const name = parseZoneName(zone.name);
  if (!name.ok || name.value !== zone.name)
    step.fault({
      code: "name-not-canonical",
      where,
      message: "its name is not written as moor writes it",
      todo: restoreIt,
    });
  if (!(Number.isInteger(zone.serial) && zone.serial >= 0 && zone.serial < 2 ** 32))
    step.fault({ code: "bad-serial", where, message: `its serial ${zone.serial} is none`, todo: restoreIt });
  const settings = parsed(zone.settings);
  const readable =
    isObject(settings) && Number.isInteger(settings.ttl) && ["primary", "secondary"].includes(String(settings.mode));
  if (!readable)
    step.fault({ code: "settings-unreadable", where, message: "its settings cannot be read", todo: restoreIt });
}

/** Sets of one owner come together, so they are looked at together as soon as the next owner comes. */
function addSet(walk: Walk, set: RRset, step: Step): void {
  if (walk.owner[0]?.owner !== set.owner) {
    closeOwner(walk, step);
    walk.owner = [];
  }
  walk.owner = [...walk.owner, set];
  walk.records += set.records.length;
  walk.hasSoa ||= set.owner === apex && set.type === "SOA";
}

function closeOwner({ zone, owner }: Walk, step: Step): void {
  if (owner.length === 0) return;
  for (const fault of checkOwners(owner))
    step.fault({ ...fault, where: `zone ${zone.name}, ${fault.where}`, todo: `${fault.todo}; the API takes it` });
}

function closeZone(walk: Walk, step: Step): void {
  const { zone, records, hasSoa } = walk;
  const where = `zone ${zone.name}`;
  closeOwner(walk, step);
  if (!hasSoa) step.fault({ code: "soa-missing", where, message: "it has no SOA record", todo: restoreIt });
  if (zone.record_count !== records)
    step.fault({
      code: "count-wrong",
      where,
      message: `it is said to have ${zone.record_count} records, and has ${records}`,
      todo: restoreIt,
    });
}

/** That the zones are there which the rows of a table name; one may name none. */
async function checkZonesOf(tables: Tables, table: Table, whereOf: (zone: Value) => string, step: Step): Promise<void> {
  const place = placeIn(table, "zone");
  for await (const rows of eachPart(tables, table)) {
    const keys = rows.map((row) => [row[place] ?? null]).filter(([zone]) => zone !== null);
    const there = new Set((await tables.find(storeTables.zones, keys)).map((row) => row[0]));
    for (const [zone] of keys)
      if (!there.has(zone ?? null))
        step.fault({
          code: "zone-missing",
          where: whereOf(zone ?? null),
          message: "there is no such zone",
          todo: restoreIt,
        });
    step.read(rows.length);
  }
}

async function checkZoneCounts(tables: Tables, counted: Map<number, number>, step: Step): Promise<void> {
  const wrong = (account: unknown, said: unknown, zones: number) =>
    step.fault({
      code: "zones-miscounted",
      where: `account ${String(account)}`,
      message: `it is said to have ${String(said)} zones, and has ${zones}`,
      todo: "copy the store, which counts them anew: moor store copy FROM TO",
    });
  for await (const rows of eachPart(tables, zoneCounts)) {
    for (const [account, said] of rows) {
      const zones = counted.get(Number(account)) ?? 0;
      counted.delete(Number(account));
      if (said !== zones) wrong(account, said, zones);
    }
  }
  for (const [account, zones] of counted) wrong(account, 0, zones);
}

const zoneMissing = ({ zone, owner, type }: SetRow & { readonly zone: number }) => ({
  code: "zone-missing",
  where: `set ${setKey(owner, type as RRset["type"])} of zone ${zone}`,
  message: "there is no such zone",
  todo: restoreIt,
});
