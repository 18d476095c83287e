import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type IncomingMessage, type RequestListener, ServerResponse } from "node:http";
import { connect as connectPlain, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "node:tls";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { countPasses } from "../../../test/rig/count-passes.ts";
import { ensureCertificate, type ServerCertificate } from "../tls/certificates.ts";
import { listenOn } from "./listen.ts";
import { closeServer, createTlsServer } from "./page-server.ts";
import {
  BufferedRequest,
  mostSmallParts,
  mostUnanswered,
  scheduledServer,
  scheduleRequests,
} from "./schedule-requests.ts";
import { createHttpServer, listen } from "./server.ts";

let folder: string;
let certificate: ServerCertificate;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "moor-schedule-"));
  certificate = await ensureCertificate(folder, [], new Date());
});
afterAll(() => rm(folder, { recursive: true }));

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

const anyPort = { host: "127.0.0.1", port: 0 };

type Started = { readonly server: Server; readonly port: number };
type Start = (handle: RequestListener) => Promise<Started>;

const servers: Readonly<Record<string, Start>> = {
  "of the firewall and of the updater's page": async (handle) => {
    const server = createTlsServer(certificate, { handle });
    closing.push(() => closeServer(server));
    return { server, port: (await listenOn(server, anyPort)).port };
  },
  "of the record service": async (handle) => {
    const server = createHttpServer({ tls: certificate, bodyLimit: 1_000, closeWithin: 100 });
    closing.push(() => server.close());
    server.get("/*", (request, reply) => {
      reply.hijack();
      handle(request.raw, reply.raw);
    });
    const { port } = await listen(server, anyPort);
    return { server: server.server, port };
  },
};

/**
 * A server that lists the requests it has started, with the pass of the loop; those for `/slow` are answered after
 * `goOn`.
 */
async function startServer(start: Start) {
  const { passes, stop } = countPasses();
  closing.push(stop);
  const started: { readonly path: string; readonly pass: number }[] = [];
  const goOn = Promise.withResolvers<void>();
  const { port, server } = await start(({ url: path = "" }, response) => {
    started.push({ path, pass: passes() });
    const answer = () => void response.end(`<${path}>`);
    if (path === "/slow") void goOn.promise.then(answer);
    else answer();
  });
  const paths = () => started.map(({ path }) => path);
  /** The most requests that were started in one pass. */
  const mostPerPass = () => {
    const counts = new Map<number, number>();
    for (const each of started) counts.set(each.pass, (counts.get(each.pass) ?? 0) + 1);
    return Math.max(...counts.values());
  };
  return { port, server, paths, mostPerPass, goOn: goOn.resolve };
}

async function dial(port: number) {
  const socket = connect({ ...anyPort, port, ca: certificate.ca, ALPNProtocols: ["http/1.1"] });
  socket.on("error", () => undefined);
  closing.push(() => socket.destroy());
  let got = "";
  socket.setEncoding("latin1").on("data", (piece: string) => {
    got += piece;
  });
  await once(socket, "secureConnect");
  return { socket, answers: () => got.match(/<.*?>/g) ?? [] };
}

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;
const numbered = (count: number) => Array.from({ length: count }, (_, i) => `/${i}`);

/**
 * The scheduler's passes end in the same phase of the loop as ours, before or after: two of theirs may be in one of
 * ours.
 */
const both = 2;

