import { printable } from "../../core/visible-text.ts";
import type { Endpoint, HttpLimits } from "./endpoint.ts";

/** What went wrong with a request, in plain words, and what to do about it. */
export type TransportFault = { readonly because: string; readonly todo: string };

type Words = (place: RequestPeer) => readonly [because: string, todo: string];
type RequestPeer = {
  readonly host: string;
  /** The name that the certificate must have, if it differs from the host. */
  readonly serverName?: string | undefined;
  readonly address: string;
  readonly seconds: number;
  readonly mebibytes: number;
  readonly message: string;
  readonly seen: string;
};

export function describeTransportFault(error: unknown, endpoint: Endpoint, limits: HttpLimits): TransportFault {
  const { code, message, seen, port } = error as { code?: string; message?: string; seen?: string; port?: number };
  // The port that refuses is not the service's: a proxy of the environment.
  const known = code === "ECONNREFUSED" && port !== undefined && port !== portOf(endpoint) ? proxyDown : String(code);
  return describe(known, endpoint, limits, { message: printable(message ?? String(error)), seen: seen ?? "" });
}

const portOf = ({ url }: Endpoint): number => Number(url.port || (url.protocol === "https:" ? 443 : 80));
const proxyDown = "MOOR_PROXY_DOWN";

/** The error of an aborted request does not say why; the signal does. */
export function describeStop({ reason }: AbortSignal, endpoint: Endpoint, limits: HttpLimits): TransportFault {
  const late = reason instanceof Error && reason.name === "TimeoutError";
  return describe(late ? "ETIMEDOUT" : "MOOR_STOPPED", endpoint, limits, { message: "", seen: "" });
}

function describe(
  code: string,
  { url, serverName }: Endpoint,
  { timeoutMs, maxBytes }: HttpLimits,
  details: Pick<RequestPeer, "message" | "seen">,
): TransportFault {
  const limits = { seconds: timeoutMs / 1000, mebibytes: maxBytes / 1024 / 1024 };
  const place = { host: url.hostname, serverName, address: url.host, ...limits };
  const [because, todo] = (words[code] ?? words[family(code)] ?? other)({ ...place, ...details });
  return { because, todo };
}

/** A code without its own message uses the message of its kind. */
function family(code: string): string {
  if (/^(ERR_SSL|EPROTO)/.test(code)) return "EPROTO";
  if (/^HPE_/.test(code)) return "HPE";
  return /^(CERT_|UNABLE_TO_|ERROR_IN_CERT|INVALID_(CA|PURPOSE)|PATH_LENGTH|HOSTNAME_MISMATCH)/.test(code)
    ? "CERT"
    : code;
}

const other: Words = ({ address, message }) => [
  `the request to ${address} failed: ${message}`,
  "check that it is running",
];

const untrusted: Words = ({ host }) => [
  `the certificate of ${host} is not signed by an authority that this config trusts`,
  "set `ca:` to the file of its certificate authority, or `fingerprint:` to the certificate's SHA-256",
];

const expired: Words = ({ host }) => [
  `the certificate of ${host} has expired or is not valid yet`,
  "renew it, and check the clock of this machine",
];

const unreachable: Words = ({ host }) => [
  `there is no route to ${host}`,
  "check the network and the routes of this machine",
];

const dropped: Words = ({ address }) => [
  `${address} closed the connection unexpectedly`,
  "check whether it is restarting, and the port in the URL",
];

const badCertificate: Words = ({ host, message }) => [
  `the certificate of ${host} cannot be used: ${message}`,
  "replace it, or set `fingerprint:` to trust it as it is",
];

const badHeaders: Words = ({ address, message }) => [
  `${address} sent invalid HTTP headers: ${message.replace(/^Parse Error: /, "")}`,
  "check the port in the URL, and whether a proxy in between changes the answer",
];

const badChunks: Words = ({ address }) => [
  `${address} sent an invalid body: the size of a chunk cannot be read`,
  "check whether a proxy in between changes the answer",
];

