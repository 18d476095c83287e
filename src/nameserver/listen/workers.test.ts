import type { Worker } from "node:worker_threads";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { addressesIn, askOverUdp, sendOverUdp } from "../../../test/nameserver/ask-over-udp.ts";
import { type ZonesInMemory, zonesInMemory } from "../../../test/nameserver/zones-in-memory.ts";
import { writtenZone } from "../../../test/rig/core/written-sets.suite.ts";
import { freePort } from "../../../test/rig/free-port.ts";
import { isLongRun } from "../../../test/rig/long-run.ts";
import { until } from "../../../test/rig/until.ts";
import { nameToWire } from "../../core/names/wire.ts";
import { opcodes, rcodes } from "../../lib/dns/codes.ts";
import { emptyMessage, encodeMessage } from "../../lib/dns/message.ts";
import { createLog } from "../../process/log.ts";
import { defaultLoadLimits } from "../answer/load-limits.ts";
import { refuseUnread } from "../answer/reply.ts";
import type { ExpectedZone } from "../answer/zone-source.ts";
import { createDnsCounters, type DnsCounters } from "../metrics/metrics.ts";
import { startNameserver } from "../start.ts";
import { defaultRateLimit } from "./rate-limit.ts";
import { bucketMemory } from "./token-buckets.ts";
import { spawnWorker, startWorkers } from "./workers.ts";

const example = writtenZone("example.org", "www 300 A 192.0.2.1\nalias 300 CNAME www");
const www = { name: "www.example.org", type: 1 };

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function setUp(...options: Parameters<typeof startTwo>) {
  const two = await startTwo(...options);
  closers.push(two.close);
  return two;
}

/** Two workers on one port. */
async function startTwo(
  zones: ZonesInMemory,
  restrictedZone?: string,
  spawn = spawnWorker,
  expected: readonly ExpectedZone[] = [],
  inBatches = true,
) {
  let said = "";
  const log = createLog({
    format: "text",
    write: (line) => {
      said += line;
    },
  });
  const port = await freePort();
  const threads: Worker[] = [];
  const passed: string[] = [];
  const counters: DnsCounters[] = [];
  const workers = startWorkers({
    count: 2,
    inBatches,
    source: zones,
    respond: (bytes, _, from) => {
      passed.push(from);
      return refuseUnread(bytes, rcodes.notAuth);
    },
    start: {
      listen: [{ host: "127.0.0.1", port }],
      restrictedZone: restrictedZone === undefined ? undefined : nameToWire(restrictedZone),
      expected,
      rateLimit: { seed: 1, memory: new SharedArrayBuffer(bucketMemory(defaultRateLimit.slots)) },
    },
    newCounters: () => {
      const made = createDnsCounters();
      counters.push(made);
      return made;
    },
    onTrouble: (error) => log.error({ err: error }, "trouble"),
    log,
    spawn: (start) => {
      const thread = spawn(start);
      threads.push(thread);
      return thread;
    },
  });
  await workers.listening;
  return { port, threads, passed, counters, close: workers.close, said: () => said };
}

const withAddress = (address: string) =>
  writtenZone("example.org", `www 300 A ${address}\nalias 300 CNAME www`).sets.filter((set) => set.type !== "SOA");

const write = (zones: ZonesInMemory, address: string) =>
  zones.write("example.org", [...example.sets.filter((set) => set.type === "SOA"), ...withAddress(address)]);

it("answers correctly right after every write, whichever worker is asked", async () => {
  const zones = zonesInMemory(example);
  const { port } = await setUp(zones);
  for (let i = 0; i < (isLongRun ? 60 : 20); i++) {
    const address = `198.51.100.${i}`;
    write(zones, address);
    expect(addressesIn(await askOverUdp(port, { name: "alias.example.org", type: 1 }))).toEqual([address]);
  }
  // Each worker has loaded the zone once and applied changes since.
  expect(zones.asked.load).toBe(2);
});

it.each([
  ["batch", true],
  ["dgram", false],
])("an idle worker with %s sockets closes within 100 ms", async (_, inBatches) => {
  const took: number[] = [];
  // A thread that is not woken has just begun to wait for a second: it would be late each time, and a busy machine is
  // not.
  while (took.length < 20 && Math.min(...took) >= 100) {
    const { port, close } = await startTwo(zonesInMemory(example), undefined, spawnWorker, [], inBatches);
    for (let i = 0; i < 4; i++) await askOverUdp(port, www);
    const begun = performance.now();
    await close();
    took.push(performance.now() - begun);
  }
  expect(Math.min(...took)).toBeLessThan(100);
});

