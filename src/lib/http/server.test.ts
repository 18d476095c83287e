import { once } from "node:events";
import { connect } from "node:net";
import type { FastifyInstance } from "fastify";
import { afterEach, describe, expect, it } from "vitest";
import { parseNetwork } from "../../core/addresses/network.ts";
import { trustProxies } from "./client-address.ts";
import { urlOf } from "./listen.ts";
import { createHttpServer, giveLastAnswers, listen, RequestCounters } from "./server.ts";

const networks = [parseNetwork("127.0.0.1")].flatMap((network) => network ?? []);
const proxies = trustProxies({ networks, header: "x-forwarded-for" });

describe("an HTTP server", () => {
  let server: FastifyInstance;
  afterEach(() => server.close());

  const start = async (
    options: Partial<Parameters<typeof createHttpServer>[0]> = {},
    add: (made: FastifyInstance) => void = () => undefined,
  ) => {
    server = createHttpServer({ bodyLimit: 1_000, ...options });
    add(server);
    server.get("/who/:name", async (request) => ({ ip: request.ip, scheme: request.protocol, id: request.id }));
    await server.register(
      async (inner) => {
        inner.addHook("onRequest", async (request, reply) =>
          request.headers.authorization === undefined ? await reply.code(401).send("no") : undefined,
        );
        inner.post("/things/:id", async () => ({}));
      },
      { prefix: "/inner" },
    );
    return urlOf(await listen(server, { host: "127.0.0.1", port: 0 }), "http");
  };
  const claims = { "x-forwarded-for": "203.0.113.9", "x-forwarded-proto": "https", "x-request-id": "from-proxy" };

  it("trusts no header about its callers", async () => {
    const url = await start();
    const seen = await (await fetch(`${url}/who/a`, { headers: claims })).json();
    expect(seen).toEqual({ ip: "127.0.0.1", scheme: "http", id: expect.stringMatching(/^[0-9a-f]{32}$/) });
  });

  it("reports the address of a caller that has disconnected", async () => {
    const { promise: seen, resolve } = Promise.withResolvers<string>();
    const url = await start({}, (made) => {
      made.get("/gone", async (request) => {
        await once(request.raw.socket, "close");
        resolve(request.ip);
      });
    });
    const socket = connect(Number(new URL(url).port), "127.0.0.1", () => {
      socket.write("GET /gone HTTP/1.1\r\nHost: x\r\n\r\n", () => socket.destroy());
    });
    expect(await seen).toBe("127.0.0.1");
  });

  it("takes address, scheme and id of a request from a trusted proxy", async () => {
    const url = await start({ proxies });
    const seen = await (await fetch(`${url}/who/a`, { headers: claims })).json();
    expect(seen).toEqual({ ip: "203.0.113.9", scheme: "https", id: "from-proxy" });
  });

  it("counts requests by route pattern and status, even those that a hook answers", async () => {
    const counters = new RequestCounters();
    const url = await start({ counters });
    for (const name of ["a", "b"]) await fetch(`${url}/who/${name}`);
    await fetch(`${url}/inner/things/7`, { method: "POST" });
    await fetch(`${url}/inner/things/8`, { method: "POST", headers: { authorization: "x" } });
    await fetch(`${url}/secret/path`);
    const counted = () => counters.routes().map(({ method, route, answers }) => [method, route, answers]);
    await expect.poll(counted).toEqual([
      ["", "none", [{ status: 404, count: 1 }]],
      ["GET", "/who/:name", [{ status: 200, count: 2 }]],
      [
        "POST",
        "/inner/things/:id",
        [
          { status: 200, count: 1 },
          { status: 401, count: 1 },
        ],
      ],
    ]);
    const [, who] = counters.routes();
    expect(who?.seconds.counts.reduce((sum, each) => sum + each, 0)).toBe(2);
    expect(who?.seconds.sum).toBeGreaterThan(0);
  });

  it("answers what is under way before it closes", async () => {
    const answer = Promise.withResolvers<void>();
    const asked = Promise.withResolvers<void>();
    const url = await start({ closeWithin: 60_000 }, (made) =>
      made.get("/slow", async () => {
        asked.resolve();
        await answer.promise;
        return "done";
      }),
    );
    const slow = fetch(`${url}/slow`);
    await asked.promise;
    const closed = server.close();
    await expect.poll(() => server.server.listening).toBe(false);
    answer.resolve();
    expect(await (await slow).text()).toBe("done");
    await closed;
    await expect(fetch(`${url}/who/a`)).rejects.toThrow("fetch failed");
  });

  it("waits a limited time for an answer when it closes", async () => {
    const asked = Promise.withResolvers<void>();
    const url = await start({ closeWithin: 50 }, (made) =>
      made.get("/never", async () => {
        asked.resolve();
        await new Promise(() => {});
      }),
    );
    const never = fetch(`${url}/never`);
    await Promise.all([expect(never).rejects.toThrow("fetch failed"), asked.promise.then(() => server.close())]);
  });

  describe("on each address of a name", () => {
    const both = async () => ["127.0.0.1", "127.0.0.2", "192.0.2.250"];
    const startBoth = async (made: FastifyInstance) => {
      server = made;
      const { port } = await listen(server, { host: "localhost", port: 0 }, "--listen", both);
      return { here: `http://127.0.0.1:${port}`, there: `http://127.0.0.2:${port}`, port };
    };

    it("answers on every address that the machine has", async () => {
      const made = createHttpServer({ bodyLimit: 1_000 });
      made.get("/", async () => "hello");
      const { here, there } = await startBoth(made);
      for (const url of [here, there]) expect(await (await fetch(url)).text()).toBe("hello");
    });

    it("answers what is under way before it closes", async () => {
      const [answer, asked] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const made = createHttpServer({ bodyLimit: 1_000, closeWithin: 60_000 });
      made.get("/slow", async () => {
        asked.resolve();
        await answer.promise;
        return "done";
      });
      const { there } = await startBoth(made);
      const slow = fetch(`${there}/slow`);
      await asked.promise;
      const closed = server.close();
      await expect.poll(() => fetch(there).catch((error: Error) => error.message)).toBe("fetch failed");
      answer.resolve();
      expect(await (await slow).text()).toBe("done");
      await closed;
    });

    it("waits a limited time for an incomplete request when it closes", async () => {
      const { port } = await startBoth(createHttpServer({ bodyLimit: 1_000, closeWithin: 50 }));
      const half = connect(port, "127.0.0.2").on("error", () => undefined);
      const cut = once(half, "close");
      const taken = once(server.server, "connection");
      half.write("GET / HTTP/1.1\r\n");
      await taken;
      await Promise.all([server.close(), cut]);
      expect([half.bytesWritten, half.bytesRead], "half a request was sent, and not answered").toEqual([16, 0]);
    });
  });

  it("closes connections after their next answer once asked to", async () => {
    const url = await start();
    const connection = async () => (await fetch(`${url}/who/a`)).headers.get("connection");
    expect(await connection()).toBe("keep-alive");
    giveLastAnswers(server.server);
    expect(await connection()).toBe("close");
  });
});
