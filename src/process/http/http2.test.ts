import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from "node:http2";
import { createServer } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import type { FastifyInstance } from "fastify";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { ensureCertificate, type ServerCertificate } from "../tls/certificates.ts";
import { divertHttp2 } from "./divert-http2.ts";
import { createHttp2, type Http2Options } from "./http2.ts";
import { listenOn } from "./listen-on.ts";
import { createRequestCounters } from "./request-counters.ts";
import { createHttpServer, giveLastAnswers, listen } from "./server.ts";
import { closeServer, createTlsServer, type Handle, handshake } from "./tls-server.ts";

let folder: string;
let certificate: ServerCertificate;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "moor-http2-"));
  certificate = await ensureCertificate(folder, [], new Date());
});
afterAll(() => rm(folder, { recursive: true }));

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

const anyPort = { host: "127.0.0.1", port: 0 };
const open = (port: number): ClientHttp2Session => {
  const client = connect(`https://localhost:${port}`, { ca: certificate.ca });
  closing.push(() => client.destroy());
  return client.on("error", () => undefined);
};

type Answer = { readonly status: number; readonly headers: Record<string, unknown>; readonly body: string };
async function answerOf(stream: ClientHttp2Stream): Promise<Answer> {
  const [headers] = (await once(stream, "response")) as [Record<string, unknown>];
  return { status: Number(headers[":status"]), headers, body: await text(stream) };
}
const ask = (client: ClientHttp2Session, path: string, headers: object = {}) =>
  answerOf(client.request({ ":path": path, ...headers }));

describe("the record service's server", () => {
  const counters = createRequestCounters();
  let server: FastifyInstance;
  const start = async (add: (made: FastifyInstance) => void = () => undefined, closeWithin = 60_000) => {
    server = createHttpServer({ tls: certificate, bodyLimit: 1_000, closeWithin, counters });
    closing.push(() => server.close());
    server.get("/who", async ({ ip, protocol, headers }) => ({ ip, protocol, host: headers.host }));
    server.post("/echo", async ({ body }) => ({ body }));
    add(server);
    return (await listen(server, anyPort)).port;
  };

  it("answers a request on a connection whose other requests are not answered yet", async () => {
    const client = open(
      await start((made) =>
        made.get("/stream", (_, reply) => {
          reply.hijack();
          reply.raw.write("begun");
        }),
      ),
    );
    const stream = client.request({ ":path": "/stream" });
    expect(String((await once(stream.setEncoding("utf8"), "data"))[0])).toBe("begun");
    const answers = await Promise.all(Array.from({ length: 50 }, () => ask(client, "/who")));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(client.remoteSettings.maxConcurrentStreams).toBe(100);
  });

  it("treats a request like one over HTTP/1.1: caller, host, headers, counters, unknown paths", async () => {
    const port = await start();
    const client = open(port);
    const { body, headers } = await ask(client, "/who", { ":authority": "dns.example.org" });
    expect(JSON.parse(body)).toEqual({ ip: "127.0.0.1", protocol: "https", host: "dns.example.org" });
    expect(headers).toMatchObject({ "cache-control": "no-store", "strict-transport-security": "max-age=604800" });
    expect((await ask(client, "/none")).status).toBe(404);
    const who = counters.routes().find(({ route }) => route === "/who");
    expect(who?.answers.at(0)).toMatchObject({ status: 200 });
  });

  it.for([
    ["two hosts", { ":authority": "a.example", host: "b.example" }],
    ["a host that is no name", { ":authority": "a.example,b.example" }],
  ] as const)("refuses %s", async ([, headers]) => {
    expect(await ask(open(await start()), "/who", headers)).toMatchObject({ status: 400 });
  });

  it("reads bodies of declared and undeclared length, refuses larger ones, and keeps the connection", async () => {
    const client = open(await start());
    const post = (body: string, headers: object = {}) => {
      const type = { "content-type": "application/json" };
      const stream = client.request({ ":path": "/echo", ":method": "POST", ...type, ...headers });
      stream.on("error", () => undefined).end(body);
      return answerOf(stream);
    };
    const small = JSON.stringify({ a: 1 });
    for (const headers of [{}, { "content-length": small.length }]) {
      expect(JSON.parse((await post(small, headers)).body)).toEqual({ body: { a: 1 } });
    }
    const huge = JSON.stringify("x".repeat(3_000_000));
    for (const headers of [{}, { "content-length": huge.length }]) expect((await post(huge, headers)).status).toBe(413);
    expect((await ask(client, "/who")).status).toBe(200);
  });

  it("answers what is under way before it closes, and takes nothing new on the connection", async () => {
    const [answer, asked] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const client = open(
      await start((made) =>
        made.get("/slow", async () => {
          asked.resolve();
          await answer.promise;
          return "done";
        }),
      ),
    );
    const slow = ask(client, "/slow");
    await asked.promise;
    const toldToGo = once(client, "goaway");
    const closed = server.close();
    await toldToGo;
    await expect.poll(() => client.closed).toBe(true);
    await expect(ask(client, "/who")).rejects.toThrow("GOAWAY");
    answer.resolve();
    expect((await slow).body).toBe("done");
    await closed;
  });

  it("waits a limited time for an answer when it closes", async () => {
    const asked = Promise.withResolvers<void>();
    const client = open(
      await start((made) => {
        made.get("/never", async () => {
          asked.resolve();
          await new Promise(() => {});
        });
      }, 50),
    );
    const cut = once(
      client.request({ ":path": "/never" }).on("error", () => undefined),
      "close",
    );
    await asked.promise;
    await Promise.all([server.close(), cut]);
    expect(client.closed || client.destroyed).toBe(true);
  });

  it("asks for new connections after `giveLastAnswers`, and answers the first requests on each", async () => {
    const port = await start();
    const before = open(port);
    await ask(before, "/who");
    const toldToGo = once(before, "goaway");
    giveLastAnswers(server.server);
    await toldToGo;
    const after = open(port);
    const [{ status }] = await Promise.all([ask(after, "/who"), once(after, "goaway")]);
    expect(status).toBe(200);
  });

  it("closes a connection that abandons its requests quickly, and serves the others", async () => {
    const port = await start();
    const hostile = open(port);
    await once(hostile, "remoteSettings");
    const other = open(port);
    const cut = new Promise((done) => void hostile.once("close", done));
    const abandon = () => {
      for (let i = 0; i < 50 && !hostile.closed && !hostile.destroyed; i++) {
        hostile
          .request({ ":path": "/who" })
          .on("error", () => undefined)
          .close(constants.NGHTTP2_CANCEL);
      }
      if (!hostile.closed && !hostile.destroyed) setImmediate(abandon);
    };
    abandon();
    await cut;
    expect((await ask(other, "/who")).status).toBe(200);
  });
});

