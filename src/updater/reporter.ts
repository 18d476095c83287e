import type { Logger } from "pino";
import { summarise } from "./describe-round.ts";
import type { Round } from "./updater.ts";

/** Tells the log what changed: each failure once, and its end once. */
export type Reporter = { report(round: Round): void };

export function createReporter(log: Logger): Reporter {
  /** What is wrong at present, as it was last told. */
  const told = new Map<string, string>();

  const failing = (key: string, fields: Readonly<Record<string, string>>, message: string) => {
    const text = `${message} ${fields.because}`;
    if (told.get(key) === text) return;
    told.set(key, text);
    log.warn(fields, message);
  };
  const fine = (key: string, fields: Readonly<Record<string, string>>, message: string) => {
    if (told.delete(key)) log.info(fields, message);
  };

  return {
    report({ readings, results, unsaved }) {
      for (const [source, reading] of readings) {
        if (reading.kind === "report") fine(`source ${source}`, { source }, "addresses can be read again");
        else failing(`source ${source}`, { source, ...textsOf(reading) }, "addresses could not be read");
      }
      if (unsaved === undefined) fine("state", {}, "the state file is written again");
      else failing("state", { because: unsaved }, "the state file cannot be written");
      for (const result of results) {
        const { title: name, key, source } = result.subject;
        const summary = summarise(result, true);
        // Told above, once for all names that hang on it.
        if (readings.get(source)?.kind !== "report") continue;
        if (summary.kind === "failed") failing(key, { name, ...textsOf(summary) }, `record ${summary.what}`);
        if (summary.kind === "none")
          failing(key, { name, ...textsOf(summary) }, "no address; the record is left as it is");
        if (summary.kind === "done" || summary.kind === "nothing")
          fine(key, { name }, "the trouble with this record is over");
        if (summary.kind === "done") log.info({ name, because: summary.because }, `record ${summary.what}`);
      }
    },
  };
}

const textsOf = ({ because, todo }: { readonly because: string; readonly todo?: string }) => ({
  because,
  ...(todo === undefined ? {} : { todo }),
});
