import { nameToWire } from "../../../src/core/names/wire.ts";
import { parseRdata } from "../../../src/core/rdata/rdata.ts";
import { isRecordType } from "../../../src/core/rdata/table.ts";
import { type RRset, setKey } from "../../../src/core/records/rrset.ts";
import { type ServedSet, type ZoneContent, type ZoneView, zoneViewSteps } from "../../../src/core/records/zone-view.ts";
import { finish } from "../../../src/core/steps.ts";

/**
 * A zone for tests, from lines such as `www 300 A 192.0.2.1`; `-` for the zone's TTL. It gets an SOA if it has none.
 */
export function writtenZone(name: string, text: string, serial = 1): ZoneContent {
  const lines = text.includes(" SOA ") ? text : `@ 3600 SOA ns1 hostmaster ${serial} 7200 900 1209600 300\n${text}`;
  return { name, ttl: 600, serial, sets: writtenSets(name, lines) };
}

export const createZoneView = (zone: ZoneContent<ServedSet>): ZoneView => finish(zoneViewSteps(zone));

export function writtenSets(zoneName: string, text: string): readonly RRset[] {
  const sets = new Map<string, RRset>();
  const recordsOf = new Map<string, RRset["records"][number][]>();
  for (const line of text.split("\n")) {
    if (line.trim() === "") continue;
    const [owner = "", ttl = "", type = "", ...rest] = line.trim().split(/\s+/);
    if (!isRecordType(type)) throw new Error(`not a type: ${line}`);
    const read = parseRdata(type, rest.join(" "), zoneName);
    if (!read.ok) throw new Error(`${line}: ${read.faults[0]?.message}`);
    const rdata = read.value.text;
    const key = setKey(owner, type);
    const records = recordsOf.get(key) ?? [];
    recordsOf.set(key, records);
    records.push({ id: "", name: owner, value: rdata, rdata, comment: "", created: 0, modified: 0 });
    sets.set(key, { owner, type, ttl: ttl === "-" ? null : Number(ttl), records });
  }
  return [...sets.values()];
}

/** The value of a DNAME: moor knows that type only by its number. */
export function dnameData(target: string): string {
  const wire = Buffer.from(nameToWire(target));
  return `\\# ${wire.length} ${wire.toString("hex")}`;
}

/** The type and value of a DNAME, as a line for `writtenZone` ends. */
export const dnameTo = (target: string): string => `TYPE39 ${dnameData(target)}`;
