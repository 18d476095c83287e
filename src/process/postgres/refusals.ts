/** A refusal of our own: the server was not told what it wants to know. The message says what to do. */
export class NothingToTell extends Error {}

/** Why a database cannot be used, in the words of people where the driver and the server have others. No secret stands in it. */
export function reasonOf(error: unknown): string {
  // An attempt at several addresses says nothing but in its parts.
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join("; ");
  if (!(error instanceof Error)) return String(error);
  const { code = "", message } = error as DriverError;
  const todo = todos[code] ?? wordlessTodos.find(([pattern]) => pattern.test(message))?.[1];
  return refusalOf(error) ?? (todo === undefined ? message : `${message}; ${todo}`);
}

/**
 * What is between us and a server that is there but does not take the connection, or that we do not trust, and what to do.
 * Trying again does not help until somebody has changed something. Undefined for all other errors.
 */
export function refusalOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  if (error instanceof NothingToTell) return error.message;
  const { code, message } = error as DriverError;
  if (code !== undefined) return refusals[code]?.(error);
  return wordless.find(([pattern]) => pattern.test(message))?.[1];
}

type DriverError = Error & {
  readonly code?: string;
  /** Of Node, when a certificate has other names than the one that was asked for. */
  readonly host?: string;
  readonly cert?: { readonly subjectaltname?: string };
};

const untrusted = () =>
  "its certificate comes from no authority that is trusted here; name the file with the certificate of its authority: " +
  "sslrootcert=FILE in the address, or PGSSLROOTCERT";

/** https://nodejs.org/api/tls.html#x509-certificate-error-codes and the classes 28, 3D and 53 of PostgreSQL's errors. */
const refusals: Readonly<Record<string, (error: DriverError) => string>> = {
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: untrusted,
  UNABLE_TO_GET_ISSUER_CERT: untrusted,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: untrusted,
  DEPTH_ZERO_SELF_SIGNED_CERT: untrusted,
  SELF_SIGNED_CERT_IN_CHAIN: untrusted,
  CERT_SIGNATURE_FAILURE: untrusted,
  CERT_HAS_EXPIRED: () => "its certificate has expired; have the server given a new one",
  CERT_NOT_YET_VALID: () => "its certificate is not valid yet; look at the clocks of both machines",
  ERR_TLS_CERT_ALTNAME_INVALID: ({ host, cert }) =>
    `its certificate is not for ${host} but for ${namesIn(cert?.subjectaltname)}; connect by a name that it has, or have the ` +
    "server given one for this name (sslmode=verify-ca looks at no names)",
  "28P01": ({ message }) =>
    `${message}; correct the password in --database-password-file, in PGPASSWORD or in the address`,
  "28000": ({ message }) => `${message}; ${lineMissing(message)}`,
  "3D000": ({ message }) => `${message}; make it there, or name another`,
  "53300": ({ message }) =>
    `${message}; raise max_connections or the limit of the user or database there, or lower --database-connections`,
};

const namesIn = (text = "nobody"): string => text.replaceAll(/\b(?:DNS|IP Address):/g, "");

function lineMissing(message: string): string {
  if (message.includes("no encryption"))
    return (
      "it takes no connection without TLS from here: give sslmode=verify-full, with sslrootcert=FILE if its authority is a " +
      "private one"
    );
  return message.includes("pg_hba.conf") ? "have a line for it added there" : "have the server let this user in";
}

/** The driver has no codes for these. */
const wordless: readonly (readonly [RegExp, string])[] = [
  [
    /^The server does not support SSL connections/,
    "it does not speak TLS; have it turned on there (ssl = on), or give sslmode=disable if nobody can be in between",
  ],
];

const upTodo = "see whether the server is up, and the host and port in the address";
const wayTodo = "see whether this machine has a network and a route to it";
/** PgBouncer and its like: moor has a pool of its own, and settings and sessions that it needs. */
export const poolerTodo = "name the server itself, not the pooler before it";
const rightsTodo = "have its owner let this user make and change tables there, or name a database of its own";

/** Of what is no refusal: the server may be there the next time, or do it the next time. */
const todos: Readonly<Record<string, string>> = {
  ECONNREFUSED: upTodo,
  ECONNRESET: upTodo,
  ENOENT: upTodo, // a socket in the file system
  ENOTFOUND: "correct the host in the address, or name it by its IP address",
  EAI_AGAIN: "see whether this machine's resolver works",
  EHOSTUNREACH: wayTodo,
  ENETUNREACH: wayTodo,
  ETIMEDOUT: wayTodo,
  "25006": "name the server that takes writes: this one is a standby, or was set to read only",
  "42501": rightsTodo,
};

const wordlessTodos: readonly (readonly [RegExp, string])[] = [
  [/^timeout expired/, "nothing there answers: see whether the server is up, and whether a firewall drops the packets"],
  [/^Connection terminated/, upTodo],
  [/^unsupported startup parameter/, `a pooler stands between: ${poolerTodo}`],
  [/^There was an error establishing an SSL connection/, `perhaps it is no PostgreSQL: ${upTodo}`],
];