it("does not answer before a write has reached it", async () => {
  const zones = zonesInMemory(example);
  const { port } = await setUp(zones);
  for (let i = 0; i < 8; i++) await askOverUdp(port, www);
  const askBetween = async (announcement: number) => {
    const begun = performance.now();
    zones.tell({ kind: "written", announcement: announcement });
    const asked = askOverUdp(port, www);
    expect(await askOverUdp(port, www, 100)).toBeUndefined();
    write(zones, `198.51.100.${announcement}`);
    return { took: performance.now() - begun, answer: addressesIn(await asked) };
  };
  let number = 1;
  let last = await askBetween(number);
  // On a busy machine the write may have taken longer than a worker waits.
  while (last.took >= defaultLoadLimits.wait) last = await askBetween(++number);
  expect(last.answer).toEqual([`198.51.100.${number}`]);
});

it("replaces a worker that ends, and logs it", async () => {
  const zones = zonesInMemory(example);
  const { port, threads, said } = await setUp(zones);
  expect(threads).toHaveLength(2);
  await threads[0]?.terminate();
  write(zones, "198.51.100.8");
  await until(() => threads.length === 3, { what: () => `a third thread: ${said()}` });
  await threads[1]?.terminate();
  await until(() => threads.length === 4, { what: () => `a fourth thread: ${said()}` });
  await until(async () => addressesIn(await askOverUdp(port, www, 100))[0] === "198.51.100.8", {
    what: () => `an answer: ${said()}`,
  });
  expect(said()).toContain("a DNS worker stopped and is being replaced");
  await until(() => said().includes("DNS over UDP is read and sent one datagram at a time"));
  // A socket that a dead worker left open would still get its share of the clients.
  for (let i = 0; i < 16; i++) expect(addressesIn(await askOverUdp(port, www))).toEqual(["198.51.100.8"]);
  expect(said()).toMatch(/in batches.*2 DNS workers with batch sockets stopped unexpectedly/s);
});

it("keeps trying to replace a worker when the system cannot start a thread", async () => {
  let spawned = 0;
  const { threads, said } = await setUp(zonesInMemory(example), undefined, (start) => {
    spawned += 1;
    if (spawned === 3) throw new Error("no thread to be had");
    return spawnWorker(start);
  });
  await threads[0]?.terminate();
  await until(() => threads.length === 3, { what: () => `a third thread: ${said()}` });
  expect(said()).toMatch(/a DNS worker could not be started.*no thread to be had/);
});

describe("two workers", () => {
  const zones = zonesInMemory(example);
  let two: Awaited<ReturnType<typeof startTwo>>;
  beforeAll(async () => {
    two = await startTwo(zones, "catalog.invalid");
  });
  afterAll(() => two.close());

  it("makes the answer counters of each worker visible to the main thread", async () => {
    const byCode = (code: number) => two.counters.reduce((sum, { udp }) => sum + (udp[code] ?? 0), 0);
    const codes = () => [byCode(rcodes.noError), byCode(rcodes.nxDomain)];
    const [found = 0, missing = 0] = codes();
    for (let i = 0; i < 16; i++) await askOverUdp(two.port, www);
    for (let i = 0; i < 4; i++) await askOverUdp(two.port, { name: "gone.example.org", type: 1 });
    expect(two.counters).toHaveLength(2);
    await expect.poll(codes).toEqual([found + 16, missing + 4]);
  });

  it("passes everything but plain queries, and queries about a restricted zone, to the main thread", async () => {
    const question = { name: "example.org", type: 6, class: 1 };
    const notice = encodeMessage({ ...emptyMessage, id: 7, opcode: opcodes.notify, questions: [question] });
    const replies = [
      await sendOverUdp(two.port, notice),
      await askOverUdp(two.port, { name: "example.org", type: 252 }),
      await askOverUdp(two.port, { name: "x.catalog.invalid", type: 16 }),
    ];
    expect(replies.map((reply) => reply?.rcode)).toEqual([rcodes.notAuth, rcodes.notAuth, rcodes.notAuth]);
    expect(two.passed).toEqual(["127.0.0.1", "127.0.0.1", "127.0.0.1"]);
  });

  it("learns of created and deleted zones", async () => {
    const codeOf = async (name: string) => (await askOverUdp(two.port, { name, type: 1 }))?.rcode;
    expect(await codeOf("www.new.example")).toBe(rcodes.refused);
    zones.put(writtenZone("new.example", "www 300 A 192.0.2.9"));
    for (let i = 0; i < 8; i++) expect(await codeOf("www.new.example")).toBe(rcodes.noError);
    zones.remove("new.example");
    for (let i = 0; i < 8; i++) expect(await codeOf("www.new.example")).toBe(rcodes.refused);
  });

  it("keeps its port: no other process can bind it", async () => {
    const log = createLog({ format: "text", level: "silent", write: () => undefined });
    const listen = [{ host: "127.0.0.1", port: two.port }];
    await expect(startNameserver({ listen, source: zones, log })).rejects.toThrow(`UDP port ${two.port}`);
  });
});
