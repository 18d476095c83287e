import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { cpuOfRun, inTurn, median } from "../process-usage.ts";
import type { Table } from "../table.ts";
import { openHome, repository, usageWatching } from "./home.ts";

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
      await usageWatching(command, home.folder, 2_000);
      const { resident } = await usageWatching(command, home.folder, 20_000);
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
  { how: "built (dist/program/moor.js)", command: [process.execPath, "dist/program/moor.js"] },
];

const onceCost = (command: readonly string[], folder: string) =>
  cpuOfRun([...command, "update", "--once", "--config", join(folder, "moor.yaml")], { cwd: repository });
