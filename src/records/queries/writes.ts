import type { Instant } from "../../core/instant.ts";
import type { FairSchedule } from "../../lib/limits/fair-schedule.ts";
import type { LoggedChange, Zone, ZoneKey } from "../model.ts";
import type { ChangeMatch, LoggedWrite, RecordStore } from "../store/port.ts";
import { type Actor, missing, type PermittedView } from "./permitted-view.ts";

export type WritesRange = {
  /** Only changes before this position. */
  readonly before?: number | undefined;
  /** Only writes up to this time. */
  readonly until?: Instant | undefined;
  readonly match: ChangeMatch;
};

/** A write, with the newest of its changes that match. */
export type ShownWrite = LoggedWrite & { readonly rows: readonly LoggedChange[] };

/** Writes per page, and changes of each. */
const [perPage, perWrite] = [25, 8];
/** Changes per turn, and how many one request examines: a filter may match none of them. */
const [window, mostLooked] = [1_000, 20_000];

/**
 * The history of a zone by write. Its work is bounded, whatever the log contains: it is done in small parts, in turns
 * with other accounts, and after some parts the answer says where to continue. For actors who see the whole zone.
 */
export function writesOperations(
  { store }: { readonly store: RecordStore },
  permitted: PermittedView,
  schedule: Pick<FairSchedule, "next">,
) {
  return {
    /**
     * `next`: the position before which the next page starts; undefined at the end. `reached`: how far back it looked.
     */
    writes: async (actor: Actor, key: ZoneKey, { before, until, match }: WritesRange) => {
      const zone = actor.scope.sets === undefined ? await permitted.openZone(actor, key) : undefined;
      if (zone === undefined) return missing("zone");
      const start =
        until === undefined ? before : Math.min(before ?? Infinity, await positionAfter(store, zone, until));
      const readWrites = async (position: number | undefined) => {
        await schedule.next(actor.account);
        return await store.writesOf(zone, { before: position, window, match });
      };
      const { matching, next, reached } = await findWrites(readWrites, start);
      const writes: ShownWrite[] = [];
      for (const write of matching) {
        await schedule.next(actor.account);
        const { serial, hit, oldest } = write;
        const from = Math.max(oldest, hit - window);
        writes.push({
          ...write,
          rows: await store.historyOf(zone, { serial, before: hit + 1, from, match, limit: perWrite }),
        });
      }
      return { kind: "done" as const, writes, next, reached };
    },
  };
}

type ReadWrites = (before: number | undefined) => Promise<readonly LoggedWrite[]>;

async function findWrites(readWindow: ReadWrites, start: number | undefined) {
  const matching: LoggedWrite[] = [];
  /** The oldest write so far; the next part may have more of its changes. */
  let open: LoggedWrite | undefined;
  let isFirst = true;
  // A write that alone is larger than what one request examines is read to its end, so that the next page starts after
  // it.
  for (let looked = 0; looked < mostLooked || isFirst; looked += window) {
    const groups = await readWindow(open?.oldest ?? start);
    const [newest, ...others] = groups;
    const writes =
      open && newest?.serial === open.serial ? [joined(open, newest), ...others] : [...optional(open), ...groups];
    const isEnd = groups.reduce((sum, write) => sum + sizeOf(write), 0) < window;
    open = isEnd ? undefined : writes.pop();
    isFirst &&= writes.length === 0;
    matching.push(...writes.filter(({ hit }) => hit > 0));
    const last = matching[perPage - 1];
    if (last && (matching.length > perPage || !isEnd))
      return { matching: matching.slice(0, perPage), next: last.oldest, reached: last.at };
    if (isEnd) return { matching, next: undefined, reached: undefined };
  }
  return { matching, next: open && open.newest + 1, reached: open?.at };
}

const optional = <T>(value: T | undefined): readonly T[] => (value === undefined ? [] : [value]);

const sizeOf = ({ added, replaced, deleted, settings }: LoggedWrite): number => added + replaced + deleted + settings;

const joined = (newer: LoggedWrite, older: LoggedWrite): LoggedWrite => ({
  ...newer,
  oldest: older.oldest,
  hit: Math.max(newer.hit, older.hit),
  added: newer.added + older.added,
  replaced: newer.replaced + older.replaced,
  deleted: newer.deleted + older.deleted,
  settings: newer.settings + older.settings,
  begins: newer.begins || older.begins,
});

/** The first position whose change is later. Positions grow with time, so halving finds it in a few reads. */
async function positionAfter(store: RecordStore, zone: Zone, time: Instant): Promise<number> {
  let [low, high] = [0, (await store.lastChange()) + 1];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const [row] = await store.historyOf(zone, { before: middle + 1, limit: 1 });
    if (row !== undefined && row.at > time) high = row.position;
    else low = middle + 1;
  }
  return low;
}
