import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { makeCertificate } from "../../test/rig/updater/certificates.ts";
import { recordService, startServer, type TestRecord, wanWith } from "../../test/rig/updater/services.ts";
import { cpuOfRun, usageOf } from "../process-usage.ts";
import type { Table } from "../table.ts";

const repository = join(import.meta.dirname, "../..");

/** The cost of `moor update` when there is nothing to do, from a clone and as installed, over HTTPS. */
export async function benchCost(): Promise<Table> {
  execFileSync("npm", ["run", "-s", "build"], { cwd: repository });
  const home = await openHome();
  try {
    const rows: string[][] = [];
    for (const { how, command } of programs(home.folder)) {
      // The first runs fill the compile cache; the very first one writes both records.
      await onceCost(command, home.folder);
      await onceCost(command, home.folder);
      const cpu = median(await inTurn(5, () => onceCost(command, home.folder)));
      await idle(command, home.folder, 2_000);
      const resident = await idle(command, home.folder, 20_000);
      rows.push(
        [how, "update --once with nothing to do, CPU", `${cpu.toFixed(0)} ms`, "350 ms"],
        [how, "update, watching, resident after 20 s", `${resident.toFixed(1)} MB`, "70 MB"],
      );
    }
    return {
      title: "Nothing to do",
      how: "npm run bench updater",
      heads: ["program", "what", "measured", "target"],
      rows,
    };
  } finally {
    await home.close();
  }
}

const programs = (folder: string) => [
  { how: "from a clone (bin/moor)", command: ["env", `XDG_CACHE_HOME=${join(folder, "cache")}`, "bin/moor"] },
  { how: "built (dist/program/moor.js)", command: [process.execPath, "dist/bin/moor.js"] },
];

async function openHome() {
  const folder = mkdtempSync(join(tmpdir(), "moor-bench-updater-"));
  const certificate = makeCertificate("IP:127.0.0.1");
  const records: TestRecord[] = ["A", "AAAA"].map((type) => ({
    id: type,
    type,
    name: "home",
    value: "",
    zone_id: "z1",
  }));
  const firewall = await startServer(
    ({ path }) =>
      path.includes("getinterfaceconfig") ? { body: { wan0: wanWith(["9.9.9.9"], ["2a00::9"]) } } : { status: 404 },
    certificate,
  );
  const service = await startServer(recordService(records), certificate);
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text, { mode: 0o600 });
  write("key", "key=thekey\nsecret=thesecret\n");
  write("token", "t0ken\n");
  write("ca.pem", certificate.ca);
  write(
    "moor.yaml",
    `sources: { home: { url: "${firewall.url}", keyFile: key, ca: ca.pem } }
targets: { dns: { url: "${service.url}", token: { file: token }, ca: ca.pem } }
names: [{ name: home, zone: example.org, ipv4: wan0, ipv6: wan0 }]
`,
  );
  const close = async () => {
    await Promise.all([firewall.close(), service.close()]);
    rmSync(folder, { recursive: true });
  };
  return { folder, close };
}

const onceCost = (command: readonly string[], folder: string) =>
  cpuOfRun([...command, "update", "--once", "--config", join(folder, "moor.yaml")], { cwd: repository });

/** Resident megabytes after some milliseconds of watching. */
async function idle([program = "", ...args]: readonly string[], folder: string, after: number): Promise<number> {
  const child = spawn(program, [...args, "update", "--config", join(folder, "moor.yaml")], {
    cwd: repository,
    stdio: "ignore",
  });
  await sleep(after);
  const { resident } = usageOf(child.pid ?? -1);
  const ended = once(child, "exit");
  child.kill("SIGTERM");
  await ended;
  return resident;
}

async function inTurn<T>(times: number, measure: () => Promise<T>): Promise<readonly T[]> {
  const all: T[] = [];
  for (let i = 0; i < times; i++) all.push(await measure());
  return all;
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
