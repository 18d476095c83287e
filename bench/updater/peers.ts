import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { until } from "../../test/rig/until.ts";
import { startServer, type TestServer } from "../../test/rig/updater/services.ts";
import { cpuOfRun, median, type Usage, usageOf } from "../process-usage.ts";
import type { Table } from "../table.ts";

/** Debian's own clients at the same work: an address from a command, sent to a server that accepts everything. */
type Peer = {
  readonly name: string;
  /** The shortest polling interval that it allows. */
  readonly looks: string;
  config(folder: string, server: TestServer): string;
  once(folder: string): readonly string[];
  watch(folder: string): readonly string[];
};

const peers: readonly Peer[] = [
  {
    ...{ name: "ddclient", looks: "10 s (300 s by default)" },
    config: (folder, { port }) => `syslog=no
ssl=no
min-interval=10s
use=cmd, cmd='cat ${folder}/address'
protocol=dyndns2
server=127.0.0.1:${port}
login=u
password=p
home.example.org
`,
    once: (folder) => ["ddclient", "-file", `${folder}/config`, "-cache", `${folder}/cache`, "-daemon=0"],
    watch: (folder) => [
      ...["ddclient", "-file", `${folder}/config`, "-cache", `${folder}/cache`],
      ...["-daemon=10", "-foreground", "-pid", `${folder}/pid`],
    ],
  },
  {
    ...{ name: "inadyn", looks: "30 s (60 s by default)" },
    config: (folder, { port }) => `period = 30
allow-ipv6 = false
custom moor {
  ddns-server = 127.0.0.1:${port}
  ddns-path = "/nic/update?hostname=%h&myip=%i"
  ssl = false
  username = u
  password = p
  hostname = home.example.org
  checkip-command = "/bin/cat ${folder}/address"
}
`,
    once: (folder) => ["inadyn", "-1", "-n", "-f", `${folder}/config`, `--cache-dir=${folder}`],
    watch: (folder) => ["inadyn", "-n", "-f", `${folder}/config`, `--cache-dir=${folder}`, "-P", `${folder}/pid`],
  },
];

const changes = 5;

export async function benchPeers(): Promise<Table> {
  const heads = [
    "program",
    "one run with nothing to do, CPU",
    "watching, resident",
    "interval",
    "from change to write, median",
  ];
  const rows = await Promise.all(peers.map(measure));
  return { title: "Debian's clients at the same task", how: "npm run bench updater", heads, rows };
}

const path = { PATH: `${process.env.PATH}:/usr/sbin:/sbin` };

async function measure(peer: Peer): Promise<string[]> {
  const measured = await watchWith(peer, async ({ folder, server, say, usage }) => {
    const cpu = await cpuOfRun(peer.once(folder), { env: path });
    const { resident } = usage();
    const times: number[] = [];
    for (let n = 1; n <= changes; n++) {
      // At a different point of its sleep each time.
      await sleep(3_000 + 2_300 * n);
      const address = `9.9.8.${n}`;
      const start = performance.now();
      say(address);
      const wrote = () => server.asked.some((asked) => addressIn(asked.path) === address);
      await until(wrote, { limit: 120_000, every: 20, what: () => `${peer.name} to write ${address}` });
      times.push(performance.now() - start);
    }
    const written = `${(median(times) / 1000).toFixed(1)} s`;
    return [peer.name, `${cpu.toFixed(0)} ms`, `${resident.toFixed(1)} MB`, peer.looks, written];
  });
  return measured ?? [peer.name, "not installed", "", "", ""];
}

/** The memory of a peer while it watches. Undefined if it is not installed. */
export async function usageOfPeer(name: string): Promise<Usage | undefined> {
  const peer = peers.find((each) => each.name === name);
  return peer && (await watchWith(peer, async ({ usage }) => usage()));
}

type Watching = {
  readonly folder: string;
  readonly server: TestServer;
  /** Changes the address that it reads. */
  readonly say: (address: string) => void;
  readonly usage: () => Usage;
};

/**
 * Starts the peer after one run that wrote the address, so that it has nothing to do. Undefined if it is not installed.
 */
async function watchWith<T>(peer: Peer, use: (watching: Watching) => Promise<T>): Promise<T | undefined> {
  if (!isThere(peer.name)) return undefined;
  const folder = mkdtempSync(join(tmpdir(), `moor-bench-${peer.name}-`));
  const server = await startServer(({ path: asked }) => ({ body: `good ${addressIn(asked)}\n` }));
  const say = (address: string) => writeFileSync(join(folder, "address"), `${address}\n`);
  writeFileSync(join(folder, "config"), peer.config(folder, server), { mode: 0o600 });
  say("9.9.9.9");
  try {
    await cpuOfRun(peer.once(folder), { env: path });
    const [program = "", ...args] = peer.watch(folder);
    const child = spawn(program, args, { env: path, stdio: "ignore" });
    await sleep(5_000);
    const done = await use({ folder, server, say, usage: () => usageOf(child.pid ?? -1) });
    const ended = once(child, "exit");
    child.kill("SIGTERM");
    await ended;
    return done;
  } finally {
    await server.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

const addressIn = (path: string) => new URL(path, "http://x").searchParams.get("myip") ?? "";

function isThere(program: string): boolean {
  try {
    execFileSync("sh", ["-c", `command -v ${program}`], { env: path, stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}
