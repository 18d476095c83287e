import { createSocket } from "node:dgram";
import { mkdtempSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { Agent, request } from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { hashSecret } from "../src/access/secret.ts";
import { wholeAccount } from "../src/core/may.ts";
import { writtenSets } from "../src/core/written-sets.suite.ts";
import { decodeMessage, encodeMessage } from "../src/nameserver/message.ts";
import { recordsDatabase } from "../src/records/start.ts";
import { plainSettings } from "../src/records/store.ts";
import { openSqliteStore } from "../src/records/store-sqlite.ts";
import { queryFor } from "../test/nameserver/ask-over-tcp.ts";
import { freePort, startBindPrimary } from "../test/nameserver/bind-primary.ts";
import { node, repository } from "../test/rig/namespace.ts";
import { type StartedProcess, startProcess } from "../test/rig/started-process.ts";
import { until } from "../test/rig/until.ts";
import type { Table } from "./run.ts";

const names = 10_000;
const zone = "example.org";
const secret = "bench";

/** How fast zones and changes leave moor: for who asks for all, for who is told, and for who asks moor itself. */
export async function benchTransfer(): Promise<readonly Table[]> {
  const folder = mkdtempSync(join(tmpdir(), "moor-bench-transfer-"));
  const ports = { http: await freePort(), dns: await freePort(), knot: await freePort() };
  const text = Array.from({ length: names - 2 }, (_, i) => `host-${i} IN A 10.0.${i >> 8}.${i & 255}`).join("\n");
  const record = await fill(folder, text);
  const key = { name: "bench", algorithm: "hmac-sha256", secret: Buffer.alloc(32, 1).toString("base64") };
  const soa = "@ IN SOA ns1 hostmaster 1 7200 900 1209600 300\n@ IN NS ns1\nns1 IN A 192.0.2.1\n";
  const bind = await startBindPrimary({ zone, text: `$TTL 300\n${soa}${text}\n`, key, anyTransfer: true });
  const moor = await startMoor(folder, ports);
  const knot = startKnot(folder, ports);
  try {
    const cold = await timeTransfer(ports.dns);
    const ours = await repeat(31, () => timeTransfer(ports.dns));
    const theirs = await repeat(31, () => timeTransfer(bind.port));
    await until(async () => (await ask(ports.knot, "mark")) !== "", { limit: 15_000, what: () => knot.err() });
    const toSelf = await repeat(500, (i) => timeWrite(ports.http, ports.dns, record, i));
    const toKnot = await repeat(200, (i) => timeWrite(ports.http, ports.knot, record, i + 1_000));
    return [
      {
        title: `AXFR of ${names.toLocaleString("en")} names`,
        how: "npm run bench dns-transfer",
        heads: ["server", "median", "slowest", "target"],
        rows: [
          ["moor, the first time", ms(cold), "", ""],
          ["moor", ms(median(ours)), ms(Math.max(...ours)), "20 ms"],
          ["BIND", ms(median(theirs)), ms(Math.max(...theirs)), ""],
        ],
      },
      {
        title: "From the start of a write over HTTP until it is answered",
        how: "npm run bench dns-transfer",
        heads: ["asked", "median", "99 of 100", "target"],
        rows: [
          ["moor", ms(median(toSelf)), ms(at(toSelf, 0.99)), "1.5 ms"],
          ["a Knot secondary", ms(median(toKnot)), ms(at(toKnot, 0.99)), "20 ms"],
        ],
      },
    ];
  } finally {
    for (const process of [knot, moor]) await process.stop();
    await bind.close();
    await rm(folder, { recursive: true, force: true });
  }
}

/** The id of the record that is written to. */
async function fill(folder: string, text: string): Promise<string> {
  const store = openSqliteStore(recordsDatabase(folder));
  const { id: account } = await store.ensureAccount("main", 1);
  await store.addToken({ account, name: "bench", hash: hashSecret(secret), scope: wholeAccount, created: 1 });
  const soa = "@ 300 SOA ns1 hostmaster 1 7200 900 1209600 300\n@ 300 NS ns1\nmark 60 A 192.0.2.1\n";
  const sets = writtenSets(zone, soa + text.replaceAll(" IN ", " 300 ")).map((set, i) => ({
    ...set,
    records: set.records.map((record) => ({ ...record, id: `r${i}` })),
  }));
  await store.createZone(
    { account, id: "z", name: zone, settings: plainSettings(300), serial: 1, created: 1, sets },
    "b",
  );
  store.close();
  return sets.find((set) => set.owner === "mark")?.records[0]?.id ?? "";
}

type Ports = { readonly http: number; readonly dns: number; readonly knot: number };

async function startMoor(folder: string, { http, dns, knot }: Ports): Promise<StartedProcess> {
  const words = ["--listen", `127.0.0.1:${http}`, "--dns", `127.0.0.1:${dns}`, "--notify", `127.0.0.1:${knot}`];
  const moor = startProcess(
    [
      node,
      join(repository, "bin", "moor.ts"),
      "records",
      "--data",
      folder,
      "--plain-http",
      ...words,
      "--transfer-to",
      "127.0.0.1",
    ],
    {},
  );
  await moor.says(/DNS is answered/);
  return moor;
}

function startKnot(folder: string, { dns, knot }: Ports): StartedProcess {
  const config = `server:
    listen: 127.0.0.1@${knot}
    rundir: "${folder}"
    background-workers: 1
database:
    storage: "${folder}"
remote:
  - id: moor
    address: 127.0.0.1@${dns}
acl:
  - id: notices
    address: 127.0.0.1
    action: notify
zone:
  - domain: ${zone}
    storage: "${folder}"
    master: moor
    acl: notices
    zonefile-sync: -1
`;
  writeFileSync(join(folder, "knot.conf"), config);
  return startProcess(["/usr/sbin/knotd", "-c", join(folder, "knot.conf")], {});
}

/** Milliseconds until the last record has come. */
function timeTransfer(port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const start = performance.now();
    const socket = connect(port, "127.0.0.1");
    let unread: Buffer = Buffer.of();
    let records = 0;
    socket.setTimeout(10_000, () => socket.destroy(new Error(`${records} records in 10 s`)));
    socket.on("error", reject);
    socket.on("data", (chunk) => {
      unread = unread.length === 0 ? chunk : Buffer.concat([unread, chunk]);
      while (unread.length >= 14 && unread.length >= 2 + unread.readUInt16BE(0)) {
        if ((unread.readUInt8(5) & 0xf) !== 0) return void socket.destroy(new Error("refused"));
        records += unread.readUInt16BE(8);
        unread = unread.subarray(2 + unread.readUInt16BE(0));
      }
      if (records < names) return;
      socket.destroy();
      resolve(performance.now() - start);
    });
    const query = encodeMessage(queryFor({ name: zone, type: 252 }, 1)) ?? Buffer.of();
    const length = Buffer.alloc(2);
    length.writeUInt16BE(query.length);
    socket.write(Buffer.concat([length, query]));
  });
}

