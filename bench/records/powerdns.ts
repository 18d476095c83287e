import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { access, mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as wait } from "node:timers/promises";

export const program = "/usr/sbin/pdns_server";
const schema = "/usr/share/pdns-backend-sqlite3/schema/schema.sqlite3.sql";
const key = "bench";
export const hosts = 1000;

/** PowerDNS with its SQLite store and its API, without any zone maintenance; undefined if it is not installed. */
export async function startPowerDns(port: number): Promise<PowerDns | undefined> {
  if (!(await isThere(program)) || !(await isThere(schema))) return undefined;
  const folder = await mkdtemp(join(tmpdir(), "moor-pdns-"));
  const file = join(folder, "pdns.sqlite");
  fill(file);
  const store = { launch: "gsqlite3", "gsqlite3-database": file, "gsqlite3-pragma-synchronous": "2" };
  return await runPowerDns(folder, port, store);
}

/** `store`: the settings of its backend, which contains bench.example with 1,000 A records. */
export async function runPowerDns(
  folder: string,
  port: number,
  store: Readonly<Record<string, string>>,
): Promise<PowerDns> {
  const settings = {
    ...store,
    "local-address": "127.0.0.1",
    "local-port": String(port + 1),
    api: "yes",
    "api-key": key,
    webserver: "yes",
    "webserver-address": "127.0.0.1",
    "webserver-port": String(port),
    "webserver-loglevel": "none",
    "socket-dir": folder,
    loglevel: "0",
    "default-soa-edit": "",
  };
  await writeFile(
    join(folder, "pdns.conf"),
    Object.entries(settings)
      .map(([name, value]) => `${name}=${value}\n`)
      .join(""),
  );
  const child = spawn(program, [`--config-dir=${folder}`, "--daemon=no", "--guardian=no"], { stdio: "ignore" });
  const server = `http://127.0.0.1:${port}/api/v1/servers/localhost`;
  for (let tries = 0; tries < 50; tries += 1) {
    await wait(100);
    const answer = await fetch(server, { headers: { "X-API-Key": key } }).catch(() => undefined);
    if (!answer?.ok) continue;
    const { version } = (await answer.json()) as { readonly version: string };
    return { child, version, ...scripts(`${server}/zones/bench.example.`) };
  }
  child.kill();
  throw new Error("PowerDNS did not start");
}

export type PowerDns = {
  readonly child: ChildProcess;
  readonly version: string;
  readonly get: string;
  readonly put: string;
};

/** One zone of 1,000 A records, like the zone of moor that it is compared with. */
function fill(file: string): void {
  const database = new DatabaseSync(file);
  database.exec("PRAGMA journal_mode = WAL");
  database.exec(readFileSync(schema, "utf8"));
  database.exec("INSERT INTO domains (name, type) VALUES ('bench.example', 'NATIVE')");
  const insert = database.prepare("INSERT INTO records (domain_id, name, type, content, ttl) VALUES (1, ?, ?, ?, 60)");
  database.exec("BEGIN");
  insert.run("bench.example", "SOA", "ns1.example.net. hostmaster.example.net. 1 86400 10800 3600000 3600");
  for (let i = 0; i < hosts; i += 1) insert.run(`h${i}.bench.example`, "A", "192.0.2.1");
  database.exec("COMMIT");
  database.exec("INSERT INTO domainmetadata (domain_id, kind, content) VALUES (1, 'API-RECTIFY', '0')");
  database.close();
}

/** Reads one set, and writes one whose value is new each time. */
function scripts(url: string) {
  const { pathname } = new URL(url);
  const header = `["X-API-Key"]="${key}", ["Content-Type"]="application/json"`;
  const get = `
local n = 0
request = function()
  n = n + 1
  return wrk.format("GET", "${pathname}?rrset_name=h" .. (n % ${hosts}) .. ".bench.example.&rrset_type=A", {${header}})
end`;
  const put = `
local n = math.floor((os.time() % 10000) * 1000)
request = function()
  n = n + 1
  local value = string.format("10.%d.%d.%d", math.floor(n / 65536) % 256, math.floor(n / 256) % 256, n % 256)
  local body = '{"rrsets":[{"name":"h' .. (n % ${hosts}) .. '.bench.example.","type":"A","ttl":60,"changetype":"REPLACE",' ..
    '"records":[{"content":"' .. value .. '","disabled":false}]}]}'
  return wrk.format("PATCH", "${pathname}", {${header}}, body)
end`;
  return { get, put };
}

export const isThere = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );
