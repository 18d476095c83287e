import { createSocket } from "node:dgram";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { ZoneContent } from "../../src/core/records/zone-view.ts";
import { createFrameReader, decodeMessage, emptyMessage, encodeMessage, framed } from "../../src/lib/dns/message.ts";
import { plainSettings } from "../../src/records/model.ts";
import { newRecordId, newZoneId } from "../../src/records/new-id.ts";
import { recordsDatabase } from "../../src/records/open-store.ts";
import { openSqliteStore, type SqliteStore } from "../../src/records/store/sqlite/store.ts";
import { queryFor } from "../../test/nameserver/ask-over-tcp.ts";
import { attacks, type HostileZone, name, packetOf } from "../../test/nameserver/hostile-zones.ts";
import { inventedZone } from "../../test/nameserver/invented-zone.ts";
import { randomName, randomZone } from "../../test/nameserver/random-zone.ts";
import { freePort } from "../../test/rig/free-port.ts";
import { createRandom, pick, type Random } from "../../test/rig/random.ts";
import { dropZone } from "../../test/rig/records/drop-zone.ts";
import { createZoneIn } from "../../test/rig/store/write.ts";
import { median } from "../dns/dnsperf.ts";
import { buildService, startService } from "../dns/service.ts";
import type { Table } from "../table.ts";

/** How many zones are invented, and how often each is asked over each transport, after a quarter of it to warm up. */
const zones = 80;
const queries = 800;
const worstShown = 8;
/** Queries that wait for their answers; over TCP, each has its own connection, which stays open. */
const atOnce = 8;

type Case = { readonly what: string; readonly zone: ZoneContent; readonly packet: (random: Random) => Buffer };
/** Microseconds of CPU per query. */
type Cost = { readonly what: string; readonly udp: number; readonly tcp: number };

/** A real process, and the store that it serves zones from. */
type Served = { readonly store: SqliteStore; readonly account: number; readonly pid: number; readonly port: number };

/**
 * CPU of a real process per query over real sockets: for ordinary zones, for each known attack, for messages that
 * anybody can send, and for the worst of many invented zones. Target: none above ten times the median of ordinary
 * zones over the same transport.
 */
