import type { Instant } from "../core/instant.ts";

export type Logger = { readonly info: LogFunction; readonly warn: LogFunction; readonly error: LogFunction };

type LogFunction = {
  (fields: Readonly<Record<string, unknown>>, message: string): void;
  (message: string): void;
};

export type LogOptions = {
  /** `text` for a person at a terminal, `json` for programs that collect logs. */
  readonly format: "text" | "json";
  /** The lowest level that is written. */
  readonly level?: (typeof levels)[number];
  readonly write: (line: string) => void;
};

const levels = ["info", "warn", "error", "silent"] as const;

export function createLog({ format, level: lowest = "info", write }: LogOptions): Logger {
  const at = (level: "info" | "warn" | "error"): LogFunction => {
    if (levels.indexOf(level) < levels.indexOf(lowest)) return () => undefined;
    return (first: Readonly<Record<string, unknown>> | string, second?: string) => {
      const [fields, msg] = typeof first === "string" ? [{}, first] : [first, second];
      const line = { level, time: new Date().toISOString(), ...withoutSecrets(fields, printable), msg };
      write(format === "json" ? `${JSON.stringify(line)}\n` : textLine(line));
    };
  };
  return { info: at("info"), warn: at("warn"), error: at("error") };
}

/** For callers that report in another way. */
export const noLog: Logger = createLog({ format: "text", level: "silent", write: () => undefined });

/** A client that repeats itself must not fill the disk. */
const mostLinesPerMinute = 60;
const minute = 60_000;

/** Runs `write` at most 60 times per minute; after more calls, the next minute starts with `reportSkipped`. */
export function createLineLimit(
  now: () => Instant,
  reportSkipped: (count: number) => void,
): (write: () => void) => void {
  let since = Number.NEGATIVE_INFINITY;
  let count = 0;
  return (write) => {
    // A clock that was set back starts a new minute too.
    if (Math.abs(now() - since) >= minute) {
      if (count > mostLinesPerMinute) reportSkipped(count - mostLinesPerMinute);
      since = now();
      count = 0;
    }
    count += 1;
    if (count <= mostLinesPerMinute) write();
  };
}

/** Replaced in every line: a logged request or config may contain secrets. */
const secretFields = new Set(["token", "secret", "password", "authorization", "auth-api-token", "cookie"]);
export const hidden = "(hidden)";

const withoutSecrets = (fields: object, print: (value: unknown) => unknown): object =>
  Object.fromEntries(
    Object.entries(fields).map(([key, value]) => [key, secretFields.has(key) ? hidden : print(value)]),
  );

/**
 * JSON would print an error as `{}`, and so would the loop over the fields of a date. A nested object, such as the
 * headers of a request, may contain a secret.
 */
function printable(value: unknown): unknown {
  if (value instanceof Error) return errorFields(value);
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? String(value) : value.toISOString();
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return withoutSecrets(value, (inner) => inner);
}

/** Includes what the system or a database adds to an error, such as its code. */
function errorFields(error: Error): object {
  const { message, stack, cause } = error;
  const added = Object.entries(error).filter(([, value]) => value !== undefined && typeof value !== "object");
  const fields = { ...Object.fromEntries(added), type: error.constructor.name };
  if (!(cause instanceof Error)) return { ...fields, message, stack };
  return { ...fields, message: `${message}: ${cause.message}`, stack: `${stack}\ncaused by: ${cause.stack}` };
}

/** `10:32:07 warn  address could not be read  source=home because="connection refused"` */
function textLine({ level, time, msg, err, ...fields }: TextLine): string {
  const cause = err === undefined ? {} : { error: (err as { message?: unknown }).message ?? err };
  const definedFields = Object.entries({ ...fields, ...cause }).filter(([, value]) => value !== undefined);
  const rest = definedFields.map(([key, value]) => ` ${key}=${textValue(value)}`);
  return `${time.slice(11, 19)} ${level.padEnd(5)} ${msg ?? ""}${rest.length > 0 ? " " : ""}${rest.join("")}\n`;
}

type TextLine = {
  readonly level: string;
  readonly time: string;
  readonly msg: string | undefined;
  readonly err?: unknown;
};

function textValue(value: unknown): string {
  if (typeof value === "string") return /^[\w.:/@+-]+$/.test(value) ? value : JSON.stringify(value);
  return JSON.stringify(value);
}
