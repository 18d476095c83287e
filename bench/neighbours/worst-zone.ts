import { LoadedZones } from "../../src/nameserver/answer/loaded-zones.ts";
import { createResponder } from "../../src/nameserver/answer/respond.ts";
import { attacks, type HostileZone, hostileZone, packetOf } from "../../test/nameserver/hostile-zones.ts";
import { randomName, randomZone } from "../../test/nameserver/random-zone.ts";
import { zonesInMemory } from "../../test/nameserver/zones-in-memory.ts";
import { createRandom, pick } from "../../test/rig/random.ts";
import { median } from "../dns/dnsperf.ts";
import type { Table } from "../table.ts";

/** Zones that the search makes; each is queried this often. */
const zones = 60;
const queries = 1_500;
const worstShown = 5;

/**
 * CPU per query without the sockets: for ordinary zones, for each known attack, and for the worst of many random
 * hostile zones. Target: none above ten times the median of ordinary zones.
 */
export async function benchWorstZone(): Promise<Table> {
  // Once more than counted, until the code is compiled.
  for (let seed = 1; seed <= zones; seed++) await cpuOf(ordinaryZone(seed), seed);
  const ordinary: number[] = [];
  for (let seed = 1; seed <= zones; seed++) ordinary.push(await cpuOf(ordinaryZone(seed), seed));
  const usual = median(ordinary);
  const rows = [
    ["ordinary zones, median", ...shown(usual)],
    ["ordinary zones, worst", ...shown(Math.max(...ordinary))],
  ];
  for (const [what, make] of Object.entries(attacks)) rows.push([what, ...shown(await cpuOf(make(), 1))]);
  const found: { readonly seed: number; readonly cpu: number }[] = [];
  for (let seed = 1; seed <= zones; seed++)
    found.push({ seed, cpu: await cpuOf(hostileZone(createRandom(seed)), seed) });
  found.sort((a, b) => b.cpu - a.cpu);
  for (const { seed, cpu } of found.slice(0, worstShown)) rows.push([`random hostile zone ${seed}`, ...shown(cpu)]);
  return {
    title: `CPU per DNS query of hostile zones, sockets excluded; the worst ${worstShown} of ${zones} random ones; target: at most 10 times the median`,
    how: "npm run bench neighbours",
    heads: ["zone", "CPU per query", "times the median"],
    rows,
  };

  function shown(cpu: number): readonly [string, string] {
    return [`${cpu.toFixed(1)} µs`, (cpu / usual).toFixed(1)];
  }
}

function ordinaryZone(seed: number): HostileZone {
  const zone = randomZone(createRandom(seed), "hostile.example", 200);
  const transport = "udp";
  const ask: HostileZone["ask"] = (random) => ({
    name: randomName(random, zone),
    type: pick(random, [1, 15, 16, 28, random(300)]),
    ...{ dnssecOk: random(2) === 0, transport },
  });
  return { zone, ask };
}

async function cpuOf({ zone, ask }: HostileZone, seed: number): Promise<number> {
  const source = zonesInMemory(zone);
  const loaded = new LoadedZones(source);
  await loaded.readNames();
  const failures: unknown[] = [];
  // Few answers are kept, so that most have to be made.
  const respond = createResponder({ zones: loaded, onTrouble: (error) => failures.push(error), cacheSize: 10 });
  const random = createRandom(seed);
  const packets = Array.from({ length: 2 * queries }, () => {
    const question = ask(random);
    return { bytes: packetOf(question), transport: question.transport };
  });
  for (const { bytes, transport } of packets.slice(0, queries)) await respond(bytes, transport);
  const start = process.cpuUsage();
  for (const { bytes, transport } of packets.slice(queries)) void respond(bytes, transport);
  const { user, system } = process.cpuUsage(start);
  if (failures.length > 0) throw new Error("a query failed", { cause: failures[0] });
  return (user + system) / queries;
}
