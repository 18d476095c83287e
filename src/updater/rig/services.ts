import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { TestCertificate } from "./certificates.ts";

/** For tests: a real server on a port of its own that answers as told and keeps what it was asked. */
export type TestServer = {
  readonly url: string;
  readonly port: number;
  readonly asked: Asked[];
  close(): Promise<void>;
};

export type Asked = {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
};

export type Reply = {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** Instead of an answer: break the connection, cut the body short, or never end it. */
  readonly fault?: "reset" | "truncate" | "hang";
};

export async function startServer(reply: (asked: Asked) => Reply, certificate?: TestCertificate): Promise<TestServer> {
  const asked: Asked[] = [];
  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    let body = "";
    for await (const chunk of request) body += String(chunk);
    const question = { method: request.method ?? "", path: request.url ?? "", headers: request.headers, body };
    asked.push(question);
    answer(response, reply(question));
  };
  const listener = (request: IncomingMessage, response: ServerResponse) => void handle(request, response);
  const server = certificate ? createSecureServer({ ...certificate, ca: undefined }, listener) : createServer(listener);
  server.on("tlsClientError", () => undefined);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `${certificate ? "https" : "http"}://127.0.0.1:${port}`,
    port,
    asked,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function answer(response: ServerResponse, { status = 200, headers = {}, body = "", fault }: Reply): void {
  if (fault === "reset") {
    response.destroy();
    return;
  }
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const type = typeof body === "string" ? "text/html; charset=UTF-8" : "application/json; charset=UTF-8";
  response.writeHead(status, { "content-type": type, ...headers, "content-length": Buffer.byteLength(text) });
  if (fault === undefined) {
    response.end(text);
    return;
  }
  response.write(text.slice(0, text.length / 2), () => fault === "truncate" && response.destroy());
}

/** An interface in the shape of release 24.1: enough for a client, without what came later. */
export const wanWith = (ipv4: readonly string[], ipv6: readonly string[]) => ({
  flags: ["up", "running"],
  ipv4: ipv4.map((ipaddr) => ({ ipaddr, subnetbits: 24, tunnel: false })),
  ipv6: ipv6.map((ipaddr) => ({
    ipaddr,
    "link-local": ipaddr.startsWith("fe80"),
    deprecated: false,
    tentative: false,
    subnetbits: 64,
  })),
});

export type TestRecord = {
  id: string;
  type: string;
  name: string;
  value: string;
  ttl?: number | null;
  zone_id: string;
};

/** The four calls of spec 4.1 to 4.4 over records kept in memory; `instead` may answer in its place. */
export function recordService(records: TestRecord[], instead: (asked: Asked) => Reply | undefined = () => undefined) {
  const zones = [{ id: "z1", name: "example.org", ttl: 3600 }];
  return (asked: Asked): Reply => {
    const given = instead(asked);
    if (given) return given;
    if (asked.headers["auth-api-token"] !== "t0ken")
      return { status: 401, body: { message: "Invalid authentication credentials" } };
    const url = new URL(asked.path, "http://x");
    const id = /^\/api\/v1\/records\/([^/]+)$/.exec(url.pathname)?.[1];
    if (url.pathname === "/api/v1/zones") {
      const found = zones.filter(({ name }) => [null, name].includes(url.searchParams.get("name")));
      if (found.length > 0) return { body: { zones: found, meta: { pagination: { page: 1, last_page: 1 } } } };
      return { status: 404, body: { zones: [], error: { message: "zone not found", code: 404 } } };
    }
    if (url.pathname === "/api/v1/records") {
      return { body: { records: records.filter((record) => record.zone_id === url.searchParams.get("zone_id")) } };
    }
    const record = records.find((candidate) => candidate.id === id);
    if (!record) return { status: 404, body: { error: { message: "record not found", code: 404 } } };
    if (asked.method === "PUT") {
      delete record.ttl;
      Object.assign(record, JSON.parse(asked.body));
    }
    return { body: { record } };
  };
}
