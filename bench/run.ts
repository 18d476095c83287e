import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import type { Table } from "./table.ts";

/** Each bench is loaded when it is run. If a peer is not installed, its table says so; that is not a failure. */
const benches: Readonly<Record<string, (only: readonly string[]) => Promise<readonly Table[]>>> = {
  records: async () => (await import("./records/records.ts")).benchRecords(),
  "records-scale": async () => (await import("./records/scale.ts")).benchRecordsScale(),
  rrsets: async () => (await import("./records/rrsets.ts")).benchRrsets(),
  neighbours: async (only) => (await import("./neighbours/neighbours.ts")).benchNeighbours(only),
  postgres: async () => (await import("./records/postgres.ts")).benchPostgres(),
  dns: async (only) => (await import("./dns/dns.ts")).benchDns(only),
  dnssec: async () => (await import("./dns/dnssec.ts")).benchDnssec(),
  "dns-load": async () => (await import("./dns/load.ts")).benchDnsLoad(),
  "dns-transfer": async () => (await import("./dns/transfer.ts")).benchTransfer(),
  console: async () => (await import("./console/console.ts")).benchConsole(),
  firewall: async () => (await import("./firewall/firewall.ts")).benchFirewall(),
  front: async () => (await import("./front/front.ts")).benchFront(),
  size: async () => (await import("./size/size.ts")).benchSize(),
  updater: async () => (await import("./updater/updater.ts")).benchUpdater(),
};

const words = process.argv.slice(2);
/**
 * After `--`, parts of the names of rows: `npm run bench neighbours -- -- AXFR`. Such a run is printed but not saved.
 */
const end = words.indexOf("--");
const only = end < 0 ? [] : words.slice(end + 1);
const wanted = end < 0 ? words : words.slice(0, end);
const unknown = wanted.filter((name) => !(name in benches));
if (unknown.length > 0) {
  console.error(`unknown bench ${unknown.join(", ")}; choose from ${Object.keys(benches).join(", ")}`);
  process.exit(2);
}

for (const [name, bench] of Object.entries(benches)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  const tables = await bench(only);
  const text = `# ${name}\n\n${await machine()}\n${tables.map(markdown).join("")}`;
  const folder = join(import.meta.dirname, "results");
  mkdirSync(folder, { recursive: true });
  if (only.length === 0) writeFileSync(join(folder, `${name}.md`), text);
  console.log(text);
}

async function machine(): Promise<string> {
  const kernel = execFileSync("uname", ["-sr"], { encoding: "utf8" }).trim();
  const model = cpus()[0]?.model ?? "unknown processor";
  return `${new Date().toISOString().slice(0, 10)}, ${cpus().length} × ${model}, ${kernel}, Node ${process.version}\n`;
}

function markdown({ title, how, heads, rows }: Table): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |\n`;
  return `\n## ${title}\n\n\`${how}\`\n\n${line(heads)}${line(heads.map(() => "---"))}${rows.map(line).join("")}`;
}
