import { createSocket } from "node:dgram";
import { connect } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, it } from "vitest";
import { decodeMessage, emptyMessage, encodeMessage } from "../../src/lib/dns/message.ts";
import { LoadedZones } from "../../src/nameserver/answer/loaded-zones.ts";
import { createResponder, type Respond } from "../../src/nameserver/answer/respond.ts";
import { startNameserver } from "../../src/nameserver/start.ts";
import { createLog } from "../../src/process/log.ts";
import { isLongRun } from "../rig/long-run.ts";
import { testLimit } from "../rig/patience.ts";
import { createRandom } from "../rig/random.ts";
import { realPause } from "../rig/real-pause.ts";
import { seed } from "../rig/seed.ts";
import { askOverTcp } from "./ask-over-tcp.ts";
import { mutate, seedMessages } from "./mutate.ts";
import { randomName, randomZone } from "./random-zone.ts";
import { zonesInMemory } from "./zones-in-memory.ts";

/** Short in every run; `MOOR_HOSTILE=2000000` for the long form. */
const packets = Number(process.env.MOOR_HOSTILE ?? (isLongRun ? 20_000 : 5_000));
const overSockets = Math.min(packets / 10, 200_000);
/** In milliseconds: what is faster is not compared with anything. */
const quick = 5;
/** The slowest packet takes ten times as long as an ordinary one of full size; quadratic work, hundreds of times. */
const timesOrdinary = 40;

const random = createRandom(seed);
const zone = randomZone(random, "z0.example", 60);
const names = Array.from({ length: 12 }, () => randomName(random, zone));
const seeds = seedMessages(names);
const address = { name: names[0] ?? "", type: 1, class: 1, ttl: 60, data: Uint8Array.of(192, 0, 2, 1) };
const ordinary = encodeMessage({
  ...emptyMessage,
  id: 1,
  questions: [],
  response: true,
  answers: Array(4_000).fill(address),
});
const valid = names.map((name) => ({ name, type: 1 }));

it(`${packets} damaged packets: each is quick, nothing throws, memory stays (MOOR_SEED=${seed})`, {
  timeout: testLimit + packets / 5,
}, async () => {
  const troubles: unknown[] = [];
  const zones = new LoadedZones(zonesInMemory(zone));
  const respond = createResponder({ zones, onTrouble: (error) => troubles.push(error) });
  const slow: string[] = [];
  let settled = 0;
  for (let i = 0; i < packets; i++) {
    const packet = mutate(random, seeds).subarray(0, 65_535);
    const took = await timeOf(respond, packet);
    if (took > quick && !(await isQuickOnce(respond, packet))) slow.push(packet.toString("hex").slice(0, 400));
    if (i === Math.floor(packets / 4)) settled = memory();
  }
  const after = memory();
  expect(slow).toEqual([]);
  expect(troubles).toEqual([]);
  expect(after - settled).toBeLessThan(24 * 1024 * 1024);
});

/** The longer of two times: to read the whole packet, and to answer it, which reads only part of it. */
async function timeOf(respond: Respond, packet: Buffer): Promise<number> {
  const start = performance.now();
  decodeMessage(packet);
  const between = performance.now();
  const reply = respond(packet, "udp");
  if (reply instanceof Promise) await reply;
  return Math.max(between - start, performance.now() - between);
}

/** Beside an ordinary packet, so that a machine that is slow is slow for both. */
async function isQuickOnce(respond: Respond, packet: Buffer): Promise<boolean> {
  for (let i = 0; i < 30; i++) {
    const limit = Math.max(quick, timesOrdinary * (await timeOf(respond, ordinary)));
    if ((await timeOf(respond, packet)) <= limit) return true;
  }
  return false;
}

function memory(): number {
  setFlagsFromString("--expose-gc");
  runInNewContext("gc")();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

it.each([0, isLongRun ? 2 : 1])(
  `${overSockets} damaged packets over UDP and TCP, %i workers: every valid query afterwards is answered`,
  {
    timeout: testLimit + packets / 5,
  },
  async (workers) => {
    const said: string[] = [];
    const log = createLog({ format: "text", level: "warn", write: (line) => said.push(line) });
    const listen = [{ host: "127.0.0.1", port: 0 }];
    const server = await startNameserver({ listen, source: zonesInMemory(zone), log, workers });
    const port = server.addresses[0]?.port ?? 0;
    try {
      await Promise.all([floodUdp(port, overSockets / 2), floodTcp(port, overSockets / 2)]);
      const replies = await askOverTcp(port, valid);
      expect(replies.map((reply) => reply.response)).toEqual(valid.map(() => true));
      expect(await answeredOverUdp(port)).toBe(valid.length);
      expect(said).toEqual([]);
    } finally {
      await server.close();
    }
  },
);

async function floodUdp(port: number, count: number): Promise<void> {
  const socket = createSocket("udp4");
  for (let i = 0; i < count; i++) {
    socket.send(mutate(random, seeds).subarray(0, 60_000), port, "127.0.0.1");
    if (i % 200 === 0) await new Promise(setImmediate);
  }
  socket.close();
}

/** When the server has closed the connection, the remaining packets are sent over a new one. */
async function floodTcp(port: number, count: number): Promise<void> {
  for (let sent = 0; sent < count; ) {
    const socket = connect(port, "127.0.0.1").on("error", () => {});
    socket.resume();
    for (; sent < count && !socket.destroyed; sent++) {
      const packet = mutate(random, seeds).subarray(0, 65_535);
      const length = Buffer.alloc(2);
      length.writeUInt16BE(random(100) === 0 ? random(0x10000) : packet.length);
      socket.write(Buffer.concat([length, packet]));
      if (sent % 50 === 0) await nextTurn();
    }
    socket.destroy();
  }
}

async function answeredOverUdp(port: number): Promise<number> {
  const socket = createSocket("udp4");
  const ids = new Set<number>();
  socket.on("message", (reply) => ids.add(reply.readUInt16BE(0)));
  // Packets that arrive while the flood fills the kernel's buffer may be dropped.
  for (let left = 100; left > 0 && ids.size < names.length; left--) {
    for (const [id, name] of names.entries()) {
      const [query] = seedMessages([name]);
      if (query === undefined) throw new Error("no query");
      query.writeUInt16BE(id, 0);
      if (!ids.has(id)) socket.send(query, port, "127.0.0.1");
    }
    for (let wait = 20; wait > 0 && ids.size < names.length; wait--)
      await realPause(10, "lost packets are sent again after a fifth of a second");
  }
  socket.close();
  return ids.size;
}
