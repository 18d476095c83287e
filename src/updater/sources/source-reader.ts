import type { Instant } from "../../core/instant.ts";
import { followSource } from "./follow.ts";
import type { Pacing } from "./pacing.ts";
import type { AddressSource, SourceReading } from "./source.ts";

/** What one source says: it is asked, or it pushes while its stream is open. */
export type SourceReader = {
  /** Undefined before its first answer. */
  latest(): SourceReading | undefined;
  isPushing(): boolean;
  /** Asks and waits for the answer, unless the source pushes or failed too recently. */
  read(signal: AbortSignal): Promise<void>;
  /** After a failure: when it may be asked again. */
  retryAt(): Instant | undefined;
  /** Keeps its stream open until the signal aborts. `onNews`: it pushed, or it stopped pushing and has to be asked. */
  follow(onNews: () => void, signal: AbortSignal): Promise<void>;
  close(): void;
};

export type ReaderTools = { readonly pacing: Pacing; readonly now: () => Instant; readonly random: () => number };

export function createSourceReader(
  name: string,
  source: AddressSource,
  { pacing, now, random }: ReaderTools,
): SourceReader {
  let latest: SourceReading | undefined;
  let isPushing = false;
  /** The question under way. */
  let asking: { readonly answered: Promise<void>; readonly obsolete: AbortController } | undefined;

  const retryAt = () => pacing.notBefore(name, now());
  const note = (reading: SourceReading) => {
    latest = reading;
    if (reading.kind === "report") pacing.succeeded(name);
    else pacing.failed(name, now());
  };
  const ask = async (obsolete: AbortSignal, signal: AbortSignal) => {
    const reading = await source.read(AbortSignal.any([obsolete, signal]));
    // Once it has pushed, the answer may be older than that.
    if (!obsolete.aborted) note(reading);
  };
  const read = async (signal: AbortSignal): Promise<void> => {
    const wait = retryAt();
    if (isPushing || (wait !== undefined && now() < wait)) return;
    if (!asking) {
      const obsolete = new AbortController();
      asking = { obsolete, answered: ask(obsolete.signal, signal) };
    }
    const { answered, obsolete } = asking;
    await answered;
    if (asking?.answered === answered) asking = undefined;
    if (obsolete.signal.aborted) await read(signal);
  };
  return {
    latest: () => latest,
    isPushing: () => isPushing,
    read,
    retryAt,
    async follow(onNews, signal) {
      const news = () => {
        // Whoever waits for the answer goes on with what was pushed.
        if (asking) asking.obsolete.abort();
        else onNews();
      };
      const on = {
        reading(pushed: SourceReading) {
          isPushing = true;
          note(pushed);
          news();
        },
        lost() {
          if (!isPushing) return;
          isPushing = false;
          news();
        },
      };
      await followSource(source, on, { random }, signal);
    },
    close: () => source.close(),
  };
}
