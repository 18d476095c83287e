import { createServer, type ServerResponse } from "node:http";
import { type AddressInfo, createServer as createTcpServer } from "node:net";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it, test } from "vitest";
import { makeCertificate, type TestCertificate } from "../../../test/rig/updater/certificates.ts";
import { type Reply, startServer, type TestServer } from "../../../test/rig/updater/services.ts";
import { createHttpClient, type HttpClient, type HttpOutcome } from "./client.ts";
import type { HttpTrust } from "./endpoint.ts";

const never = new AbortController().signal;
const limits = { timeoutMs: 15_000, maxBytes: 1000 };

async function get(
  url: string,
  trust: HttpTrust = { kind: "system" },
  serverName?: string,
  timeoutMs = limits.timeoutMs,
): Promise<HttpOutcome> {
  const endpoint = { url: new URL(url), trust, ...(serverName !== undefined && { serverName }) };
  const client = await createHttpClient(endpoint, { ...limits, timeoutMs });
  try {
    return await client.send({ method: "GET", path: "/x", headers: { authorization: "Basic c2VjcmV0" } }, never);
  } finally {
    client.close();
  }
}

describe("trust", () => {
  let good: TestCertificate;
  let server: TestServer;
  let expired: TestServer;
  let expiredCa: string;
  beforeAll(async () => {
    good = makeCertificate("IP:127.0.0.1,DNS:OPNsense.internal");
    const old = makeCertificate("IP:127.0.0.1", -1);
    expiredCa = old.ca;
    server = await startServer(() => ({ body: { fine: true } }), good);
    expired = await startServer(() => ({ body: {} }), old);
  });
  afterAll(() => Promise.all([server.close(), expired.close()]));

  const pinned = (sha256: string): HttpTrust => ({ kind: "fingerprint", sha256 });
  const cases: [string, () => Promise<HttpOutcome>, RegExp | "answer"][] = [
    ["the right CA", () => get(server.url, { kind: "ca", pem: good.ca }), "answer"],
    ["the well-known CAs", () => get(server.url), /not signed by an authority that this config trusts.*`ca:`/],
    ["another CA", () => get(server.url, { kind: "ca", pem: expiredCa }), /not signed by an authority/],
    [
      "the right CA, another name",
      () => get(server.url, { kind: "ca", pem: good.ca }, "other.test"),
      /not valid for other\.test; correct `serverName:`/,
    ],
    [
      "the right CA, the host name of the URL",
      () => get(server.url.replace("127.0.0.1", "localhost"), { kind: "ca", pem: good.ca }),
      /not valid for localhost; .*set `serverName:` to it/,
    ],
    [
      "the right CA, the certificate's name",
      () => get(server.url, { kind: "ca", pem: good.ca }, "OPNsense.internal"),
      "answer",
    ],
    ["expired", () => get(expired.url, { kind: "ca", pem: expiredCa }), /has expired or is not valid yet/],
    ["the pinned certificate, expired or not", () => get(server.url, pinned(good.fingerprint)), "answer"],
    ["the pinned certificate under any name", () => get(server.url, pinned(good.fingerprint), "other.test"), "answer"],
    [
      "a certificate other than the pinned one",
      () => get(expired.url, pinned(good.fingerprint)),
      /other than the pinned one: ([0-9A-F]{2}:){31}/,
    ],
    ["insecure", () => get(expired.url, { kind: "insecure" }), "answer"],
    [
      "TLS to a plain HTTP server",
      async () => withPlain((url) => get(url.replace("http:", "https:"))),
      /TLS handshake/,
    ],
    [
      "plain HTTP to a TLS server",
      () => get(server.url.replace("https:", "http:")),
      /closed the connection unexpectedly|does not speak HTTP/,
    ],
  ];
  test.each(cases)("%s", async (_, ask, expected) => {
    const outcome = await ask();
    const outcomeText = outcome.kind === "failed" ? `${outcome.because}; ${outcome.todo}` : `answer ${outcome.status}`;
    expect(outcomeText).toMatch(expected === "answer" ? /^answer 200$/ : expected);
  });

  it("sends no secret to a server it does not trust", async () => {
    const before = [server.asked.length, expired.asked.length];
    await get(server.url);
    await get(server.url, { kind: "ca", pem: good.ca }, "other.test");
    await get(expired.url, pinned(good.fingerprint));
    expect([server.asked.length, expired.asked.length]).toEqual(before);
  });
});

