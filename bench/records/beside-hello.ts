import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { type Load, medianLoad, wrk } from "./wrk.ts";

export type Transport = "http" | "https";

/** One kind of request to the record service: `script` is Lua for wrk. */
export type Call = { readonly name: string; readonly script: string; readonly target: string };

export const besideHelloHeads = [
  "transport",
  "call",
  "requests/s",
  "99th percentile",
  "ratio to bare Node",
  "target",
  "failed",
] as const;

const helloPort = 18_990;
export const moorPort = 18_991;
const seconds = 5;
const rounds = 3;

/** Rows of ratios to a bare Node server on the same transport, measured in turns so that noise affects both. */
export async function measureBesideHello(
  folder: string,
  transport: Transport,
  calls: readonly Call[],
): Promise<readonly (readonly string[])[]> {
  const hello = await start(["bench/records/hello.ts", String(helloPort), ...(transport === "http" ? [] : [folder])]);
  const moor = await startMoor(folder, transport);
  try {
    const bare = { name: "bare Node, hello", script: "", target: "", port: helloPort, loads: [] as Load[], failed: 0 };
    const all = [bare, ...calls.map((call) => ({ ...call, port: moorPort, loads: [] as Load[], failed: 0 }))];
    for (let round = 0; round <= rounds; round += 1) {
      for (const each of all) {
        const load = await wrk(`${transport}://127.0.0.1:${each.port}/`, each.script, seconds);
        each.failed += load.failed;
        // The first round is slower because of JIT compilation, but must not fail.
        if (round > 0) each.loads.push(load);
      }
    }
    const base = medianLoad(bare.loads).perSecond;
    return all.map(({ name, target, loads, failed }) => {
      const { perSecond, p99 } = medianLoad(loads);
      const ratio = `${Math.round((100 * perSecond) / base)} %`;
      return [transport, name, String(Math.round(perSecond)), `${p99.toFixed(1)} ms`, ratio, target, String(failed)];
    });
  } finally {
    await Promise.all([stop(hello), stop(moor)]);
  }
}

/** The record service on the data in `folder`. */
export function startMoor(folder: string, transport: Transport): Promise<ChildProcess> {
  const listen = ["--listen", `127.0.0.1:${moorPort}`, "--data", folder];
  return start(["bin/moor.ts", "records", ...listen, ...(transport === "http" ? ["--plain-http"] : [])]);
}

async function start(args: readonly string[]): Promise<ChildProcess> {
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  await once(child.stdout, "data");
  return child;
}

export async function stop(child: ChildProcess): Promise<void> {
  const ended = once(child, "exit");
  child.kill("SIGTERM");
  await ended;
}
