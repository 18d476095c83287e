/**
 * What an error of PostgreSQL or of the connection means for the work: `lost`: the connection is gone, and a new one
 * may work; `refused`: there was no connection, and trying again does not help until something is changed; `repeat`:
 * another transaction was in the way, and a retry will work; `stale`: a table got a new column after the statement was
 * prepared on this connection, and a new connection will work; `slow`: it exceeded its time limit; `unable`: the server
 * cannot do it in the state it is in, and nothing was written.
 */
export type PostgresFault = "lost" | "refused" | "repeat" | "stale" | "slow" | "unable" | "other";

export function faultOf(error: unknown): PostgresFault {
  if (!(error instanceof Error)) return "other";
  if (refusalOf(error) !== undefined) return "refused";
  const { code } = error as Error & { readonly code?: string };
  if (code !== undefined) {
    const faultText = faults[code];
    if (faultText !== undefined) return faultText;
    if (inabilities[code] !== undefined) return "unable";
    if (code === "0A000" && error.message.startsWith("cached plan")) return "stale"; // feature_not_supported
    // https://www.postgresql.org/docs/current/errcodes-appendix.html, class 08: connection exceptions.
    if (/^08...$/.test(code) || /^E[A-Z_]{3,}$/.test(code)) return "lost";
    if (/^[0-9A-Z]{5}$/.test(code)) return "other";
  }
  if (error.message === noneFree) return "slow";
  return lostWords.test(error.message) ? "lost" : "other";
}

/** A lock was not free within `lock_timeout`. */
export const isLockTimeout = (error: unknown): boolean =>
  error instanceof Error && (error.cause as { readonly code?: string } | undefined)?.code === lockTimeout;

const lockTimeout = "55P03"; // lock_not_available

const faults: Readonly<Record<string, PostgresFault>> = {
  "40001": "repeat", // serialization_failure
  "40P01": "repeat", // deadlock_detected
  [lockTimeout]: "slow",
  "57014": "slow", // query_canceled: statement_timeout
  "25P03": "lost", // idle_in_transaction_session_timeout
  "57P01": "lost", // admin_shutdown
  "57P02": "lost", // crash_shutdown
  "57P03": "lost", // cannot_connect_now
  "57P04": "lost", // database_dropped
  "57P05": "lost", // idle_session_timeout
};

export const onlyReads = "the database is read-only: it is a standby, or configured as read-only";

/** What is wrong with the server, in words for clients. */
export const inabilityOf = (error: unknown): string | undefined =>
  inabilities[(error as { readonly code?: string }).code ?? ""];

const inabilities: Readonly<Record<string, string>> = {
  "53100": "the disk of the database is full",
  "53200": "the database is out of memory",
  "53400": "the database has reached a configured limit",
  "58030": "the disk of the database has errors",
  "25006": onlyReads,
  "42501": "the database does not grant this service the privileges it needs",
};

/** The pool's words: no connection was free in time. */
export const noneFree = "timeout exceeded when trying to connect";

/** The driver has no codes for these. */
const lostWords =
  /^(?:connection terminated|timeout expired|query read timeout|client (?:has encountered|was closed))/i;

/** Our own refusal: the server asks for a password that we do not have. The message says what to do. */
export class PasswordMissing extends Error {}

/**
 * Why a database cannot be used, in clearer words than those of the driver and the server where possible. Contains no
 * secret.
 */
export function reasonOf(error: unknown): string {
  // With several addresses, only the parts of the error have messages.
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join("; ");
  if (!(error instanceof Error)) return String(error);
  const { code = "", message } = error as DriverError;
  const todo = todos[code] ?? wordlessTodos.find(([pattern]) => pattern.test(message))?.[1];
  return refusalOf(error) ?? (todo === undefined ? message : `${message}; ${todo}`);
}

/**
 * Why a server refuses the connection, or why we do not trust it, and what to do.
 * Trying again does not help until something is changed. Undefined for all other errors.
 */
