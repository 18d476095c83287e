import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makePool } from "../../../../test/rig/records/pool-of-addresses.ts";
import { patient } from "../../../../test/rig/records/postgres.ts";
import { startTlsPostgres, type TlsPostgres } from "../../../../test/rig/records/postgres-tls.ts";
import { until } from "../../../../test/rig/until.ts";
import { StoreBusy } from "../../../lib/limits/store-busy.ts";
import { readPostgresUrl } from "../../../lib/postgres/url.ts";
import { createLog } from "../../../process/log.ts";
import { joinNodes } from "../../node-membership.ts";
import { readTables } from "../../tools/tables/open.ts";
import { openPostgresStore } from "./store.ts";

let server: TlsPostgres;
const database = "tls";
beforeAll(async () => {
  server = await startTlsPostgres();
  await server.admin.query("GRANT pg_read_all_data, pg_write_all_data TO visitor");
  await server.admin.query(`CREATE DATABASE ${database} OWNER visitor`);
});
afterAll(() => server?.stop());

const secret = "harbour";
const filled = (text: string) => text.replaceAll(/\b[A-Z]+\b/g, (word) => server.files[word] ?? word);

/** What an operator typed and set; words in capitals stand for files of the rig. */
function addressOf(at: string, settings: Readonly<Record<string, string>> = {}) {
  const { user = "postgres", password = secret, name = database, ...env } = settings;
  const [host, query = ""] = at.split("?");
  const text = `postgres://${user}:${password}@${host}:${server.port}/${name}?${filled(query)}`;
  const set = Object.fromEntries(Object.entries(env).map(([variable, value]) => [variable, filled(value)]));
  const address = readPostgresUrl(text, { env: set });
  if (!address.ok) throw new Error(address.faults.map(({ message }) => message).join());
  return address.value;
}

const quiet = createLog({ format: "text", write: () => undefined });
const open = (...at: Parameters<typeof addressOf>) =>
  openPostgresStore({ address: addressOf(...at), log: quiet, limits: patient });

describe("a server that requires TLS", () => {
  const works: [at: string, env: Record<string, string>][] = [
    ["localhost?sslmode=verify-full&sslrootcert=OWN", {}],
    ["127.0.0.1?sslmode=verify-full&sslrootcert=OWN", {}],
    ["127.0.0.2?sslmode=verify-ca&sslrootcert=OWN", {}],
    ["127.0.0.2?sslmode=require&sslrootcert=OWN", {}],
    ["127.0.0.2?sslmode=require", {}],
    ["localhost?sslmode=verify-full&sslrootcert=OWN&sslcert=CERT&sslkey=KEY", { user: "visitor", password: "" }],
    ["localhost", { PGSSLMODE: "verify-full", PGSSLROOTCERT: "OWN" }],
    ["localhost?sslmode=verify-full", { PGSSLMODE: "disable", PGSSLROOTCERT: "OWN" }],
  ];
  let made = 0;
  it.each(works)("%s %j: a store is opened, written and read over TLS", async (at, env) => {
    const store = await open(at, env);
    made += 1;
    const pool = await makePool(store, `pool${made}.example`);
    const value = `192.0.2.${made}`;
    expect(await pool.add(store, value)).toBe(value);
    expect((await pool.look(store)).values).toEqual([value]);
    // The listening connection may still be connecting.
    await expect.poll(async () => (await sessionsNow()).length).toBeGreaterThanOrEqual(2);
    expect((await sessionsNow()).map(({ ssl }) => ssl)).not.toContain(false);
    await store.close();
  });

  it("is also reached over TLS by the connections for notifications, for the leader lock and for rate limits", async () => {
    const store = await open("localhost?sslmode=verify-full&sslrootcert=OWN");
    const ties = joinNodes({ connect: store.connect, perMinute: { caller: 100, account: 1_000 }, log: quiet });
    // Each of the three checks the server now and then.
    const kept = async () => (await sessionsNow()).filter(({ query }) => query === "SELECT 1");
    await until(async () => (await kept()).length >= 3, { what: () => "three sessions" });
    await expect.poll(() => ties.duties.isLeading()).toBe(true);
    expect((await sessionsNow()).map(({ ssl }) => ssl)).not.toContain(false);
    await ties.close();
    await store.close();
  });
});

