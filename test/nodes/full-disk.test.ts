import { execFileSync } from "node:child_process";
import { chownSync, closeSync, mkdtempSync, openSync, rmSync, statSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { addressesIn, askOverUdp } from "../nameserver/ask-over-udp.ts";
import { run } from "../nameserver/moor-dns.ts";
import { testLimit } from "../rig/patience.ts";
import { startPostgres } from "../rig/postgres.ts";
import { type Answer, type Api, openApi } from "./api.ts";
import { type Cluster, type Node, startCluster } from "./cluster.ts";

vi.setConfig({ testTimeout: testLimit });

/** A small file system needs a mount. */
const isRoot = process.getuid?.() === 0;

let cluster: Cluster;
let api: Api;
let zone: string;
let key: string;
const disk = isRoot ? mkdtempSync(join(tmpdir(), "moor-small-disk-")) : "";
const node = (): Node => cluster.nodes[0] as Node;

describe.runIf(isRoot)("the disk of the database is full", () => {
  beforeAll(async () => {
    const server = await startPostgres();
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=16m", "tmpfs", disk]);
    const { uid, gid } = statSync(server.folder);
    chownSync(disk, uid, gid);
    const client = await server.connect();
    await client.query(`CREATE TABLESPACE small LOCATION '${disk}'`);
    await client.query("ALTER DATABASE postgres SET default_tablespace = 'small'");
    await client.end();
    cluster = await startCluster({ count: 1, words: ["--rate-limit", "off"], server });
    api = openApi(cluster.token);
    const said = await cluster.run("transfer-key", "add", "updater", "--update");
    key = `hmac-sha256:updater:${/secret "(.*)"/.exec(said)?.[1]}`;
    for (const name of ["full.example", "unasked.example"]) {
      const made = await api.call(node(), "POST", "/api/v1/zones", { name, ttl: 60 });
      zone = (made.body as { zone: { id: string } }).zone.id;
    }
    const www = { zone_id: zone, name: "www", type: "A", value: "192.0.2.1", ttl: 60 };
    await api.call(node(), "POST", "/api/v1/records", www);
    await asked("www.unasked.example");
    fill();
  });
  afterAll(async () => {
    await api?.close();
    await cluster?.close();
    execFileSync("umount", ["-l", disk]);
    rmSync(disk, { recursive: true, force: true });
  });

  it.each([
    ["v1", (i: number) => newRecord(i)],
    ["v1, many records", (i: number) => api.call(node(), "POST", "/api/v1/records/bulk", { records: [record(i)] })],
    [
      "v1, a new zone",
      (i: number) => api.call(node(), "POST", "/api/v1/zones", { name: `${long(i)}.example`, ttl: 60 }),
    ],
    ["record sets", (i: number) => newSet(i)],
    [
      "record sets, a new zone",
      (i: number) => api.call(node(), "POST", "/v1/zones", { name: `${long(i)}.test`, mode: "primary" }),
    ],
  ])("%s: 503 with the reason", async (_, write) => {
    const { status, body } = await untilRefused(write);
    expect([status, JSON.stringify(body)]).toEqual([503, expect.stringContaining("the disk of the database is full")]);
  });

  it("dyndns2: 911 with the reason", async () => {
    const password = Buffer.from(`x:${cluster.token}`).toString("base64");
    const update = async (i: number): Promise<Answer> => {
      const url = `${node().url}/nic/update?hostname=www.unasked.example&myip=10.2.${i >> 8}.${i & 255}`;
      const answer = await fetch(url, { headers: { authorization: `Basic ${password}`, "user-agent": "test" } });
      const body = await answer.text();
      return { status: body.startsWith("good") ? 200 : answer.status, body };
    };
    const { status, body } = await untilRefused(update);
    expect([status, body]).toEqual([503, expect.stringMatching(/^911 .*the disk of the database is full/)]);
  });

  it.each([[[]], [["-v"]]])("DNS UPDATE (nsupdate %s): SERVFAIL", async (flags) => {
    const update = async (i: number): Promise<Answer> => {
      const add = `update add ${long(i)}.unasked.example 60 TXT ${"x".repeat(200)}`;
      const input = `server 127.0.0.1 ${node().dns}\nzone unasked.example\n${add}\nsend\n`;
      const said = await run("nsupdate", [...flags, "-t", "60", "-y", key], input);
      return { status: said === "" ? 200 : 503, body: said };
    };
    expect((await untilRefused(update)).body).toBe("update failed: SERVFAIL");
  });

  it("zones are still answered for, also after a restart of the node", async () => {
    expect(await asked("www.unasked.example")).toHaveLength(1);
    // With a reason, it says: because the store is busy.
    expect(node().said()).not.toMatch(/a request failed(?! because)/);
    await node().kill();
    await node().start();
    expect(await asked("www.unasked.example")).toHaveLength(1);
    expect(await api.call(node(), "GET", "/api/v1/zones")).toMatchObject({ status: 200 });
  });
});

const asked = async (name: string) => addressesIn(await askOverUdp(node().dns, { name, type: 1 }));
/** Names that fill pages fast. */
const long = (i: number) => `${"a".repeat(50)}${i}-${made}`;
let made = 0;
const record = (i: number) => ({ zone_id: zone, name: long(i), type: "TXT", value: "x".repeat(200), ttl: 60 });
const newRecord = (i: number) => api.call(node(), "POST", "/api/v1/records", record(i));
const newSet = (i: number) =>
  api.call(node(), "POST", "/v1/zones/full.example/rrsets", {
    name: long(i),
    type: "TXT",
    records: [{ value: `"${"x".repeat(200)}"` }],
  });

/** Pages have room left for a few rows. */
async function untilRefused(write: (i: number) => Promise<Answer>): Promise<Answer> {
  made += 1;
  for (let i = 0; ; i += 1) {
    const answer = await write(i);
    if (answer.status >= 300 || answer.status === 0) return answer;
  }
}

function fill(): void {
  const file = openSync(join(disk, "ballast"), "w");
  for (const size of [1 << 16, 1 << 12])
    try {
      for (;;) writeSync(file, Buffer.alloc(size));
    } catch {
      // Full.
    }
  closeSync(file);
}
