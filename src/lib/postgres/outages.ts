import type { Logger } from "../../process/log.ts";
import { refusalOf } from "./faults.ts";

/** Logs once that the database is down or refuses us, and once that it is back. */
export type Outages = {
  readonly failed: (error: Error) => void;
  /** A new connection was made. */
  readonly connected: () => void;
  /** Something was done on a connection. */
  readonly worked: () => void;
};

export function logOutages(log: Logger, shown: string): Outages {
  let since: number | undefined;
  let isLost = false;
  let isRefused = false;
  return {
    failed: (error) => {
      since ??= Date.now();
      const because = refusalOf(error);
      if (because === undefined) {
        if (!isLost && !isRefused) log.error({ err: error, database: shown }, "the database cannot be reached");
        isLost = true;
      } else {
        if (!isRefused) log.error({ because, database: shown }, "the database refuses connections from this service");
        isRefused = true;
      }
    },
    connected: () => {
      isRefused = false;
    },
    worked: () => {
      // Open connections keep working while new ones are refused.
      if (since === undefined || isRefused) return;
      log.info({ database: shown, seconds: Math.round((Date.now() - since) / 1000) }, "the database is back");
      since = undefined;
      isLost = false;
    },
  };
}
