import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { RRset } from "../../src/core/records/rrset.ts";
import type { ZoneContent } from "../../src/core/records/zone-view.ts";
import { askOverTcp } from "../../test/nameserver/ask-over-tcp.ts";
import { freePort } from "../../test/rig/free-port.ts";
import { until } from "../../test/rig/until.ts";

const program = "/usr/sbin/pdns_server";
const schema = "/usr/share/pdns-backend-sqlite3/schema/schema.sqlite3.sql";

export type PowerDnsPeer = {
  readonly name: string;
  readonly port: number;
  readonly pid: number | undefined;
  readonly close: () => Promise<void>;
};

/** PowerDNS with a zone in SQLite and one thread, like all others; with its default caches, or without any. */
export async function startPowerDnsPeer(zone: ZoneContent, caches: boolean): Promise<PowerDnsPeer> {
  if (!existsSync(program) || !existsSync(schema)) throw new Error("PowerDNS with SQLite is not installed");
  const folder = await mkdtemp(join(tmpdir(), "moor-pdns-"));
  const port = await freePort();
  const file = join(folder, "pdns.sqlite");
  fill(file, zone);
  const settings = {
    launch: "gsqlite3",
    "gsqlite3-database": file,
    "local-address": "127.0.0.1",
    "local-port": port,
    "receiver-threads": 1,
    "distributor-threads": 1,
    "socket-dir": folder,
    loglevel: 0,
    ...(!caches && { "cache-ttl": 0, "query-cache-ttl": 0, "negquery-cache-ttl": 0 }),
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}\n`);
  await writeFile(join(folder, "pdns.conf"), lines.join(""));
  const child = spawn(program, [`--config-dir=${folder}`, "--daemon=no", "--guardian=no"], { stdio: "ignore" });
  const answers = () =>
    askOverTcp(port, [{ name: zone.name, type: 6 }]).then(
      ([reply]) => reply?.answers.length === 1,
      () => false,
    );
  await until(answers, { limit: 10_000, what: () => "PowerDNS to answer" });
  const close = async () => {
    child.kill();
    if (child.exitCode === null) await once(child, "exit");
    await rm(folder, { recursive: true, force: true });
  };
  return { name: caches ? "PowerDNS" : "PowerDNS without its caches", port, pid: child.pid, close };
}

function fill(file: string, { name, ttl, sets }: ZoneContent): void {
  const database = new DatabaseSync(file);
  database.exec("PRAGMA journal_mode = WAL");
  database.exec(readFileSync(schema, "utf8"));
  database.prepare("INSERT INTO domains (name, type) VALUES (?, 'NATIVE')").run(name);
  const insert = database.prepare("INSERT INTO records (domain_id, name, type, content, ttl) VALUES (1, ?, ?, ?, ?)");
  const ownerOf = ({ owner }: RRset) => (owner === "@" ? name : `${owner}.${name}`);
  database.exec("BEGIN");
  for (const set of sets)
    for (const { rdata } of set.records)
      insert.run(ownerOf(set), set.type, rdata.replaceAll(/\.(?=\s|$)/g, ""), set.ttl ?? ttl);
  database.exec("COMMIT");
  database.close();
}
