import type { IncomingMessage } from "node:http";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { parseAddress } from "../../core/addresses/address.ts";

/** A request without its stream, for handlers that need neither a framework nor the socket. */
export type PlainRequest = {
  readonly method: string;
  /** Without query. */
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
  readonly from: string;
  /** At which this service has received it. */
  readonly port?: number | undefined;
  /** Not over TLS, and not to a service that always has TLS. */
  readonly isPlainHttp?: boolean;
  /** The request's id in the log. */
  readonly id?: string;
};

export type PlainAnswer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

export const json = (status: number, body: unknown): PlainAnswer => ({
  status,
  headers: { "content-type": "application/json; charset=utf-8", ...neverCached },
  body: JSON.stringify(body),
});

export const problem = (status: number, message: string): PlainAnswer => json(status, { error: { message } });

const longest = 64 * 1024;

/** Undefined if the body is longer than any that our pages send. */
export async function readPlainRequest(request: IncomingMessage): Promise<PlainRequest | undefined> {
  const pieces: Buffer[] = [];
  let length = 0;
  if (request.method !== "GET" && request.method !== "HEAD") {
    // The stream is not destroyed: the answer still has to be sent on its connection.
    for await (const piece of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      length += piece.length;
      if (length > longest) return undefined;
      pieces.push(piece);
    }
  }
  return {
    method: request.method ?? "GET",
    path: (request.url ?? "").split("?", 1)[0] ?? "",
    headers: request.headers,
    body: Buffer.concat(pieces).toString("utf8"),
    from: request.socket.remoteAddress ?? "",
    port: request.socket.localPort,
  };
}

/** Answers are for one caller only, so no cache may keep them; immutable files set their own header. */
export const neverCached = { "cache-control": "no-store" } as const;

/** Seconds. A week: an operator who gives up TLS or loses the trusted authority is not locked out for long. */
const maxAge = 7 * 24 * 60 * 60;

/**
 * HSTS (RFC 6797) for the host name in the request. The policy applies to every port of a host, so it is not sent for
 * `localhost` and names without a dot: other servers there may speak plain HTTP. For addresses, browsers ignore it.
 */
export function transportSecurity(host: string | undefined): Readonly<Record<string, string>> {
  const name = (host ?? "").replace(/:\d+$/, "").replace(/\.$/, "").toLowerCase();
  const shared = !name.includes(".") || name.endsWith(".localhost") || name.startsWith("[");
  return shared || parseAddress(name) !== undefined ? {} : { "strict-transport-security": `max-age=${maxAge}` };
}

type PlainResponse = Omit<PlainAnswer, "body"> & { readonly body: string | Buffer };

/** Shorter bodies are not worth it, in bytes. */
const worthIt = 1_400;

/** Compresses the body if the client accepts that, on another thread. */
export async function zipAnswer(answer: PlainResponse, acceptEncoding: string | undefined): Promise<PlainResponse> {
  if (answer.body.length < worthIt || !acceptEncoding?.includes("gzip")) return answer;
  const headers = { ...answer.headers, "content-encoding": "gzip", vary: "Accept-Encoding" };
  return { ...answer, headers, body: await zip(answer.body) };
}

const zip = promisify(gzip);