describe("the firewall's server", () => {
  const openTo = async (options: Http2Options, handle?: Handle) => {
    const server = createServer({ ...certificate, ...handshake }, handle);
    divertHttp2(server, async () => createHttp2(server, options));
    closing.push(() => server.close());
    return open((await listenOn(server, anyPort)).port);
  };

  it("speaks HTTP/2 too, and cuts its streams when it closes", async () => {
    const server = createTlsServer(certificate, (request, response) => {
      response.writeHead(200, { connection: "close" });
      if (request.url === "/stream") response.write("begun");
      else response.end(`hello ${request.headers.host}`);
    });
    const client = open((await listenOn(server, anyPort)).port);
    expect((await ask(client, "/", { ":authority": "fw.example.org" })).body).toBe("hello fw.example.org");
    const stream = client.request({ ":path": "/stream" }).on("error", () => undefined);
    await once(stream, "data");
    await Promise.all([closeServer(server), once(stream, "close")]);
  });

  it("does not wait for a body that does not come", async () => {
    const destroyed = Promise.withResolvers<boolean>();
    const client = await openTo({ requestTimeout: 50, idle: 60_000 }, (_, response) => {
      response.once("close", () => destroyed.resolve(response.destroyed));
    });
    const stream = client.request({ ":method": "POST" }).on("error", () => undefined);
    stream.write("{");
    await once(stream, "close");
    expect([stream.rstCode, await destroyed.promise]).toEqual([constants.NGHTTP2_CANCEL, true]);
  });

  it("closes a connection that carries nothing", async () => {
    const client = await openTo({ requestTimeout: 50, idle: 50 });
    await once(client, "close");
    expect(client.destroyed).toBe(true);
  });
});
