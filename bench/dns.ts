import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
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
  const children = [await start("dns-bare.ts", ports.bare), await start("dns-moor.ts", ports.moor)];
  const peers = await startPeers();
  try {
    const rows: string[][] = [];
    for (const [what, questions] of Object.entries(benchQuestions)) {
      const file = join(folder, "questions");
      await writeFile(file, questions.join("\n"));
      rows.push(...(await measure(what, file, peers)));
    }
    return [
      {
        title: "DNS over UDP, one thread, a zone of 2,000 names",
        how: "npm run bench dns",
        heads: ["question", "server", "queries/s", "ratio to bare Node", "target", "unanswered"],
        rows,
      },
    ];
  } finally {
    for (const child of children) child.kill();
    for (const { close } of peers) await close();
    await rm(folder, { recursive: true, force: true });
  }
}

type Peer = { readonly name: string; readonly port: number; readonly close: () => Promise<void> };

/** Those that are installed. */
async function startPeers(): Promise<readonly Peer[]> {
  const names: readonly ServerName[] = ["BIND", "Knot", "NSD"];
  const started = await Promise.allSettled(names.map((name) => startRealServer(name, [benchZone])));
  return started.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
}

async function measure(what: string, file: string, peers: readonly Peer[]): Promise<string[][]> {
  const servers = [{ name: "bare Node", port: ports.bare }, { name: "moor", port: ports.moor }, ...peers];
  await dnsperf(ports.bare, file, 1);
  await dnsperf(ports.moor, file, 1);
  const turns: Load[][] = [];
  for (let i = 0; i < rounds; i++) {
    const turn: Load[] = [];
    for (const { port } of servers)
      if (turn.length < 2 || i < peerRounds) turn.push(await dnsperf(port, file, seconds));
    turns.push(turn);
  }
  return servers.map(({ name }, i) => {
    const measured = turns.filter((turn) => turn[i] !== undefined);
    const loads = measured.map((turn) => turn[i] ?? nothing);
    const ratio = median(measured.map((turn) => (turn[i] ?? nothing).perSecond / (turn[0] ?? nothing).perSecond));
    const lost = loads.reduce((sum, load) => sum + load.lost, 0);
    const target = name === "moor" ? "0.80" : "";
    return [what, name, median(loads.map((load) => load.perSecond)).toFixed(0), ratio.toFixed(2), target, `${lost}`];
  });
}

type Load = { readonly perSecond: number; readonly lost: number };
const nothing: Load = { perSecond: Number.NaN, lost: 0 };

/** Four clients with fifty queries on the way each. */
async function dnsperf(port: number, file: string, length: number): Promise<Load> {
  const args = ["-s", "127.0.0.1", "-p", `${port}`, "-d", file, "-l", `${length}`, "-c", "4", "-q", "200", "-t", "1"];
  const { stdout } = await run("dnsperf", args);
  const perSecond = /Queries per second:\s+([\d.]+)/.exec(stdout)?.[1];
  const lost = /Queries lost:\s+(\d+)/.exec(stdout)?.[1];
  if (perSecond === undefined || lost === undefined) throw new Error(`dnsperf printed no result:\n${stdout}`);
  return { perSecond: Number(perSecond), lost: Number(lost) };
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
