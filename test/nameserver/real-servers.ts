import { type ChildProcess, spawn } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ZoneContent } from "../../src/core/records/zone-view.ts";
import { freePort } from "../rig/free-port.ts";
import { involve } from "../rig/involved-processes.ts";
import { patience } from "../rig/patience.ts";
import { until } from "../rig/until.ts";
import { askOverTcp } from "./ask-over-tcp.ts";
import { zoneFile } from "./random-zone.ts";

export type RealServer = {
  readonly name: ServerName;
  readonly pid: number | undefined;
  readonly port: number;
  readonly close: () => Promise<void>;
};

export type ServerName = "NSD" | "Knot" | "BIND";

type Place = { readonly folder: string; readonly port: number; readonly zones: readonly ZoneContent[] };

/**
 * The config of each server: where it listens and what it serves, and otherwise its defaults, except for rate limits
 * and timeouts.
 */
const servers: Readonly<Record<ServerName, (place: Place) => { config: string; command: readonly string[] }>> = {
  NSD: ({ folder, port, zones }) => ({
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
  rrl-ratelimit: 0
  tcp-timeout: 600
  minimal-responses: yes
remote-control:
  control-enable: no
${zones.map(({ name }) => `zone:\n  name: "${name}"\n  zonefile: "${name}.zone"\n`).join("")}`,
    command: ["/usr/sbin/nsd", "-d", "-c"],
  }),
  Knot: ({ folder, port, zones }) => ({
    config: `server:
    listen: 127.0.0.1@${port}
    rundir: "${folder}"
    udp-workers: 1
    tcp-workers: 1
    background-workers: 1
    tcp-idle-timeout: 600
    tcp-io-timeout: 0
database:
    storage: "${folder}"
log:
  - target: stderr
    any: warning
template:
  - id: default
    storage: "${folder}"
    file: "%s.zone"
    zonefile-sync: -1
    zonefile-load: whole
    journal-content: none
    semantic-checks: off
zone:
${zones.map(({ name }) => `  - domain: ${name}\n`).join("")}`,
    command: ["/usr/sbin/knotd", "-c"],
  }),
  BIND: ({ folder, port, zones }) => ({
    config: `options {
  directory "${folder}";
  listen-on port ${port} { 127.0.0.1; };
  listen-on-v6 { none; };
  recursion no;
  dnssec-validation no;
  tcp-initial-timeout 1200;
  tcp-idle-timeout 1200;
  minimal-responses no-auth;
  zero-no-soa-ttl no;
  pid-file "${folder}/named.pid";
  session-keyfile "${folder}/session.key";
  check-names primary ignore;
  check-integrity no;
};
controls { };
${zones.map(({ name }) => `zone "${name}" { type primary; file "${name}.zone"; };\n`).join("")}`,
    command: ["/usr/sbin/named", "-g", "-n", "1", "-c"],
  }),
};

/** A real nameserver on a free loopback port; ready when it answers for every zone. */
export async function startRealServer(name: ServerName, zones: readonly ZoneContent[]): Promise<RealServer> {
  const folder = await mkdtemp(join(tmpdir(), `moor-${name}-`));
  const port = await freePort();
  await mkdir(folder, { recursive: true });
  for (const zone of zones) await writeFile(join(folder, `${zone.name}.zone`), zoneFile(zone));
  const { config, command } = servers[name]({ folder, port, zones });
  const configFile = join(folder, "server.conf");
  await writeFile(configFile, config);
  const [program = "", ...args] = command;
  const child = spawn(program, [...args, configFile], { cwd: folder, stdio: ["ignore", "pipe", "pipe"] });
  const said: Buffer[] = [];
  child.stdout.on("data", (chunk: Buffer) => said.push(chunk));
  child.stderr.on("data", (chunk: Buffer) => said.push(chunk));
  const text = () => Buffer.concat(said).toString();
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null;
  involve({ name, output: text, hasEnded });
  const close = async () => {
    await stop(child);
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await untilAnswering(port, zones, hasEnded);
  } catch (error) {
    await close();
    throw new Error(`${name} did not start:\n${text()}`, { cause: error });
  }
  return { name, pid: child.pid, port, close };
}

async function untilAnswering(port: number, zones: readonly ZoneContent[], hasEnded: () => boolean): Promise<void> {
  const questions = zones.map((zone) => ({ name: zone.name, type: 6 }));
  const answersAll = async () => {
    if (hasEnded()) throw new Error("it ended");
    // It may not be listening yet.
    const replies = await askOverTcp(port, questions).catch(() => undefined);
    return replies?.every((reply) => reply.answers.length === 1) ?? false;
  };
  await until(answersAll, { every: 100, what: () => "answers for all zones" });
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGTERM");
  const killer = setTimeout(() => child.kill("SIGKILL"), patience);
  await ended;
  clearTimeout(killer);
}