const slow: Words = ({ address, seconds }) => [
  `${address} did not finish its answer within ${seconds} s`,
  "check that it is running and that no firewall drops the packets",
];

const tooLong: Words = ({ address, mebibytes }) => [
  `${address} sent more than ${mebibytes} MiB`,
  "check that the URL points to the right service",
];

const words: Readonly<Record<string, Words>> = {
  ECONNREFUSED: ({ address }) => [
    `nothing is listening at ${address}`,
    "check that the service is running, and the port in the URL",
  ],
  [proxyDown]: ({ address }) => [
    `nothing is listening at the proxy through which ${address} is asked`,
    "correct HTTPS_PROXY or HTTP_PROXY, or add the host to NO_PROXY",
  ],
  ERR_PROXY_TUNNEL: ({ address, message }) => [
    `the proxy of HTTPS_PROXY opens no connection to ${address}: ${message.replace(/^.*HTTP\/1\.\d /, "")}`,
    "check what the proxy allows, or add the host to NO_PROXY",
  ],
  ENOTFOUND: ({ host }) => [`the name ${host} cannot be resolved`, "correct the host in the URL, or use its address"],
  EAI_AGAIN: ({ host }) => [`the resolver did not answer for ${host}`, "check the resolver of this machine"],
  EHOSTUNREACH: unreachable,
  ENETUNREACH: unreachable,
  ECONNRESET: dropped,
  EPIPE: dropped,
  MOOR_CUT_OFF: ({ address }) => [
    `${address} sent only part of its answer, then closed the connection`,
    "check whether it is restarting, and whether a proxy in between cuts off long answers",
  ],
  MOOR_PACKED: ({ address, message }) => [
    `${address} sent a body that cannot be decompressed as ${message}`,
    "check whether a proxy in between changes the answer",
  ],
  HPE: badHeaders,
  HPE_HEADER_OVERFLOW: ({ address }) => [
    `${address} sent more than 16 KiB of HTTP headers`,
    "check that the URL points to the right service",
  ],
  HPE_INVALID_CHUNK_SIZE: badChunks,
  HPE_STRICT: badChunks,
  CERT: badCertificate,
  HPE_INVALID_CONSTANT: ({ address }) => [
    `${address} does not speak HTTP`,
    "check the port and the scheme (http or https) in the URL",
  ],
  ETIMEDOUT: slow,
  MOOR_STOPPED: () => ["stopped before it finished", "no action needed: moor is shutting down"],
  MOOR_TOO_LONG: tooLong,
  MOOR_TINY_PARTS: ({ address }) => [
    `${address} sent its answer in thousands of tiny parts`,
    "check that the URL points to the right service",
  ],
  MOOR_INTERIM: ({ address }) => [
    `${address} sent only interim answers (1xx)`,
    "check whether a proxy in between changes the answer",
  ],
  // A small answer that decompresses to a large one.
  ERR_BUFFER_TOO_LARGE: tooLong,
  MOOR_FINGERPRINT: ({ host, seen }) => [
    `${host} presented a certificate other than the pinned one: ${seen}`,
    "if the certificate was renewed, set `fingerprint:` to this SHA-256; if not, someone may be intercepting the connection",
  ],
  SELF_SIGNED_CERT_IN_CHAIN: untrusted,
  DEPTH_ZERO_SELF_SIGNED_CERT: untrusted,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: untrusted,
  UNABLE_TO_GET_ISSUER_CERT: untrusted,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: untrusted,
  CERT_SIGNATURE_FAILURE: untrusted,
  CERT_HAS_EXPIRED: expired,
  CERT_NOT_YET_VALID: expired,
  ERR_TLS_CERT_ALTNAME_INVALID: ({ host, serverName }) => [
    `the certificate is not valid for ${serverName ?? host}`,
    serverName === undefined
      ? "use the name in the certificate as the host in the URL, or set `serverName:` to it"
      : "correct `serverName:`: it must be the name in the certificate",
  ],
  EPROTO: ({ address }) => [
    `the TLS handshake with ${address} failed`,
    "check the port and the scheme (http or https) in the URL",
  ],
};
