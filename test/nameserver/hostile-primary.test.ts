import { createServer, type Socket } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { nameToWire } from "../../src/core/names/wire.ts";
import { decodeMessage, emptyMessage, encodeMessage, type ResourceRecord } from "../../src/lib/dns/message.ts";
import { transferIn } from "../../src/nameserver/transfer/in.ts";
import { createSharedMemory } from "../../src/nameserver/transfer/memory.ts";
import { firstOf } from "../rig/long-run.ts";
import { patience } from "../rig/patience.ts";
import { until } from "../rig/until.ts";
import { startMoorDns } from "./moor-dns.ts";

/** A record of 60 KB; a hostile primary could send them endlessly. Of an unknown type, it is read quickly. */
const large = { type: 65_300, data: Buffer.alloc(60_000, "x") };
const soaData = Buffer.concat([nameToWire("ns1.example"), nameToWire("h.example"), Buffer.alloc(20, 1)]);

/** As many messages as a test needs. */
const endless = 20_000;

async function startHostile(send: (socket: Socket) => Promise<void>): Promise<number> {
  sent = 0;
  const hostile = createServer((socket) => void send(socket));
  await new Promise<void>((resolve) => hostile.listen(0, "127.0.0.1", () => resolve()));
  onTestFinished(() => void hostile.close());
  return (hostile.address() as { port: number }).port;
}

it("a transfer is stopped when its records take more memory than permitted", async () => {
  const peer = { host: "127.0.0.1", port: await startHostile(sendLarge), key: undefined };
  const memory = createSharedMemory(100_000_000).open(1, () => undefined);
  const limits = { mostRecords: 1_000_000, mostBytes: 6_000_000 };
  const waiting = { signal: AbortSignal.timeout(patience), limit: patience, now: Date.now };
  const transfer = transferIn("large.example", peer, undefined, { ...limits, ...waiting, memory });
  await expect(transfer).rejects.toThrow("more than 6000000 bytes of records");
  // Each takes 120 KB as text; some are on their way.
  expect(sent).toBeLessThanOrEqual(250);
});

it("a message without records in the middle of a transfer is not an error", async () => {
  const soa = (name: string) => [{ name, type: 6, data: soaData, class: 1, ttl: 60 }];
  const parts = (name: string) => [
    soa(name),
    [],
    [{ name, type: 16, data: Buffer.of(1, 97), class: 1, ttl: 60 }],
    [],
    soa(name),
  ];
  const port = await startHostile((socket) => sendOn(socket, (i, name) => parts(name)[i] ?? []));
  const memory = createSharedMemory(100_000_000).open(1, () => undefined);
  const limits = { mostRecords: 1_000, mostBytes: 1_000_000 };
  const waiting = { signal: AbortSignal.timeout(patience), limit: patience, now: Date.now };
  const transfer = transferIn("gaps.example", { host: "127.0.0.1", port, key: undefined }, undefined, {
    ...limits,
    ...waiting,
    memory,
  });
  expect(await transfer).toMatchObject({ kind: "whole", lines: [{ type: "SOA" }, { type: "TXT" }] });
});

const floods: readonly (readonly [string, (socket: Socket) => Promise<void>, string, number])[] = [
  ["messages without records", sendEmpty, "messages of the transfer in a row have no records", endless],
  // The limit of every transfer, which takes seconds to reach. The test above has a smaller one.
  ["large records", sendLarge, "more than 134217728 bytes of records", 5_000],
];

it.each(firstOf(floods))(
  "a primary that endlessly sends %s is stopped, long before the record limit",
  async (...row) => {
    const [, send, because, most] = row;
    const port = await startHostile(send);
    const moor = await startMoorDns();
    onTestFinished(moor.close);
    const server = { id: "p", address: "127.0.0.1", port, created: 1, modified: 1 };
    await moor.makeZone("large.example", "", { mode: "secondary", primaries: [server] });
    await until(() => moor.log().includes(because), { what: moor.log });
    expect(sent).toBeLessThanOrEqual(most);
  },
);

let sent = 0;

function sendLarge(socket: Socket): Promise<void> {
  return sendOn(socket, (i, name) => {
    const record = i === 0 ? { name, type: 6, data: soaData } : { name: `h${i}.${name}`, ...large };
    return [{ ...record, class: 1, ttl: 60 }];
  });
}

function sendEmpty(socket: Socket): Promise<void> {
  return sendOn(socket, (i, name) => (i === 0 ? [{ name, type: 6, data: soaData, class: 1, ttl: 60 }] : []));
}

async function sendOn(
  socket: Socket,
  answersAt: (i: number, zone: string) => readonly ResourceRecord[],
): Promise<void> {
  socket.setMaxListeners(0).on("error", () => undefined);
  const asked = await new Promise<Buffer>((resolve) => socket.once("data", resolve));
  const query = decodeMessage(asked.subarray(2));
  if (!query.ok) return void socket.destroy();
  const { id, questions } = query.message;
  for (let i = 0; !socket.destroyed && i < endless; i++) {
    const answers = answersAt(i, questions[0]?.name ?? "");
    const message = encodeMessage({ ...emptyMessage, id, response: true, questions, answers });
    const length = Buffer.of(message.length >> 8, message.length & 255);
    sent += 1;
    if (!socket.write(Buffer.concat([length, message]))) {
      await new Promise((resolve) => socket.once("drain", resolve).once("close", resolve));
    }
  }
}
