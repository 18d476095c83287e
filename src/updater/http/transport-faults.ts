import { printable } from "../../core/visible-text.ts";
import type { Endpoint, HttpLimits } from "./endpoint.ts";

/** What went wrong between here and there, in people's words, and what to do about it. */
export type TransportFault = { readonly because: string; readonly todo: string };

type Words = (place: Place) => readonly [because: string, todo: string];
type Place = {
  readonly host: string;
  /** That the certificate must have, where it is another than the host. */
  readonly serverName?: string | undefined;
  readonly address: string;
  readonly seconds: number;
  readonly mebibytes: number;
  readonly message: string;
  readonly seen: string;
};

export function describeTransportFault(error: unknown, endpoint: Endpoint, limits: HttpLimits): TransportFault {
  const { code, message, seen } = error as { code?: string; message?: string; seen?: string };
  return describe(String(code), endpoint, limits, { message: printable(message ?? String(error)), seen: seen ?? "" });
}

/** A request that was broken off says only so; why, the signal knows. */
export function describeStop({ reason }: AbortSignal, endpoint: Endpoint, limits: HttpLimits): TransportFault {
  const late = reason instanceof Error && reason.name === "TimeoutError";
  return describe(late ? "ETIMEDOUT" : "MOOR_STOPPED", endpoint, limits, { message: "", seen: "" });
}

function describe(
  code: string,
  { url, serverName }: Endpoint,
  { timeoutMs, maxBytes }: HttpLimits,
  said: Pick<Place, "message" | "seen">,
): TransportFault {
  const limits = { seconds: timeoutMs / 1000, mebibytes: maxBytes / 1024 / 1024 };
  const place = { host: url.hostname, serverName, address: url.host, ...limits };
  const [because, todo] = (words[code] ?? words[family(code)] ?? other)({ ...place, ...said });
  return { because, todo };
}

/** Codes that have no words of their own have those of their kind. */
function family(code: string): string {
  if (/^(ERR_SSL|EPROTO)/.test(code)) return "EPROTO";
  if (/^HPE_/.test(code)) return "HPE";
  return /^(CERT_|UNABLE_TO_|ERROR_IN_CERT|INVALID_(CA|PURPOSE)|PATH_LENGTH|HOSTNAME_MISMATCH)/.test(code)
    ? "CERT"
    : code;
}

const other: Words = ({ address, message }) => [`${address} could not be asked: ${message}`, "see whether it is up"];

const untrusted: Words = ({ host }) => [
  `the certificate of ${host} is signed by nobody this config trusts`,
  "set `ca:` to the file of its certificate authority, or `fingerprint:` to the certificate's SHA-256",
];

const expired: Words = ({ host }) => [
  `the certificate of ${host} is not valid at this time`,
  "renew it there, and see whether the clock here is right",
];

const unreachable: Words = ({ host }) => [
  `there is no way to ${host}`,
  "see whether this machine has a network and a route to it",
];

const dropped: Words = ({ address }) => [
  `${address} broke the connection off`,
  "see whether it is restarting, and whether the url has the right port",
];

const badCertificate: Words = ({ host, message }) => [
  `the certificate of ${host} cannot be used: ${message}`,
  "mend it there; `fingerprint:` believes one certificate whatever is wrong with it",
];

const badHeaders: Words = ({ address, message }) => [
  `${address} sent an answer whose HTTP headers are broken: ${message.replace(/^Parse Error: /, "")}`,
  "see whether the url has the right port, and what a proxy on the way makes of the answer",
];

const badChunks: Words = ({ address }) => [
  `${address} sent a body that is broken: the size of a chunk cannot be read`,
  "see what a proxy on the way makes of the answer",
];

const slow: Words = ({ address, seconds }) => [
  `${address} did not finish its answer within ${seconds} s`,
  "see whether it is up and whether a firewall drops the packets",
];

const tooLong: Words = ({ address, mebibytes }) => [
  `${address} sent more than ${mebibytes} MiB`,
  "see whether the url points at the right service",
];

const words: Readonly<Record<string, Words>> = {
  ECONNREFUSED: ({ address }) => [`nothing listens at ${address}`, "see whether it is up, and the port in the url"],
  ENOTFOUND: ({ host }) => [`the name ${host} is not known to DNS`, "mend the url, or name the host by its address"],
  EAI_AGAIN: ({ host }) => [`DNS did not answer for ${host}`, "see whether this machine's resolver works"],
  EHOSTUNREACH: unreachable,
  ENETUNREACH: unreachable,
  ECONNRESET: dropped,
  EPIPE: dropped,
  MOOR_CUT_OFF: ({ address }) => [
    `${address} sent only a part of its answer, then closed the connection`,
    "see whether it is restarting, and what a proxy on the way makes of long answers",
  ],
  MOOR_PACKED: ({ address, message }) => [
    `${address} sent a body that says it is packed with ${message}, and cannot be unpacked`,
    "see what a proxy on the way makes of the answer",
  ],
  HPE: badHeaders,
  HPE_HEADER_OVERFLOW: ({ address }) => [
    `${address} sent more than 16 KiB of HTTP headers`,
    "see whether the url points at the right service",
  ],
  HPE_INVALID_CHUNK_SIZE: badChunks,
  HPE_STRICT: badChunks,
  CERT: badCertificate,
  HPE_INVALID_CONSTANT: ({ address }) => [
    `${address} does not speak HTTP`,
    "see the port and http or https in the url",
  ],
  ETIMEDOUT: slow,
  MOOR_STOPPED: () => ["stopped before it was done", "nothing: moor is shutting down"],
  MOOR_TOO_LONG: tooLong,
  // A small answer that unpacks into a large one.
  ERR_BUFFER_TOO_LARGE: tooLong,
  MOOR_FINGERPRINT: ({ host, seen }) => [
    `${host} showed a certificate other than the pinned one: ${seen}`,
    "if the certificate was renewed, put this new SHA-256 into `fingerprint:`; if not, somebody stands between",
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
    `the certificate is not made out to ${serverName ?? host}`,
    serverName === undefined
      ? "use the name in the certificate as the url's host, or set `serverName:` to it"
      : "mend `serverName:`: it must be the name in the certificate",
  ],
  EPROTO: ({ address }) => [
    `${address} does not speak TLS as expected`,
    "see whether the port is the HTTPS one, and http or https in the url",
  ],
};
