import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { startRealServer } from "../../test/nameserver/real-servers.ts";
import type { Table } from "../table.ts";
import { cpuTime, type DnsServer, inTurns, lostIn, median, medianOf, microseconds, ratioOf } from "./dnsperf.ts";
import { askAtPace } from "./load.ts";
import { startPowerDnsPeer } from "./powerdns.ts";
import { ms, partOf } from "./service.ts";
import { benchSigned } from "./signed.ts";
import { benchWorkers } from "./workers.ts";
import { benchZone, type Question, questions, writeQuestions } from "./zone.ts";

const load = { rounds: 5, seconds: 1 };
const ports = {
  bare: 5391,
  moor: 5392,
  main: 5397,
  batch: 5398,
  dgram: 5399,
  one: 5393,
  two: 5394,
  nsec: 5395,
  nsec3: 5396,
};

/** `only`: parts of the names of questions; then the tables without questions are left out. */
export async function benchDns(only: readonly string[] = []): Promise<readonly Table[]> {
  const folder = await mkdtemp(join(tmpdir(), "moor-bench-dns-"));
  const asked = questions.filter((each) => only.length === 0 || only.some((part) => each.includes(part)));
  const bare = await start("bare.ts", ports.bare);
  const moor = await start("moor.ts", ports.moor, 1);
  const main = await start("moor.ts", ports.main);
  const own = [
    { name: "moor", port: ports.moor, pid: moor.pid },
    { name: "moor, main thread", port: ports.main, pid: main.pid },
    { name: "bare Node", port: ports.bare, pid: bare.pid },
  ];
  const { peers, absent } = await startPeers();
  try {
    const rows: string[][] = [];
    for (const question of asked) rows.push(...(await measure(question, join(folder, "asked"), [...own, ...peers])));
    for (const name of absent) rows.push(["", `${name} is not installed`, "", "", "", "", "", ""]);
    const answering = {
      title: "DNS over UDP, one thread or worker of each server, a zone of 2,000 names",
      how: "npm run bench dns",
      heads: [
        "question",
        "server",
        "queries/s",
        "CPU per query",
        "moor's queries/s ÷ its",
        "its CPU ÷ moor's",
        "target",
        "unanswered",
      ],
      rows,
    };
    const signed = await signedZones(join(folder, "signed"), asked, own[0]);
    if (only.length > 0) return [answering, signed];
    return [answering, signed, await twoWorkers(join(folder, "found")), await fewQueries()];
  } finally {
    for (const child of [bare, moor, main]) child.kill();
    for (const { close } of peers) await close();
    await rm(folder, { recursive: true, force: true });
  }
}

async function signedZones(file: string, asked: readonly Question[], unsigned: DnsServer | undefined): Promise<Table> {
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
      asked,
    );
  } finally {
    for (const child of [nsec, nsec3]) child.kill();
  }
}

async function twoWorkers(file: string): Promise<Table> {
  await writeQuestions(file, "an existing name");
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

/** Few queries come: the batches are single datagrams then. And none at all. */
async function fewQueries(): Promise<Table> {
  const kinds = ["batch", "dgram"] as const;
  const children = await Promise.all(kinds.map((kind) => start("moor.ts", ports[kind], 1, "plain", kind)));
  const turns = kinds.map((): Awaited<ReturnType<typeof paced>>[] => []);
  try {
    for (let i = 0; i < pace.rounds; i++)
      for (const [j, kind] of kinds.entries()) turns[j]?.push(await paced(ports[kind], children[j]?.pid));
  } finally {
    for (const child of children) child.kill();
  }
  return {
    title: "2,000 queries per second, and none; one worker",
    how: "npm run bench dns",
    heads: [
      "sockets",
      "median",
      "99th percentile",
      "99.9th percentile",
      "CPU per query",
      "unanswered",
      "CPU while idle",
    ],
    rows: kinds.map((kind, j) => {
      const all = turns[j] ?? [];
      const times = [0.5, 0.99, 0.999].map((part) => ms(median(all.map(({ took }) => partOf(took, part)))));
      const cpu = microseconds(median(all.map((turn) => turn.cpu)));
      const lost = `${all.reduce((sum, { unanswered }) => sum + unanswered, 0)}`;
      return [kind, ...times, cpu, lost, `${(median(all.map((turn) => turn.idle)) / 1_000).toFixed(2)} ms per second`];
    }),
  };
}

/** In seconds. */
const pace = { rounds: 5, asked: 4, idle: 2 };

async function paced(port: number, pid: number | undefined) {
  const before = cpuTime(pid);
  const { took, unanswered } = await askAtPace(port, "h1.bench.example", pace.asked);
  const after = cpuTime(pid);
  await sleep(1_000 * pace.idle);
  return { took, unanswered, cpu: (after - before) / took.length, idle: (cpuTime(pid) - after) / pace.idle };
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

/** The first server is moor. */
async function measure(question: Question, file: string, servers: readonly DnsServer[]): Promise<string[][]> {
  await writeQuestions(file, question);
  const all = await inTurns(servers, file, load);
  const [moor = []] = all;
  return all.map((loads, i) => {
    const { name = "" } = servers[i] ?? {};
    const [bySpeed, byCpu] = [ratioOf(moor, loads, "perSecond"), ratioOf(loads, moor, "cpu")];
    const target = targets[name];
    return [
      question,
      name,
      medianOf(loads, "perSecond").toFixed(0),
      microseconds(medianOf(loads, "cpu")),
      bySpeed.toFixed(2),
      byCpu.toFixed(2),
      target === undefined ? "" : `${target}: ${Math.max(bySpeed, byCpu) >= target ? "met" : "not met"}`,
      lostIn(loads),
    ];
  });
}

/**
 * How many times as many queries moor answers. dnsperf takes as much processor time as moor, and so limits the queries
 * per second: the CPU time per query counts too. Bare Node took 10.4 µs where moor may take 4.5.
 */
const targets: Readonly<Record<string, number>> = {
  "bare Node": 2.3,
  Knot: 1.1,
  PowerDNS: 1.5,
  "PowerDNS without its caches": 1,
};

async function start(program: string, port: number, workers = 0, ...more: readonly string[]): Promise<ChildProcess> {
  const child = spawn(process.execPath, [join(import.meta.dirname, program), `${port}`, `${workers}`, ...more], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(child.stdout, "data");
  return child;
}
