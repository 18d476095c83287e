import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type StartedProcess, startProcess } from "../rig/started-process.ts";
import { until } from "../rig/until.ts";
import { serialOver } from "./ask-over-udp.ts";

export type FollowerName = "NSD" | "Knot" | "BIND";

/** A real secondary of moor; everyone on this machine can transfer its zones. */
export type Follower = {
  readonly name: FollowerName;
  readonly port: number;
  /** Waits until it has this serial. */
  readonly reaches: (zone: string, serial: number) => Promise<void>;
  readonly close: () => Promise<void>;
};

type Place = {
  readonly folder: string;
  readonly port: number;
  readonly moor: number;
  readonly zones: readonly string[];
};

const servers: Readonly<Record<FollowerName, (place: Place) => { config: string; command: [string, ...string[]] }>> = {
  NSD: ({ folder, port, moor, zones }) => ({
    config: `server:
  ip-address: 127.0.0.1
  port: ${port}
  server-count: 1
  username: ""
  chroot: ""
  zonesdir: "${folder}"
  database: ""
  pidfile: "${folder}/nsd.pid"
  zonelistfile: "${folder}/zone.list"
  xfrdfile: "${folder}/xfrd.state"
  xfrdir: "${folder}"
  xfrd-reload-timeout: 0
  tcp-timeout: 600
  rrl-ratelimit: 0
remote-control:
  control-enable: no
${zones
  .map(
    (name) => `zone:
  name: "${name}"
  request-xfr: 127.0.0.1@${moor} NOKEY
  allow-notify: 127.0.0.1 NOKEY
  provide-xfr: 127.0.0.1 NOKEY
`,
  )
  .join("")}`,
    command: ["/usr/sbin/nsd", "-d", "-c"],
  }),
  Knot: ({ folder, port, moor, zones }) => ({
    config: `server:
    listen: 127.0.0.1@${port}
    rundir: "${folder}"
    udp-workers: 1
    tcp-workers: 1
    background-workers: 1
    tcp-idle-timeout: 600
    tcp-remote-io-timeout: 60000
database:
    storage: "${folder}"
log:
  - target: stderr
    any: warning
remote:
  - id: moor
    address: 127.0.0.1@${moor}
acl:
  - id: everyone
    address: 127.0.0.1
    action: [transfer, notify]
template:
  - id: default
    storage: "${folder}"
    file: "%s.zone"
    zonefile-sync: -1
    zonefile-load: none
    journal-content: all
    master: moor
    acl: everyone
zone:
${zones.map((name) => `  - domain: ${name}\n`).join("")}`,
    command: ["/usr/sbin/knotd", "-c"],
  }),
  BIND: ({ folder, port, moor, zones }) => ({
    config: `options {
  directory "${folder}"; pid-file none; session-keyfile none;
  listen-on port ${port} { 127.0.0.1; }; listen-on-v6 { none; };
  recursion no; dnssec-validation no; notify no; allow-transfer { any; }; serial-query-rate 1000;
  tcp-initial-timeout 1200; tcp-idle-timeout 1200;
};
controls { };
${zones
  .map((name) => `zone "${name}" { type secondary; file "${name}"; primaries { 127.0.0.1 port ${moor}; }; };\n`)
  .join("")}`,
    command: ["/usr/sbin/named", "-g", "-n", "1", "-c"],
  }),
};

/** Ready when it has all zones. `moor` must notify its port. */
export async function startFollower(name: FollowerName, place: Omit<Place, "folder">): Promise<Follower> {
  const { port, zones } = place;
  const folder = await mkdtemp(join(tmpdir(), `moor-${name}-`));
  const file = join(folder, "server.conf");
  const { config, command } = servers[name]({ ...place, folder });
  await writeFile(file, config);
  const child: StartedProcess = startProcess([...command, file], { cwd: folder });
  const follower = {
    name,
    port,
    reaches: (zone: string, serial: number) =>
      until(async () => (await serialOver(port, zone)) === serial, {
        what: () => `${name} to have serial ${serial} of ${zone}: ${`${child.out()}${child.err()}`.slice(-2_000)}`,
      }),
    close: async () => {
      await child.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
  try {
    for (const zone of zones)
      await until(async () => ((await serialOver(port, zone)) ?? 0) > 0, {
        what: () => `${name} to start: ${child.out()}${child.err()}`,
      });
  } catch (error) {
    await follower.close();
    throw error;
  }
  return follower;
}
