import { isObject } from "../../../core/is-object.ts";
import { apex } from "../../../core/names/name.ts";
import { parseRdata } from "../../../core/rdata/rdata.ts";
import { isRecordType } from "../../../core/rdata/table.ts";
import { checkOwners } from "../../../core/records/check-zone.ts";
import type { RRset, ZoneRecord } from "../../../core/records/rrset.ts";
import type { SetRow, ZoneRow } from "../../store/rows.ts";
import { eachPart, storeTables, type Tables } from "../tables/table.ts";
import { createIndexCheck } from "./ids.ts";
import { compareRest, compareSet, compareZone, histories, type ZoneHistory } from "./log.ts";
import { checkSigned } from "./signed.ts";
import { named, parsed, type Step } from "./step.ts";

/**
 * For every zone, replays its log, then reads its sets and compares them with the result. Returns the number of
 * records.
 */
export async function checkZones(tables: Tables, step: Step): Promise<number> {
  const index = createIndexCheck(tables, step);
  for await (const rows of eachPart(tables, storeTables.zones)) {
    for (const zone of rows.map((row) => named<ZoneRow>(storeTables.zones, row))) {
      const history = await checkZone(tables, zone, index.add, step);
      await checkSigned(tables, zone, history?.unsigned, step);
    }
    step.read(0);
  }
  const gone = "zone NOT IN (SELECT number FROM zones)";
  for await (const history of histories(tables, gone, step)) compareRest(history, `zone ${history.zone}`, step);
  return await index.end();
}

async function checkZone(
  tables: Tables,
  zone: ZoneRow,
  indexed: (zone: number, set: RRset) => Promise<void>,
  step: Step,
): Promise<ZoneHistory | undefined> {
  const where = `zone ${zone.name}`;
  const its = `zone = ${zone.number}`;
  const { value: history } = await histories(tables, its, step).next();
  if (history) compareZone(history, zone, step);
  let owner: RRset[] = [];
  let [records, hasSoa] = [0, false];
  for await (const rows of eachPart(tables, storeTables.sets, { where: its })) {
    for (const row of rows.map((each) => named<SetRow>(storeTables.sets, each))) {
      const set = readSet(row, zone.name, step);
      if (history) compareSet(history, row, set, where, step);
      if (set === undefined) continue;
      await indexed(zone.number, set);
      records += set.records.length;
      hasSoa ||= set.owner === apex && set.type === "SOA";
      // Sets of one owner follow one another.
      if (owner[0]?.owner !== set.owner) {
        checkOwner(owner, where, step);
        owner = [];
      }
      owner.push(set);
    }
    step.read(rows.length);
  }
  checkOwner(owner, where, step);
  if (history) compareRest(history, where, step);
  if (!hasSoa) step.fault("soa-missing", where, "it has no SOA record");
  if (zone.record_count !== records)
    step.fault("count-wrong", where, `its stored number of records is ${zone.record_count}, but it has ${records}`);
  return history;
}

function checkOwner(sets: readonly RRset[], where: string, step: Step): void {
  if (sets.length === 0) return;
  for (const { code, where: at, message, todo } of checkOwners(sets))
    step.fault(code, `${where}, ${at}`, message, `${todo}; this can be done through an API`);
}

/** Reads a row and reports every fault in it. Undefined if it cannot be read. */
function readSet(row: SetRow, zoneName: string, step: Pick<Step, "fault">): RRset | undefined {
  const { owner, type, ttl } = row;
  const where = `zone ${zoneName}, ${owner} ${type}`;
  const [marks, records] = [row.marks === null ? {} : parsed(row.marks), parsed(row.records)];
  const isReadable = Array.isArray(records) && records.every(isRecord) && isObject(marks);
  if (!isRecordType(type) || !isReadable) {
    step.fault("row-unreadable", where, "its row is not valid");
    return undefined;
  }
  for (const { rdata } of records) {
    const read = parseRdata(type, rdata, zoneName);
    if (read.ok && read.value.text === rdata) continue;
    const because = read.ok ? "not in canonical form" : `not valid: ${read.faults[0]?.message}`;
    step.fault("value-unreadable", where, `its value ${rdata.slice(0, 60)} is ${because}`, writeAgain);
  }
  return { owner, type, ttl, records, ...marks };
}

const writeAgain = "write the set again through an API, or restore a backup";

const isRecord = (value: unknown): value is ZoneRecord =>
  isObject(value) &&
  ["id", "name", "value", "rdata", "comment"].every((key) => typeof value[key] === "string") &&
  ["created", "modified"].every((key) => typeof value[key] === "number");
