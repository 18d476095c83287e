import { spawn } from "node:child_process";
import { once } from "node:events";
import { rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { askOverUdp } from "../../test/nameserver/ask-over-udp.ts";
import { type Forged, ForgedDatagrams, longestForged } from "../../test/nameserver/forged-datagrams.ts";
import { mutate, seedMessages } from "../../test/nameserver/mutate.ts";
import { createRandom } from "../../test/rig/random.ts";
import { dnsperf } from "./dnsperf.ts";
import { stallOf } from "./stalled.ts";
import { queriesOf, questions } from "./zone.ts";

/**
 * One start of the siege, as root of a network namespace; prints what happened as one line of JSON.
 * `node bench/dns/siege-start.ts QUERIES DAMAGED [dgram]`
 */
const [mostQueries = 0, mostDamaged = 0] = process.argv.slice(2).map(Number);
const port = 5390;
/** Seconds of queries between two looks at how many there were. */
const turn = 5;
const clients = 32;
const random = createRandom(Date.now() >>> 0);
const seeds = seedMessages(["h1.bench.example", "no.bench.example", "w1.bench.example", "example"]);

const flags = ["--max-semi-space-size=1", "--gc-global"];
const program = join(import.meta.dirname, "../../test/nameserver/siege-server.ts");
const server = spawn(process.execPath, [...flags, program, `${port}`, process.argv[4] ?? "batch"], {
  stdio: ["ignore", "pipe", "inherit"],
});
let said = "";
server.stdout.on("data", (chunk) => (said += chunk));
const ended = once(server, "exit");
await once(server.stdout, "data");

const file = join(tmpdir(), `moor-siege-${process.pid}`);
await writeFile(file, questions.flatMap(queriesOf).join("\n"));
const isOver = new AbortController();
const damaging = damage(mostDamaged / 10, 1, isOver.signal);
let [queries, lost] = [0, 0];
while (queries < mostQueries && server.exitCode === null) {
  const load = await dnsperf({ name: "", port }, file, { seconds: turn, clients: 16 });
  queries += Math.round(load.perSecond * turn);
  lost += load.lost;
}
isOver.abort();
const beside = await damaging;
const damaged = beside + (await damage(mostDamaged - beside, 32));
await rm(file);

const faults: string[] = [];
const { unanswered, seconds, stalls } = await askEverybody();
if (unanswered > 0) faults.push(`${unanswered} of ${clients} clients were not answered afterwards`);
if (stalls.some((kind) => kind === "asleep")) faults.push("a thread slept although datagrams waited");
server.kill("SIGTERM");
const [code, signal] = await ended;
if (code !== 0) faults.push(`the server ended with ${code} ${signal}`);
const { closing, threads } = JSON.parse(said.split("\n")[1] || "{}") as { closing?: number; threads?: number };
if (threads !== 3) faults.push(`${threads} threads were started, not 3: ${said}`);
const closed = Math.round(closing ?? Number.NaN);
console.log(JSON.stringify({ queries, lost, damaged, answeredAfter: seconds, stalls, closed, faults }));

/** Each client retries for a minute. If all of a client's queries are lost for longer, the kernel says why. */
async function askEverybody() {
  const begun = performance.now();
  const end = begun + 60_000;
  // What arrives while the sockets are still full is lost.
  await sleep(2_000);
  const stalls: string[] = [];
  let missing = clients;
  while (missing > 0 && performance.now() < end && server.exitCode === null) {
    const answered = await Promise.all(Array.from({ length: missing }, isAnswered));
    missing = answered.filter((is) => !is).length;
    if (missing === 0) break;
    const asking = new AbortController();
    void keepAsking(asking.signal);
    const { kind, samples } = await stallOf(server.pid ?? 0, port);
    asking.abort();
    stalls.push(kind);
    console.error(JSON.stringify({ missing, kind, samples }));
  }
  return { unanswered: missing, seconds: Math.round((performance.now() - begun) / 100) / 10, stalls };
}

async function isAnswered(): Promise<boolean> {
  const reply = await askOverUdp(port, { name: "h1.bench.example", type: 1 }, 2_000);
  if (reply !== undefined && reply.answers.length !== 1) console.error(`a reply with code ${reply.rcode}`);
  return reply?.answers.length === 1;
}

async function keepAsking(signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await isAnswered();
    await sleep(100);
  }
}

/**
 * Damaged packets of all lengths, from networks with limits and without, and from port 0. Some are for the main thread,
 * so that queries wait for it: few are sent beside them.
 */
async function damage(most: number, perMillisecond: number, signal?: AbortSignal): Promise<number> {
  const forged = new ForgedDatagrams(port);
  const all = Array.from(
    { length: 2_000 },
    (_, i): Forged => ({
      bytes: i % 50 === 0 ? Buffer.alloc(random(longestForged + 1), random(256)) : mutate(random, seeds),
      from: i % 2 === 0 ? [127, 0, 9, 1] : [198, 51, random(4), random(256)],
      fromPort: i % 10 === 0 ? 0 : random(0x10000),
    }),
  ).filter(({ bytes }) => bytes.length <= longestForged);
  let sent = 0;
  while (sent < most && !signal?.aborted && server.exitCode === null) {
    sent += Math.max(0, forged.send(Array.from({ length: perMillisecond }, () => all[random(all.length)] as Forged)));
    if (sent % 128 < perMillisecond || perMillisecond === 1) await sleep(1);
  }
  forged.close();
  return sent;
}
