import { setTimeout as sleep } from "node:timers/promises";
import { isObject } from "../../core/is-object.ts";
import { keyOf, type SetKey } from "../../core/records/rrset.ts";
import { StoreBusy } from "../../lib/limits/store-busy.ts";
import { actorOfUpdate, type UpdateByDns } from "../commands/from-dns-update.ts";
import type { LoggedRow, Zone } from "../model.ts";
import { type Actor, permissionsAt, placeOf } from "../queries/permitted-view.ts";
import type { Command, RecordStore } from "../store/port.ts";
import { changedBy } from "./after-write.ts";
import { isReadableContent, planSet } from "./plan-set.ts";
import { theirsByRule } from "./publish-rule.ts";
import { contentOf, isProviders, shownState, ttlsOf } from "./set-state.ts";
import { allRows, byProvider } from "./theirs.ts";

/** Milliseconds. */
const longestWait = 30_000;
/** Of DNS clients: most of them give up after ten seconds, and would not hear of a failure. */
const longestDnsWait = 8_000;
/** How often the state is read, in milliseconds: another node may be the one that publishes. */
const readEvery = 100;
/** Rows of the log per read. */
const rowsAtOnce = 1_000;

/**
 * The provider refused what was written, or somebody changed it there. It is stored here. The APIs answer with the
 * message.
 */
class NotPublished extends Error {
  readonly statusCode = 422;
}

type Options = {
  /** Calls back when something about a published zone was stored in this process. */
  readonly onPublished: (listener: () => void) => () => void;
  readonly longest?: number | undefined;
};

/** The same store; commands of an actor who wants a confirmation return when the provider has what they wrote. */
export function confirming(store: RecordStore, options: Options): RecordStore {
  return {
    ...store,
    run: (command, rule, running) => {
      const actor = confirmer(command);
      const run = () => store.run(command, rule, running);
      if (actor === undefined) return run();
      const { longest = longestWait } = options;
      const limit = command.kind === "dns-update" ? Math.min(longest, longestDnsWait) : longest;
      return runConfirmed(store, actor, run, { ...options, longest: limit });
    },
  };
}

type Limited = Options & { readonly longest: number };

async function runConfirmed<T>(store: RecordStore, actor: Actor, run: () => Promise<T>, options: Limited): Promise<T> {
  const zones = await store.publishedZones(actor.account);
  const published = new Set(zones.filter(([zone]) => zone.settings.published).map(([zone]) => zone.number));
  const before = { position: await store.lastChange(), published };
  const result = await run();
  if (!isRefused(result)) await confirm(store, actor, before, options);
  return result;
}

/** What was there before the write: the end of the log, and the zones that were published. */
type Before = { readonly position: number; readonly published: ReadonlySet<number> };

/** Nothing was written, and the caller learns why. */
function isRefused(result: unknown): boolean {
  if (typeof result === "string" || !isObject(result)) return typeof result === "string";
  const { kind } = isObject(result.result) ? result.result : result;
  return typeof kind === "string" && notDone.has(kind);
}

const notDone = new Set(["missing", "denied", "refused", "unmet", "not-ours"]);

function confirmer(command: Command): Actor | undefined {
  const actor = command.kind === "dns-update" ? actorOfUpdate(command as UpdateByDns) : (command.actor as Actor);
  return actor?.scope?.confirm === "provider" ? actor : undefined;
}

async function confirm(store: RecordStore, actor: Actor, before: Before, options: Limited): Promise<void> {
  const wanted = await writtenSince(store, actor, before.position);
  const { longest } = options;
  const end = performance.now() + longest;
  for (const [number, places] of wanted) {
    const isForProvider = before.published.has(number) && !isEnd(places);
    if (!isForProvider && !(await store.zoneBy(actor.account, { number }))?.settings.published) continue;
    while (!(await isPublished(store, actor, number, places))) {
      if (performance.now() > end)
        throw new StoreBusy(`it is stored, but not at the provider after ${longest / 1_000} seconds`, {
          retryAfter: 10,
        });
      await news(options);
    }
    if (places !== undefined && (await isTakenSince(store, actor, number, places, before.position)))
      throw new NotPublished(`stored, but replaced: ${theirsByRule}`);
  }
}

/** The actor has ended the publication, or deleted the zone. */
const isEnd = (places: readonly SetKey[] | undefined): boolean =>
  places !== undefined && (places.length === 0 || places.some(({ type }) => type === "SOA"));

/** Whether the drift rule of the zone has replaced one of these sets after the actor wrote it. */
async function isTakenSince(
  store: RecordStore,
  { account, label }: Actor,
  number: number,
  places: readonly SetKey[],
  before: number,
): Promise<boolean> {
  const rows = await changesSince(store, account, before, (actor) => actor === label || actor.startsWith(byProvider));
  const last = new Map(
    rows.flatMap(({ zone, actor, change }) =>
      zone === number && "owner" in change ? [[keyOf(change), actor] as const] : [],
    ),
  );
  return places.some((place) => last.get(keyOf(place))?.startsWith(byProvider));
}

async function news({ onPublished }: Options): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const stop = onPublished(resolve);
  const ended = new AbortController();
  await Promise.race([promise, sleep(readEvery, undefined, { signal: ended.signal }).catch(() => undefined)]);
  ended.abort();
  stop();
}

async function changesSince(
  store: RecordStore,
  account: number,
  before: number,
  isBy: (actor: string) => boolean,
): Promise<readonly LoggedRow[]> {
  const rows: LoggedRow[] = [];
  for (let position = before, isEnd = false; !isEnd; ) {
    const some = await store.changesAfter(position, rowsAtOnce, account);
    rows.push(...some.filter(({ actor }) => isBy(actor)));
    position = some.at(-1)?.position ?? position;
    isEnd = some.length < rowsAtOnce;
  }
  return rows;
}

/**
 * What the actor has written since then, by zone. If that is nothing, all that they may write: an earlier write may
 * still be waiting.
 */
async function writtenSince(
  store: RecordStore,
  { account, label, scope, from }: Actor,
  before: number,
): Promise<ReadonlyMap<number, readonly SetKey[] | undefined>> {
  const rows = await changesSince(store, account, before, (actor) => actor === label);
  if (rows.length > 0)
    return new Map(
      [...Map.groupBy(rows, ({ zone }) => zone)].map(([zone, its]) => {
        const isOfAll = its.some(({ change }) => change.kind === "settings" && change.before.ttl !== change.after.ttl);
        return [
          zone,
          isOfAll
            ? undefined
            : its.flatMap(({ change }) => (change.kind === "signatures" ? [] : changedBy(change, []))),
        ];
      }),
    );
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
  places: readonly SetKey[] | undefined,
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
    // The rule of the zone decides in a moment.
    const isDecided = zone.settings.published.drift !== "ask" && row?.theirs !== undefined;
    if (plan.kind === "failed" && !(isDecided && isReadableContent(row.theirs)))
      throw new NotPublished(`stored, but not published: ${plan.because}`);
    if (shownState(ours, row, zone, note) !== "published") isAll = false;
  }
  return isAll;
}

async function writablePlaces(store: RecordStore, actor: Actor, zone: Zone): Promise<readonly SetKey[]> {
  const { allows } = permissionsAt(Date.now);
  const rows = await allRows(store, zone.number);
  const sets = await store.sets(zone, {});
  return [...new Map<string, SetKey>([...rows, ...sets.map((set) => [keyOf(set), set] as const)]).values()].filter(
    ({ owner, type }) => allows(actor, { kind: "write-set", ...placeOf({ zone, owner, type }) }),
  );
}
