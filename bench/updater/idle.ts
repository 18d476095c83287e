import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { makeCertificate } from "../../test/rig/updater/certificates.ts";
import { startEventFirewall } from "../../test/rig/updater/event-firewall.ts";
import { startServer, wanWith } from "../../test/rig/updater/services.ts";
import { usageOf } from "../process-usage.ts";
import type { Table } from "../table.ts";

const repository = join(import.meta.dirname, "../..");
const report = { wan0: wanWith(["9.9.9.9"], ["2a00::9"]) };
const idleMinutes = Number(process.env.MOOR_BENCH_MINUTES ?? 10);

/** A watcher with nothing to do: pushed to by its firewall for ten minutes, and polling for a thousand names. */
export async function benchIdle(): Promise<Table> {
  const [events, many] = await Promise.all([watchByEvents(), pollForMany(1000)]);
  const rows = [
    [
      `by events over HTTPS, ${idleMinutes} minutes`,
      "CPU",
      `${events.cpu.toFixed(2)} s`,
      `${(0.02 * idleMinutes).toFixed(2)} s`,
    ],
    ["", "resident", `${events.resident.toFixed(1)} MB`, "65 MB"],
    ["", "requests besides the stream", String(events.requests), "0"],
    ["1,000 names, polling", "CPU of a round", `${many.cpu.toFixed(1)} ms`, "100 ms"],
    ["", "requests of a round", many.requests.toFixed(2), "1"],
  ];
  return {
    title: "Watching with nothing to do",
    how: "npm run bench updater",
    heads: ["how", "what", "measured", "target"],
    rows,
  };
}

async function watchByEvents() {
  const certificate = makeCertificate("IP:127.0.0.1");
  const firewall = await startEventFirewall(report, certificate);
  const beats = setInterval(() => firewall.send(": heartbeat\n\n"), 15_000);
  const home = makeHome(firewall.url, 1, "30s", ", ca: ca.pem");
  writeFileSync(join(home, "ca.pem"), certificate.ca);
  const watcher = startWatcher(home);
  // By then, the start and its after-effects are over.
  await sleep(15_000);
  const before = usageOf(watcher.pid);
  const asked = firewall.asked.length;
  await sleep(idleMinutes * 60_000);
  const after = usageOf(watcher.pid);
  const requests = firewall.asked.length - asked;
  clearInterval(beats);
  await watcher.stop();
  await firewall.close();
  rmSync(home, { recursive: true });
  return { cpu: after.cpu - before.cpu, resident: after.resident, requests };
}

async function pollForMany(names: number) {
  const firewall = await startServer(({ path }) => (path.endsWith("/events") ? { status: 404 } : { body: report }));
  const reads = () => firewall.asked.filter(({ path }) => !path.endsWith("/events")).length;
  const home = makeHome(firewall.url, names, "1s");
  const watcher = startWatcher(home);
  await sleep(15_000);
  const before = usageOf(watcher.pid);
  const asked = firewall.asked.length;
  const rounds = reads();
  await sleep(45_000);
  const cpu = usageOf(watcher.pid).cpu - before.cpu;
  const done = reads() - rounds;
  const requests = firewall.asked.length - asked;
  await watcher.stop();
  await firewall.close();
  rmSync(home, { recursive: true });
  return { cpu: (1000 * cpu) / done, requests: requests / done };
}

/** A folder whose state says that everything is up to date: the record service gets no requests. */
function makeHome(firewall: string, names: number, interval: string, trust = ""): string {
  const folder = mkdtempSync(join(tmpdir(), "moor-bench-idle-"));
  const service = "http://127.0.0.1:9/";
  const list = Array.from({ length: names }, (_, n) => `name${n}`);
  const write = (file: string, text: string) => writeFileSync(join(folder, file), text, { mode: 0o600 });
  write("key", "key=thekey\nsecret=thesecret\n");
  write("token", "t0ken\n");
  write(
    "moor.yaml",
    `interval: ${interval}
sources: { home: { url: "${firewall}", keyFile: key${trust} } }
targets: { dns: { url: "${service}", token: { file: token } } }
names:
${list.map((name) => `  - { name: ${name}, zone: example.org, ipv4: wan0, ipv6: wan0 }`).join("\n")}
`,
  );
  const stored = (address: string) => ({ address, storedAt: "2026-01-01T00:00:00.000Z" });
  const entries = list.flatMap((name) => [
    [`${service} example.org ${name} A`, stored("9.9.9.9")],
    [`${service} example.org ${name} AAAA`, stored("2a00::9")],
  ]);
  write("moor-state.json", JSON.stringify({ version: 1, entries: Object.fromEntries(entries), holds: {} }));
  return folder;
}

function startWatcher(home: string) {
  const args = ["dist/program/moor.js", "update", "--config", join(home, "moor.yaml")];
  const child = spawn(process.execPath, args, { cwd: repository, stdio: "ignore" });
  return {
    pid: child.pid ?? -1,
    async stop() {
      const ended = once(child, "exit");
      child.kill("SIGTERM");
      await ended;
    },
  };
}
