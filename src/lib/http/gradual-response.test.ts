import { once } from "node:events";
import { createServer } from "node:http";
import { connect, type Socket } from "node:net";
import { afterEach, expect, it } from "vitest";
import { pieceOfAnswer } from "./gradual-response.ts";
import { listenOn } from "./listen.ts";
import { scheduledServer, scheduleRequests } from "./schedule-requests.ts";

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

/** Answers every request with this body. */
async function start(body: string | Buffer) {
  const server = createServer(scheduledServer, (_request, response) => void response.end(body));
  scheduleRequests(server);
  closing.push(() => server.close());
  const { port } = await listenOn(server, { host: "127.0.0.1", port: 0 });
  const accepted = once(server, "connection") as Promise<[Socket]>;
  const socket = connect(port, "127.0.0.1");
  closing.push(() => socket.destroy());
  await once(socket, "connect");
  const [inside] = await accepted;
  return { server, socket, inside };
}

const request = (method: string, more = "") => `${method} / HTTP/1.1\r\nHost: a\r\n${more}\r\n`;
const last = "Connection: close\r\n";

async function received(socket: Socket): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of socket) pieces.push(piece as Buffer);
  return Buffer.concat(pieces);
}

const bodyOf = (answer: Buffer): Buffer => answer.subarray(answer.indexOf("\r\n\r\n") + 4);

it("keeps a small part of a long answer while the client does not read", async () => {
  const { server, socket, inside } = await start(Buffer.alloc(20_000_000, "x"));
  const begun = once(server, "request");
  socket.pause().write(request("GET", last));
  await begun;
  await expect.poll(() => inside.bytesWritten).toBeGreaterThan(0);
  expect(inside.writableLength).toBeLessThanOrEqual(2 * pieceOfAnswer);
  expect(bodyOf(await received(socket))).toHaveLength(20_000_000);
  expect(inside.writableLength).toBe(0);
});

it.each([
  ["text with characters of several bytes", "äöü€".repeat(100_000)],
  ["bytes", Buffer.from(Array.from({ length: 300_001 }, (_, i) => i % 251))],
  ["exactly one piece", "y".repeat(pieceOfAnswer)],
  ["exactly two pieces", "z".repeat(2 * pieceOfAnswer)],
  ["a short answer", "short"],
])("sends the whole body, with its length: %s", async (_, body) => {
  const { socket } = await start(body);
  socket.write(request("GET", last));
  const answer = await received(socket);
  const expected = Buffer.from(body);
  expect(bodyOf(answer).equals(expected)).toBe(true);
  expect(answer.subarray(0, 300).toString("latin1")).toMatch(new RegExp(`content-length: ${expected.length}\r\n`, "i"));
});

it("sends no body to HEAD, and answers pipelined requests one after the other", async () => {
  const { socket } = await start("w".repeat(300_000));
  socket.write(request("HEAD") + request("GET") + request("GET", last));
  const text = (await received(socket)).toString("latin1");
  expect(
    text
      .split("HTTP/1.1 200")
      .slice(1)
      .map((each) => each.split("\r\n\r\n")[1]?.length),
  ).toEqual([0, 300_000, 300_000]);
});

it("a client that leaves in the middle does no harm", async () => {
  const { socket, inside } = await start(Buffer.alloc(20_000_000));
  const gone = new Promise((resolve) => inside.once("close", resolve));
  socket.write(request("GET"));
  await once(socket, "data");
  socket.resetAndDestroy();
  await gone;
  expect(inside.destroyed).toBe(true);
});
