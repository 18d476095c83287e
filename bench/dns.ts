import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { type ServerName, startRealServer } from "../test/nameserver/real-servers.ts";
import { benchQuestions, benchZone } from "./dns-zone.ts";
import type { Table } from "./run.ts";

const run = promisify(execFile);
const seconds = 1;
const rounds = 9;
const peerRounds = 3;
const ports = { bare: 5391, moor: 5392 };

/** Queries a second, each server in turn so that a noisy machine is noisy for all; the ratio is the median of the turns. */
export async function benchDns(): Promise<readonly Table[]> {
  const folder = await mkdtemp(join(tmpdir(), "moor-bench-dns-"));
  const bare = await start("dns-bare.ts", ports.bare);
  const moor = await start("dns-moor.ts", ports.moor);
  const own = [
    { name: "bare Node", port: ports.bare, pid: bare.pid },
    { name: "moor", port: ports.moor, pid: moor.pid },
  ];
  const peers = await startPeers();
  try {
    const rows: string[][] = [];
    for (const [what, questions] of Object.entries(benchQuestions)) {
      const file = join(folder, "questions");
      await writeFile(file, questions.join("\n"));
      rows.push(...(await measure(what, file, [...own, ...peers])));
    }
    return [
      {
        title: "DNS over UDP, one thread, a zone of 2,000 names",
        how: "npm run bench dns",
        heads: ["question", "server", "queries/s", "ratio to bare Node", "target", "CPU a query", "unanswered"],
        rows,
      },
    ];
  } finally {
    for (const child of [bare, moor]) child.kill();
    for (const { close } of peers) await close();
    await rm(folder, { recursive: true, force: true });
  }
}

type Server = { readonly name: string; readonly port: number; readonly pid?: number | undefined };
type Peer = Server & { readonly close: () => Promise<void> };

/** Those that are installed. */
async function startPeers(): Promise<readonly Peer[]> {
  const names: readonly ServerName[] = ["BIND", "Knot", "NSD"];
  const started = await Promise.allSettled(names.map((name) => startRealServer(name, [benchZone])));
  return started.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
}

async function measure(what: string, file: string, servers: readonly Server[]): Promise<string[][]> {
  for (const server of servers.slice(0, 2)) await dnsperf(server, file, 1);
  const turns: Load[][] = [];
  for (let i = 0; i < rounds; i++) {
    const turn: Load[] = [];
    for (const server of servers) {
      if (turn.length < 2 || i < peerRounds) turn.push(await dnsperf(server, file, seconds));
    }
    turns.push(turn);
  }
  return servers.map(({ name }, i) => {
    const measured = turns.filter((turn) => turn[i] !== undefined);
    const loads = measured.map((turn) => turn[i] ?? nothing);
    const ratio = median(measured.map((turn) => (turn[i] ?? nothing).perSecond / (turn[0] ?? nothing).perSecond));
    const cpu = median(loads.map((load) => load.cpu));
    return [
      what,
      name,
      median(loads.map((load) => load.perSecond)).toFixed(0),
      ratio.toFixed(2),
      name === "moor" ? "0.80" : "",
      Number.isNaN(cpu) ? "" : `${cpu.toFixed(1)} µs`,
      `${loads.reduce((sum, load) => sum + load.lost, 0)}`,
    ];
  });
}

/** `cpu` is what the server itself spent on a query, in microseconds: other programs on the machine count less in it. */
type Load = { readonly perSecond: number; readonly lost: number; readonly cpu: number };
const nothing: Load = { perSecond: Number.NaN, lost: 0, cpu: Number.NaN };

/** Four clients with fifty queries on the way each. */
async function dnsperf({ port, pid }: Server, file: string, length: number): Promise<Load> {
  const args = ["-s", "127.0.0.1", "-p", `${port}`, "-d", file, "-l", `${length}`, "-c", "4", "-q", "200", "-t", "1"];
  const before = cpuTime(pid);
  const { stdout } = await run("dnsperf", args);
  const spent = cpuTime(pid) - before;
  const figure = (label: string) => Number(new RegExp(`${label}:\\s+([\\d.]+)`).exec(stdout)?.[1] ?? Number.NaN);
  const perSecond = figure("Queries per second");
  if (Number.isNaN(perSecond)) throw new Error(`dnsperf printed no result:\n${stdout}`);
  return { perSecond, lost: figure("Queries lost"), cpu: spent / figure("Queries completed") };
}

/** Microseconds of user and system time so far (proc(5), fields 14 and 15, in hundredths of a second). */
function cpuTime(pid: number | undefined): number {
  if (pid === undefined) return Number.NaN;
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10_000;
}

async function start(program: string, port: number): Promise<ChildProcess> {
  const child = spawn(process.execPath, [join(import.meta.dirname, program), `${port}`], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(child.stdout, "data");
  return child;
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