export async function benchWorstZone(): Promise<Table> {
  buildService();
  const folder = mkdtempSync(join(tmpdir(), "moor-bench-worst-"));
  const ports = { http: await freePort(), dns: await freePort() };
  const store = openSqliteStore(recordsDatabase(folder));
  const { id: account } = await store.ensureAccount("main", 1);
  const moor = await startService(folder, ports);
  try {
    return await tableOf({ store, account, pid: moor.pid, port: ports.dns });
  } finally {
    await moor.stop();
    store.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function tableOf(served: Served): Promise<Table> {
  const known = [...messages, ...Object.entries(attacks).map(([what, make]) => asCase(what, make()))];
  // Once more than counted, until the code is compiled.
  await costsOfAll(served, ordinary.slice(0, 10));
  const usual = await costsOfAll(served, ordinary);
  const base = { udp: median(usual.map(({ udp }) => udp)), tcp: median(usual.map(({ tcp }) => tcp)) };
  const timesOf = ({ udp, tcp }: Cost) => Math.max(udp / base.udp, tcp / base.tcp);
  const worstFirst = (costs: readonly Cost[]) => costs.toSorted((a, b) => timesOf(b) - timesOf(a));
  const invented = Array.from({ length: zones }, (_, i) =>
    asCase(`invented zone ${i + 1}`, inventedZone(createRandom(i + 1))),
  );
  const shown = [
    { what: "ordinary zones, median", ...base },
    ...worstFirst(usual)
      .slice(0, 1)
      .map((cost) => ({ ...cost, what: "ordinary zones, worst" })),
    ...(await costsOfAll(served, known)),
    ...worstFirst(await costsOfAll(served, invented)).slice(0, worstShown),
  ];
  return {
    title: `CPU of the process per DNS query, for hostile zones and messages; the worst ${worstShown} of ${zones} invented zones; target: at most 10 times the median over the same transport`,
    how: "npm run bench neighbours",
    heads: ["zone", "over UDP", "times the median", "over TCP", "times the median"],
    rows: shown.map(({ what, udp, tcp }) => [
      ...[what, `${udp.toFixed(0)} µs`, (udp / base.udp).toFixed(1)],
      ...[`${tcp.toFixed(0)} µs`, (tcp / base.tcp).toFixed(1)],
    ]),
  };
}

async function costsOfAll(served: Served, cases: readonly Case[]): Promise<readonly Cost[]> {
  const costs: Cost[] = [];
  for (const each of cases) {
    costs.push(await costOf(served, each));
    console.error(each.what, costs.at(-1));
  }
  return costs;
}

async function costOf(served: Served, { what, zone, packet }: Case): Promise<Cost> {
  await serve(served, zone);
  const random = createRandom(1);
  const packets = Array.from({ length: queries }, () => packet(random));
  const costOver = async (ask: (port: number, packets: readonly Buffer[]) => Promise<void>): Promise<number> => {
    await ask(served.port, packets.slice(0, queries / 4));
    const before = cpuTime(served.pid);
    await ask(served.port, packets);
    return (cpuTime(served.pid) - before) / queries;
  };
  return { what, udp: await costOver(askOverUdp), tcp: await costOver(askOverTcp) };
}

/** Replaces the zone, and waits until the process answers from the new one. */
async function serve({ store, account, port }: Served, { ttl, sets }: ZoneContent): Promise<void> {
  await dropZone(store, account, { name }, Date.now());
  const own = sets.map((set) => ({ ...set, records: set.records.map((each) => ({ ...each, id: newRecordId() })) }));
  const zone = { account, id: newZoneId(), name, settings: plainSettings(ttl), serial: 1, created: Date.now() };
  const made = await createZoneIn(store, { ...zone, sets: own }, "bench");
  if (typeof made === "string") throw new Error(made);
  for (let tries = 0; (await serialAt(port)) !== made.serial; tries++) {
    if (tries === 500) throw new Error("the zone is not served");
    await sleep(20);
  }
}

const asCase = (what: string, { zone, ask }: HostileZone): Case => ({
  ...{ what, zone },
  packet: (random) => packetOf(ask(random)),
});

const ordinary: readonly Case[] = Array.from({ length: 30 }, (_, i) => {
  const zone = randomZone(createRandom(i + 1), name, 200);
  const type = (random: Random) => pick(random, [1, 15, 16, 28, random(300)]);
  const ask: HostileZone["ask"] = (random) => ({
    ...{ name: randomName(random, zone), type: type(random), dnssecOk: random(2) === 0, transport: "udp" },
  });
  return asCase("ordinary", { zone, ask });
});

/** What anybody can send. */
const messages: readonly Case[] = Object.entries<(asked: string) => Parameters<typeof encodeMessage>[0]>({
  "a query with the largest cookie and 1,000 bytes of padding": (asked) => ({
    ...queryFor({ name: asked, type: 1 }, 1),
    edns: {
      ...edns,
      options: [
        { code: 10, data: Buffer.alloc(40, 1) },
        { code: 12, data: Buffer.alloc(1_000) },
      ],
    },
  }),
  "a query with an unknown version of EDNS": (asked) => ({
    ...queryFor({ name: asked, type: 1 }, 1),
    edns: { ...edns, version: 1 },
  }),
  "AXFR, refused": (asked) => queryFor({ name: asked, type: 252 }, 1),
  "IXFR, refused": (asked) => ({
    ...queryFor({ name: asked, type: 251 }, 1),
    authorities: [{ name: asked, type: 6, class: 1, ttl: 0, data: Buffer.alloc(22) }],
  }),
  "NOTIFY of a name of 110 labels": (asked) => ({
    ...{ ...emptyMessage, id: 1, opcode: 4, questions: [{ name: `${"a.".repeat(110)}${asked}`, type: 6, class: 1 }] },
  }),
  "UPDATE of 70 records without a key": (asked) => ({
    ...{ ...emptyMessage, id: 1, opcode: 5, questions: [{ name, type: 6, class: 1 }] },
    authorities: Array.from({ length: 70 }, () => ({ name: asked, type: 1, class: 1, ttl: 1, data: Buffer.alloc(4) })),
  }),
  "a signature by an unknown key": (asked) => ({
    ...queryFor({ name: asked, type: 1 }, 1),
    additionals: [{ name: `${"k.".repeat(110)}${asked}`, type: 250, class: 255, ttl: 0, data: unknownSignature }],
  }),
}).map(([what, make]) => ({
  ...{ what, zone: randomZone(createRandom(1), name, 200) },
  packet: (random) => Buffer.from(encodeMessage(make(`x${random(1e9)}.${name}`))),
}));

const edns = { udpSize: 4_096, version: 0, dnssecOk: true, options: [] };
/** hmac-sha256, a time, the fudge, 32 bytes of signature, the id, no error. */
const unknownSignature = Buffer.concat([
  ...[Buffer.from("\x0bhmac-sha256\0", "latin1"), Buffer.alloc(6, 1), Buffer.of(1, 44, 0, 32)],
  ...[Buffer.alloc(32, 7), Buffer.of(0, 1, 0, 0, 0, 0)],
]);

/** Microseconds of all threads so far (nanoseconds on a processor, in the kernel's schedstat). */
const cpuTime = (pid: number): number =>
  readdirSync(`/proc/${pid}/task`)
    .map((thread) => Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8").split(" ")[0]))
    .reduce((sum, time) => sum + time / 1_000, 0);

async function serialAt(port: number): Promise<number | undefined> {
  const reply = await onceAnswered(port, Buffer.from(encodeMessage(queryFor({ name, type: 6 }, 1))));
  const decoded = reply && decodeMessage(reply);
  const data = decoded?.ok ? decoded.message.answers[0]?.data : undefined;
  return data && Buffer.from(data).readUInt32BE(data.length - 20);
}

/** Undefined after half a second. */
function onceAnswered(port: number, packet: Buffer): Promise<Buffer | undefined> {
  const socket = createSocket("udp4");
  return new Promise<Buffer | undefined>((resolve) => {
    setTimeout(() => resolve(undefined), 500).unref();
    socket.on("message", resolve).send(packet, port, "127.0.0.1");
  }).finally(() => socket.close());
}

/** A few at a time, with pauses: queries that fill whole passes of the event loop are a flood, and get no reply. */
async function askOverUdp(port: number, packets: readonly Buffer[]): Promise<void> {
  const socket = createSocket("udp4");
  let left = packets.length;
  let notify = (): void => undefined;
  socket.on("message", () => {
    left -= 1;
    notify();
  });
  for (let from = 0; from < packets.length; from += atOnce) {
    for (const packet of packets.slice(from, from + atOnce)) socket.send(packet, port, "127.0.0.1");
    while (left > packets.length - from - atOnce)
      await new Promise<void>((resolve, reject) => {
        const late = setTimeout(() => reject(new Error("a query was not answered")), 5_000);
        notify = () => {
          clearTimeout(late);
          resolve();
        };
      });
    await sleep(1);
  }
  socket.close();
}

async function askOverTcp(port: number, packets: readonly Buffer[]): Promise<void> {
  const left = packets.values();
  const askAll = (): Promise<void> => {
    const socket = connect({ port, host: "127.0.0.1", noDelay: true });
    return new Promise<void>((resolve, reject) => {
      const frames = createFrameReader();
      const next = () => {
        const packet = left.next().value;
        if (packet) socket.write(framed(packet));
        else resolve();
      };
      socket.on("connect", next).on("error", reject);
      socket.on("data", (chunk) => {
        frames.add(chunk);
        if (frames.next()) next();
      });
    }).finally(() => socket.destroy());
  };
  await Promise.all(Array.from({ length: atOnce }, askAll));
}
