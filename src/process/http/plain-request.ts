import type { IncomingMessage } from "node:http";

/** A request without its stream, for handlers that need neither a framework nor the socket. */
export type PlainRequest = {
  readonly method: string;
  /** Without query. */
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
  readonly from: string;
  /** By which the request is known in the log. */
  readonly id?: string;
};

const longest = 64 * 1024;

/** Undefined when the body is longer than any that is meant for a page. */
export async function readPlainRequest(request: IncomingMessage): Promise<PlainRequest | undefined> {
  const pieces: Buffer[] = [];
  let length = 0;
  if (request.method !== "GET" && request.method !== "HEAD") {
    // One that is too long is read to its end as well: the connection is good for the next request only then.
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
