import { StoreBusy } from "../../../lib/limits/store-busy.ts";

export type JoinedOptions<Key, Value> = {
  /**
   * One query for many keys; returns the results in the order of the keys. `since`: when the oldest of these reads
   * arrived, by `performance.now()`.
   */
  readonly load: (keys: readonly Key[], since: number) => Promise<readonly Value[]>;
};

type PendingRead<Key, Value> = {
  readonly key: Key;
  readonly since: number;
  readonly settle: (value: Value) => void;
  readonly fail: (error: unknown) => void;
};

const mostAtOnce = 2;
const mostKeys = 200;
const mostWaiting = 5_000;

/**
 * Reads that arrive in one turn of the event loop, or while others are running, become one query: the round trip
 * costs more than the data. A read that starts after a write was answered is sent after it, and so sees it.
 */
export function joinReads<Key, Value>({ load }: JoinedOptions<Key, Value>) {
  let waiting: PendingRead<Key, Value>[] = [];
  let running = 0;
  let scheduled = false;

  const answer = async (group: readonly PendingRead<Key, Value>[]): Promise<void> => {
    try {
      const values = await load(
        group.map(({ key }) => key),
        group[0]?.since ?? performance.now(),
      );
      for (const [i, each] of group.entries()) each.settle(values[i] as Value);
    } catch (error) {
      for (const each of group) each.fail(error);
    }
  };
  const pump = (): void => {
    scheduled = false;
    while (waiting.length > 0 && running < mostAtOnce) {
      const group = waiting.slice(0, mostKeys);
      waiting = waiting.slice(mostKeys);
      running += 1;
      void answer(group).finally(() => {
        running -= 1;
        pump();
      });
    }
  };

  return (key: Key): Promise<Value> =>
    new Promise((settle, fail) => {
      if (waiting.length >= mostWaiting) {
        fail(new StoreBusy("too many reads are waiting"));
        return;
      }
      waiting.push({ key, since: performance.now(), settle, fail });
      if (scheduled || running >= mostAtOnce) return;
      scheduled = true;
      setImmediate(pump);
    });
}
