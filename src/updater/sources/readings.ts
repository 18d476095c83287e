import type { Instant } from "../../core/instant.ts";
import type { Pacing } from "./pacing.ts";
import type { AddressSource, SourceReading } from "./source.ts";

/** What the sources say, each by itself: one that is slow to answer delays nobody else, in later rounds neither. */
export type SourceReadings = {
  /**
   * Asks those that do not push, and waits for all that it asks. With `enough`, no longer than that, and where others are asked
   * not for those that had failed before. One that has not answered by then is missing, unless it had failed before.
   */
  read(signal: AbortSignal, enough?: () => Promise<void>): Promise<ReadonlyMap<string, SourceReading>>;
  pushed(name: string, reading: SourceReading): void;
  /** What was pushed is not known to hold any longer. False when nothing was. */
  lost(name: string): boolean;
  /** Somebody wants to know now: those that are being asked may say what was before, and are asked once more after that. */
  hurry(): void;
  /** Those that do not push, or not now. */
  polled(): readonly string[];
  /** When each that failed, and is not being asked, is to be asked again. */
  due(): readonly (Instant | undefined)[];
};

/** `again`: another call is due, because one has answered that none waited for, or is to be asked once more. */
export function openReadings(
  sources: ReadonlyMap<string, AddressSource>,
  { pacing, now }: { readonly pacing: Pacing; readonly now: () => Instant },
  again: () => void,
): SourceReadings {
  const last = new Map<string, SourceReading>();
  /** What a source pushed last, while its stream is open. */
  const live = new Map<string, SourceReading>();
  /** Each with the question that it is to answer. */
  const busy = new Map<string, symbol>();
  /** Have answered since the last call, and are not asked anew before that is told. */
  const untold = new Set<string>();
  /** Were asked before somebody wanted to know. */
  const outdated = new Set<string>();
  let awaited = false;

  const notBefore = (name: string) => pacing.notBefore(sourceKey(name), now());
  const isToBeAsked = (name: string): boolean => {
    if (live.has(name) || busy.has(name) || untold.has(name)) return false;
    const wait = notBefore(name);
    // Only a failure is ever remembered: an old report would be a guess.
    return wait === undefined || now() >= wait;
  };
  const ask = async (name: string, source: AddressSource, signal: AbortSignal): Promise<void> => {
    const question = Symbol(name);
    busy.set(name, question);
    const reading = await source.read(signal);
    // It has pushed since, and what it says now may be from before.
    if (busy.get(name) !== question) return;
    last.set(name, reading);
    if (reading.kind === "report") pacing.succeeded(sourceKey(name));
    else pacing.failed(sourceKey(name), now());
    busy.delete(name);
    untold.add(name);
    if (!awaited) again();
  };
  const polled = () => [...sources.keys()].filter((name) => !live.has(name));
  return {
    async read(signal, enough) {
      awaited = true;
      const asked = [...sources].filter(([name]) => isToBeAsked(name));
      const hasFailed = (name: string) => last.get(name)?.kind === "unavailable";
      const answers = asked.map(([name, source]) => ({ failed: hasFailed(name), answer: ask(name, source, signal) }));
      const sound = answers.filter(({ failed }) => !failed);
      const waitedFor = enough && sound.length > 0 ? sound : answers;
      const all = Promise.all(waitedFor.map(({ answer }) => answer));
      await (enough ? Promise.race([all, enough()]) : all);
      awaited = false;
      if ([...untold].filter((name) => outdated.delete(name)).length > 0) again();
      untold.clear();
      const known = [...last].filter(([name, { kind }]) => !busy.has(name) || kind !== "report");
      return new Map([...known, ...live]);
    },
    pushed(name, reading) {
      busy.delete(name);
      live.set(name, reading);
      last.set(name, reading);
      pacing.succeeded(sourceKey(name));
    },
    lost(name) {
      untold.delete(name);
      return live.delete(name);
    },
    hurry() {
      for (const name of [...busy.keys(), ...untold]) outdated.add(name);
    },
    polled,
    due: () =>
      polled()
        .filter((name) => !busy.has(name))
        .map(notBefore),
  };
}

const sourceKey = (name: string) => `source ${name}`;
