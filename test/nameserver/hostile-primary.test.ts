import { createServer, type Socket } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { nameToWire } from "../../src/core/names/wire.ts";
import { decodeMessage, emptyMessage, encodeMessage, type ResourceRecord } from "../../src/lib/dns/message.ts";
import { until } from "../rig/until.ts";
import { startMoorDns } from "./moor-dns.ts";

/** A record of 60 KB; a hostile primary could send them endlessly. Of an unknown type, it is read quickly. */
const large = { type: 65_300, data: Buffer.alloc(60_000, "x") };
const soaData = Buffer.concat([nameToWire("ns1.example"), nameToWire("h.example"), Buffer.alloc(20, 1)]);

/** As many messages as a test needs. */
const endless = 20_000;

it.each<[string, (socket: Socket) => Promise<void>, string, number]>([
  ["large records", sendLarge, "more than 134217728 bytes of records", 5_000],
  ["messages without records", sendEmpty, "a message of the transfer has no records", endless],
])("a primary that endlessly sends %s is stopped, long before the record limit", async (_, send, because, most) => {
  sent = 0;
  const hostile = createServer((socket) => void send(socket));
  await new Promise<void>((resolve) => hostile.listen(0, "127.0.0.1", () => resolve()));
  onTestFinished(() => void hostile.close());
  const moor = await startMoorDns();
  onTestFinished(moor.close);
  const { port } = hostile.address() as { port: number };
  const server = { id: "p", address: "127.0.0.1", port, created: 1, modified: 1 };
  await moor.makeZone("large.example", "", { mode: "secondary", primaries: [server] });
  await until(() => moor.log().includes(because), { what: moor.log });
  expect(sent).toBeLessThanOrEqual(most);
});

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
