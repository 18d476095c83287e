import { execFileSync } from "node:child_process";
import { createWriteStream, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { makeDevice } from "../../test/rig/device.ts";
import { startMoor } from "../../test/rig/moor.ts";
import { openNamespace } from "../../test/rig/namespace.ts";
import { openRecordsApi } from "../../test/rig/records-api.ts";
import { startServices } from "../../test/rig/services.ts";
import type { StartedProcess } from "../../test/rig/started-process.ts";
import { until } from "../../test/rig/until.ts";
import type { Table } from "../table.ts";

const changes = 200;

/**
 * From the kernel's change of an address to a written, confirmed and stored record: three real processes, or two
 * without a firewall.
 */
export async function benchPushed(): Promise<Table> {
  const folder = mkdtempSync(join(tmpdir(), "moor-bench-pushed-"));
  const inside = await openNamespace();
  try {
    const services = await startServices(inside, folder);
    const api = openRecordsApi(inside, services, folder);
    const zone = await api.makeZone("example.org");
    await makeDevice(inside, "wan0");
    // One `ip` for all changes, controlled through a pipe: starting one per change would take longer than what is
    // measured.
    const pipe = join(folder, "ip");
    execFileSync("mkfifo", [pipe]);
    inside.start(["ip", "-force", "-batch", pipe]);
    const ip = createWriteStream(pipe);
    const rows: string[][] = [];
    const { url, keyFile, caFile } = { ...services, ...services.firewall };
    const firewall = `{ url: "${url}", keyFile: "${keyFile}", ca: "${caFile}" }`;
    for (const [name, targetApi, source, from] of [
      ["one", "v1", firewall, "moor firewall"],
      ["two", "rrsets", firewall, "moor firewall"],
      ["three", "v1", "{ kind: interface }", "kind: interface"],
    ] as const) {
      await api.makeRecord({ zone_id: zone, name, type: "A", value: "192.0.2.1", ttl: 60 });
      const config = writeConfig(folder, services, { name, targetApi, source });
      const updater = startMoor(inside, ["update", "--config", config]);
      const times = await measure(ip, updater);
      await updater.stop();
      const at = (share: number) => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? Number.NaN;
      const ms = (value: number) => `${value.toFixed(1)} ms`;
      rows.push([from, targetApi, String(times.length), ms(at(0.5)), "60 ms", ms(at(0.99)), "300 ms", ms(at(1))]);
    }
    ip.end();
    const heads = ["read from", "written by", "changes", "median", "target", "99th percentile", "target", "slowest"];
    return {
      title: "From a kernel address change to a confirmed record, pushed",
      how: "npm run bench updater",
      heads,
      rows,
    };
  } finally {
    await inside.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

type Wanted = { readonly name: string; readonly targetApi: string; readonly source: string };

function writeConfig(
  folder: string,
  { records, tokenFile, caFile }: Awaited<ReturnType<typeof startServices>>,
  { name, targetApi, source }: Wanted,
): string {
  const file = join(folder, `${name}.yaml`);
  writeFileSync(
    file,
    `interval: 1h
sources: { wall: ${source} }
targets: { dns: { api: ${targetApi}, url: "${records.url}", token: { file: "${tokenFile}" }, ca: "${caFile}" } }
names: [{ name: ${name}, zone: example.org, ipv4: wan0 }]
`,
  );
  return file;
}

/** Milliseconds of each change, shortest first. */
async function measure(ip: NodeJS.WritableStream, updater: StartedProcess): Promise<readonly number[]> {
  const address = (n: number) => `9.${(n >> 7) + 1}.${n & 127}.1`;
  const change = (n: number) =>
    ip.write(`${n === 0 ? "" : `addr del ${address(n - 1)}/24 dev wan0\n`}addr add ${address(n)}/24 dev wan0\n`);
  const done = (n: number) =>
    until(() => updater.err().includes(`replaced by ${address(n)} `), {
      ...{ limit: 10_000, every: 1, what: () => `${address(n)}: ${updater.err().slice(-500)}` },
    });
  change(0);
  await done(0);
  await sleep(1_000);
  const times: number[] = [];
  for (let n = 1; n <= changes; n++) {
    const start = performance.now();
    change(n);
    await done(n);
    times.push(performance.now() - start);
    await sleep(20);
  }
  ip.write(`addr del ${address(changes)}/24 dev wan0\n`);
  await sleep(300);
  return times.toSorted((a, b) => a - b);
}
