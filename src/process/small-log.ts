import type { LogOptions } from "./log.ts";
import { hidden, secretFields, textLine } from "./log-line.ts";

/** The part of a log that a small program needs; the services' log is one as well. */
export type SmallLog = { readonly info: LogFunction; readonly warn: LogFunction; readonly error: LogFunction };

type LogFunction = {
  (fields: Readonly<Record<string, unknown>>, message: string): void;
  (message: string): void;
};

/** For who tells what happens by other means. */
export const noLog: SmallLog = { info: () => undefined, warn: () => undefined, error: () => undefined };

/** The same lines as the services' log, without the 2 MB that the latter takes. */
export function createSmallLog({ format, write }: LogOptions): SmallLog {
  const at = (level: string): LogFunction => {
    return (first: Readonly<Record<string, unknown>> | string, second?: string) => {
      const [fields, msg] = typeof first === "string" ? [{}, first] : [first, second];
      const line = `${JSON.stringify({ level, time: new Date().toISOString(), ...withoutSecrets(fields), msg })}\n`;
      write(format === "json" ? line : textLine(line));
    };
  };
  return { info: at("info"), warn: at("warn"), error: at("error") };
}

const withoutSecrets = (fields: Readonly<Record<string, unknown>>) => hide(fields, (value) => printable(value));

const hide = (fields: object, print: (value: unknown) => unknown) =>
  Object.fromEntries(
    Object.entries(fields).map(([key, value]) => [key, secretFields.includes(key) ? hidden : print(value)]),
  );

/** JSON would make `{}` of an error; a secret may ride along in a request or its headers. */
function printable(value: unknown): unknown {
  if (value instanceof Error) return errorFields(value);
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return hide(value, (inner) => inner);
}

function errorFields(error: Error): object {
  const { message, stack, cause } = error;
  const type = error.constructor.name;
  if (!(cause instanceof Error)) return { type, message, stack };
  return { type, message: `${message}: ${cause.message}`, stack: `${stack}\ncaused by: ${cause.stack}` };
}
