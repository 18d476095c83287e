import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { freePort } from "../free-port.ts";
import { startProcess } from "../started-process.ts";
import { until } from "../until.ts";

/** A real nameserver with the zone example.org, which the key `home` may change by UPDATE. */
export type UpdateServer = {
  readonly port: number;
  readonly close: () => Promise<void>;
};

export type UpdateServerName = "BIND" | "Knot" | "PowerDNS";

export const tsigSecret = Buffer.from("a secret of thirty-two bytes, ok").toString("base64");
export const pdnsKey = "a key for PowerDNS 0123456789";

const zoneText = `$ORIGIN example.org.
$TTL 3600
@ SOA ns1.example.org. hostmaster.example.org. 1 7200 900 1209600 300
@ NS ns1
ns1 A 127.0.0.1
`;

type Started = { readonly command: readonly [string, ...string[]]; readonly prepare?: () => void };

const servers: Readonly<Record<UpdateServerName, (folder: string, port: number, http: number) => Started>> = {
  BIND(folder, port) {
    writeFileSync(
      join(folder, "named.conf"),
      `key "home" { algorithm hmac-sha256; secret "${tsigSecret}"; };
key "reader" { algorithm hmac-sha256; secret "${tsigSecret}"; };
options { directory "${folder}"; pid-file none; session-keyfile none; recursion no; dnssec-validation no; notify no;
  listen-on port ${port} { 127.0.0.1; }; listen-on-v6 { none; }; };
controls { };
zone "example.org" { type primary; file "zone"; update-policy { grant home zonesub ANY; }; allow-transfer { key home; }; };
`,
    );
    return { command: ["/usr/sbin/named", "-g", "-n", "1", "-c", join(folder, "named.conf")] };
  },
  Knot(folder, port) {
    writeFileSync(
      join(folder, "knot.conf"),
      `server:
    listen: 127.0.0.1@${port}
    rundir: "${folder}"
    udp-workers: 1
    tcp-workers: 1
    background-workers: 1
database:
    storage: "${folder}"
log:
  - target: stderr
    any: info
key:
  - id: home
    algorithm: hmac-sha256
    secret: ${tsigSecret}
  - id: reader
    algorithm: hmac-sha256
    secret: ${tsigSecret}
acl:
  - id: update
    key: home
    action: [update, transfer]
zone:
  - domain: example.org
    storage: "${folder}"
    file: zone
    zonefile-sync: -1
    acl: update
`,
    );
    return { command: ["/usr/sbin/knotd", "-c", join(folder, "knot.conf")] };
  },
  PowerDNS(folder, port, http) {
    const file = join(folder, "pdns.sqlite3");
    const settings = {
      ...{ launch: "gsqlite3", "gsqlite3-database": file, "gsqlite3-dnssec": "yes" },
      ...{ "local-address": "127.0.0.1", "local-port": port, "socket-dir": folder, "config-dir": folder },
      ...{ api: "yes", "api-key": pdnsKey, webserver: "yes", "webserver-address": "127.0.0.1", "webserver-port": http },
      ...{ dnsupdate: "yes", "allow-dnsupdate-from": "127.0.0.0/8", "cache-ttl": 0, "query-cache-ttl": 0 },
      // The secondaries of a zone of the kind Master are notified.
      ...{ primary: "yes", "negquery-cache-ttl": 0, "zone-cache-refresh-interval": 0, "consistent-backends": "no" },
    };
    return {
      command: [
        "/usr/sbin/pdns_server",
        ...["--daemon=no", "--guardian=no"],
        ...Object.entries(settings).map(([name, value]) => `--${name}=${value}`),
      ],
      prepare: () => fillPdns(file),
    };
  },
};

function fillPdns(file: string): void {
  const database = new DatabaseSync(file);
  database.exec(readFileSync("/usr/share/pdns-backend-sqlite3/schema/schema.sqlite3.sql", "utf8"));
  database.exec(`INSERT INTO domains (id, name, type) VALUES (1, 'example.org', 'NATIVE');
INSERT INTO records (domain_id, name, type, content, ttl, auth, disabled) VALUES
  (1, 'example.org', 'SOA', 'ns1.example.org hostmaster.example.org 1 7200 900 1209600 300', 3600, 1, 0),
  (1, 'example.org', 'NS', 'ns1.example.org', 3600, 1, 0), (1, 'ns1.example.org', 'A', '127.0.0.1', 3600, 1, 0);
INSERT INTO tsigkeys (name, algorithm, secret) VALUES ('home', 'hmac-sha256', '${tsigSecret}'), ('reader', 'hmac-sha256', '${tsigSecret}');
INSERT INTO domainmetadata (domain_id, kind, content) VALUES (1, 'TSIG-ALLOW-DNSUPDATE', 'home'), (1, 'TSIG-ALLOW-AXFR', 'home');`);
  database.close();
}

export async function startUpdateServer(
  name: UpdateServerName,
  answers: (port: number, http: number) => Promise<boolean>,
): Promise<UpdateServer> {
  const folder = mkdtempSync(join(tmpdir(), `moor-${name}-`));
  writeFileSync(join(folder, "zone"), zoneText);
  const [port, http] = [await freePort(), await freePort()];
  const { command, prepare } = servers[name](folder, port, http);
  prepare?.();
  const process = startProcess(command, { cwd: folder });
  const close = async () => {
    await process.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await until(() => answers(port, http), { what: () => `${name} to start: ${process.out()}${process.err()}` });
  } catch (error) {
    await close();
    throw error;
  }
  return { port, close };
}
