import { createSocket } from "node:dgram";
import { setTimeout as sleep } from "node:timers/promises";
import { encodeMessage } from "../../src/lib/dns/message.ts";
import { queryFor } from "../../test/nameserver/ask-over-tcp.ts";

/**
 * Sends this many queries per second, whether or not they are answered, and prints the milliseconds of each answer as
 * JSON. It is a separate process, so that nothing else delays it. `node bench/dns/pace.ts PORT NAME PER-SECOND
 * SECONDS`
 */
const [port = 0, perSecond = 0, seconds = 0] = [2, 4, 5].map((i) => Number(process.argv[i]));
const name = process.argv[3] ?? "";
/** Sixteen clients, each with its own port. */
const sockets = Array.from({ length: 16 }, () => createSocket("udp4"));
const sent = new Map<number, number>();
const took: number[] = [];
for (const socket of sockets) {
  socket.on("message", (reply) => {
    const id = reply.readUInt16BE(0);
    took.push(performance.now() - (sent.get(id) ?? Number.NaN));
    sent.delete(id);
  });
}
const query = Buffer.from(encodeMessage(queryFor({ name, type: 1 }, 0)));
const start = performance.now();
for (let asked = 0; asked < perSecond * seconds; ) {
  const due = Math.min(perSecond * seconds, ((performance.now() - start) * perSecond) / 1_000);
  for (; asked < due; asked++) {
    const packet = Buffer.from(query);
    packet.writeUInt16BE(asked & 0xffff, 0);
    sent.set(asked & 0xffff, performance.now());
    sockets[asked % sockets.length]?.send(packet, port, "127.0.0.1");
  }
  await sleep(1);
}
await sleep(1_000);
for (const socket of sockets) socket.close();
console.log(JSON.stringify({ took, unanswered: sent.size }));
