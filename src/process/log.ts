import { type DestinationStream, type Logger, pino } from "pino";
import { hidden, secretFields, textLine } from "./log-line.ts";

export type { Logger };

export type LogOptions = {
  /** `text` for people at a terminal, `json` for programs that collect logs. */
  readonly format: "text" | "json";
  readonly level?: "debug" | "info" | "warn" | "error" | "silent";
  readonly write: (line: string) => void;
};

export function createLog(options: LogOptions): Logger {
  const destination: DestinationStream = {
    write: (line) => options.write(options.format === "json" ? line : textLine(line)),
  };
  return pino(
    {
      level: options.level ?? "info",
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: secretFields.flatMap((field) => [`["${field}"]`, `*["${field}"]`]), censor: hidden },
    },
    destination,
  );
}
