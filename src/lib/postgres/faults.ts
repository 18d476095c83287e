import { refusalOf } from "./refusals.ts";

/**
 * What an error of PostgreSQL or of the connection means for the work: `lost`: the connection is gone, and a new one
 * may work; `refused`: there was no connection, and trying again does not help until something is changed; `repeat`: another
 * transaction was in the way, and a retry will work; `stale`: a table got a new column after the statement was prepared on
 * this connection, and a new connection will work; `slow`: it exceeded its time limit; `unable`: the server cannot do it in
 * the state it is in, and nothing was written.
 */
export type PostgresFault = "lost" | "refused" | "repeat" | "stale" | "slow" | "unable" | "other";

export function faultOf(error: unknown): PostgresFault {
  if (!(error instanceof Error)) return "other";
  if (refusalOf(error) !== undefined) return "refused";
  const { code } = error as Error & { readonly code?: string };
  if (code !== undefined) {
    const known = faults[code];
    if (known !== undefined) return known;
    if (inabilities[code] !== undefined) return "unable";
    if (code === "0A000" && error.message.startsWith("cached plan")) return "stale"; // feature_not_supported
    // https://www.postgresql.org/docs/current/errcodes-appendix.html, class 08: connection exceptions.
    if (/^08...$/.test(code) || /^E[A-Z_]{3,}$/.test(code)) return "lost";
    if (/^[0-9A-Z]{5}$/.test(code)) return "other";
  }
  if (error.message === "timeout exceeded when trying to connect") return "slow"; // no connection of the pool was free
  return lostWords.test(error.message) ? "lost" : "other";
}

const faults: Readonly<Record<string, PostgresFault>> = {
  "40001": "repeat", // serialization_failure
  "40P01": "repeat", // deadlock_detected
  "55P03": "slow", // lock_not_available: lock_timeout
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

/** The driver has no codes for these. */
const lostWords =
  /^(?:connection terminated|timeout expired|query read timeout|client (?:has encountered|was closed))/i;
