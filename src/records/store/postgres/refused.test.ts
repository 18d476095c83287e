import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Client } from "pg";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { makePool } from "../../../../test/rig/records/pool-of-addresses.ts";
import { type PostgresRig, patient, startPostgresRig } from "../../../../test/rig/records/postgres.ts";
import { createToken, hashSecret } from "../../../access/secret.ts";
import { wholeAccount } from "../../../core/may.ts";
import { StoreBusy } from "../../../lib/limits/store-busy.ts";
import { readPostgresUrl } from "../../../lib/postgres/url.ts";
import { createLog } from "../../../process/log.ts";
import { startRecords } from "../../start.ts";
import { openPostgresStore } from "./store.ts";

let rig: PostgresRig;
let admin: Client;
let folder: string;
let passwordFile: string;
let said: string[];
/** The role and the database of the service have the same name. */
let name: string;

beforeAll(async () => {
  rig = await startPostgresRig();
  admin = await rig.server.connect();
  folder = await mkdtemp(join(tmpdir(), "moor-refused-"));
  passwordFile = join(folder, "password");
});
afterAll(async () => {
  await admin?.end();
  await rig?.stop();
  await rm(folder, { recursive: true, force: true });
});
beforeEach(async () => {
  name = new URL(await rig.preparedUrl()).pathname.slice(1);
  said = [];
  const owner = await rig.server.connect(name);
  await owner.query(
    `CREATE ROLE ${name} LOGIN PASSWORD 'first-secret'; GRANT ALL ON ALL TABLES IN SCHEMA public TO ${name};
    GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO ${name}`,
  );
  await owner.end();
  await writeFile(passwordFile, "first-secret\n");
});

const log = createLog({ format: "text", write: (line) => void said.push(line) });
const secrets = /(?:first|second)-secret/;
const tellings = (words: string) => said.filter((line) => line.includes(words)).length;

function address() {
  const url = `postgres://${name}@127.0.0.1:${rig.server.port}/${name}`;
  const read = readPostgresUrl(url, { passwordFile, env: {} });
  if (!read.ok) throw new Error(read.faults.map(({ message }) => message).join());
  return read.value;
}

/**
 * Existing connections survive a change of the rules, so cut them. The server does not list a connection that is
 * still being established: a test that needs all of them gone uses only one, or cuts again.
 */
const cutAll = () =>
  admin.query("SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = $1 AND usename = $1", [
    name,
  ]);

