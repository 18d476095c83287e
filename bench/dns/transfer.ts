import { closeSync, fdatasyncSync, mkdtempSync, openSync, writeFileSync, writeSync } from "node:fs";
import { rm } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { encodeMessage } from "../../src/lib/dns/message.ts";
import { queryFor } from "../../test/nameserver/ask-over-tcp.ts";
import { startBindPrimary } from "../../test/nameserver/bind-primary.ts";
import { freePort } from "../../test/rig/free-port.ts";
import { type StartedProcess, startProcess } from "../../test/rig/started-process.ts";
import { until } from "../../test/rig/until.ts";
import type { Table } from "../table.ts";
import {
  ask,
  benchedZone,
  buildService,
  fillZone,
  ms,
  partOf,
  type ServicePorts,
  startService,
  writeMark,
} from "./service.ts";

const names = 10_000;

/** How fast zones and changes leave moor: with AXFR, with NOTIFY to a secondary, and with queries to moor itself. */
export async function benchTransfer(): Promise<readonly Table[]> {
  buildService();
  const folder = mkdtempSync(join(tmpdir(), "moor-bench-transfer-"));
  const ports = { http: await freePort(), dns: await freePort(), knot: await freePort() };
  const text = Array.from({ length: names - 2 }, (_, i) => `host-${i} IN A 10.0.${i >> 8}.${i & 255}`).join("\n");
  const record = await fillZone(folder, text.replaceAll(" IN ", " 300 "));
  const key = { name: "bench", algorithm: "hmac-sha256", secret: Buffer.alloc(32, 1).toString("base64") };
  const soa = "@ IN SOA ns1 hostmaster 1 7200 900 1209600 300\n@ IN NS ns1\nns1 IN A 192.0.2.1\n";
  const bind = await startBindPrimary({
    zone: benchedZone,
    text: `$TTL 300\n${soa}${text}\n`,
    key,
    anyTransfer: true,
  });
  const toSelf = await timeToSelf(folder, ports, record);
  const notify = ["--notify", `127.0.0.1:${ports.knot}`, "--transfer-to", "127.0.0.1"];
  const moor = await startService(folder, ports, ...notify);
  const knot = startKnot(folder, ports);
  try {
    const cold = await timeTransfer(ports.dns);
    // Each after a change, so that nothing of the previous transfer can be reused.
    const fresh = await repeat(31, async (i) => {
      await writeMark(ports.http, record, `203.0.113.${i}`);
      return await timeTransfer(ports.dns);
    });
    const ours = await repeat(31, () => timeTransfer(ports.dns));
    const theirs = await repeat(31, () => timeTransfer(bind.port));
    const known = async () => (await ask(ports.knot, `mark.${benchedZone}`)) !== "";
    await until(known, { limit: 15_000, what: () => knot.err() });
    const syncs = await repeat(500, () => timeSync(folder));
    const toKnot = await repeat(200, (i) => timeWrite(ports.http, ports.knot, record, i + 1_000));
    return [
      {
        title: `AXFR of ${names.toLocaleString("en")} names`,
        how: "npm run bench dns-transfer",
        heads: ["server", "median", "slowest", "target"],
        rows: [
          ["moor, the first time", ms(cold), "", ""],
          ["moor, after a change", ms(median(fresh)), ms(Math.max(...fresh)), "20 ms"],
          ["moor, unchanged", ms(median(ours)), ms(Math.max(...ours)), "20 ms"],
          ["BIND", ms(median(theirs)), ms(Math.max(...theirs)), ""],
        ],
      },
      writeTable(toSelf, toKnot, syncs),
    ];
  } finally {
    for (const process of [knot, moor]) await process.stop();
    await bind.close();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Without a secondary, because its transfers would be timed too. */
async function timeToSelf(folder: string, ports: Ports, record: string): Promise<readonly WriteTime[]> {
  const moor = await startService(folder, ports);
  try {
    // Warm up first: the first writes would include JIT compilation.
    await repeat(1_000, (i) => timeWrite(ports.http, ports.dns, record, i + 1_000));
    return await repeat(500, (i) => timeWrite(ports.http, ports.dns, record, i));
  } finally {
    await moor.stop();
  }
}

function writeTable(toSelf: readonly WriteTime[], toKnot: readonly WriteTime[], syncs: readonly number[]): Table {
  const row = (what: string, times: readonly number[], target = "", right = "") => [
    what,
    ms(median(times)),
    ms(partOf(times, 0.99)),
    target,
    right,
  ];
  const atOnce = toSelf.filter(({ asked }) => asked === 1).length;
  const whole = (times: readonly WriteTime[]) => times.map(({ write, answer }) => write + answer);
  return {
    title: "From a write over HTTP to its answer over DNS",
    how: "npm run bench dns-transfer",
    heads: ["from, to", "median", "99th percentile", "target", "first answer correct"],
    rows: [
      row("write sent, correct answer of moor", whole(toSelf), "1.5 ms", `${atOnce} of ${toSelf.length}`),
      row(
        "write sent, write answered",
        toSelf.map(({ write }) => write),
      ),
      row(
        "write answered, correct answer of moor",
        toSelf.map(({ answer }) => answer),
      ),
      row("the disk alone: 16 kB appended and synced", syncs),
      row("write sent, correct answer of a Knot secondary", whole(toKnot), "20 ms"),
    ],
  };
}

type Ports = ServicePorts & { readonly knot: number };

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
  - domain: ${benchedZone}
    storage: "${folder}"
    master: moor
    acl: notices
    zonefile-sync: -1
`;
  writeFileSync(join(folder, "knot.conf"), config);
  return startProcess(["/usr/sbin/knotd", "-c", join(folder, "knot.conf")], {});
}

/** Milliseconds until the last record has arrived. */
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
    const query = encodeMessage(queryFor({ name: benchedZone, type: 252 }, 1));
    const length = Buffer.alloc(2);
    length.writeUInt16BE(query.length);
    socket.write(Buffer.concat([length, query]));
  });
}

type WriteTime = {
  /** From sending the write until its answer, and from there until the correct answer over DNS. */
  readonly write: number;
  readonly answer: number;
  /** The number of DNS queries. */
  readonly asked: number;
};

async function timeWrite(http: number, dns: number, record: string, i: number): Promise<WriteTime> {
  const value = `198.51.${i >> 8}.${i & 255}`;
  const start = performance.now();
  await writeMark(http, record, value);
  const written = performance.now();
  for (let asked = 1; ; asked++) {
    const right = (await ask(dns, `mark.${benchedZone}`)) === value;
    const now = performance.now();
    if (right) return { write: written - start, answer: now - written, asked };
    if (now > start + 10_000) throw new Error("never came");
  }
}

/** The disk's share of a write: appending as much as a small write adds to the log, and syncing it. */
function timeSync(folder: string): number {
  const file = openSync(join(folder, "sync"), "a");
  const start = performance.now();
  writeSync(file, Buffer.alloc(syncedBytes, 1));
  fdatasyncSync(file);
  const took = performance.now() - start;
  closeSync(file);
  return took;
}

/** Four pages of SQLite's log. */
const syncedBytes = 4 * 4_120;

async function repeat<T>(count: number, measure: (i: number) => T | Promise<T>): Promise<readonly T[]> {
  const all: T[] = [];
  for (let i = 0; i < count; i++) all.push(await measure(i));
  return all;
}

const median = (all: readonly number[]): number => partOf(all, 0.5);
