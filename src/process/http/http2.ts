import type { IncomingMessage } from "node:http";
import { constants, createServer, type Http2ServerRequest, Http2ServerResponse, type Http2Session } from "node:http2";
import type { Server } from "node:https";
import type { TakeConnection } from "./divert-http2.ts";

export type Http2Options = {
  /** Milliseconds that a client has to send the body of a request. */
  readonly requestTimeout: number;
  /** Milliseconds after which a connection that carries nothing is closed. */
  readonly idle: number;
  readonly Response?: typeof Http2Answer | undefined;
};

/** Node's response for HTTP/2 lacks what our handlers rely on in the one for HTTP/1.1. */
export class Http2Answer extends Http2ServerResponse {
  // @ts-expect-error Node's types declare the property, but its class lacks it.
  override get destroyed(): boolean {
    return this.stream.destroyed;
  }

  /** HTTP/2 has no header that closes the connection; Node would print a warning. */
  // biome-ignore lint/suspicious/noExplicitAny: the overloads of Node's class
  override writeHead(status: number, ...rest: any[]): this {
    for (const headers of rest) if (typeof headers === "object") delete headers.connection;
    return super.writeHead(status, ...(rest as []));
  }
}

/**
 * Requests of one connection that are under way, and those that a client may open and abandon quickly (CVE-2023-44487): nghttp2
 * closes a connection that abandons more.
 */
const limits = {
  settings: { maxConcurrentStreams: 100, maxHeaderListSize: 16 * 1024 },
  streamResetBurst: 100,
  streamResetRate: 30,
} as const;

type Http2Side = { readonly sessions: Set<Http2Session>; isEnding: boolean };
const sideOf = new WeakMap<object, Http2Side>();

/** Takes connections that negotiated `h2`, and emits their requests as the server's own. */
export function createHttp2(server: Server, options: Http2Options): TakeConnection {
  const { requestTimeout, idle, Response = Http2Answer } = options;
  const side: Http2Side = { sessions: new Set(), isEnding: false };
  sideOf.set(server, side);
  const http2 = createServer({ ...limits, Http2ServerResponse: Response });
  http2.setTimeout(idle);
  http2.on("session", (session) => {
    side.sessions.add(session);
    session.once("close", () => side.sessions.delete(session));
  });
  http2.on("request", (request, response) => {
    if (side.isEnding) request.stream.session?.close();
    limitBody(request, requestTimeout);
    if (likeHttp1(request)) server.emit("request", request, response);
    else response.writeHead(400, { "content-type": "text/plain; charset=utf-8" }).end(`${badHost}\n`);
  });
  return (socket) => void http2.emit("connection", socket);
}

/** Asks clients for new connections. Requests under way are answered, and so are the first ones on each new connection. */
export function endSessions(server: object): void {
  const side = sideOf.get(server);
  if (side === undefined) return;
  side.isEnding = true;
  for (const session of side.sessions) session.close();
}

const badHost = "400 Bad Request: the request needs one host name";

/** Sets the headers that HTTP/1.1 has for the same facts. False if the request does not name one host (RFC 9113, 8.3.1). */
function likeHttp1(request: Http2ServerRequest): boolean {
  const { headers, stream } = request;
  const { ":authority": authority, host } = headers;
  if (authority !== undefined && host !== undefined && authority !== host) return false;
  headers.host = authority ?? host;
  if (headers.host === undefined || !/^[^\s,/\\@?#]*$/.test(headers.host)) return false;
  // A body of undeclared length.
  if (!stream.endAfterHeaders && headers["content-length"] === undefined) headers["transfer-encoding"] = "chunked";
  return true;
}

/** Does not wait for a body that takes too long, nor read the rest of one that was already answered. */
function limitBody({ stream }: Http2ServerRequest, within: number): void {
  if (stream.endAfterHeaders) return;
  const late = setTimeout(() => stream.close(constants.NGHTTP2_CANCEL), within);
  const done = () => clearTimeout(late);
  stream.once("end", done).once("close", done);
  stream.once("finish", () => stream.readableEnded || stream.close(constants.NGHTTP2_NO_ERROR));
}

/** Pipelining and ambiguous lengths exist only in HTTP/1. */
export const isHttp2 = ({ httpVersionMajor }: Pick<IncomingMessage, "httpVersionMajor">): boolean =>
  httpVersionMajor >= 2;
