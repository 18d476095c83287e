import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { node, openNamespace } from "../../test/rig/namespace.ts";

/**
 * Tries to make workers with batch sockets crash: many starts, each under load with little memory and a full garbage
 * collection for each small one, beside damaged and forged datagrams of all lengths, writes, loads and a worker that is
 * replaced. Prints one line per start, and ends with code 1 after the first fault. A file gets the same lines; if
 * it has some already, the siege goes on from there.
 * `node bench/dns/siege.ts STARTS QUERIES DAMAGED [FILE] [dgram]`
 */
const [starts = 50, queries = 2_000_000, damaged = 200_000] = process.argv.slice(2, 5).map(Number);
const [file, sockets = "batch"] = process.argv.slice(5);
const noneYet = { starts: 0, queries: 0, damaged: 0 };
type Start = { readonly queries: number; readonly damaged: number; readonly faults: readonly string[] };

const lines = file && existsSync(file) ? readFileSync(file, "utf8").split("\n") : [];
const last = lines.findLast((line) => line.includes('"totals"'));
const totals = last === undefined ? noneYet : (JSON.parse(last) as { totals: typeof noneYet }).totals;

const say = (line: string) => {
  console.log(line);
  if (file) appendFileSync(file, `${line}\n`);
};

let faults: readonly string[] = [];
while (faults.length === 0 && totals.starts < starts) {
  const namespace = await openNamespace();
  const program = [node, "bench/dns/siege-start.ts", `${queries}`, `${damaged}`, sockets] as const;
  const { code, out, err } = await namespace.run(program);
  await namespace.close();
  if (err) say(err);
  const start: Start = code === 0 ? JSON.parse(out) : { queries: 0, damaged: 0, faults: [`it ended with ${code}`] };
  totals.starts += 1;
  totals.queries += start.queries;
  totals.damaged += start.damaged;
  faults = start.faults;
  say(JSON.stringify({ at: new Date().toISOString(), ...start, totals }));
}
process.exitCode = faults.length === 0 ? 0 : 1;
