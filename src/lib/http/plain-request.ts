import type { IncomingMessage } from "node:http";

/** A request without its stream, for handlers that need neither a framework nor the socket. */
export type PlainRequest = {
  readonly method: string;
  /** Without query. */
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
  readonly from: string;
  /** The request's id in the log. */
  readonly id?: string;
};

const longest = 64 * 1024;

/** Undefined if the body is longer than any that our pages send. */
export async function readPlainRequest(request: IncomingMessage): Promise<PlainRequest | undefined> {
  const pieces: Buffer[] = [];
  let length = 0;
  if (request.method !== "GET" && request.method !== "HEAD") {
    // A body that is too long is read to its end too: otherwise the connection could not be used for the next request.
    for await (const piece of request as AsyncIterable<Buffer>) {
      length += piece.length;
      if (length <= longest) pieces.push(piece);
    }
    if (length > longest) return undefined;
  }
  return {
    method: request.method ?? "GET",
    path: (request.url ?? "").split("?", 1)[0] ?? "",
    headers: request.headers,
    body: Buffer.concat(pieces).toString("utf8"),
    from: request.socket.remoteAddress ?? "",
  };
}