describe.each(Object.entries(servers))("the server %s", (_, start) => {
  it.each([
    ["in one write", (socket: Socket, requests: string[]) => void socket.write(requests.join(""))],
    [
      "each in a TLS record of its own, in one packet",
      (socket: Socket, requests: string[]) => {
        socket.cork();
        for (const request of requests) socket.write(request);
        socket.uncork();
      },
    ],
  ])("starts one request of a connection per pass of the loop: %s", async (_name, send) => {
    const { port, paths, mostPerPass } = await startServer(start);
    const { socket, answers } = await dial(port);
    const wanted = numbered(mostUnanswered);
    send(socket, wanted.map(get));
    await expect.poll(answers).toEqual(wanted.map((path) => `<${path}>`));
    expect(paths()).toEqual(wanted);
    expect(mostPerPass()).toBeLessThanOrEqual(both);
  });

  it("starts a request when the one before it is answered, and serves other connections meanwhile", async () => {
    const { port, paths, goOn } = await startServer(start);
    const [first, other] = await Promise.all([dial(port), dial(port)]);
    first.socket.write(["/slow", "/b", "/c"].map(get).join(""));
    await expect.poll(paths).toEqual(["/slow"]);
    other.socket.write(get("/other"));
    await expect.poll(other.answers).toEqual(["</other>"]);
    expect(paths()).toEqual(["/slow", "/other"]);
    goOn();
    await expect.poll(first.answers).toEqual(["</slow>", "</b>", "</c>"]);
  });

  it("disconnects a client that sends too many requests without waiting, and starts no more of them", async () => {
    const { port, paths, goOn } = await startServer(start);
    const [hostile, other] = await Promise.all([dial(port), dial(port)]);
    const cut = new Promise((resolve) => hostile.socket.once("close", resolve));
    hostile.socket.write(get("/slow") + numbered(5_000).map(get).join(""));
    await cut;
    goOn();
    other.socket.write(get("/other"));
    await expect.poll(other.answers).toEqual(["</other>"]);
    expect(paths()).toEqual(["/slow", "/other"]);
  });

  it("starts no request of a connection that is gone", async () => {
    const { port, server, paths, goOn } = await startServer(start);
    const gone = new Promise((resolve) => {
      server.once("connection", (peer: Socket) => peer.once("close", resolve));
    });
    const { socket } = await dial(port);
    socket.write(["/slow", "/b", "/c"].map(get).join(""));
    await expect.poll(paths).toEqual(["/slow"]);
    socket.destroy();
    await gone;
    goOn();
    const other = await dial(port);
    other.socket.write(get("/other"));
    await expect.poll(other.answers).toEqual(["</other>"]);
    expect(paths()).toEqual(["/slow", "/other"]);
  });

  it("answers what came before bytes that are no request, and then closes the connection", async () => {
    const { port, paths, goOn } = await startServer(start);
    const { socket, answers } = await dial(port);
    const cut = new Promise((resolve) => socket.once("close", resolve));
    socket.write(`${get("/slow")}${get("/b")}no HTTP\r\n\r\n`);
    await expect.poll(paths).toEqual(["/slow"]);
    goOn();
    await cut;
    expect(answers()).toEqual(["</slow>", "</b>"]);
  });

  it("answers nothing after a request that closes its connection", async () => {
    const { port, paths } = await startServer(start);
    const { socket, answers } = await dial(port);
    const cut = new Promise((resolve) => socket.once("close", resolve));
    socket.write(`GET /last HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n${get("/b")}`);
    await cut;
    expect([answers(), paths()]).toEqual([["</last>"], ["/last"]]);
  });
});

/** Sends it without TLS. Returns what was received until the connection was closed. */
async function sendPlain(port: number, text: string): Promise<string> {
  const socket = connectPlain(port, "127.0.0.1").on("error", () => undefined);
  let got = "";
  socket.setEncoding("latin1").on("data", (piece: string) => {
    got += piece;
  });
  const closed = new Promise((resolve) => socket.once("close", resolve));
  socket.write(text);
  await closed;
  return got;
}

/** A server that counts the answers it has begun, in whatever way. */
async function startCounting() {
  let made = 0;
  class CountedResponse<Request extends IncomingMessage = IncomingMessage> extends ServerResponse<Request> {
    readonly number = ++made;
  }
  const server = createServer({ ...scheduledServer, ServerResponse: CountedResponse }, () => undefined);
  scheduleRequests(server);
  closing.push(() => server.close());
  const { port } = await listenOn(server, anyPort);
  const send = async (text: string) => (await sendPlain(port, text)).match(/HTTP\/1\.1 \d+/g);
  return { send, made: () => made };
}

it("a client that is disconnected for too many requests costs no work for the rest of them", async () => {
  const { send, made } = await startCounting();
  await send(numbered(50_000).map(get).join(""));
  expect(made()).toBe(mostUnanswered + 1);
});

it.each([
  ["without a host", "GET / HTTP/1.1\r\n\r\n", "HTTP/1.1 400"],
  ["with two hosts", "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", "HTTP/1.1 400"],
  ["that expect something unknown", "GET / HTTP/1.1\r\nHost: a\r\nExpect: tea\r\n\r\n", "HTTP/1.1 417"],
])("requests %s: the first is refused, and the rest of them cost no work", async (_, request, answer) => {
  const { send, made } = await startCounting();
  expect(await send(request.repeat(50_000))).toEqual([answer]);
  expect(made()).toBe(1);
});

