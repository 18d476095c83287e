import { parseRdata } from "../../src/core/rdata/rdata.ts";
import { isRecordType, type RecordType } from "../../src/core/rdata/table.ts";
import { dname } from "../../src/core/records/dname.ts";
import type { RRset, ZoneRecord } from "../../src/core/records/rrset.ts";
import type { ZoneContent } from "../../src/core/records/zone-view.ts";
import { dnameData } from "../rig/core/written-sets.suite.ts";
import { pick, type Random } from "../rig/random.ts";

/** Values of every type that ordinary names can have; `%` is a host, inside the zone or not. */
export const samples: Readonly<Record<string, readonly string[]>> = {
  A: ["192.0.2.1", "192.0.2.2", "198.51.100.7"],
  AAAA: ["2001:db8::1", "2001:db8:1::2"],
  CAA: ['0 issue "ca.example.net"', '128 iodef "mailto:a@b.example"'],
  DS: [`12345 13 2 ${"ab".repeat(32)}`],
  HINFO: ['"PC" "a system"'],
  HTTPS: ["1 . alpn=h2", "0 %"],
  MX: ["10 %", "20 %", "0 ."],
  PTR: ["%"],
  RP: ["% %"],
  SRV: ["0 5 5060 %", "1 0 1 ."],
  SVCB: ["1 % port=8443"],
  TLSA: [`3 1 1 ${"cd".repeat(32)}`],
  TXT: ['"one" "two"', '"\\000\\255;"', '"v=spf1 -all"'],
  TYPE65280: ["\\# 4 01020304"],
};

export const sampleTypes: readonly RecordType[] = Object.keys(samples).filter(isRecordType);

/** The first is in no zone; the others may be in zones of the same server. */
const outside = ["away.elsewhere.example.", "a.z1.example.", "b.z0.example."];

const labels = ["a", "b", "c", "d", "www", "_tcp", "x-y"];

/**
 * Owners of up to four labels with wildcards among them, aliases, delegations with and without glue, moved names, and
 * every type.
 */
export function randomZone(random: Random, name: string, owners: number): ZoneContent {
  const taken = new Map<string, Map<string, RRset>>();
  const add = (owner: string, type: RecordType, text: string, ttl: number | null = null) => {
    const sets = taken.get(owner) ?? new Map<string, RRset>();
    const read = parseRdata(type, text, name);
    if (!read.ok) throw new Error(`${type} ${text}: ${read.faults[0]?.message}`);
    const before = sets.get(type);
    const rdata = read.value.text;
    if (before?.records.some((record) => record.rdata === rdata)) return;
    const record: ZoneRecord = { id: "", name: owner, value: rdata, rdata, comment: "", created: 0, modified: 0 };
    sets.set(type, { owner, type, ttl: before?.ttl ?? ttl, records: [...(before?.records ?? []), record] });
    taken.set(owner, sets);
  };

  const movedNames: string[] = [];
  add("@", "SOA", `ns1 hostmaster 1 7200 900 1209600 ${pick(random, [60, 300, 86_400])}`, pick(random, [300, 3_600]));
  add("@", "NS", "ns1");
  add("@", "NS", "ns.elsewhere.example.");
  add("ns1", "A", "192.0.2.53");
  add("@", "MX", "10 a");

  const places = Array.from({ length: owners }, () => randomOwner(random));
  const host = () => (random(4) === 0 ? "host.elsewhere.example." : pick(random, places).replace(/^\*\./, ""));
  for (const owner of places) {
    if (owner === "ns1" || taken.get(owner)?.has("CNAME")) continue;
    switch (random(8)) {
      case 0:
        if (!taken.has(owner)) add(owner, "CNAME", random(6) === 0 ? pick(random, outside) : host());
        break;
      case 1:
        if (!owner.includes("*")) delegate(owner);
        break;
      default:
        for (let i = random(3); i >= 0; i--) addSample(owner, pick(random, sampleTypes));
    }
  }
  for (let i = 0; i < 3; i++) move(randomOwner(random), host());
  return { name, ttl: 600, serial: 1, sets: [...taken.values()].flatMap((sets) => [...sets.values()]) };

  /**
   * Adds a DNAME where NSD and Knot accept one: with nothing below it, and no alias or cut at the same name. Its target
   * is not below a DNAME.
   */
  function move(owner: string, target: string): void {
    const isFree = ["CNAME", "NS", dname].every((type) => !taken.get(owner)?.has(type));
    const isAbove = [...taken.keys()].some((other) => other.endsWith(`.${owner}`));
    const isMoved = [owner, ...movedNames].some((other) => target === other || target.endsWith(`.${other}`));
    if (owner.includes("*") || !isFree || isAbove || isMoved) return;
    movedNames.push(owner);
    const absolute = target.endsWith(".") ? target.slice(0, -1) : `${target}.${name}`;
    add(owner, dname, dnameData(absolute), 900);
  }

  function addSample(owner: string, type: RecordType): void {
    // A DS set belongs at a cut; elsewhere, servers differ.
    if (type === ("DS" as RecordType)) return;
    const text = pick(random, samples[type] ?? []).replaceAll("%", host);
    add(owner, type, text, pick(random, [null, 60, 7_200]));
  }

  function delegate(owner: string): void {
    const target = pick(random, [`ns.${owner}`, `ns.deep.${owner}`, "ns1", "ns.elsewhere.example."]);
    add(owner, "NS", target);
    if (target.startsWith("ns.") && !target.endsWith(".")) {
      if (!taken.get(target)?.has("CNAME")) add(target, "A", "192.0.2.99");
      if (random(2) === 0 && !taken.get(target)?.has("CNAME")) add(target, "AAAA", "2001:db8::99");
    }
    if (random(2) === 0 && isRecordType("DS")) add(owner, "DS", samples.DS?.[0] ?? "");
  }
}

function randomOwner(random: Random): string {
  const own = Array.from({ length: 1 + random(4) }, () => pick(random, labels));
  if (random(6) === 0) own[0] = "*";
  if (random(40) === 0) own[own.length - 1] = "*";
  return own.join(".");
}

/** Existing names, and names above, below or next to existing ones. */
export function randomName(random: Random, zone: ZoneContent): string {
  const { owner } = pick(random, zone.sets);
  const own = owner === "@" ? [] : owner.split(".");
  switch (random(6)) {
    case 0:
      own.shift();
      break;
    case 1:
      own.unshift(pick(random, [...labels, "*", "new"]));
      break;
    case 2:
      own.unshift(pick(random, [...labels, "new"]), pick(random, labels));
      break;
    case 3:
      own[0] = pick(random, [...labels, "new"]);
      break;
  }
  return [...own, zone.name].join(".");
}

/** As a zone file, every name in full. */
export function zoneFile(zone: ZoneContent): string {
  const line = (set: RRset, record: ZoneRecord) => {
    const owner = set.owner === "@" ? `${zone.name}.` : `${set.owner}.${zone.name}.`;
    return `${owner} ${set.ttl ?? zone.ttl} IN ${set.type} ${record.rdata}\n`;
  };
  return zone.sets.flatMap((set) => set.records.map((record) => line(set, record))).join("");
}
