import { execFile } from "node:child_process";
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

export type Load = { readonly perSecond: number; readonly p99: number; readonly failed: number };

const run = promisify(execFile);

/** One run of wrk from one thread. `script` is Lua that makes the requests. */
export async function wrk(url: string, script: string, seconds: number, connections = 32): Promise<Load> {
  const file = join(await mkdtemp(join(tmpdir(), "moor-wrk-")), "load.lua");
  await writeFile(file, `${script}\n${report}`);
  const { stdout } = await run("wrk", ["-t1", `-c${connections}`, `-d${seconds}s`, "--latency", "-s", file, url]);
  const [, perSecond, p99, failed] = /RESULT (\S+) (\S+) (\S+)/.exec(stdout) ?? [];
  if (perSecond === undefined) throw new Error(`wrk printed no result:\n${stdout}`);
  return { perSecond: Number(perSecond), p99: Number(p99), failed: Number(failed) };
}

/** The median run by requests per second. */
export function medianLoad(loads: readonly Load[]): Load {
  const sorted = loads.toSorted((a, b) => a.perSecond - b.perSecond);
  const middle = sorted[Math.floor(sorted.length / 2)];
  if (middle === undefined) throw new Error("there are no runs");
  return middle;
}

/** Answers of status 400 and above count as failed; latencies are in microseconds. */
const report = `
done = function(summary, latency)
  local errors = summary.errors
  local failed = errors.status + errors.connect + errors.read + errors.write + errors.timeout
  print(string.format("RESULT %.1f %.2f %d",
    summary.requests / summary.duration * 1000000, latency:percentile(99) / 1000, failed))
end
`;
