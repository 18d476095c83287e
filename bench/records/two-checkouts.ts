/**
 * The CPU time of a request in two checkouts of moor: `node bench/records/two-checkouts.ts ONE OTHER [postgres]`.
 * Both answer the same requests in turns, so that the ratio is valid even on a busy machine, where requests per
 * second mean nothing.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { cp, mkdir, mkdtemp, rm } from "node:fs/promises";
import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../../test/rig/free-port.ts";
import { startPostgres } from "../../test/rig/postgres.ts";
import { fillManyZones } from "./postgres-store.ts";
import { type FilledStore, fillStore, type Sample } from "./store.ts";

const [one, other, kind = "sqlite"] = process.argv.slice(2);
if (one === undefined || other === undefined) throw new Error("name two checkouts");
const zones = Number(process.env.BENCH_ZONES ?? 50);
const requests = Number(process.env.BENCH_REQUESTS ?? 5_000);
const rounds = Number(process.env.BENCH_ROUNDS ?? 5);
const clients = 32;

type Target = FilledStore & { readonly url: string; readonly cost: () => number };

let filled: FilledStore | undefined;
const folder = await mkdtemp(join(tmpdir(), "moor-two-"));
const server = kind === "postgres" ? await startPostgres(["max_connections=200", "shared_buffers=256MB"]) : undefined;
const started: ChildProcess[] = [];
try {
  const targets = [await open(one, "one"), await open(other, "other")] as const;
  for (const call of ["GET", "PUT"] as const) {
    const costs: [number[], number[]] = [[], []];
    const seconds: [number[], number[]] = [[], []];
    for (let round = 0; round < rounds + 1; round += 1)
      for (const [i, target] of targets.entries()) {
        const [before, begun] = [target.cost(), performance.now()];
        await drive(target, call);
        // The first round warms both up.
        if (round === 0) continue;
        costs[i as 0 | 1].push(((target.cost() - before) * 1e6) / requests);
        seconds[i as 0 | 1].push(requests / ((performance.now() - begun) / 1_000));
      }
    const [a, b] = costs.map(median) as [number, number];
    const [p, q] = seconds.map(median) as [number, number];
    process.stdout.write(
      `${kind} ${call}: ${a.toFixed(0)} and ${b.toFixed(0)} µs of processor time a request (${(b / a).toFixed(2)}), ` +
        `${p.toFixed(0)} and ${q.toFixed(0)} a second (${(q / p).toFixed(2)})\n`,
    );
  }
} finally {
  for (const child of started) child.kill();
  await server?.stop();
  await rm(folder, { recursive: true, force: true });
}

async function open(checkout: string, name: string): Promise<Target> {
  const data = join(folder, name);
  await mkdir(data);
  const filled = server ? await fillManyZones(server, name, zones) : await filledOnce(data);
  const port = await freePort();
  const place = server ? ["--database", server.openUrl(name)] : [];
  const options = ["--data", data, "--plain-http", "--listen", `127.0.0.1:${port}`, "--rate-limit", "100000000"];
  const child = spawn(process.execPath, ["bin/moor.ts", "records", ...place, ...options], {
    cwd: checkout,
    env: { ...process.env, ...server?.env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  started.push(child);
  const gone = once(child, "exit").then(() => Promise.reject(new Error("no moor")));
  await Promise.race([once(child.stdout, "data"), gone]);
  const cost = () => secondsOf(String(child.pid)) + (server ? backendsOf(name) : 0);
  return { ...filled, url: `http://127.0.0.1:${port}`, cost };
}

async function filledOnce(data: string): Promise<FilledStore> {
  filled ??= await fillStore(join(folder, "one"), zones);
  if (!data.endsWith("one")) await cp(join(folder, "one"), data, { recursive: true });
  return filled;
}

/** CPU time of all threads of a process, in seconds. */
function secondsOf(pid: string): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

function backendsOf(database: string): number {
  let sum = 0;
  for (const pid of readdirSync("/proc").filter((each) => /^\d+$/.test(each))) {
    try {
      const title = readFileSync(`/proc/${pid}/cmdline`, "utf8");
      if (title.startsWith("postgres: ") && title.includes(` ${database} `)) sum += secondsOf(pid);
    } catch {
      // It has ended meanwhile.
    }
  }
  return sum;
}

async function drive({ url, token, samples }: Target, call: "GET" | "PUT"): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: clients });
  let next = 0;
  const client = async () => {
    for (let n = next++; n < requests; n = next++) {
      const sample = samples[n % samples.length] as Sample;
      const { id, name, zone } = sample;
      const value = `192.0.${n % 250}.${Math.floor(Math.random() * 250)}`;
      const body = call === "PUT" ? JSON.stringify({ zone_id: zone, type: "A", name, value, ttl: 60 }) : "";
      await ask(`${url}/api/v1/records/${id}`, { method: call, body, token, agent });
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
  agent.destroy();
}

type Ask = { readonly method: string; readonly body: string; readonly token: string; readonly agent: Agent };

function ask(url: string, { method, body, token, agent }: Ask): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { "auth-api-token": token, "content-type": "application/json", "content-length": body.length };
    const sent = request(url, { method, headers, agent }, (answer) => {
      if (answer.statusCode !== 200) reject(new Error(`${method} ${url}: ${answer.statusCode}`));
      answer.resume().on("end", resolve);
    });
    sent.on("error", reject).end(body);
  });
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
