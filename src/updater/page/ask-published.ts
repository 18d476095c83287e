import type { Published } from "../../contract/updater-page.ts";
import type { Instant } from "../../core/instant.ts";
import type { ManagedRecord } from "../round/managed-records.ts";
import type { RecordTarget } from "../targets/target.ts";

export type AskTools = {
  readonly records: readonly ManagedRecord[];
  readonly published: (record: ManagedRecord, signal: AbortSignal) => ReturnType<RecordTarget["current"]>;
  /** What was stored last for each name, and when, by its title. When it changes, the record is read again. */
  readonly stored: () => ReadonlyMap<string, string | null>;
  readonly now: () => Instant;
};

const mostParallel = 4;
/** Milliseconds that one call may take; the next call reads the rest. */
const patience = 10_000;
/** Milliseconds: with any number of names, a page left open uses only a small part of the token's quota. */
const freshFor = (names: number): number => Math.max(10_000, names * 2_000);

/** What the records hold, as far as known: one request per name, a few in parallel, shared by all viewers. */
export function createAskPublished({ records, published, stored, now }: AskTools) {
  let forgotten = 0;
  type Lookup = { readonly at: Instant; readonly forgotten: number; readonly stored: string | null | undefined };
  type CachedValues = Lookup & { readonly values: Published[string] };
  const cachedValues = new Map<string, CachedValues>();
  let asking: Promise<unknown> | undefined;

  const isDue = ({ displayName }: ManagedRecord): boolean => {
    const last = cachedValues.get(displayName);
    if (last === undefined || last.forgotten !== forgotten || last.stored !== stored().get(displayName)) return true;
    const age = now() - last.at;
    return age < 0 || age > freshFor(records.length);
  };
  const askFor = async (record: ManagedRecord, signal: AbortSignal): Promise<void> => {
    const { displayName } = record;
    const lookup: Lookup = { at: now(), forgotten, stored: stored().get(displayName) };
    const publishedContent = await published(record, signal).catch(() => undefined);
    cachedValues.set(displayName, {
      ...lookup,
      values: publishedContent?.kind === "found" ? publishedContent.value.values : null,
    });
  };
  const askDue = async (): Promise<void> => {
    const due = records.filter(isDue);
    const signal = AbortSignal.timeout(patience);
    const worker = async () => {
      for (let next = due.shift(); next && !signal.aborted; next = due.shift()) await askFor(next, signal);
    };
    await Promise.all(Array.from({ length: mostParallel }, worker));
  };
  const ask = async () => {
    // A request under way may be older than a write that the caller knows of.
    while (asking !== undefined) await asking;
    asking = askDue().finally(() => {
      asking = undefined;
    });
    await asking;
    return Object.fromEntries([...cachedValues].map(([title, { values }]) => [title, values]));
  };
  return {
    ask,
    /** The next call reads every record again. */
    forget: (): void => {
      forgotten += 1;
    },
  };
}
