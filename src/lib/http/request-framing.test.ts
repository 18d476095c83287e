import { once } from "node:events";
import { connect, type Socket } from "node:net";
import type { FastifyInstance } from "fastify";
import { afterEach, describe, expect, it } from "vitest";
import { createHttpServer, listen } from "./server.ts";

const opened: (FastifyInstance | Socket)[] = [];
afterEach(async () => {
  for (const each of opened.splice(0)) await ("destroy" in each ? each.destroy() : each.close());
});

/** A server that lists the requests it has started. */
async function start() {
  const server = createHttpServer({ bodyLimit: 1_000, closeWithin: 100 });
  opened.push(server);
  const begun: string[] = [];
  server.removeAllContentTypeParsers();
  server.addContentTypeParser("*", { parseAs: "string" }, (_request, body, done) => done(null, body));
  server.all("/*", async (request) => {
    begun.push(request.url);
    return `<${request.method} ${request.url} ${typeof request.body === "string" ? request.body : ""}>`;
  });
  const { port } = await listen(server, { host: "127.0.0.1", port: 0 });
  return { port, begun };
}

function dial(port: number) {
  const socket = connect(port, "127.0.0.1").on("error", () => undefined);
  opened.push(socket);
  let got = "";
  socket.setEncoding("latin1").on("data", (piece: string) => {
    got += piece;
  });
  const answers = () => [...got.matchAll(/HTTP\/1\.1 (\d{3})/g)].map((each) => Number(each[1]));
  return { socket, answers, got: () => got, closed: once(socket, "close") };
}

const next = "GET /next HTTP/1.1\r\nHost: a\r\n\r\n";
const post = (headers: string, body: string) => `POST /first HTTP/1.1\r\nHost: a\r\n${headers}\r\n${body}${next}`;

describe("a request that a proxy may split differently", () => {
  it.each([
    ["two Host headers", "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"],
    ["the same Host header twice", "GET / HTTP/1.1\r\nHost: a\r\nhost: a\r\n\r\n"],
    ["two hosts in one header", "GET / HTTP/1.1\r\nHost: a, b\r\n\r\n"],
    ["a path as the host", "GET / HTTP/1.1\r\nHost: a/b\r\n\r\n"],
    ["no Host header", "GET / HTTP/1.1\r\n\r\n"],
    ["a length and chunks", post("Content-Length: 6\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\nG")],
    ["chunks and a length", post("Transfer-Encoding: chunked\r\nContent-Length: 3\r\n", "3\r\nabc\r\n0\r\n\r\n")],
    ["two lengths", post("Content-Length: 5\r\nContent-Length: 6\r\n", "hello")],
    ["the same length twice", post("Content-Length: 5\r\nContent-Length: 5\r\n", "hello")],
    ["a list of lengths", post("Content-Length: 5, 5\r\n", "hello")],
    ["a length with a sign", post("Content-Length: +5\r\n", "hello")],
    ["an unknown coding", post("Transfer-Encoding: xchunked\r\n", "5\r\nhello\r\n0\r\n\r\n")],
    ["chunks inside another coding", post("Transfer-Encoding: chunked, identity\r\n", "5\r\nhello\r\n0\r\n\r\n")],
    ["another coding inside chunks", post("Transfer-Encoding: gzip, chunked\r\n", "5\r\nhello\r\n0\r\n\r\n")],
    [
      "chunks in HTTP/1.0",
      "POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\nConnection: keep-alive\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
    ],
    ["a blank before a colon", post("Transfer-Encoding : chunked\r\n", "5\r\nhello\r\n0\r\n\r\n")],
    ["a folded header", post("X: y\r\n Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", "hello")],
    ["bare line feeds", "GET / HTTP/1.1\nHost: a\n\n"],
    ["a NUL in a header", "GET / HTTP/1.1\r\nHost: a\r\nX: a\0b\r\n\r\n"],
    ["a chunk longer than its size", post("Transfer-Encoding: chunked\r\n", "5\r\nhelloXX0\r\n\r\n")],
    ["chunks with bare line feeds", post("Transfer-Encoding: chunked\r\n", "5\nhello\n0\n\n")],
  ])("gets a 400, and its connection is closed: %s", async (_, bytes) => {
    const { port, begun } = await start();
    const { socket, answers, closed } = dial(port);
    socket.write(bytes);
    await closed;
    expect([answers(), begun]).toEqual([[400], []]);
  });

  it.each([
    ["a length", post("Content-Length: 5\r\n", "hello")],
    ["chunks", post("Transfer-Encoding: Chunked\r\n", "5\r\nhello\r\n0\r\n\r\n")],
  ])("is not one with only %s", async (_, bytes) => {
    const { port } = await start();
    const { socket, got } = dial(port);
    socket.write(bytes);
    await expect.poll(() => got().match(/<.*?>/g)).toEqual(["<POST /first hello>", "<GET /next >"]);
  });

  it.each(["[::1]:8053", "dns.hetzner.com", "a_b.example:443", ""])(
    "is not one with the Host header %j",
    async (host) => {
      const { port } = await start();
      const { socket, answers } = dial(port);
      socket.write(`GET / HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
      await expect.poll(answers).toEqual([200]);
    },
  );
});
