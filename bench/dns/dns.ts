import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startRealServer } from "../../test/nameserver/real-servers.ts";
import type { Table } from "../table.ts";
import { type DnsLoad, type DnsServer, dnsperf, median, noLoad } from "./dnsperf.ts";
import { startPowerDnsPeer } from "./powerdns.ts";
import { benchSigned } from "./signed.ts";
import { benchWorkers } from "./workers.ts";
import { benchQuestions, benchZone } from "./zone.ts";

const seconds = 1;
const rounds = 9;
const peerRounds = 3;
const ports = { bare: 5391, moor: 5392, one: 5393, two: 5394, nsec: 5395, nsec3: 5396 };

/** Queries per second, each server in turn so that noise affects all; the ratio is the median of the turns. */
export async function benchDns(): Promise<readonly Table[]> {
  const folder = await mkdtemp(join(tmpdir(), "moor-bench-dns-"));
  const bare = await start("bare.ts", ports.bare);
  const moor = await start("moor.ts", ports.moor);
  const own = [
    { name: "bare Node", port: ports.bare, pid: bare.pid },
    { name: "moor", port: ports.moor, pid: moor.pid },
  ];
  const { peers, absent } = await startPeers();
  try {
    const rows: string[][] = [];
    for (const [what, questions] of Object.entries(benchQuestions)) {
      const file = join(folder, "questions");
      await writeFile(file, questions.join("\n"));
      rows.push(...(await measure(what, file, [...own, ...peers])));
    }
    for (const name of absent) rows.push(["", `${name} is not installed`, "", "", "", "", ""]);
    const answering = {
      title: "DNS over UDP, one thread, a zone of 2,000 names",
      how: "npm run bench dns",
      heads: ["question", "server", "queries/s", "ratio to bare Node", "target", "CPU per query", "unanswered"],
      rows,
    };
    return [answering, await signedZones(join(folder, "signed"), own[1]), await twoWorkers(join(folder, "found"))];
  } finally {
    for (const child of [bare, moor]) child.kill();
    for (const { close } of peers) await close();
    await rm(folder, { recursive: true, force: true });
  }
}

async function signedZones(file: string, unsigned: DnsServer | undefined): Promise<Table> {
  const nsec = await start("moor.ts", ports.nsec, 0, "nsec");
  const nsec3 = await start("moor.ts", ports.nsec3, 0, "nsec3");
  try {
    return await benchSigned(
      [
        { name: "unsigned", port: ports.moor, pid: unsigned?.pid },
        { name: "NSEC", port: ports.nsec, pid: nsec.pid },
        { name: "NSEC3", port: ports.nsec3, pid: nsec3.pid },
      ],
      file,
    );
  } finally {
    for (const child of [nsec, nsec3]) child.kill();
  }
}

async function twoWorkers(file: string): Promise<Table> {
  await writeFile(file, benchQuestions["an existing name"]?.join("\n") ?? "");
  const one = await start("moor.ts", ports.one, 1);
  const two = await start("moor.ts", ports.two, 2);
  try {
    return await benchWorkers(
      { name: "one worker", port: ports.one, pid: one.pid },
      { name: "two workers", port: ports.two, pid: two.pid },
      file,
    );
  } finally {
    for (const child of [one, two]) child.kill();
  }
}

type Peer = DnsServer & { readonly close: () => Promise<void> };

const peerStarts: Readonly<Record<string, () => Promise<Peer>>> = {
  BIND: () => startRealServer("BIND", [benchZone]),
  Knot: () => startRealServer("Knot", [benchZone]),
  NSD: () => startRealServer("NSD", [benchZone]),
  PowerDNS: () => startPowerDnsPeer(benchZone, true),
  "PowerDNS without its caches": () => startPowerDnsPeer(benchZone, false),
};

/** The installed servers; the others are listed as missing. */
async function startPeers(): Promise<{ readonly peers: readonly Peer[]; readonly absent: readonly string[] }> {
  const names = Object.keys(peerStarts);
  const started = await Promise.allSettled(Object.values(peerStarts).map((each) => each()));
  return {
    peers: started.flatMap((each) => (each.status === "fulfilled" ? [each.value] : [])),
    absent: names.filter((_, i) => started[i]?.status === "rejected"),
  };
}

async function measure(what: string, file: string, servers: readonly DnsServer[]): Promise<string[][]> {
  for (const server of servers.slice(0, 2)) await dnsperf(server, file, { seconds: 1 });
  const turns: DnsLoad[][] = [];
  for (let i = 0; i < rounds; i++) {
    const turn: DnsLoad[] = [];
    for (const server of servers) {
      if (turn.length < 2 || i < peerRounds) turn.push(await dnsperf(server, file, { seconds }));
    }
    turns.push(turn);
  }
  return servers.map(({ name }, i) => {
    const measured = turns.filter((turn) => turn[i] !== undefined);
    const loads = measured.map((turn) => turn[i] ?? noLoad);
    const ratio = median(measured.map((turn) => (turn[i] ?? noLoad).perSecond / (turn[0] ?? noLoad).perSecond));
    const cpu = median(loads.map((load) => load.cpu));
    return [
      what,
      name,
      median(loads.map((load) => load.perSecond)).toFixed(0),
      ratio.toFixed(2),
      targets[name] ?? "",
      Number.isNaN(cpu) ? "" : `${cpu.toFixed(1)} µs`,
      `${loads.reduce((sum, load) => sum + load.lost, 0)}`,
    ];
  });
}

const targets: Readonly<Record<string, string>> = { moor: "0.80", "PowerDNS without its caches": "below moor" };

async function start(program: string, port: number, workers = 0, ...more: readonly string[]): Promise<ChildProcess> {
  const child = spawn(process.execPath, [join(import.meta.dirname, program), `${port}`, `${workers}`, ...more], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(child.stdout, "data");
  return child;
}
