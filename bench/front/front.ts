import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { createServer, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createToken, hashSecret } from "../../src/access/secret.ts";
import { type Scope, wholeAccount } from "../../src/core/may.ts";
import { recordsDatabase } from "../../src/records/open-store.ts";
import { openSqliteStore } from "../../src/records/store/sqlite/store.ts";
import type { Table } from "../table.ts";

const sets = 10_000;
const changes = 200;
const idleZones = 100;
const idleSeconds = 20;
const ports = { there: 18_951, front: 18_952, proxy: 18_953 };
const zone = "large.example";

/** A moor that publishes its zones at a second moor, each in its own process. */
export async function benchFront(): Promise<readonly Table[]> {
  const folder = await mkdtemp(join(tmpdir(), "moor-front-bench-"));
  const started: ChildProcess[] = [];
  try {
    const there = await open(join(folder, "there"), ports.there, started);
    const front = await open(join(folder, "front"), ports.front, started);
    for (const kind of ["moor", "hetzner"])
      await front.call("POST", "/providers", { name: kind, kind, url: there.url, token: there.token });
    const rows = [
      ["first fill from the provider", `${sets} sets`, await fillTheirs(front, there)],
      ["first fill of the provider, in transactions", `${sets} sets`, await fillOurs(front, there)],
      ...(await oneChange(front, there)),
      ["idle zones, after they were published", `${idleZones} zones, ${idleSeconds} s`, await idle(front, there)],
    ];
    const how = "npm run bench front";
    return [{ title: "A zone that is published at a second moor", how, heads: ["", "", "measured"], rows }];
  } finally {
    for (const child of started) child.kill();
    await Promise.all(started.map(async (child) => child.exitCode === null && (await once(child, "exit"))));
    await rm(folder, { recursive: true, force: true });
  }
}

// oxlint-disable-next-line typescript/no-explicit-any -- answers of the API
type Json = any;

type Moor = {
  readonly url: string;
  readonly token: string;
  /** May change one name. */
  readonly narrow: string;
  readonly call: (method: string, path: string, body?: unknown, token?: string) => Promise<Json>;
};