describe("a database that refuses new connections of a running node", () => {
  const setPassword = (text: string) => admin.query(`ALTER ROLE ${name} PASSWORD '${text}'`);
  const limitConnections = (most: number) => admin.query(`ALTER ROLE ${name} CONNECTION LIMIT ${most}`);
  const openConnections = async () => {
    const { rows } = await admin.query("SELECT count(*)::int AS open FROM pg_stat_activity WHERE usename = $1", [name]);
    return rows[0].open;
  };
  const cases: [what: string, spoil: () => Promise<unknown>, repair: () => Promise<unknown>, says: string][] = [
    [
      "another password, and back again",
      () => setPassword("second-secret"),
      () => setPassword("first-secret"),
      "correct the password in",
    ],
    [
      "another password, and then the same in the file",
      () => setPassword("second-secret"),
      () => writeFile(passwordFile, "second-secret\n"),
      "correct the password in",
    ],
    [
      "an empty file for the password",
      () => writeFile(passwordFile, ""),
      () => writeFile(passwordFile, "first-secret"),
      "password is empty; write the password to it",
    ],
    [
      "no file for the password",
      () => rm(passwordFile),
      () => writeFile(passwordFile, "first-secret"),
      "the password file cannot be read: ENOENT",
    ],
    [
      "a user that may not log in",
      () => admin.query(`ALTER ROLE ${name} NOLOGIN`),
      () => admin.query(`ALTER ROLE ${name} LOGIN`),
      "is not permitted to log in; allow this user on the server",
    ],
    ["no connection left", () => limitConnections(0), () => limitConnections(-1), "lower --database-connections"],
  ];
  it.each(cases)("%s", async (_, spoil, repair, says) => {
    const store = await openPostgresStore({
      address: address(),
      log,
      limits: { ...patient, patience: 200, connections: 1 },
    });
    const pool = await makePool(store);
    await spoil();
    await cutAll();
    const refusal = { retryAfter: 5, message: "the database refuses connections from this service" };
    const add = (i: number) => pool.add(store, `192.0.2.${i}`).catch((error: unknown) => error);
    for (const i of [1, 2]) {
      // A request that still uses the cut connection, or has no time for a new one, fails with another error.
      await expect.poll(() => add(i)).toMatchObject(refusal);
      expect(await add(i)).toBeInstanceOf(StoreBusy);
      await expect(store.zone(1, "any")).rejects.toThrow(StoreBusy);
    }
    expect(
      said.filter((line) => line.includes(says) && line.includes("refuses connections from this service")),
    ).toHaveLength(1);
    await repair();
    expect(await pool.add(store, "192.0.2.9")).toBe("192.0.2.9");
    expect((await pool.look(store)).values).toEqual(["192.0.2.9"]);
    expect(tellings("refuses connections from this service")).toBe(1);
    const sinceThen = said.slice(said.findIndex((line) => line.includes("refuses connections from this service")));
    expect(sinceThen.filter((line) => line.includes("the database is back"))).toHaveLength(1);
    expect(said.join("")).not.toMatch(secrets);
    await store.close();
  });

  it("is left without half-open connections", async () => {
    const children = () =>
      readFileSync(`/proc/${rig.server.pid()}/task/${rig.server.pid()}/children`, "utf8").trim().split(" ");
    const store = await openPostgresStore({
      address: address(),
      log,
      limits: { ...patient, patience: 50, connections: 3 },
    });
    const before = children().length;
    await rm(passwordFile);
    await cutAll();
    for (let i = 0; i < 20; i += 1) await expect(store.zone(1, "any")).rejects.toThrow(StoreBusy);
    await expect.poll(() => children().length).toBeLessThanOrEqual(before);
    await store.close();
  });

  it.each([
    ["a changed password", () => setPassword("second-secret"), () => setPassword("first-secret")],
    ["a lower connection limit", async () => limitConnections(await openConnections()), () => limitConnections(-1)],
  ])("is logged once, even while older connections work: %s", async (_, spoil, repair) => {
    const store = await openPostgresStore({ address: address(), log, limits: { ...patient, patience: 200 } });
    const pool = await makePool(store);
    // No connection is accepted from here on: one that is accepted before another is refused, but noticed only
    // afterwards, would count as a recovery.
    await expect.poll(() => store.connections().used).toBe(0);
    await spoil();
    for (let i = 0; i < 5; i += 1)
      await Promise.allSettled(
        Array.from({ length: 20 }, async (_, n) => (n % 2 === 0 ? store.zone(1, "any") : store.zones(1, all))),
      );
    expect(tellings("refuses connections from this service")).toBe(1);
    expect(tellings("the database is back")).toBe(0);
    await repair();
    await cutAll();
    // A request that still uses a cut connection, and has no time for a new one, fails once more.
    const add = () => pool.add(store, "192.0.2.1").catch((error: unknown) => error);
    await expect.poll(add).toBe("192.0.2.1");
    expect(tellings("the database is back")).toBeGreaterThanOrEqual(1);
    await store.close();
  });
  const all = { page: 1, perPage: 100 };

  it("makes the API answer with 503 and Retry-After", async () => {
    const service = await startRecords({
      dataFolder: join(folder, "data"),
      database: { kind: "postgres", address: address() },
      log,
      names: [],
      listen: { host: "127.0.0.1", port: 0 },
      plainHttp: true,
      nameservers: ["ns.example.org."],
    });
    const secret = createToken();
    const { account } = (await makePool(service.store)).zone;
    await service.store.addToken({ account, name: "t", hash: hashSecret(secret), scope: wholeAccount, created: 1 });
    const ask = () => fetch(`${service.url}/api/v1/zones`, { headers: { "auth-api-token": secret } });
    expect((await ask()).status).toBe(200);
    expect(await service.metrics()).toMatch(/^moor_database_connections\{state="idle"\} [1-9]/m);
    await setPassword("second-secret");
    const answer = async () => {
      await cutAll();
      const refused = await ask();
      return [refused.status, refused.headers.get("retry-after"), await refused.json()];
    };
    await expect
      .poll(answer)
      .toEqual([
        503,
        "5",
        { error: expect.objectContaining({ message: "the database refuses connections from this service" }) },
      ]);
    const because = "the database refuses connections from this service";
    const health = async () => (await service.health.readiness()).parts.store;
    await expect.poll(() => cutAll().then(health)).toEqual({ ok: false, because });
    await setPassword("first-secret");
    expect((await ask()).status).toBe(200);
    await expect.poll(health).toEqual({ ok: true });
    expect(said.join("")).not.toMatch(secrets);
    await service.close();
  });

  it("makes a new process exit immediately with a clear message", async () => {
    await setPassword("second-secret");
    // Retries would take longer than the test timeout.
    await expect(openPostgresStore({ address: address(), log, limits: { patience: 600_000 } })).rejects.toThrow(
      /^the database postgres:\/\/moor_\d+@127\.0\.0\.1:\d+\/moor_\d+ cannot be used: password .*; correct the password in/,
    );
  });
});
