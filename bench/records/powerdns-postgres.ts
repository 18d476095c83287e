import { mkdtemp, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { PostgresServer } from "../../test/rig/postgres.ts";
import { hosts, isThere, type PowerDns, program, runPowerDns } from "./powerdns.ts";

/** Where Debian's pdns-backend-pgsql installs its schema. */
const schema = "/usr/share/pdns-backend-pgsql/schema/schema.pgsql.sql";

/** PowerDNS with its API on a database of this server; undefined if it is not installed. */
export async function startPowerDnsOnPostgres(port: number, server: PostgresServer): Promise<PowerDns | undefined> {
  if (!(await isThere(program)) || !(await isThere(schema))) return undefined;
  await server.createDatabase("pdns");
  await fill(server);
  const { username, password } = new URL(server.url());
  return await runPowerDns(await mkdtemp(join(tmpdir(), "moor-pdns-")), port, {
    launch: "gpgsql",
    "gpgsql-host": "127.0.0.1",
    "gpgsql-port": String(server.port),
    "gpgsql-dbname": "pdns",
    "gpgsql-user": username,
    "gpgsql-password": password,
  });
}

async function fill(server: PostgresServer): Promise<void> {
  const client = await server.connect("pdns");
  await client.query(await readFile(schema, "utf8"));
  await client.query("INSERT INTO domains (name, type) VALUES ('bench.example', 'NATIVE')");
  await client.query(
    "INSERT INTO records (domain_id, name, type, content, ttl) VALUES (1, 'bench.example', 'SOA', " +
      "'ns1.example.net. hostmaster.example.net. 1 86400 10800 3600000 3600', 60)",
  );
  await client.query(
    "INSERT INTO records (domain_id, name, type, content, ttl) " +
      `SELECT 1, 'h' || n || '.bench.example', 'A', '192.0.2.1', 60 FROM generate_series(0, ${hosts - 1}) AS n`,
  );
  await client.query("INSERT INTO domainmetadata (domain_id, kind, content) VALUES (1, 'API-RECTIFY', '0')");
  await client.query("ANALYZE");
  await client.end();
}
