import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import type { ServerResponse } from "node:http";
import { connect as connectPlain, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { connect } from "node:tls";
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { awake } from "../../../test/rig/awake.ts";
import { until } from "../../../test/rig/until.ts";
import { createLog } from "../../process/log.ts";
import { ensureCertificate, type ServerCertificate } from "../tls/certificates.ts";
import { listenOn } from "./listen.ts";
import { closeServer, createTlsServer, type Handle } from "./page-server.ts";
import { createHttpServer, listen } from "./server.ts";

let folder: string;
let certificate: ServerCertificate;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "moor-tls-server-"));
  certificate = await ensureCertificate(folder, [], new Date());
});
afterEach(() => rm(folder, { recursive: true }));

const anyPort = { host: "127.0.0.1", port: 0 };

const servers = {
  "of the firewall service": async () => {
    const server = createTlsServer(certificate, { handle: (_, response) => void response.end("hello"), log, most: 8 });
    return { port: (await listenOn(server, anyPort)).port, close: () => closeServer(server) };
  },
  "of the record service": async () => {
    const server = createHttpServer({ tls: certificate, bodyLimit: 1_000, closeWithin: 100, log });
    server.get("/", async () => "hello");
    return { port: (await listen(server, anyPort)).port, close: () => server.close() };
  },
};

let lines: string[];
beforeEach(() => {
  lines = [];
});
const log = createLog({ format: "text", write: (line) => void lines.push(line) });

/** The answer to a client that offers these protocols in its handshake. */
async function ask(port: number, offered: readonly string[] | undefined, version: string): Promise<string> {
  const socket = connect({
    host: "127.0.0.1",
    port,
    ca: certificate.ca,
    ...(offered && { ALPNProtocols: [...offered] }),
  });
  socket.write(`GET / HTTP/${version}\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
  return await text(socket);
}

it.each(
  Object.entries(servers).flatMap(([name, start]) => [
    { name, start, offered: undefined, version: "1.1" },
    { name, start, offered: ["http/1.1"], version: "1.1" },
    { name, start, offered: ["h2", "http/1.1"], version: "1.1" },
    { name, start, offered: ["http/1.0"], version: "1.0" },
  ]),
)("the server $name answers HTTP/$version to a client that offers $offered", async ({ start, offered, version }) => {
  const { port, close } = await start();
  try {
    expect(await ask(port, offered, version)).toMatch(/^HTTP\/1\.1 200 OK\r\n[\s\S]*hello/);
  } finally {
    await close();
  }
});

it.each(Object.entries(servers))("the server %s does not wait for a handshake when it closes", async (_, start) => {
  const { port, close } = await start();
  const silent = connectPlain(port, "127.0.0.1").on("error", () => undefined);
  try {
    await ask(port, undefined, "1.1");
    const closed = close().then(() => "closed");
    expect(await Promise.race([closed, awake(3_000).then(() => "still open")])).toBe("closed");
  } finally {
    silent.destroy();
  }
});

it.each(
  Object.entries(servers).flatMap(([name, start]) => [
    { name, start, line: "GET / HTTP/1.1" },
    { name, start, line: "PUT /x HTTP/1.1" },
    { name, start, line: "DELETE /x HTTP/1.1" },
    { name, start, line: "OPTIONS * HTTP/1.0" },
  ]),
)("the server $name answers $line without TLS with what to do", async ({ start, line }) => {
  const { port, close } = await start();
  try {
    const socket = connectPlain(port, "127.0.0.1");
    socket.write(`${line}\r\nHost: localhost\r\n\r\n`);
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n[\s\S]*this port speaks HTTPS. Use https:\/\//);
    expect(await ask(port, undefined, "1.1")).toContain("hello");
  } finally {
    await close();
  }
});

describe("idle connections", () => {
  const idle = (port: number, from: string): Socket =>
    connectPlain({ port, host: "127.0.0.1", localAddress: from }).on("error", () => undefined);

  it("lock nobody out: the oldest without a request gives way, one that is answered stays, and the log says so", async () => {
    const answers: ServerResponse[] = [];
    const handle: Handle = (request, response) => {
      if (request.url === "/late") answers.push(response);
      else response.end("hello");
    };
    const server = createTlsServer(certificate, { handle, log, most: 8 });
    const { port } = await listenOn(server, anyPort);
    onTestFinished(() => closeServer(server));
    const late = connect({ host: "127.0.0.1", port, ca: certificate.ca });
    late.write("GET /late HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    await until(() => answers.length === 1);
    const sockets = Array.from({ length: 10 }, (_, i) => idle(port, `127.0.0.${2 + (i % 5)}`));
    onTestFinished(() => sockets.forEach((socket) => void socket.destroy()));
    const [first] = sockets;
    if (first) await once(first, "close");
    expect(await ask(port, undefined, "1.1")).toContain("hello");
    answers[0]?.end("at last");
    expect(await text(late)).toContain("at last");
    expect(lines.join("")).toMatch(/too many connections are open/);
  });

  it.each(Object.entries(servers))("with half a request end after ten seconds: %s", async (_, start) => {
    const { port, close } = await start();
    const socket = connect({ host: "127.0.0.1", port, ca: certificate.ca });
    socket.write("GET / HTTP/1.1\r\nHost: local");
    const begun = performance.now();
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 408 /);
    expect(performance.now() - begun).toBeGreaterThan(8_000);
    await close();
  });
});