export function refusalOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  if (error instanceof PasswordMissing) return error.message;
  const { code, message } = error as DriverError;
  if (code !== undefined) return refusals[code]?.(error);
  return wordless.find(([pattern]) => pattern.test(message))?.[1];
}

type DriverError = Error & {
  readonly code?: string;
  /** Set by Node when a certificate has other names than the requested one. */
  readonly host?: string;
  readonly cert?: { readonly subjectaltname?: string };
};

const untrusted = () =>
  "its certificate is not from a trusted authority; give the file with the authority's certificate: " +
  "sslrootcert=FILE in the URL, or PGSSLROOTCERT";

/**
 * https://nodejs.org/api/tls.html#x509-certificate-error-codes and the classes 28, 3D and 53 of PostgreSQL's errors.
 */
const refusals: Readonly<Record<string, (error: DriverError) => string>> = {
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: untrusted,
  UNABLE_TO_GET_ISSUER_CERT: untrusted,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: untrusted,
  DEPTH_ZERO_SELF_SIGNED_CERT: untrusted,
  SELF_SIGNED_CERT_IN_CHAIN: untrusted,
  CERT_SIGNATURE_FAILURE: untrusted,
  CERT_HAS_EXPIRED: () => "its certificate has expired; install a new one on the server",
  CERT_NOT_YET_VALID: () => "its certificate is not valid yet; check the clocks of both machines",
  ERR_TLS_CERT_ALTNAME_INVALID: ({ host, cert }) =>
    `its certificate is not for ${host} but for ${namesIn(cert?.subjectaltname)}; use one of these names, or install a ` +
    "certificate for this name on the server (sslmode=verify-ca does not check names)",
  "28P01": ({ message }) =>
    `${message}; correct the password in --database-password-file, in PGPASSWORD or in the passfile`,
  "28000": ({ message }) => `${message}; ${lineMissing(message)}`,
  "3D000": ({ message }) => `${message}; create it there, or choose another`,
  "53300": ({ message }) =>
    `${message}; raise max_connections or the limit of the user or database on the server, or lower --database-connections`,
};

const namesIn = (text = "nobody"): string => text.replaceAll(/\b(?:DNS|IP Address):/g, "");

function lineMissing(message: string): string {
  if (message.includes("no encryption"))
    return (
      "it accepts only TLS connections from here: use sslmode=verify-full, with sslrootcert=FILE if its authority is " +
      "private"
    );
  return message.includes("pg_hba.conf") ? "add a line for it there" : "allow this user on the server";
}

/** The driver has no codes for these. */
const wordless: readonly (readonly [RegExp, string])[] = [
  [
    /^The server does not support SSL connections/,
    "it does not support TLS; enable it there (ssl = on), or use sslmode=disable if the network is trusted",
  ],
];

const upTodo = "check that the server is running, and the host and port in the URL";
const wayTodo = "check that this machine has a network connection and a route to it";
/** PgBouncer and similar: moor has its own pool, and needs its own sessions and settings. */
export const poolerTodo = "connect to the server itself, not to the pooler";
const rightsTodo = "allow this user to create and change tables there, or use a separate database";

/** For errors that are not refusals: the next try may work. */
const todos: Readonly<Record<string, string>> = {
  ECONNREFUSED: upTodo,
  ECONNRESET: upTodo,
  ENOENT: upTodo, // a socket in the file system
  ENOTFOUND: "correct the host in the URL, or use its IP address",
  EAI_AGAIN: "check that this machine can resolve names",
  EHOSTUNREACH: wayTodo,
  ENETUNREACH: wayTodo,
  ETIMEDOUT: wayTodo,
  "25006": "connect to the server that accepts writes: this one is a standby, or set to read-only",
  "42501": rightsTodo,
};

const wordlessTodos: readonly (readonly [RegExp, string])[] = [
  [/^timeout expired/, "the server does not answer; check that it is running, and that no firewall drops the packets"],
  [/^Connection terminated/, upTodo],
  [/^unsupported startup parameter/, `connected through a pooler; ${poolerTodo}`],
  [/^There was an error establishing an SSL connection/, `this may not be a PostgreSQL server; ${upTodo}`],
];