async function sessionsNow(): Promise<readonly { readonly ssl: boolean; readonly query: string }[]> {
  const { rows } = await server.admin.query<{ ssl: boolean; query: string }>(
    "SELECT s.ssl, a.query FROM pg_stat_activity a JOIN pg_stat_ssl s USING (pid) WHERE a.datname = $1",
    [database],
  );
  return rows;
}

describe("an unusable connection is explained, with what to do and without the password", () => {
  const untrusted = /: its certificate is not from a trusted authority; .*: sslrootcert=FILE in the URL/;
  const plain = /no encryption; it accepts only TLS connections from here: use sslmode=verify-full/;
  const refused: [at: string, env: Record<string, string>, says: RegExp][] = [
    ["localhost?sslmode=verify-full&sslrootcert=OTHER", {}, untrusted],
    ["localhost?sslmode=verify-full", {}, untrusted],
    ["localhost?sslmode=require&sslrootcert=OTHER", {}, untrusted],
    ["localhost", { PGSSLMODE: "verify-full", PGSSLROOTCERT: "OTHER" }, untrusted],
    [
      "127.0.0.2?sslmode=verify-full&sslrootcert=OWN",
      {},
      /: its certificate is not for 127\.0\.0\.2 but for localhost, 127\.0\.0\.1; use one of these names/,
    ],
    ["localhost?sslmode=disable", {}, plain],
    ["127.0.0.1", {}, plain],
    [
      "localhost?sslmode=verify-full&sslrootcert=OWN",
      { user: "nobody" },
      /authentication failed .*; correct the password in/,
    ],
    ["localhost?sslmode=require", { password: "" }, /: it asks for a password, and none is configured; give it in/],
    [
      "localhost?sslmode=require",
      { user: "visitor" },
      /: connection requires a valid client certificate; allow this user/,
    ],
    [
      "localhost?sslmode=require",
      { name: "none" },
      /database "none" does not exist; create it there, or choose another/,
    ],
  ];
  it.each(refused)("%s %j", async (at, env, says) => {
    await expectTold(at, env, says);
  });

  it.each([
    [0, /: its certificate has expired; install a new one on the server/],
    [400, /: its certificate is not valid yet; check the clocks/],
  ] as const)("a certificate that is valid for 397 days and expires in %i days", async (days, says) => {
    await server.showCertificate(days);
    await expectTold("localhost?sslmode=verify-full&sslrootcert=OWN", {}, says);
    await server.showCertificate(300);
  });

  it("a certificate that expires while a node runs", async () => {
    const said: string[] = [];
    const log = createLog({ format: "text", write: (line) => void said.push(line) });
    const address = addressOf("localhost?sslmode=verify-full&sslrootcert=OWN");
    // The server does not list a connection that is still being established. The pool has only one, and that is
    // connected.
    const store = await openPostgresStore({ address, log, limits: { ...patient, patience: 200, connections: 1 } });
    await server.showCertificate(0);
    await server.admin.query("SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = $1", [
      database,
    ]);
    for (const _ of [1, 2]) await expect(store.everyZone(0, 10)).rejects.toThrow(StoreBusy);
    expect(
      said.filter((line) => /refuses connections from this service.*its certificate has expired/.test(line)),
    ).toHaveLength(1);
    await server.showCertificate(300);
    // On a busy machine, the patience above may end before a new connection is there.
    await until(async () => (await store.everyZone(0, 10).catch(() => undefined)) !== undefined);
    await store.close();
  });

  it("a server without TLS", async () => {
    await server.turnTls("off");
    await expectTold("localhost?sslmode=require", {}, /: it does not support TLS; enable it there/);
    await server.turnTls("on");
  });
});

/** By the service, and by the store commands. */
async function expectTold(at: string, env: Readonly<Record<string, string>>, says: RegExp): Promise<void> {
  const address = addressOf(at, env);
  const attempts = [
    () => openPostgresStore({ address, log: quiet, limits: patient }),
    () => readTables({ kind: "postgres", address }, "copy", new AbortController().signal),
  ];
  for (const attempt of attempts) {
    const said = await attempt().then(String, (error: Error) => error.message);
    expect(said).toMatch(says);
    expect(said).toMatch(/^the database postgres:\/\/\w+@[\w.]+:\d+\/\w+ cannot be used: /);
    expect(said).not.toContain(secret);
  }
}
