import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { connect } from "node:net";
import { afterEach, expect, it } from "vitest";
import { listenOn } from "./listen.ts";
import { BufferedRequest, scheduleRequests, smallBody } from "./schedule-requests.ts";

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

type Handle = (request: BufferedRequest) => string | Promise<string>;

/** A connection to a server that answers with the texts of `handle`, in angle brackets. */
async function dial(handle: Handle) {
  let started = 0;
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    started += 1;
    response.end(`<${await handle(request as BufferedRequest)}>`);
  };
  const server = createServer(
    { IncomingMessage: BufferedRequest },
    (request, response) => void answer(request, response),
  );
  scheduleRequests(server);
  const { port } = await listenOn(server, { host: "127.0.0.1", port: 0 });
  closing.push(() => new Promise((done) => server.close(done)));
  const socket = connect(port, "127.0.0.1");
  closing.push(() => socket.destroy());
  let received = "";
  socket.setEncoding("latin1").on("data", (piece: string) => {
    received += piece;
  });
  await once(socket, "connect");
  return { socket, answers: () => received.match(/<.*?>/gs) ?? [], started: () => started };
}

const post = (body: string, length = body.length) =>
  `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${length}\r\n\r\n${body}`;
const chunked = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n";
const get = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";

const taken: Handle = (request) => request.takeBody()?.toString() ?? "streamed";
const streamed: Handle = async (request) => {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString();
};

it("a request is started when its small body has arrived", async () => {
  const { socket, answers, started } = await dial(taken);
  socket.write(get);
  socket.write(post("abc", 6));
  await expect.poll(answers).toEqual(["<streamed>"]);
  expect(started()).toBe(1);
  socket.write("def");
  await expect.poll(answers).toEqual(["<streamed>", "<abcdef>"]);
});

it.each([
  ["a small body", post("x".repeat(smallBody)), "x".repeat(smallBody)],
  ["no body", get, "streamed"],
  ["an empty body", post(""), "streamed"],
  ["a body that is larger", post("x".repeat(smallBody + 1)), "streamed"],
  ["a body of unknown length", chunked, "streamed"],
])("%s is taken, or left to the stream", async (_, request, expected) => {
  const { socket, answers } = await dial(taken);
  socket.write(request);
  await expect.poll(answers).toEqual([`<${expected}>`]);
});

it.each([
  ["a small body", post("abc"), "abc"],
  ["no body", get, ""],
  ["a larger body", post("x".repeat(smallBody + 1)), "x".repeat(smallBody + 1)],
  ["a body of unknown length", chunked, "abc"],
])("%s can be read as a stream", async (_, request, expected) => {
  const { socket, answers } = await dial(streamed);
  socket.write(request + request);
  await expect.poll(answers).toEqual([`<${expected}>`, `<${expected}>`]);
});

it("a body that nobody reads does not become a part of the next request", async () => {
  const { socket, answers } = await dial(() => "unread");
  socket.write(post("abc") + chunked + get + post("def"));
  await expect.poll(answers).toEqual(Array.from({ length: 4 }, () => "<unread>"));
});

it("nothing is started for a client that disconnects before its body has arrived", async () => {
  const { socket, started, answers } = await dial(taken);
  socket.write(post("abc") + post("d", 6));
  await expect.poll(answers).toEqual(["<abc>"]);
  socket.end();
  await once(socket, "close");
  expect(started()).toBe(1);
});