/** The store gets its tokens before the service opens it. */
async function open(folder: string, port: number, started: ChildProcess[]): Promise<Moor> {
  await mkdir(folder);
  const store = openSqliteStore(recordsDatabase(folder));
  const { id } = await store.ensureAccount("main", Date.now());
  const add = async (scope: Scope): Promise<string> => {
    const secret = createToken(64);
    await store.addToken({ account: id, name: "bench", hash: hashSecret(secret), scope, created: Date.now() });
    return secret;
  };
  const token = await add(wholeAccount);
  const narrow = await add({ access: "write", zones: ["one.example"], sets: [{ owner: "home" }] });
  store.close();
  const listen = ["--listen", `127.0.0.1:${port}`, "--data", folder, "--plain-http", "--rate-limit", "off"];
  const child = spawn(process.execPath, ["bin/moor.ts", "records", ...listen], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  started.push(child);
  await once(child.stdout, "data");
  const url = `http://127.0.0.1:${port}`;
  const call: Moor["call"] = async (method, path, body, secret = token) => {
    const headers = { authorization: `Bearer ${secret}`, "content-type": "application/json" };
    const answer = await fetch(`${url}/v1${path}`, {
      method,
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    return text === "" ? {} : JSON.parse(text);
  };
  return { url, token, narrow, call };
}

const fileOf = (count: number): string =>
  Array.from({ length: count }, (_, i) => `n${i} 300 IN A 192.0.${(i >> 8) & 255}.${i & 255}`).join("\n");

async function publish(front: Moor, name: string, provider: string, fill: string): Promise<void> {
  const { preview } = await front.call("GET", `/zones/${name}/publication/preview?provider=${provider}`);
  await front.call("POST", `/zones/${name}/actions/publish`, {
    provider,
    digest: preview.digest,
    fill,
    read_every: 900,
  });
}

const counts = async (front: Moor, name: string) =>
  (await front.call("GET", `/zones/${name}/publication`)).publication.counts as Record<string, number>;

const inSeconds = (since: number): string => `${((performance.now() - since) / 1_000).toFixed(1)} s`;

/** Waits until all sets are published. */
async function allPublished(front: Moor, name: string, count: number): Promise<void> {
  for (let now = await counts(front, name); now.published !== count; now = await counts(front, name))
    if ((now.refused ?? 0) + (now.drifted ?? 0) > 0) throw new Error(JSON.stringify(now));
    else await sleep(500);
}

async function fillTheirs(front: Moor, there: Moor): Promise<string> {
  await there.call("POST", "/zones", { name: zone, mode: "primary", zonefile: `${fileOf(sets)}\n` });
  await front.call("POST", "/zones", { name: zone, mode: "primary" });
  const since = performance.now();
  await publish(front, zone, "moor", "theirs");
  await allPublished(front, zone, sets);
  return inSeconds(since);
}

async function fillOurs(front: Moor, there: Moor): Promise<string> {
  const name = "ours.example";
  await there.call("POST", "/zones", { name, mode: "primary" });
  await front.call("POST", "/zones", { name, mode: "primary", zonefile: `${fileOf(sets)}\n` });
  const since = performance.now();
  await publish(front, name, "moor", "ours");
  await allPublished(front, name, sets);
  return inSeconds(since);
}

/** From the request of a token for one name until the provider has the change, and until its action has ended. */
async function oneChange(front: Moor, there: Moor): Promise<readonly (readonly string[])[]> {
  const name = "one.example";
  for (const moor of [there, front]) await moor.call("POST", "/zones", { name, mode: "primary" });
  const value = (i: number) => ({ records: [{ value: `192.0.2.${i % 250}` }] });
  await there.call("POST", `/zones/${name}/rrsets`, { name: "home", type: "A", ttl: 300, ...value(0) });
  await publish(front, name, "hetzner", "theirs");
  const times: number[] = [];
  for (let i = 1; i <= changes; i += 1) {
    const since = performance.now();
    const path = `/zones/${name}/rrsets/home/A/actions/set_records?confirm=provider`;
    await front.call("POST", path, value(i), front.narrow);
    times.push(performance.now() - since);
    const held = await there.call("GET", `/zones/${name}/rrsets/home/A`);
    if (held.rrset.records[0].value !== `192.0.2.${i % 250}`) throw new Error("published, but not there");
  }
  times.sort((a, b) => a - b);
  const at = (share: number) =>
    `${(times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0).toFixed(0)} ms`;
  const what = "a change by a token for one name, until the provider has it";
  return [[what, `${changes} changes`, `median ${at(0.5)}, p99 ${at(0.99)}, longest ${at(1)}`]];
}

/** Requests that arrive while nothing is to be done, counted by a proxy. */
async function idle(front: Moor, there: Moor): Promise<string> {
  let count = 0;
  const proxy = createServer((asked, reply) => {
    count += 1;
    const { method = "", url = "", headers } = asked;
    const passed = request(new URL(url, there.url), { method, headers }, (answer) => {
      reply.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(reply);
    });
    asked.pipe(passed);
  }).listen(ports.proxy, "127.0.0.1");
  try {
    const url = `http://127.0.0.1:${ports.proxy}`;
    await front.call("POST", "/providers", { name: "counted", kind: "moor", url, token: there.token });
    for (let i = 0; i < idleZones; i += 1) {
      const name = `idle${i}.example`;
      for (const moor of [there, front]) await moor.call("POST", "/zones", { name, mode: "primary" });
      await publish(front, name, "counted", "theirs");
    }
    await sleep(2_000);
    count = 0;
    await sleep(idleSeconds * 1_000);
    return `${count} requests`;
  } finally {
    proxy.closeAllConnections();
    proxy.close();
  }
}
