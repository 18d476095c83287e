import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startRealServer } from "../../test/nameserver/real-servers.ts";
import { usageOf } from "../process-usage.ts";
import type { Table } from "../table.ts";
import { type DnsLoad, type DnsServer, dnsperf, median, noLoad } from "./dnsperf.ts";
import { askAtPace } from "./load.ts";
import { startPowerDnsPeer } from "./powerdns.ts";
import { ms, partOf } from "./service.ts";
import { benchSigned } from "./signed.ts";
import { benchWorkers } from "./workers.ts";
import { benchQuestions, benchZone } from "./zone.ts";

const seconds = 1;
const rounds = 5;
const ports = { bare: 5391, moor: 5392, main: 5397, dgram: 5398, one: 5393, two: 5394, nsec: 5395, nsec3: 5396 };

/** Queries per second, each server in turn so that noise affects all; the ratio is the median of the turns. */
export async function benchDns(): Promise<readonly Table[]> {
  const folder = await mkdtemp(join(tmpdir(), "moor-bench-dns-"));
  const bare = await start("bare.ts", ports.bare);
  const moor = await start("moor.ts", ports.moor, 1);
  const main = await start("moor.ts", ports.main);
  const own = [
    { name: "bare Node", port: ports.bare, pid: bare.pid },
    { name: "moor", port: ports.moor, pid: moor.pid },
    { name: "moor, main thread", port: ports.main, pid: main.pid },
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
      title: "DNS over UDP, one thread or worker of each server, a zone of 2,000 names",
      how: "npm run bench dns",
      heads: ["question", "server", "queries/s", "ratio to bare Node", "target", "CPU per query", "unanswered"],
      rows,
    };
    return [
      answering,
      await signedZones(join(folder, "signed"), own[1]),
      await twoWorkers(join(folder, "found")),
      await fewQueries(),
    ];
  } finally {
    for (const child of [bare, moor, main]) child.kill();
    for (const { close } of peers) await close();
    await rm(folder, { recursive: true, force: true });
  }
}

async function signedZones(file: string, unsigned: DnsServer | undefined): Promise<Table> {
  const nsec = await start("moor.ts", ports.nsec, 1, "nsec");
  const nsec3 = await start("moor.ts", ports.nsec3, 1, "nsec3");
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

/** What a query takes when only few come: the batches are single datagrams then. */
async function fewQueries(): Promise<Table> {
  const rows: string[][] = [];
  for (const sockets of ["batch", "dgram"]) {
    const child = await start("moor.ts", ports.dgram, 1, "plain", sockets);
    try {
      await askAtPace(ports.dgram, "h1.bench.example", 4);
      const before = usageOf(child.pid ?? 0).cpu;
      const { took, unanswered } = await askAtPace(ports.dgram, "h1.bench.example", 8);
      const cpu = (1e6 * (usageOf(child.pid ?? 0).cpu - before)) / took.length;
      const times = [0.5, 0.99, 0.999].map((part) => ms(partOf(took, part)));
      rows.push([sockets, ...times, `${cpu.toFixed(1)} µs`, `${unanswered}`]);
    } finally {
      child.kill();
    }
  }
  return {
    title: "2,000 queries per second, one worker",
    how: "npm run bench dns",
    heads: ["sockets", "median", "99th percentile", "99.9th percentile", "CPU per query", "unanswered"],
    rows,
  };
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
  // In the first seconds with a new kind of question, V8 still compiles what it needs.
  for (const server of servers.slice(0, 3)) await dnsperf(server, file, { seconds: 2 });
  const turns: DnsLoad[][] = [];
  for (let i = 0; i < rounds; i++) {
    const turn: DnsLoad[] = [];
    for (const server of servers) turn.push(await dnsperf(server, file, { seconds }));
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

const targets: Readonly<Record<string, string>> = {
  moor: "1.5 × PowerDNS, 1.1 × Knot, 4.5 µs",
  "moor, main thread": "0.80",
  "PowerDNS without its caches": "below moor",
};

async function start(program: string, port: number, workers = 0, ...more: readonly string[]): Promise<ChildProcess> {
  const child = spawn(process.execPath, [join(import.meta.dirname, program), `${port}`, `${workers}`, ...more], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(child.stdout, "data");
  return child;
}
