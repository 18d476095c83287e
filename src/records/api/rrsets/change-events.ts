import { BoundedMap } from "../../../lib/limits/bounded-map.ts";
import type { FairSchedule } from "../../../lib/limits/fair-schedule.ts";
import type { LoggedChange, LogPlace } from "../../model.ts";
import { type ObfuscatedIds, plainIds } from "../../queries/obfuscated-ids.ts";
import type { Actor } from "../../queries/permitted-view.ts";
import type { AddedPlaces, RecordStore } from "../../store/port.ts";
import { changeToWire } from "./wire.ts";

/** Writes events to a reader; resolves false if the reader does not accept them and should be disconnected. */
export type EventSink = (text: string) => Promise<boolean>;

export type Follower = {
  readonly account: number;
  /** Its identity and current permissions; undefined once its token or session is no longer valid. */
  readonly actorNow: () => Promise<Actor | undefined>;
  /** How it sees the positions of events. */
  readonly shownIds: ObfuscatedIds;
};

type MaySee = (actor: Actor, change: LoggedChange) => boolean;
type Batch = { readonly events: readonly Event[]; readonly last: number };
type Event = { readonly change: LoggedChange; readonly text: () => string };

/** Changes per read, which must not block for more than a few milliseconds. */
const batchSize = 100;
const batchesKept = 8;

type Schedule = Pick<FairSchedule, "next">;

/**
 * The change log as streams. Each reader reads the log at its own pace, so a slow reader delays no others and no events
 * queue in memory. Readers of one account at the same position share one read. Other accounts' rows are never read, and
 * reading a long log takes turns with other work.
 */
export function createEventStreams(store: RecordStore, maySee: MaySee, schedule: Schedule) {
  const batches = new BoundedMap<string, Promise<Batch>>(batchesKept);
  const losses = new LossWatch(store);
  let version = 0;
  const log = new FollowedLog(store, (places) => {
    version += 1;
    batches.clear();
    losses.grown(places);
  });

  const batchAfter = (account: number, position: number): Promise<Batch> => {
    const key = `${account} ${position}`;
    const sharedBatch = batches.get(key);
    if (sharedBatch !== undefined) return sharedBatch;
    const read = readBatch(store, account, position);
    batches.set(key, read);
    // A reader that retries after a failure must not get the same failed read.
    read.catch(() => batches.get(key) === read && batches.delete(key));
    return read;
  };

  return {
    /**
     * Sends the changes after `from` that the follower may see, and then new ones, until the signal aborts, the sink
     * fails or the follower loses its access. If the store loses changes meanwhile, it sends `cut`, and continues from
     * the end of the log.
     */
    follow: async (
      { account, actorNow, shownIds: ids }: Follower,
      from: number,
      sink: EventSink,
      signal: AbortSignal,
    ): Promise<void> => {
      using _ = log.follow();
      let position = from;
      let { count } = await losses.now();
      while (!signal.aborted) {
        const [seen, loss] = [version, await losses.now()];
        if (loss.count !== count) {
          if (!(await sink(cutText(ids.show(position), ids.show(loss.end))))) return;
          [count, position] = [loss.count, loss.end];
        }
        const { events, last } = await batchAfter(account, position);
        position = last;
        // Checked after the events were read, so that nothing from after a revocation is sent.
        const actor = events.length > 0 ? await actorNow() : undefined;
        if (events.length > 0 && actor === undefined) return;
        const visible = events.filter((event) => actor && maySee(actor, event.change));
        const text = visible.map((event) => (ids === plainIds ? event.text() : eventText(event.change, ids))).join("");
        if (text !== "" && !(await sink(text))) return;
        if (events.length === batchSize) await schedule.next(account);
        // Nothing else can run between this check and the wait, so no change is missed.
        if (events.length === 0 && version === seen && !signal.aborted) await log.next(signal);
      }
    },
    close: (): void => log.close(),
  };
}

/** Listens to the store only while somebody follows: most writes have no followers. */
class FollowedLog {
  readonly #store: Pick<RecordStore, "onChange">;
  readonly #grown: (places?: AddedPlaces) => void;
  readonly #waiting = new Set<() => void>();
  #followers = 0;
  #stop = () => {};

  /** `grown`: the log has grown, or may have while nobody followed. */
  constructor(store: Pick<RecordStore, "onChange">, grown: (places?: AddedPlaces) => void) {
    this.#store = store;
    this.#grown = grown;
  }

