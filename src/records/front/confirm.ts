import { setTimeout as sleep } from "node:timers/promises";
import { StoreBusy } from "../../lib/limits/store-busy.ts";
import type { LoggedRow, Zone } from "../model.ts";
import { type Actor, permissionsAt, placeOf } from "../queries/permitted-view.ts";
import type { Command, RecordStore, SetPlace } from "../store/port.ts";
import { planSet } from "./plan-set.ts";
import { contentOf, isProviders, stateOf, ttlsOf } from "./set-state.ts";
import { allRows, keyOf } from "./theirs.ts";

/** Milliseconds. */
const longestWait = 30_000;
/** How often the state is read, in milliseconds: another node may be the one that publishes. */
const readEvery = 100;
/** Rows of the log per read. */
const rowsAtOnce = 1_000;

/**
 * The provider refused what was written, or somebody changed it there. It is stored here. Faces answer with the
 * message.
 */
class NotPublished extends Error {
  readonly statusCode = 422;
}

type Options = {
  /** Calls back when something about a published zone was stored in this process. */
  readonly onPublished: (listener: () => void) => () => void;
  readonly longest?: number;
};

/** The same store; commands of an actor who wants a confirmation return when the provider has what they wrote. */
export function confirming(store: RecordStore, options: Options): RecordStore {
  return {
    ...store,
    run: (command, rule, running) => {
      const actor = confirmer(command);
      const run = () => store.run(command, rule, running);
      return actor === undefined ? run() : runConfirmed(store, actor, run, options);
    },
  };
}

async function runConfirmed<T>(store: RecordStore, actor: Actor, run: () => Promise<T>, options: Options): Promise<T> {
  const before = await store.lastChange();
  const result = await run();
  await confirm(store, actor, before, options);
  return result;
}

const confirmer = ({ actor }: Command): Actor | undefined =>
  actor !== undefined && "scope" in actor && (actor as Actor).scope.confirm === "provider"
    ? (actor as Actor)
    : undefined;

async function confirm(store: RecordStore, actor: Actor, before: number, options: Options): Promise<void> {
  const wanted = await writtenSince(store, actor, before);
  const { longest = longestWait } = options;
  const end = performance.now() + longest;
  for (const [number, places] of wanted) {
    if (!(await store.zoneBy(actor.account, { number }))?.settings.published) continue;
    while (!(await isPublished(store, actor, number, places))) {
      if (performance.now() > end)
        throw new StoreBusy(`it is stored, but not at the provider after ${longest / 1_000} seconds`, {
          retryAfter: 10,
        });
      await news(options);
    }
  }
}

async function news({ onPublished }: Options): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const stop = onPublished(resolve);
  const ended = new AbortController();
  await Promise.race([promise, sleep(readEvery, undefined, { signal: ended.signal }).catch(() => undefined)]);
  ended.abort();
  stop();
}

/**
 * What the actor has written since then, by zone. If that is nothing, all that they may write: an earlier write may
 * still be waiting.
 */
async function writtenSince(
  store: RecordStore,
  { account, label, scope, from }: Actor,
  before: number,
): Promise<ReadonlyMap<number, readonly SetPlace[] | undefined>> {
  const rows: LoggedRow[] = [];
  for (let position = before, isEnd = false; !isEnd; ) {
    const some = await store.changesAfter(position, rowsAtOnce, account);
    rows.push(...some.filter(({ actor }) => actor === label));
    position = some.at(-1)?.position ?? position;
    isEnd = some.length < rowsAtOnce;
  }
  const places = rows.flatMap(({ zone, change }) =>
    change.kind === "settings" || change.kind === "signatures"
      ? []
      : [{ zone, owner: change.owner, type: change.type }],
  );
  if (rows.length > 0) return Map.groupBy(places, ({ zone }) => zone);
  const { allows } = permissionsAt(Date.now);
  const zones = (await store.publishedZones(account)).map(([zone]) => zone);
  return new Map(
    zones
      .filter(({ name }) => allows({ scope, ...(from && { from }) }, { kind: "read-zone", zone: name }))
      .map(({ number }) => [number, undefined]),
  );
}

/** Throws if the provider will not have them. */
async function isPublished(
  store: RecordStore,
  actor: Actor,
  number: number,
  places: readonly SetPlace[] | undefined,
): Promise<boolean> {
  const zone = await store.zoneBy(actor.account, { number });
  if (!zone?.settings.published) throw new NotPublished("stored, but the zone is no longer published at its provider");
  const note = await store.publishedZone(number);
  if (note === undefined) return false;
  const ttls = ttlsOf(zone, note.ttl);
  const looked = places ?? (await writablePlaces(store, actor, zone));
  const owners = [...new Set(looked.map(({ owner }) => owner))];
  const sets = new Map((await store.sets(zone, { owners })).map((set) => [keyOf(set), set]));
  const rows = new Map((await store.publishedSetsAt(number, owners)).map((row) => [keyOf(row), row]));
  let isAll = true;
  for (const place of looked.filter((each) => !isProviders(each))) {
    const key = keyOf(place);
    const [ours, row] = [contentOf(sets.get(key), ttls), rows.get(key)];
    const plan = planSet(ours, row, ttls);
    if (plan.kind === "failed") throw new NotPublished(`stored, but not published: ${plan.because}`);
    if (stateOf(ours, row, ttls) !== "published") isAll = false;
  }
  return isAll;
}

async function writablePlaces(store: RecordStore, actor: Actor, zone: Zone): Promise<readonly SetPlace[]> {
  const { allows } = permissionsAt(Date.now);
  const rows = await allRows(store, zone.number);
  const sets = await store.sets(zone, {});
  return [...new Map<string, SetPlace>([...rows, ...sets.map((set) => [keyOf(set), set] as const)]).values()].filter(
    ({ owner, type }) => allows(actor, { kind: "write-set", ...placeOf({ zone, owner, type }) }),
  );
}
