import { execFileSync } from "node:child_process";
import { createSocket } from "node:dgram";
import { Agent, request } from "node:http";
import { join } from "node:path";
import { hashSecret } from "../../src/access/secret.ts";
import { wholeAccount } from "../../src/core/may.ts";
import { decodeMessage, encodeMessage } from "../../src/lib/dns/message.ts";
import { plainSettings } from "../../src/records/model.ts";
import { newRecordId } from "../../src/records/new-id.ts";
import { recordsDatabase } from "../../src/records/open-store.ts";
import { openSqliteStore } from "../../src/records/store/sqlite/store.ts";
import { queryFor } from "../../test/nameserver/ask-over-tcp.ts";
import { writtenSets } from "../../test/rig/core/written-sets.suite.ts";
import { node, repository } from "../../test/rig/namespace.ts";
import { type StartedProcess, startProcess } from "../../test/rig/started-process.ts";
import { createZoneIn } from "../../test/rig/store/write.ts";

/** The record service with its nameserver as a process, and cheap clients of both. */

export const benchedZone = "example.org";
const secret = "bench";

/** Fills the store with one zone of these lines and a record `mark` to write to; returns the id of that record. */
export async function fillZone(folder: string, text: string): Promise<string> {
  const store = openSqliteStore(recordsDatabase(folder));
  const { id: account } = await store.ensureAccount("main", 1);
  await store.addToken({ account, name: "bench", hash: hashSecret(secret), scope: wholeAccount, created: 1 });
  const soa = "@ 300 SOA ns1 hostmaster 1 7200 900 1209600 300\n@ 300 NS ns1\nmark 60 A 192.0.2.1\n";
  const sets = writtenSets(benchedZone, soa + text).map((set, i) => ({
    ...set,
    records: set.records.map((record) => ({ ...record, id: `r${i}` })),
  }));
  const settings = plainSettings(300);
  await createZoneIn(
    store,
    { account, id: "z", name: benchedZone, settings, serial: 1, created: Date.now(), sets },
    "b",
  );
  store.close();
  return sets.find((set) => set.owner === "mark")?.records[0]?.id ?? "";
}

/** Fills the store with this many zones `z0.example`, `z1.example` and so on, each with one host. */
export async function fillZones(folder: string, count: number): Promise<void> {
  const store = openSqliteStore(recordsDatabase(folder));
  const { id: account } = await store.ensureAccount("main", 1);
  const settings = plainSettings(300);
  const text = "@ 300 SOA ns1.example.net. hostmaster.example.net. 1 7200 900 1209600 300\nwww 60 A 192.0.2.1";
  const sets = writtenSets("example", text);
  const add = (i: number) => {
    const own = sets.map((set) => ({ ...set, records: set.records.map((each) => ({ ...each, id: newRecordId() })) }));
    const zone = { account, id: `z${i}`, name: `z${i}.example`, settings, serial: 1, created: Date.now(), sets: own };
    return createZoneIn(store, zone, "bench");
  };
  for (let first = 0; first < count; first += 500) {
    await Promise.all(Array.from({ length: Math.min(500, count - first) }, (_, i) => add(first + i)));
  }
  store.close();
}

/** Measures the built program, as users install it; otherwise the process includes the TypeScript compiler. */
export function buildService(): void {
  execFileSync("npm", ["run", "-s", "build"], { cwd: repository });
}

export type ServicePorts = { readonly http: number; readonly dns: number };

export async function startService(
  folder: string,
  { http, dns }: ServicePorts,
  ...words: readonly string[]
): Promise<StartedProcess> {
  const places = ["--data", folder, "--listen", `127.0.0.1:${http}`, "--dns", `127.0.0.1:${dns}`];
  const program = [node, join(repository, "dist", "program", "moor.js"), "records", ...places] as const;
  const moor = startProcess([...program, "--plain-http", ...words], {});
  await moor.says(/The nameserver listens/);
  return moor;
}

/** Changes the address of the record and waits for the answer, on a persistent connection. */
export async function writeMark(http: number, record: string, value: string): Promise<void> {
  const body = JSON.stringify({ zone_id: "z", type: "A", name: "mark", value, ttl: 60 });
  const status = await put(http, `/api/v1/records/${record}`, body);
  if (status !== 200) throw new Error(`the write was answered with ${status}`);
}

const agent = new Agent({ keepAlive: true });

function put(port: number, path: string, body: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { "Auth-API-Token": secret, "Content-Type": "application/json", "Content-Length": body.length };
    const sent = request({ agent, port, host: "127.0.0.1", method: "PUT", path, headers }, (response) => {
      response.resume().on("end", () => resolve(response.statusCode ?? 0));
    });
    sent.on("error", reject).end(body);
  });
}

/** The address of a name; an empty string if there is none, or no answer within a second. */
export function ask(port: number, name: string): Promise<string> {
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
    socket.send(encodeMessage(queryFor({ name, type: 1 }, 1)), port, "127.0.0.1");
  });
}

export const partOf = (all: readonly number[], part: number): number =>
  all.toSorted((a, b) => a - b)[Math.floor(all.length * part)] ?? Number.NaN;

export const ms = (value: number): string => `${value.toFixed(2)} ms`;