async function withPlain<T>(use: (url: string) => Promise<T>, reply: () => Reply = () => ({ body: {} })): Promise<T> {
  const server = await startServer(reply);
  try {
    return await use(server.url);
  } finally {
    await server.close();
  }
}

/** A server that sends this and closes the connection, whatever the request. */
async function withRaw(answer: string, given = limits): Promise<HttpOutcome> {
  const server = createTcpServer((socket) => {
    socket.on("error", () => undefined);
    socket.once("data", () => socket.end(answer));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    const client = await createHttpClient({ url, trust: { kind: "system" } }, given);
    const outcome = await client.send({ method: "GET", path: "/", headers: {} }, never);
    client.close();
    return outcome;
  } finally {
    server.close();
  }
}

describe("what can happen on the way", () => {
  const cases: [string, () => Promise<HttpOutcome>, RegExp][] = [
    ["nothing listens", () => get("http://127.0.0.1:1"), /nothing is listening at 127\.0\.0\.1:1/],
    // Without any DNS, the system may wait for an answer for a long time.
    [
      "no such name",
      () => get("http://nowhere.invalid", undefined, undefined, 90_000),
      /cannot be resolved|the resolver did not answer/,
    ],
    [
      "a body that does not end",
      () =>
        withPlain(
          (url) => get(url, undefined, undefined, 400),
          () => ({ body: { a: 1 }, fault: "hang" }),
        ),
      /within 0\.4 s/,
    ],
    ["cut off", () => withPlain(get, () => ({ body: { a: 1 }, fault: "truncate" })), /sent only part of its answer/],
    [
      "broken headers",
      () => withRaw("HTTP/1.1 200 OK\r\nx y: z\r\n\r\n"),
      /invalid HTTP headers: Invalid header token/,
    ],
    [
      "too many headers",
      () => withRaw(`HTTP/1.1 200 OK\r\nx: ${"y".repeat(20_000)}\r\n\r\n`),
      /more than 16 KiB of HTTP headers/,
    ],
    [
      "two lengths",
      () => withRaw("HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\nabc"),
      /invalid HTTP headers/,
    ],
    [
      "a broken chunk",
      () => withRaw("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\nab\r\n"),
      /size of a chunk cannot be read/,
    ],
    [
      "interim answers without end",
      () => withRaw("HTTP/1.1 103 Early Hints\r\n\r\n".repeat(100)),
      /only interim answers/,
    ],
    ["no HTTP at all", () => withRaw("SSH-2.0-OpenSSH_9.9\r\n"), /does not speak HTTP/],
    ["too long", () => withPlain(get, () => ({ body: "x".repeat(2000) })), /sent more than/],
  ];
  test.each(cases)("%s", async (_, ask, expected) => {
    const outcome = await ask();
    expect(outcome.kind === "failed" ? outcome.because : outcome).toMatch(expected);
  });

  it.each([
    [20_000, { kind: "answer" }],
    [20_001, { kind: "failed", because: expect.stringMatching(/thousands of tiny parts/) }],
  ])("%i parts of one byte", async (count, expected) => {
    const chunks = `${"1\r\nx\r\n".repeat(count)}0\r\n\r\n`;
    const answer = `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${chunks}`;
    expect(await withRaw(answer, { ...limits, maxBytes: 30_000 })).toMatchObject(expected);
  });

  it("never follows a redirect", async () => {
    const server = await startServer(() => ({ status: 302, headers: { location: "/login" } }));
    expect(await get(server.url)).toMatchObject({ kind: "answer", status: 302 });
    expect(server.asked.map(({ path }) => path)).toEqual(["/x"]);
    await server.close();
  });

  it("appends the path to that of the URL", async () => {
    const server = await startServer(() => ({ body: {} }));
    await get(`${server.url}/behind/proxy/`);
    expect(server.asked[0]?.path).toBe("/behind/proxy/x");
    await server.close();
  });

  it("retries when the other side has just closed the idle connection", async () => {
    const replies: Reply[] = [
      { body: { n: 1 } },
      { fault: "reset" },
      { body: { n: 3 } },
      { fault: "reset" },
      { fault: "reset" },
    ];
    const server = await startServer(() => replies.shift() ?? {});
    const client = await createHttpClient({ url: new URL(server.url), trust: { kind: "system" } }, limits);
    const ask = () => client.send({ method: "GET", path: "/", headers: {} }, never);
    expect(await ask()).toMatchObject({ kind: "answer", body: '{"n":1}' });
    expect(await ask()).toMatchObject({ kind: "answer", body: '{"n":3}' });
    expect(await ask()).toMatchObject({ kind: "failed" });
    expect(server.asked.length).toBe(5);
    client.close();
    await server.close();
  });

  it("stops when the signal aborts", async () => {
    await withPlain(
      async (url) => {
        const client = await createHttpClient({ url: new URL(url), trust: { kind: "system" } });
        const signal = AbortSignal.timeout(50);
        const outcome = await client.send({ method: "GET", path: "/", headers: {} }, signal);
        expect(outcome.kind).toBe("failed");
        client.close();
      },
      () => ({ body: "abc", fault: "hang" }),
    );
  });
});

describe("an answer that a proxy has compressed", () => {
  async function packed(coding: string, body: Buffer): Promise<[HttpOutcome, string | undefined]> {
    let wanted: string | undefined;
    const server = createServer(({ headers }, response) => {
      wanted = [headers["accept-encoding"]].flat().join();
      response.writeHead(200, { "content-encoding": coding }).end(body);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    try {
      return [await get(`http://127.0.0.1:${(server.address() as AddressInfo).port}`), wanted];
    } finally {
      server.closeAllConnections();
      server.close();
    }
  }
  const text = Buffer.from('{"fine":true}');

  it.each([
    ["gzip", gzipSync(text)],
    ["X-GZIP", gzipSync(text)],
    ["deflate", deflateSync(text)],
    ["br", brotliCompressSync(text)],
    ["identity", text],
  ])("with %s is read, even if it was not requested", async (coding, body) => {
    const [outcome, wanted] = await packed(coding, body);
    expect(outcome).toMatchObject({ kind: "answer", status: 200, body: '{"fine":true}' });
    expect(wanted).toBe("identity");
  });

  it("is empty if its body is", async () => {
    expect((await packed("gzip", Buffer.alloc(0)))[0]).toMatchObject({ kind: "answer", body: "" });
  });

  it.each([
    ["unpacks into too much", gzipSync("x".repeat(100_000)), /sent more than/],
    ["is not what it says", text, /cannot be decompressed as gzip/],
    ["is cut off", gzipSync(text).subarray(0, 20), /cannot be decompressed as gzip/],
  ])("counts as a failure if it %s", async (_, body, because) => {
    expect((await packed("gzip", body))[0]).toMatchObject({ kind: "failed", because: expect.stringMatching(because) });
  });
});

describe("a credential that a service echoes", () => {
  const headers = { authorization: "Bearer s3cr3tt0ken" };

  async function withServer(
    serve: (response: ServerResponse) => void | Promise<void>,
    ask: (c: HttpClient) => Promise<void>,
  ) {
    const server = createServer((_, response) => void serve(response));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    const client = await createHttpClient({ url, trust: { kind: "system" } });
    try {
      await ask(client);
    } finally {
      client.close();
      server.closeAllConnections();
      server.close();
    }
  }

  it("is hidden in its body and in its headers", async () => {
    await withServer(
      (response) =>
        void response
          .writeHead(418, { "x-said": "a s3cr3tt0ken", "set-cookie": ["s3cr3tt0ken=1"] })
          .end("s3cr3tt0ken!"),
      async (client) => {
        expect(await client.send({ method: "GET", path: "/", headers }, never)).toMatchObject({
          kind: "answer",
          status: 418,
          body: "(hidden)!",
          headers: { "x-said": "a (hidden)", "set-cookie": ["(hidden)=1"] },
        });
      },
    );
  });

  it("is hidden in a stream, even if it arrives in two parts", async () => {
    const heard: string[] = [];
    const [halved, goesOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    await withServer(
      async (response) => {
        response.writeHead(200).write("data: one\n\ndata: s3cr3t", () => halved.resolve());
        await goesOn.promise;
        response.end("t0ken!\n\n");
      },
      async (client) => {
        const text = (text: string) => void heard.push(text);
        const listener = { silence: 60_000, begin: () => true, text };
        const streaming = client.stream({ method: "GET", path: "/", headers }, listener, never);
        await halved.promise;
        goesOn.resolve();
        await streaming;
        expect(heard.join("")).toBe("data: one\n\ndata: (hidden)!\n\n");
      },
    );
  });
});
