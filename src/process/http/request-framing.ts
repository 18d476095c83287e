import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { FastifyInstance } from "fastify";
import { isHttp2 } from "./http2.ts";

/** The response to the newest request of a connection, and the one before it unless that was sent already. */
type Newest = { readonly response: ServerResponse; readonly before: ServerResponse | undefined };

/**
 * Handles pipelined requests in order, and refuses requests whose end is ambiguous. Node starts pipelined requests as soon as they
 * are parsed: a GET sent after a PUT would read the old state. Node's parser refuses most requests that a proxy in front may split
 * differently (two lengths, a length and chunks, bare line feeds); the rest is refused here.
 */
export function createRequestFraming() {
  const newest = new WeakMap<Socket, Newest>();
  const faulty = new WeakSet<Socket>();
  return {
    follow: (server: FastifyInstance): void => {
      server.addHook("onRequest", (request, reply, done) => {
        if (isHttp2(request.raw)) {
          done();
          return;
        }
        const { socket } = request.raw;
        // What follows a faulty request may be a part of it.
        if (faulty.has(socket)) return;
        const before = unlessGiven(newest.get(socket)?.response);
        newest.set(socket, { response: reply.raw, before });
        const fault = framingFault(request.raw);
        if (fault !== undefined) {
          faulty.add(socket);
          void reply.code(400).header("connection", "close").type("text/plain; charset=utf-8").send(`${fault}\n`);
        } else if (before === undefined) {
          done();
        } else {
          // On a closed connection, no further request is started.
          before.once("close", () => (socket.destroyed ? undefined : done()));
        }
      });
    },

    /** For Fastify's `clientErrorHandler`. The error answer must not be mistaken for the answer to an earlier request. */
    sendUnreadable: (error: NodeJS.ErrnoException, socket: Socket): void => {
      if (error.code === "ECONNRESET" || socket.destroyed || faulty.has(socket)) return;
      // Data written before the handshake is never sent, and closing would wait for it forever.
      if (isBeforeHandshake(socket)) {
        socket.destroy();
        return;
      }
      const { response, before } = newest.get(socket) ?? {};
      const own = response?.req.complete ? unlessGiven(response) : undefined;
      const waiting = own ?? unlessGiven(before);
      if (waiting !== undefined) {
        waiting.once("close", () => socket.destroy());
        return;
      }
      const [status, reason] = reasons.get(error.code ?? "") ?? [400, "Bad Request"];
      const body = JSON.stringify({ error: reason, message: "Client Error", statusCode: status });
      const head = `HTTP/1.1 ${status} ${reason}\r\nContent-Length: ${body.length}\r\nContent-Type: application/json`;
      if (socket.writable) socket.write(`${head}\r\nConnection: close\r\n\r\n${body}`);
      socket.destroySoon();
    },
  };
}

/** Node sets this on every TLS socket, but its types do not mention it. */
type Secured = { readonly secureConnecting?: boolean };
const isBeforeHandshake = (socket: Socket & Secured): boolean => socket.secureConnecting === true;

const unlessGiven = (response: ServerResponse | undefined): ServerResponse | undefined =>
  response === undefined || response.writableFinished || response.destroyed ? undefined : response;

const reasons = new Map<string, readonly [number, string]>([
  ["ERR_HTTP_REQUEST_TIMEOUT", [408, "Request Timeout"]],
  ["HPE_HEADER_OVERFLOW", [431, "Request Header Fields Too Large"]],
]);

/** RFC 9112 sections 3.2 and 6.1. */
function framingFault({ rawHeaders, headers, httpVersion }: IncomingMessage): string | undefined {
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) if (rawHeaders[i]?.toLowerCase() === "host") hosts += 1;
  if (hosts > 1) return "400 Bad Request: more than one Host header";
  if (headers.host !== undefined && !/^[^\s,/\\@?#]*$/.test(headers.host)) {
    return "400 Bad Request: the Host header is not a host name";
  }
  const coding = headers["transfer-encoding"];
  if (coding === undefined) return undefined;
  if (httpVersion !== "1.1") return "400 Bad Request: Transfer-Encoding needs HTTP/1.1";
  return coding.toLowerCase() === "chunked"
    ? undefined
    : "400 Bad Request: the only supported Transfer-Encoding is chunked";
}