  follow(): Disposable {
    if (this.#followers === 0) {
      this.#stop = this.#store.onChange((_, places) => {
        this.#grown(places);
        for (const wake of this.#waiting) wake();
      });
      this.#grown();
    }
    this.#followers += 1;
    return {
      [Symbol.dispose]: () => {
        this.#followers -= 1;
        if (this.#followers === 0) this.close();
      },
    };
  }

  /** Resolves when the log has grown, or the signal aborts. */
  next(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        signal.removeEventListener("abort", wake);
        this.#waiting.delete(wake);
        resolve();
      };
      signal.addEventListener("abort", wake);
      this.#waiting.add(wake);
    });
  }

  close(): void {
    this.#stop();
  }
}

/** `end`: the end of the log when the last loss was noticed. */
type Losses = { readonly count: number; readonly end: number };

/**
 * Counts how often the store has lost the end of its log: a standby that lagged took over, or a backup was restored.
 */
class LossWatch {
  readonly #store: Pick<RecordStore, "logEnd" | "logFrom">;
  #losses: Losses = { count: 0, end: 0 };
  /** A place that the log had. */
  #place: LogPlace | undefined;
  #check: Promise<Losses> | undefined;

  constructor(store: Pick<RecordStore, "logEnd" | "logFrom">) {
    this.#store = store;
  }

  grown(places: AddedPlaces | undefined): void {
    const { position, link } = this.#place ?? {};
    const followsOn = places !== undefined && places.after.position === position && places.after.link === link;
    if (followsOn) this.#place = places.end;
    else this.#check = undefined;
  }

  /** All readers share one check. */
  now(): Promise<Losses> {
    if (this.#check !== undefined) return this.#check;
    const check = this.#checkLosses();
    this.#check = check;
    check.catch(() => {
      if (this.#check === check) this.#check = undefined;
    });
    return check;
  }

  async #checkLosses(): Promise<Losses> {
    const place = this.#place;
    // In this order: a loss between the two reads is noticed now, and once more at the next check.
    const end = await this.#store.logEnd();
    const rowsOrHistory = place && (await this.#store.logFrom(place, 0));
    if (rowsOrHistory !== undefined && "placesStillInLog" in rowsOrHistory)
      this.#losses = { count: this.#losses.count + 1, end: end.position };
    // Otherwise it is newer already.
    if (this.#place === place) this.#place = end;
    return this.#losses;
  }
}

/**
 * Where a reader continues that has to read the current state first, because changes after `lastSeen` have been
 * deleted, or because the store has lost the change `lastSeen`. `last`: the end of the log.
 */
export async function cutAfter(
  store: Pick<RecordStore, "logAfter">,
  lastSeen: number,
  last: number,
): Promise<number | undefined> {
  if (lastSeen > last) return last;
  const [first] = await store.logAfter(0, 1);
  if (first === undefined || lastSeen === first.position - 1) return undefined;
  if (lastSeen < first.position) return first.position - 1;
  // After a loss, the positions that were used are skipped; there are no other gaps.
  const [next] = await store.logAfter(lastSeen - 1, 1);
  return next?.position === lastSeen ? undefined : last;
}

/** Both are ids as the reader sees them. */
export const cutText = (lastSeen: number, from: number): string =>
  `id: ${from}\nevent: cut\ndata: ${JSON.stringify({ asked: lastSeen, from })}\n\n`;

async function readBatch(store: RecordStore, account: number, position: number): Promise<Batch> {
  const changes = await store.changesAfter(position, batchSize, account);
  return {
    events: changes.map((change) => ({ change, text: once(() => eventText(change, plainIds)) })),
    last: changes.at(-1)?.position ?? position,
  };
}

/** Formatted on first use: most readers of a batch see the same events, and some see none. */
function once(make: () => string): () => string {
  let made: string | undefined;
  return () => (made ??= make());
}

/** https://html.spec.whatwg.org/multipage/server-sent-events.html: JSON has no line breaks, so the data is one line. */
const eventText = (change: LoggedChange, shownIds: ObfuscatedIds): string =>
  `id: ${shownIds.show(change.position)}\nevent: change\ndata: ${JSON.stringify(changeToWire(change, shownIds))}\n\n`;
