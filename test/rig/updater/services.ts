import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { freePort } from "../free-port.ts";
import type { TestCertificate } from "./certificates.ts";

/** A real server on its own port that gives scripted answers and records the requests. */
export type TestServer = {
  readonly url: string;
  readonly port: number;
  readonly asked: Asked[];
  /** Stops listening until `resume`. */
  pause(): Promise<void>;
  resume(): Promise<void>;
  /** Uses this certificate from now on. */
  showCertificate(certificate: TestCertificate): void;
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
  /** Instead of an answer: these bytes, and the end of the connection. */
  readonly raw?: string;
};

export async function startServer(
  reply: (asked: Asked) => Reply | Promise<Reply>,
  certificate?: TestCertificate,
): Promise<TestServer> {
  const asked: Asked[] = [];
  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    let body = "";
    for await (const chunk of request) body += String(chunk);
    const question = { method: request.method ?? "", path: request.url ?? "", headers: request.headers, body };
    asked.push(question);
    answer(response, await reply(question));
  };
  const listener = (request: IncomingMessage, response: ServerResponse) => void handle(request, response);
  const server = certificate ? createSecureServer({ ...certificate, ca: undefined }, listener) : createServer(listener);
  server.on("tlsClientError", () => undefined);
  // If the process is paused, the default of five seconds would expire.
  server.keepAliveTimeout = 0;
  const port = await freePort();
  const listen = () =>
    new Promise<void>((resolve, reject) => server.once("error", reject).listen(port, "127.0.0.1", resolve));
  await listen();
  const shut = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return {
    url: `${certificate ? "https" : "http"}://127.0.0.1:${port}`,
    port,
    asked,
    pause: shut,
    resume: listen,
    showCertificate({ key, cert }) {
      if ("setSecureContext" in server) server.setSecureContext({ key, cert });
      server.closeAllConnections();
    },
    close: shut,
  };
}

function answer(response: ServerResponse, { status = 200, headers = {}, body = "", fault, raw }: Reply): void {
  if (raw !== undefined) {
    response.socket?.end(raw);
    return;
  }
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

/** An interface in the shape of release 24.1: enough for a client, without later additions. */
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

/**
 * The four calls that an updater makes to a v1 service, over records in memory; `instead` may answer in their place.
 */
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

/** The calls of the record-set API that a client needs, over records in memory; `instead` may answer in their place. */
export function setService(records: TestRecord[], instead: (asked: Asked) => Reply | undefined = () => undefined) {
  const zone = { id: 77, name: "example.org", ttl: 3600 };
  const action = { id: 5001, status: "success", progress: 100, error: null };
  const notFound = { status: 404, body: { error: { code: "not_found", message: "not found", details: null } } };
  const setsOf = (wanted: readonly TestRecord[]) =>
    [...Map.groupBy(wanted, ({ name, type }) => `${name}/${type}`)].map(([id, held]) => ({
      ...{ id, name: held[0]?.name, type: held[0]?.type, ttl: held[0]?.ttl ?? null, zone: zone.id },
      records: held.map(({ value }) => ({ value, comment: "" })),
    }));
  return (asked: Asked): Reply => {
    const given = instead(asked);
    if (given) return given;
    if (asked.headers.authorization !== "Bearer t0ken") {
      return { status: 401, body: { error: { code: "unauthorized", message: "invalid token", details: null } } };
    }
    const path = decodeURIComponent(new URL(asked.path, "http://x").pathname).replace("/v1", "");
    if (path === "/zones") return { body: { zones: [zone], meta: { pagination: { page: 1, last_page: 1 } } } };
    if (path.startsWith("/actions/")) return { body: { action } };
    if (!path.startsWith("/zones/example.org/rrsets")) return notFound;
    const [, name, type, , command] = path.slice("/zones/example.org/rrsets".length).split("/");
    const held = records.filter((record) => record.name === name && record.type === type);
    const sent = (asked.body === "" ? {} : JSON.parse(asked.body)) as Partial<TestRecord> & {
      records?: { value: string }[];
    };
    if (name === undefined) {
      if (asked.method === "GET") return { body: { rrsets: setsOf(records) } };
      const values = sent.records ?? [];
      for (const { value } of values) records.push({ id: "", name: "", type: "", ...sent, value, zone_id: "z1" });
      return { status: 201, body: { rrset: {}, action } };
    }
    if (held.length === 0) return notFound;
    if (command === "set_records") {
      for (const record of held.slice(1)) records.splice(records.indexOf(record), 1);
      Object.assign(held[0] ?? {}, { value: sent.records?.[0]?.value });
      return { status: 201, body: { action } };
    }
    if (command === "change_ttl") {
      for (const record of held) record.ttl = sent.ttl ?? null;
      return { status: 201, body: { action } };
    }
    return { body: { rrset: setsOf(held)[0] } };
  };
}

/**
 * The two calls that only `moor records` has, over records in memory: the serial of the zone, and many changes in one
 * request.
 */
export function changesService(records: readonly TestRecord[]) {
  return ({ path, body }: Asked): Reply | undefined => {
    if (path === "/v1/zones/example.org") return { body: { zone: { id: 77, name: "example.org", serial: 5 } } };
    if (path !== "/v1/zones/example.org/changes") return undefined;
    for (const { name, type, value } of changesIn(body)) {
      const held = records.find((record) => record.name === name && record.type === type);
      if (held) held.value = value;
    }
    return { status: 201, body: { serial: 6, action: { id: 1, status: "success" } } };
  };
}

export const changesIn = (body: string) => {
  const { changes } = JSON.parse(body) as { changes: { name: string; type: string; records: { value: string }[] }[] };
  return changes.map(({ name, type, records: [first] }) => ({ name, type, value: first?.value ?? "" }));
};
