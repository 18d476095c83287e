import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { noLog } from "../../process/log.ts";
import { listenOn } from "../http/listen.ts";
import { closeServer, createTlsServer, type Handle } from "../http/page-server.ts";
import { ensureCertificate } from "../tls/certificates.ts";
import { obtainCertificate } from "./obtain-certificate.ts";

/** Tests with answers that the test authority pebble never sends. */

const now = new Date("2026-11-15T00:00:00Z");

async function startAuthority(handle: Handle, madeAt = new Date()) {
  const pair = await ensureCertificate(await mkdtemp(join(tmpdir(), "moor-authority-")), [], madeAt);
  const server = createTlsServer(pair, { handle });
  onTestFinished(() => closeServer(server));
  const { port } = await listenOn(server, { host: "127.0.0.1", port: 0 });
  return { directory: `https://127.0.0.1:${port}/`, ca: pair.ca };
}

async function attempt(directory: string, trust: string | undefined) {
  let text: string | undefined;
  const failure = await obtainCertificate(
    {
      mail: "you@example.org",
      directory,
      trust,
      names: ["dns.example.org"],
      http: { host: "::", port: 80 },
      saved: {
        where: "memory",
        read: async () => text,
        write: async (next) => {
          text = next;
        },
      },
      proofs: {
        canPublish: async () => true,
        publish: async () => undefined,
        serve: async () => async () => undefined,
      },
      log: noLog,
      now: () => now,
    },
    AbortSignal.timeout(60_000),
  ).catch((error: unknown) => error);
  return { failure, saved: JSON.parse(text ?? "{}") as Record<string, unknown> };
}

describe("an authority that fails", () => {
  it("gets no requests for as long as it asks, even after a restart", async () => {
    const { directory, ca } = await startAuthority(({ url, headers }, response) => {
      const base = `https://${headers.host}/`;
      const urls = { newNonce: `${base}nonce`, newAccount: `${base}account`, newOrder: `${base}order` };
      if (url === "/") return response.end(JSON.stringify(urls));
      if (url === "/nonce") return response.writeHead(200, { "replay-nonce": "n1" }).end();
      const problem = { type: "urn:ietf:params:acme:error:rateLimited", detail: "too many accounts" };
      return response.writeHead(429, { "retry-after": "3600" }).end(JSON.stringify(problem));
    });
    const { failure, saved } = await attempt(directory, ca);
    expect(failure).toMatchObject({
      kind: "refused",
      retryAfter: 3_600_000,
      message: expect.stringMatching(/too many/),
    });
    expect(saved).toEqual({
      accountKey: expect.stringContaining("PRIVATE KEY"),
      leaveAlone: { directory, until: now.getTime() + 3_600_000 },
    });
  });

  it.each<[string, number, string, RegExp]>([
    ["a proxy's error page", 502, "<html>", /refused the request: it answered with status 502$/],
    ["another service", 200, "{}", /is not the directory of an ACME authority; correct --acme-directory$/],
    ["something endless", 200, "x".repeat(2_000_000), /failed: the answer is too long$/],
  ])("is asked again soon: %s", async (_, status, body, message) => {
    const { directory, ca } = await startAuthority((_request, response) => response.writeHead(status).end(body));
    const { failure } = await attempt(directory, ca);
    expect(failure).toMatchObject({ kind: "unavailable", message: expect.stringMatching(message) });
  });

  it.each<[string, Date, boolean, RegExp]>([
    ["is not trusted", new Date(), false, /give the CA certificate of that server with --acme-ca$/],
    ["has expired by this clock", new Date("2020-01-01"), true, /; check the clock of this machine$/],
    ["is not valid yet by this clock", new Date("2096-01-01"), true, /; check the clock of this machine$/],
  ])("is not asked if its certificate %s", async (_, madeAt, trusted, message) => {
    const { directory, ca } = await startAuthority((_request, response) => response.end(), madeAt);
    const { failure } = await attempt(directory, trusted ? ca : undefined);
    expect(failure).toMatchObject({ kind: "unavailable", message: expect.stringMatching(message) });
  });
});