async function timeWrite(http: number, dns: number, record: string, i: number): Promise<number> {
  const value = `198.51.${i >> 8}.${i & 255}`;
  const body = JSON.stringify({ zone_id: "z", type: "A", name: "mark", value, ttl: 60 });
  const start = performance.now();
  const status = await put(http, `/api/v1/records/${record}`, body);
  if (status !== 200) throw new Error(`the write was answered with ${status}`);
  while ((await ask(dns, "mark")) !== value) if (performance.now() > start + 10_000) throw new Error("never came");
  return performance.now() - start;
}

const agent = new Agent({ keepAlive: true });

/** On a connection that is kept: what is measured is moor, not the client. */
function put(port: number, path: string, body: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { "Auth-API-Token": secret, "Content-Type": "application/json", "Content-Length": body.length };
    const sent = request({ agent, port, host: "127.0.0.1", method: "PUT", path, headers }, (response) => {
      response.resume().on("end", () => resolve(response.statusCode ?? 0));
    });
    sent.on("error", reject).end(body);
  });
}

function ask(port: number, name: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = createSocket("udp4");
    const end = (text: string) => {
      clearTimeout(timer);
      socket.close();
      resolve(text);
    };
    const timer = setTimeout(() => end(""), 1_000);
    socket.on("error", () => end(""));
    socket.on("message", (bytes) => {
      const decoded = decodeMessage(bytes);
      end(decoded.ok ? (decoded.message.answers[0]?.data.join(".") ?? "") : "");
    });
    socket.send(encodeMessage(queryFor({ name: `${name}.${zone}`, type: 1 }, 1)) ?? "", port, "127.0.0.1");
  });
}

async function repeat(count: number, measure: (i: number) => Promise<number>): Promise<readonly number[]> {
  const all: number[] = [];
  for (let i = 0; i < count; i++) all.push(await measure(i));
  return all;
}

const at = (all: readonly number[], part: number): number =>
  all.toSorted((a, b) => a - b)[Math.floor(all.length * part)] ?? 0;
const median = (all: readonly number[]): number => at(all, 0.5);
const ms = (value: number): string => `${value.toFixed(2)} ms`;
