import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { cpuOfRun, inTurn, median, type Usage, usageOfIdle } from "../process-usage.ts";
import type { Table } from "../table.ts";
import { openHome, usageWatching } from "../updater/home.ts";
import { usageOfPeer } from "../updater/peers.ts";
import { debianPackage, takeClone, takePackage, takeSingleFile, type Way } from "./ways.ts";

const how = "npm run bench size";

/** What it takes to install moor and to run it, compared with Debian's clients and with Node alone. */
export async function benchSize(): Promise<readonly Table[]> {
  const folder = mkdtempSync(join(tmpdir(), "moor-bench-size-"));
  try {
    const ways = [takePackage(folder), takeSingleFile(folder), takeClone(folder)];
    return [gettingIt(ways), await startingIt(ways), await runningIt(ways, folder)];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const peers = ["ddclient", "inadyn"];
const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`;

function gettingIt(ways: readonly Way[]): Table {
  const row = ({ name, download, unpacked, seconds }: Way) => [
    name,
    megabytes(download),
    megabytes(unpacked),
    seconds === undefined ? "" : `${seconds.toFixed(0)} s`,
  ];
  const targets: Readonly<Record<string, string>> = { "package (npm install --global)": "15 MB unpacked" };
  const node = ["Node alone, which the package needs", "", megabytes(statSync(process.execPath).size), "", ""];
  return {
    ...{ title: "Getting it", how },
    heads: ["way", "download, compressed", "unpacked", "to install", "target"],
    rows: [
      ...ways.map((way) => [...row(way), targets[way.name] ?? (way.seconds === undefined ? "" : "60 s to install")]),
      node,
      ...peers.map((name) => {
        const found = debianPackage(name);
        return found ? [...row(found), ""] : [name, "not installed", "", "", ""];
      }),
    ],
  };
}

/** Measures CPU time, because elapsed time depends on what else the machine does. */
async function startingIt(ways: readonly Way[]): Promise<Table> {
  const cpu = async (words: readonly string[]) => {
    await cpuOfRun(words, {});
    return median(await inTurn(15, () => cpuOfRun(words, {})));
  };
  const bare = await cpu([process.execPath, "-e", "0"]);
  const rows: string[][] = [["Node with nothing in it", `${bare.toFixed(0)} ms`, "", ""]];
  for (const { name, command } of ways) {
    const took = await cpu([...command, "--version"]);
    rows.push([name, `${took.toFixed(0)} ms`, `${(took - bare).toFixed(0)} ms`, "60 ms"]);
  }
  return { title: "Starting it: --version", how, heads: ["way", "CPU", "more than bare Node", "target"], rows };
}

async function runningIt(ways: readonly Way[], folder: string): Promise<Table> {
  const line = (what: string, who: string, usage: Usage | undefined, target = "") =>
    usage === undefined
      ? [what, who, "not installed", "", ""]
      : [what, who, `${usage.resident.toFixed(1)} MB`, `${usage.own.toFixed(1)} MB`, target];
  const home = await openHome();
  const rows: string[][] = [];
  try {
    const nothing = [process.execPath, "-e", "setInterval(() => 0, 1e9)"];
    rows.push(line("nothing", "Node with nothing in it", await usageOfIdle(nothing, 5_000)));
    const ask = `require("node:https").get("${home.firewall}", { rejectUnauthorized: false }, (answer) => answer.resume())`;
    const asking = `const agent = setInterval(() => 0, 1e9); ${ask}`;
    rows.push(
      line("one HTTPS request, then nothing", "Node", await usageOfIdle([process.execPath, "-e", asking], 5_000)),
    );
    for (const { name, command } of ways) {
      // The first start of a clone fills its compile cache.
      await usageWatching(command, home.folder, 10_000);
      rows.push(line("update, watching over HTTPS", name, await usageWatching(command, home.folder, 20_000), "45 MB"));
    }
    for (const name of peers) rows.push(line("watching", name, await usageOfPeer(name)));
    for (const { name, command } of ways) {
      const words = [...command, "records", "--listen", "127.0.0.1:0", "--data", join(folder, "data")];
      // The first start creates the certificates and the database.
      await usageOfIdle(words, 5_000);
      rows.push(line("records, idle", name, await usageOfIdle(words, 20_000), "80 MB"));
    }
  } finally {
    await home.close();
  }
  return { title: "Running it", how, heads: ["doing", "way", "resident", "of that its own", "target"], rows };
}
