import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { hashSecret } from "../../src/access/secret.ts";
import { wholeAccount } from "../../src/core/may.ts";
import { rcodes } from "../../src/lib/dns/codes.ts";
import { plainSettings } from "../../src/records/model.ts";
import { recordsDatabase } from "../../src/records/open-store.ts";
import { openSqliteStore } from "../../src/records/store/sqlite/store.ts";
import { builtProgram } from "../rig/bundle.ts";
import { writtenSets } from "../rig/core/written-sets.suite.ts";
import { freePort } from "../rig/free-port.ts";
import { isLongRun } from "../rig/long-run.ts";
import { node } from "../rig/namespace.ts";
import { type StartedProcess, startProcess } from "../rig/started-process.ts";
import { createZoneIn } from "../rig/store/write.ts";
import { addressesIn, askOverUdp } from "./ask-over-udp.ts";
import { run } from "./moor-dns.ts";

/** The real program with two workers. */
const zone = "example.org";
const secret = "worker-test";
const key = Buffer.alloc(32, 5).toString("base64");
const folder = mkdtempSync(join(tmpdir(), "moor-workers-"));
let ports: { readonly http: number; readonly dns: number };
let moor: StartedProcess;

beforeAll(async () => {
  await fill();
  ports = { http: await freePort(), dns: await freePort() };
  const program = [node, builtProgram(), "records"] as const;
  const places = ["--data", folder, "--listen", `127.0.0.1:${ports.http}`, "--dns", `127.0.0.1:${ports.dns}`];
  moor = startProcess([...program, ...places, "--plain-http", "--dns-workers", "2", "--catalog"], {});
  await moor.says(/The nameserver listens/);
});
afterAll(async () => {
  await moor?.stop();
  await rm(folder, { recursive: true, force: true });
});

async function fill(): Promise<void> {
  const store = openSqliteStore(recordsDatabase(folder));
  const { id: account } = await store.ensureAccount("main", 1);
  await store.addToken({ account, name: "test", hash: hashSecret(secret), scope: wholeAccount, created: 1 });
  const common = { algorithm: "hmac-sha256", secret: key, account, scope: wholeAccount, created: 1 } as const;
  await store.addTransferKey({ ...common, name: "worker" });
  const text = "@ 300 SOA ns1 hostmaster 1 7200 900 1209600 300\n@ 300 NS ns1\nmark 60 A 192.0.2.1\n";
  const sets = writtenSets(zone, text).map((set, i) => ({
    ...set,
    records: set.records.map((record) => ({ ...record, id: `r${i}` })),
  }));
  const settings = plainSettings(300);
  await createZoneIn(store, { account, id: "z", name: zone, settings, serial: 1, created: 1, sets }, "test");
  store.close();
}

const agent = new Agent({ keepAlive: true });

function write(value: string): Promise<number> {
  const body = JSON.stringify({ zone_id: "z", type: "A", name: "mark", value, ttl: 60 });
  const headers = { "Auth-API-Token": secret, "Content-Type": "application/json", "Content-Length": body.length };
  const to = { agent, host: "127.0.0.1", port: ports.http, method: "PUT", path: "/api/v1/records/r2", headers };
  return new Promise((resolve, reject) => {
    const sent = request(to, (answer) => answer.resume().on("end", () => resolve(answer.statusCode ?? 0)));
    sent.on("error", reject).end(body);
  });
}

const askForMark = async () => addressesIn(await askOverUdp(ports.dns, { name: `mark.${zone}`, type: 1 }));
const dig = (...words: readonly string[]) => run("dig", ["@127.0.0.1", "-p", `${ports.dns}`, ...words]);
const signed = ["-y", `hmac-sha256:worker:${key}`];

const writes = isLongRun ? 200 : 60;

it(`shows each of ${writes} writes in the first answer after it, whichever worker gives that`, async () => {
  for (let i = 0; i < writes; i++) {
    const value = `198.51.${i >> 8}.${i & 255}`;
    expect(await write(value)).toBe(200);
    expect(await askForMark()).toEqual([value]);
  }
});

it("accepts updates over UDP and shows each immediately", async () => {
  for (let i = 1; i <= 4; i++) {
    const value = `203.0.113.${i}`;
    const lines = `update delete mark.${zone} A\nupdate add mark.${zone} 60 A ${value}`;
    expect(await run("nsupdate", signed, `server 127.0.0.1 ${ports.dns}\nzone ${zone}\n${lines}\nsend\n`)).toBe("");
    expect(await askForMark()).toEqual([value]);
  }
});

it("refuses unsigned requests, and transfers the zone to a permitted client", async () => {
  const unsigned = `server 127.0.0.1 ${ports.dns}\nzone ${zone}\nupdate add new.${zone} 60 A 192.0.2.1\nsend\n`;
  expect(await run("nsupdate", [], unsigned)).toContain("REFUSED");
  expect(await dig(zone, "AXFR")).toContain("Transfer failed");
  expect(await dig(...signed, zone, "AXFR")).toMatch(/mark\.example\.org\.\s+60\s+IN\s+A/);
  expect(await dig(...signed, "+notcp", zone, "SOA")).toContain("TSIG");
  expect((await askOverUdp(ports.dns, { name: "version.catalog.moor.invalid", type: 16 }))?.rcode).toBe(rcodes.refused);
});

it("stops cleanly and in time, without complaints in the log", async () => {
  const { code, err } = await moor.stop("SIGTERM");
  expect(code).toBe(0);
  expect(err).not.toMatch(/could not be closed|worker/);
});