const tinyParts = `POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n${"1\r\n \r\n".repeat(10_000)}`;

/** How many parts of bodies Node has passed on. */
function countParts(): () => number {
  const parts = vi.spyOn(BufferedRequest.prototype, "push");
  closing.push(() => parts.mockRestore());
  return () => parts.mock.calls.length;
}

describe.each(Object.entries(servers))("a body in tiny parts, at the server %s", (_, start) => {
  it.each([
    ["that nobody reads", (_request: IncomingMessage) => undefined],
    ["that is read", (request: IncomingMessage) => void request.resume()],
  ])("%s ends the connection", async (_name, handle) => {
    const parts = countParts();
    const { port } = await start((request) => handle(request));
    const { socket } = await dial(port);
    const closed = once(socket, "close");
    socket.write(tinyParts);
    await closed;
    expect(parts()).toBe(mostSmallParts + 1);
  });
});

it("without TLS, the rest of a body in tiny parts costs no work; later connections have bodies again", async () => {
  const parts = countParts();
  const server = createServer(scheduledServer, (request, response) => {
    request.on("data", (part) => response.write(part)).on("end", () => response.end());
  });
  scheduleRequests(server);
  closing.push(() => server.close());
  const { port } = await listenOn(server, anyPort);
  await sendPlain(port, tinyParts);
  expect(parts()).toBe(mostSmallParts + 1);
  for (let i = 0; i < 3; i++)
    expect(
      await sendPlain(port, "POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 4\r\n\r\nbody"),
    ).toMatch(/body/);
});

it("a request to upgrade the connection is answered as any other, and then the connection is closed", async () => {
  const { port, paths } = await startServer(servers["of the record service"] as Start);
  const { socket, answers } = await dial(port);
  const closed = once(socket, "close");
  socket.write(`GET /a HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n${get("/lost")}`);
  await closed;
  expect([answers(), paths()]).toEqual([["</a>"], ["/a"]]);
});

it("all connections together start a limited number of requests per pass, and all are answered", async () => {
  const perPass = 1;
  const { port, mostPerPass } = await startServer(async (handle) => {
    const server = createServer(handle);
    scheduleRequests(server, perPass);
    closing.push(() => server.close());
    return { server, port: (await listenOn(server, anyPort)).port };
  });
  const ended = Array.from({ length: 40 }, async () => {
    const socket = connectPlain(port, "127.0.0.1").setEncoding("latin1");
    let got = "";
    socket.on("data", (piece: string) => {
      got += piece;
    });
    socket.write(`${get("/a")}GET /b HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
    await once(socket, "close");
    return got.match(/<.*?>/g);
  });
  expect(new Set((await Promise.all(ended)).map(String))).toEqual(new Set(["</a>,</b>"]));
  expect(mostPerPass()).toBeLessThanOrEqual(both * perPass);
});

describe.each(Object.entries(servers))(
  "a request that is refused before its body has arrived, at the server %s",
  (_, start) => {
    const head = "GET /refused HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
    async function refuse() {
      const { server, port } = await start((_request, response) => void response.writeHead(404).end("no"));
      const accepted = once(server, "secureConnection") as Promise<[Socket]>;
      const socket = connect({ port, host: "127.0.0.1", rejectUnauthorized: false });
      closing.push(() => socket.destroy());
      let text = "";
      socket.on("data", (data) => {
        text += data.toString();
      });
      const closed = new Promise((resolve) => socket.on("error", () => undefined).on("close", resolve));
      await once(socket, "secureConnect");
      return { socket, closed, answers: () => text.split("HTTP/1.1 404").length - 1, inside: (await accepted)[0] };
    }

    it("that is endless: the client gets the answer, and the connection is closed without reading on", async () => {
      const { socket, closed, answers, inside } = await refuse();
      socket.write(head);
      const chunks = "1\r\n \r\n".repeat(2_000);
      const more = () => {
        while (socket.writable && socket.write(chunks));
      };
      socket.on("drain", more);
      more();
      await closed;
      expect(answers()).toBe(1);
      expect(inside.bytesRead).toBeLessThan(20_000_000);
    });

    it("and that is short: the connection goes on", async () => {
      const { socket, answers } = await refuse();
      socket.write(head);
      await expect.poll(answers).toBe(1);
      socket.write("2\r\nok\r\n0\r\n\r\nGET /again HTTP/1.1\r\nHost: x\r\n\r\n");
      await expect.poll(answers).toBe(2);
    });
  },
);
