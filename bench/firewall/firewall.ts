import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { makeDevice } from "../../test/rig/device.ts";
import { type Namespace, node, openNamespace, repository } from "../../test/rig/namespace.ts";
import type { StartedProcess } from "../../test/rig/started-process.ts";
import type { Table } from "../table.ts";

const listen = "127.0.0.1:8443";
const subscribers = 100;
const changes = 200;

/** `moor firewall` as installed, in a network namespace. */
export async function benchFirewall(): Promise<readonly Table[]> {
  execFileSync("npm", ["run", "-s", "build"], { cwd: repository });
  const inside = await openNamespace();
  const folder = mkdtempSync(join(tmpdir(), "moor-bench-firewall-"));
  try {
    await makeDevice(inside, "wan");
    const home = await openHome(inside, folder);
    const rows = [...(await idle(home)), ...(await load(inside, home)), ...(await push(inside, home))];
    const heads = ["what", "measured", "target"];
    return [{ title: "The firewall status service", how: "npm run bench firewall", heads, rows }];
  } finally {
    await inside.close();
    rmSync(folder, { recursive: true });
  }
}

type Home = {
  readonly service: StartedProcess;
  readonly url: string;
  readonly caFile: string;
  readonly keyFile: string;
};

async function openHome(inside: Namespace, folder: string): Promise<Home> {
  const moor = (...words: string[]) => inside.start([node, "dist/program/moor.js", ...words]);
  const keyFile = join(folder, "key");
  await moor("key", "add", "--new", "--data", folder, "--to", keyFile).ended;
  // The first start creates the certificates, with a library that is not needed again.
  const words = ["firewall", "--data", folder, "--listen", listen];
  const first = moor(...words);
  await first.says(/listens on/);
  await first.stop();
  const service = moor(...words);
  await service.says(/listens on/);
  return { service, url: `https://${listen}`, caFile: join(folder, "ca.pem"), keyFile };
}

/** No requests, no listeners. */
async function idle({ service }: Home): Promise<string[][]> {
  // The start-up ends with two garbage collections.
  await sleep(16_000);
  const before = processorTime(service.pid);
  await sleep(20_000);
  const share = (processorTime(service.pid) - before) / 20;
  const resident = Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${service.pid}/status`, "utf8"))?.[1]) / 1024;
  return [
    ["idle, resident", `${resident.toFixed(1)} MB`, "under 60 MB"],
    ["idle, share of a core", `${(share * 100).toFixed(2)} %`, "under 0.1 %"],
  ];
}

/** Seconds, in user mode and in the kernel. */
function processorTime(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

async function load(inside: Namespace, { url, keyFile }: Home): Promise<string[][]> {
  const [, key, secret] = /^key=(.*)\nsecret=(.*)\n/.exec(readFileSync(keyFile, "utf8")) ?? [];
  const basic = Buffer.from(`${key}:${secret}`).toString("base64");
  const path = `${url}/api/diagnostics/interface/getinterfaceconfig`;
  const { out } = await inside.run([
    "wrk",
    "-t1",
    "-c32",
    "-d5s",
    "--latency",
    "-H",
    `Authorization: Basic ${basic}`,
    path,
  ]);
  const [, perSecond] = /Requests\/sec:\s+([\d.]+)/.exec(out) ?? [];
  const [, p99] = /99%\s+(\S+)/.exec(out) ?? [];
  const refused = /Non-2xx or 3xx responses: \d+/.exec(out)?.[0] ?? "none refused";
  return [
    ["authorised reports over HTTPS, 32 connections", `${Number(perSecond).toFixed(0)}/s, ${refused}`, "2000/s"],
    ["the same, 99th percentile", p99 ?? "unknown", ""],
  ];
}

async function push(inside: Namespace, { service, url, caFile, keyFile }: Home): Promise<string[][]> {
  const words = [url, caFile, keyFile, "wan", String(subscribers), String(changes)];
  const { out, err } = await inside.run([node, "bench/firewall/listeners.ts", ...words]);
  if (!out.startsWith("[")) throw new Error(`no figures: ${out}${err}${service.err()}`);
  const delays = (JSON.parse(out) as number[]).toSorted((a, b) => a - b);
  const at = (share: number) => `${(delays[Math.floor(delays.length * share)] ?? Number.NaN).toFixed(1)} ms`;
  const lost = subscribers * changes - delays.length;
  const what = `from the change to the event, ${subscribers} subscribers, ${changes} changes`;
  return [
    [`${what}, median`, at(0.5), "under 20 ms"],
    [`${what}, 99th percentile`, at(0.99), "under 100 ms"],
    [`${what}, lost`, String(lost), "0"],
  ];
}
