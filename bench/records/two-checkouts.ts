/**
 * The CPU time of a request in two or more checkouts of moor:
 * `node bench/records/two-checkouts.ts ONE OTHER... [postgres]`. They answer the same requests in turns, so that the
 * ratios to the first one are valid even on a busy machine, where requests per second mean little.
 */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { freePort } from "../../test/rig/free-port.ts";
import { startPostgres } from "../../test/rig/postgres.ts";
import { fillManyZones } from "./postgres-store.ts";
import type { FilledStore, Sample } from "./store.ts";

const kind = process.argv.at(-1) === "postgres" ? "postgres" : "sqlite";
const checkouts = process.argv.slice(2).filter((each) => each !== "postgres");
if (checkouts.length < 2) throw new Error("name two checkouts");
const zones = Number(process.env.BENCH_ZONES ?? 50);
const requests = Number(process.env.BENCH_REQUESTS ?? 5_000);
const rounds = Number(process.env.BENCH_ROUNDS ?? 5);
/** Rounds before, which are not counted: the code is compiled in them. */
const warmUp = 3;
const only = process.env.BENCH_CALLS?.split(",");

/** A program with the arguments file, folder and zones. */
const fill = [
  "const [file, folder, zones] = process.argv.slice(1);",
  "const { fillStore } = await import(file);",
  "process.stdout.write(JSON.stringify(await fillStore(folder, Number(zones))));",
].join("\n");

type Call = "GET record" | "PUT record" | "GET set" | "set_records" | "signed set_records";
const calls: readonly Call[] = ["GET record", "PUT record", "GET set", "set_records", "signed set_records"];
type Target = FilledStore & { readonly name: string; readonly port: number; readonly cost: () => number };

const folder = await mkdtemp(join(tmpdir(), "moor-two-"));
const server =
  kind === "postgres" ? await startPostgres(["fsync=on", "max_connections=200", "shared_buffers=256MB"]) : undefined;
const started: ChildProcess[] = [];
try {
  const targets: Target[] = [];
  for (const [i, checkout] of checkouts.entries()) targets.push(await open(resolve(checkout), `n${i}`));
  for (const call of calls.filter((each) => only?.includes(each) ?? true)) {
    const able = call === "signed set_records" ? await withSignedZone(targets) : targets;
    for (const clients of [32, 1]) process.stdout.write(`${await measure(able, call, clients)}\n`);
  }
} finally {
  for (const child of started) child.kill();
  await server?.stop();
  await rm(folder, { recursive: true, force: true });
}

async function measure(targets: readonly Target[], call: Call, clients: number): Promise<string> {
  const count = clients === 1 ? Math.ceil(requests / 5) : requests;
  const costs = targets.map((): number[] => []);
  const rates = targets.map((): number[] => []);
  for (let round = 0; round < rounds + warmUp; round += 1)
    // Whoever comes later in a round meets another machine, so the order changes.
    for (const i of round % 2 === 0 ? targets.keys() : [...targets.keys()].reverse()) {
      const target = targets[i] as Target;
      const [before, begun] = [target.cost(), performance.now()];
      await drive(target, call, clients, count);
      if (round < warmUp) continue;
      costs[i]?.push(((target.cost() - before) * 1e6) / count);
      rates[i]?.push(count / ((performance.now() - begun) / 1_000));
    }
  const shown = (values: readonly number[], all: readonly (readonly number[])[]) =>
    values.map((value, i) => `${value.toFixed(0)} (${ratioOf(all[i] ?? [], all[0] ?? []).toFixed(2)})`).join(", ");
  const missing = targets.length === checkouts.length ? "" : ` (only ${targets.map(({ name }) => name).join(", ")})`;
  const least = costs.map((some) => Math.min(...some).toFixed(0)).join(", ");
  return `${kind} ${call}, ${clients} connections${missing}: ${shown(costs.map(median), costs)} µs of CPU time per request, at least ${least}; ${shown(rates.map(median), rates)} per second`;
}

/** The median of the ratios in each round: what the machine does beside it concerns both. */
function ratioOf(values: readonly number[], first: readonly number[]): number {
  return median(values.map((value, i) => value / (first[i] ?? Number.NaN)));
}

