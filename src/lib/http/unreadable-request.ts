import type { Socket } from "node:net";

/** Answers bytes that are no request, and closes the connection. */
export function sendUnreadable(error: NodeJS.ErrnoException, socket: Socket & BeforeHandshake): void {
  if (socket.secureConnecting === true) {
    if (notTls.has(error.code ?? "")) sendHttpsOnly(socket);
    socket.destroy();
    return;
  }
  if (error.code === "ECONNRESET" || socket.destroyed) return;
  const [status, reason] = reasons.get(error.code ?? "") ?? [400, "Bad Request"];
  const body = JSON.stringify({ error: reason, message: "Client Error", statusCode: status });
  if (socket.writable) socket.write(answerOf(`${status} ${reason}`, "application/json", body));
  socket.destroySoon();
}

const reasons = new Map<string, readonly [number, string]>([
  ["ERR_HTTP_REQUEST_TIMEOUT", [408, "Request Timeout"]],
  ["HPE_HEADER_OVERFLOW", [431, "Request Header Fields Too Large"]],
]);

/** Node sets these on every TLS socket, but its types do not mention them. */
type BeforeHandshake = {
  readonly secureConnecting?: boolean;
  /** The TCP connection below. */
  readonly _parent?: Socket;
};

/** OpenSSL's reasons if the first bytes are no TLS record; it knows only some of HTTP's methods. */
const notTls: ReadonlySet<string> = new Set(["ERR_SSL_HTTP_REQUEST", "ERR_SSL_WRONG_VERSION_NUMBER"]);
const httpsOnly = "400 Bad Request: this port speaks HTTPS. Use https:// instead of http:// in the address.\n";

/**
 * Writes to the TCP connection: what is written to the TLS socket before its handshake is never sent. Node has already
 * begun to close the connection, but a text of this size is sent immediately.
 */
function sendHttpsOnly({ _parent: below }: BeforeHandshake): void {
  if (below?.writable) below.on("error", () => undefined).write(httpsOnlyAnswer, () => undefined);
}

const answerOf = (status: string, type: string, body: string): string =>
  `HTTP/1.1 ${status}\r\nContent-Length: ${Buffer.byteLength(body)}\r\nContent-Type: ${type}\r\nConnection: close\r\n\r\n${body}`;

const httpsOnlyAnswer = answerOf("400 Bad Request", "text/plain; charset=utf-8", httpsOnly);
