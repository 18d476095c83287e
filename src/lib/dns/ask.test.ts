import { createSocket } from "node:dgram";
import { once } from "node:events";
import { createServer } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { askTcp, askUdp } from "./ask.ts";

it("reads an answer over UDP", async () => {
  const server = createSocket("udp4").bind(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  server.on("message", (asked, { port, address }) => {
    asked[2] = (asked[2] ?? 0) | 0x80;
    server.send(asked, port, address);
  });
  const peer = { host: "127.0.0.1", port: server.address().port, key: undefined };
  const question = { name: "example.org", type: 6, class: 1 };
  const signal = new AbortController().signal;
  const answer = await askUdp(peer, { opcode: 0, question }, { signal, limit: 10_000, now: Date.now });
  expect(answer.questions).toEqual([question]);
});

it("reads an answer over TCP, even in many small parts", async () => {
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.setNoDelay(true).once("data", (asked) => {
      asked[4] = (asked[4] ?? 0) | 0x80;
      for (const byte of asked) socket.write(Buffer.of(byte));
    });
  }).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const peer = { host: "127.0.0.1", port: (server.address() as { port: number }).port, key: undefined };
  const question = { name: "example.org", type: 6, class: 1 };
  const signal = new AbortController().signal;
  for await (const { message } of askTcp(peer, { opcode: 0, question }, { signal, limit: 10_000, now: Date.now })) {
    expect(message.questions).toEqual([question]);
    break;
  }
});

it("times out on a server that is silent over TCP", async () => {
  const server = createServer((socket) => void socket.on("error", () => undefined)).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const peer = { host: "127.0.0.1", port: (server.address() as { port: number }).port, key: undefined };
  const question = { name: "example.org", type: 6, class: 1 };
  const signal = new AbortController().signal;
  const answers = askTcp(peer, { opcode: 0, question }, { signal, limit: 50, now: Date.now });
  await expect(answers.next()).rejects.toThrow("no data for 50 ms");
});

it("endless senders together get one chunk per round of the event loop", async () => {
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.once("data", (asked) => {
      asked[4] = (asked[4] ?? 0) | 0x80;
      socket.write(Buffer.concat(Array.from({ length: 30_000 }, () => asked)));
    });
  }).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const peer = { host: "127.0.0.1", port: (server.address() as { port: number }).port, key: undefined };
  const asking = { opcode: 0, question: { name: "example.org", type: 6, class: 1 } };
  const { signal } = new AbortController();
  let [messages, most] = [0, 0];
  const round = () => {
    most = Math.max(most, messages);
    messages = 0;
    rounds = setImmediate(round);
  };
  let rounds = setImmediate(round);
  onTestFinished(() => clearImmediate(rounds));
  const read = async () => {
    let count = 0;
    for await (const _ of askTcp(peer, asking, { signal, limit: 20_000, now: Date.now })) {
      messages += 1;
      count += 1;
      if (count === 8_000) break;
    }
  };
  await Promise.all([read(), read(), read(), read()]);
  // A chunk is 64 KiB, a message 31 bytes; a count between two rounds may see two chunks.
  expect(most).toBeLessThanOrEqual((2 * 65_536) / 31);
});

it("a server that cannot be reached fails the query, not the process", async () => {
  // The kernel refuses to connect to it, as if there were no route.
  const peer = { host: "255.255.255.255", port: 53, key: undefined };
  const question = { name: "example.org", type: 6, class: 1 };
  const signal = new AbortController().signal;
  const asked = askUdp(peer, { opcode: 0, question }, { signal, limit: 400, now: Date.now });
  await expect(asked).rejects.toThrow("255.255.255.255");
});
