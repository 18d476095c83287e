import type { IncomingMessage } from "node:http";

/**
 * Why the host or the end of a request is ambiguous (RFC 9112 sections 3.2 and 6.1). Node's parser refuses most
 * requests that a proxy in front may split differently (two lengths, a length and chunks, bare line feeds); these are
 * the rest.
 */
export function framingFault({ rawHeaders, headers, httpVersion }: IncomingMessage): string | undefined {
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2)
    if (rawHeaders[i]?.length === 4 && rawHeaders[i]?.toLowerCase() === "host") hosts += 1;
  if (hosts === 0 && httpVersion === "1.1") return "400 Bad Request: no Host header";
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
