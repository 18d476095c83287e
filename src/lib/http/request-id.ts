import { randomBytes } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { ProxyTrust } from "./client-address.ts";

/** The last seven hex digits are a counter that starts at the first seven-digit number; the others are random. */
const [first, end] = [0x1000000, 0x10000000];
const longest = 64;

/**
 * An id for each request, in its log lines and its answer: 32 hex digits. A trusted proxy may have set one already.
 * Counting costs a tenth of what a random id per request would.
 */
export function createRequestIds(proxies?: Pick<ProxyTrust, "isTrusted">): (request: IncomingMessage) => string {
  let prefix = "";
  let count = end;
  const next = (): string => {
    if (count === end) {
      prefix = randomBytes(13).toString("hex").slice(0, 25);
      count = first;
    }
    return prefix + (count++).toString(16);
  };
  if (proxies === undefined) return next;
  return (request) => {
    const { headers, socket } = request;
    const headerValue = headers["x-request-id"] ?? headers["x-correlation-id"];
    const trustedId =
      typeof headerValue === "string" && proxies.isTrusted(socket.remoteAddress ?? "") ? cleaned(headerValue) : "";
    return trustedId || next();
  };
}

/** It goes into log lines and headers: characters that could end either are removed. */
const cleaned = (text: string): string =>
  text
    .slice(0, 4 * longest)
    .replaceAll(/[^\w.-]/g, "")
    .slice(0, longest);