/** Those that can sign zones; their first zone is signed now. */
async function withSignedZone(targets: readonly Target[]): Promise<readonly Target[]> {
  const isSigned = await Promise.all(
    targets.map(async ({ port, token }) => {
      const url = `http://127.0.0.1:${port}/v1/zones/z${server ? 1 : 0}.example/actions/sign`;
      const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
      const { ok, status } = await fetch(url, { method: "POST", headers, body: "{}" });
      if (!ok && status !== 404 && status !== 405) throw new Error(`the zone cannot be signed: ${status}`);
      return ok;
    }),
  );
  return targets.filter((_, i) => isSigned[i]);
}

async function open(checkout: string, name: string): Promise<Target> {
  const data = join(folder, name);
  await mkdir(data);
  const filled = server ? await fillManyZones(server, name, zones) : await fillBy(checkout, data);
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
  return { ...filled, name: checkout, port, cost };
}

/** By the checkout's own code: an older one cannot open a newer file. */
async function fillBy(checkout: string, data: string): Promise<FilledStore> {
  // Where it was until the bench got folders.
  const old = join(checkout, "bench/records-store.ts");
  const file = pathToFileURL(existsSync(old) ? old : join(checkout, "bench/records/store.ts")).href;
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ["--input-type=module", "-e", fill, file, data, String(zones)],
    {
      maxBuffer: 64 * 1024 * 1024,
    },
  );
  return JSON.parse(stdout) as FilledStore;
}

/** CPU time of all threads of a process, in seconds. */
function secondsOf(pid: string): number {
  const threads = readdirSync(`/proc/${pid}/task`);
  const times = threads.map((id) => readFileSync(`/proc/${pid}/task/${id}/schedstat`, "utf8").split(" ")[0]);
  return times.reduce((sum, time) => sum + Number(time), 0) / 1e9;
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

async function drive(target: Target, call: Call, clients: number, count: number): Promise<void> {
  let next = 0;
  const client = async () => {
    const socket = connect(target.port, "127.0.0.1");
    await once(socket, "connect");
    const ask = asking(socket);
    for (let n = next++; n < count; n = next++) await ask(requestOf(target, call, n));
    socket.destroy();
  };
  await Promise.all(Array.from({ length: clients }, client));
}

function requestOf({ token, samples }: Target, call: Call, n: number): string {
  const { id, name, zone } = samples[n % samples.length] as Sample;
  const value = `192.0.${n % 250}.${Math.floor(Math.random() * 250)}`;
  const zoneNumber = call === "signed set_records" ? 0 : n % zones;
  const place = server ? `z${zoneNumber + 1}.example/rrsets/www` : `z${zoneNumber}.example/rrsets/h${n % 99}`;
  const set = `/v1/zones/${place}/A`;
  switch (call) {
    case "GET record":
      return textOf("GET", `/api/v1/records/${id}`, token);
    case "PUT record":
      return textOf("PUT", `/api/v1/records/${id}`, token, { zone_id: zone, type: "A", name, value, ttl: 60 });
    case "GET set":
      return textOf("GET", set, token);
    case "set_records":
    case "signed set_records":
      return textOf("POST", `${set}/actions/set_records`, token, { records: [{ value, comment: "" }] });
    default:
      return call satisfies never;
  }
}

function textOf(method: string, path: string, token: string, body?: object): string {
  const text = body === undefined ? "" : JSON.stringify(body);
  const secret = path.startsWith("/v1/") ? `Authorization: Bearer ${token}` : `Auth-API-Token: ${token}`;
  const content = body && `Content-Type: application/json\r\nContent-Length: ${text.length}\r\n`;
  return `${method} ${path} HTTP/1.1\r\nHost: localhost\r\n${secret}\r\n${content ?? ""}\r\n${text}`;
}

/** A client that costs little, so that more of the machine is left for what is measured. One request at a time. */
function asking(socket: Socket): (text: string) => Promise<void> {
  let read = "";
  let done: PromiseWithResolvers<void> | undefined;
  socket.on("data", (bytes) => {
    read += bytes.toString("latin1");
    const end = read.indexOf("\r\n\r\n");
    const length = /content-length: (\d+)/i.exec(read.slice(0, end))?.[1];
    if (end < 0 || read.length < end + 4 + Number(length)) return;
    const status = read.slice(9, 12);
    if (status.startsWith("2")) done?.resolve();
    else done?.reject(new Error(read));
    read = "";
  });
  socket.on("error", (error) => done?.reject(error));
  return (text) => {
    done = Promise.withResolvers();
    socket.write(text);
    return done.promise;
  };
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
