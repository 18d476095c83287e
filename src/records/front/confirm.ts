import { isObject } from "../../core/is-object.ts";
import { KeyedSemaphore } from "../../lib/limits/semaphore.ts";
import { StoreBusy } from "../../lib/limits/store-busy.ts";
import { actorOfUpdate, type UpdateByDns } from "../commands/from-dns-update.ts";
import { type Action, isAboutSigning, type LoggedRow, type Zone, type ZoneKey } from "../model.ts";
import type { Actor } from "../queries/permitted-view.ts";
import type { ActionResult, Command, RecordStore, Rule } from "../store/port.ts";
import { ConfirmationWaits, type WaitOptions, type WrittenPlaces } from "./confirmation-waits.ts";
import { changedBy } from "./waiting-serials.ts";

/** Milliseconds. */
const longestWait = 30_000;
/** Of DNS clients: most of them give up after ten seconds, and would not hear of a failure. */
const longestDnsWait = 8_000;
/** Requests that wait at a time. Any token may ask for a confirmation, and a provider may be down for days. */
export const mostWaiting = { perToken: 20, perAccount: 100, total: 1_000 };
/** Rows of the log per read. */
const rowsAtOnce = 1_000;

type Options = WaitOptions & {
  /** Milliseconds. */
  readonly longest?: number | undefined;
};

/** The same store; commands of an actor who wants a confirmation return when the provider has what they wrote. */
export function confirming(store: RecordStore, options: Options): RecordStore {
  const waits = new ConfirmationWaits(store, options);
  const permits = new KeyedSemaphore(mostWaiting.total);
  const { longest = longestWait } = options;
  const runConfirmed = async <T>(command: Command, actor: Actor, rule: Rule, run: () => Promise<T>): Promise<T> => {
    const targets = await targetsOf(store, rule);
    if (command.kind !== "publish-zone" && !targets.some(({ zone }) => zone.settings.published)) return await run();
    const permit = permits.tryAcquire([
      { name: `${actor.account} ${actor.label}`, most: mostWaiting.perToken },
      { name: `${actor.account}`, most: mostWaiting.perAccount },
    ]);
    if (permit.kind === "full") throw new StoreBusy(tooMany, { retryAfter: 10, isLogged: true });
    try {
      const position = await store.lastChange();
      const result = await run();
      if (isRefused(result)) return result;
      const limit = command.kind === "dns-update" ? Math.min(longest, longestDnsWait) : longest;
      const written = await writtenSince(store, actor, targets, position);
      const action = actionIn(result);
      const ended = await waits.wait(actor, written, limit, action?.status === "running" ? action : undefined);
      return ended ? withAction(result, ended) : result;
    } finally {
      permit.release();
    }
  };
  return {
    ...store,
    run: (command, ruleOf, running) => {
      const run = () => store.run(command, ruleOf, running);
      const actor = confirmer(command);
      return actor === undefined ? run() : runConfirmed(command, actor, ruleOf(command), run);
    },
  };
}

const tooMany = "nothing was written: too many requests of this token or account wait for the provider";

/** The actor of a command that is to be answered when the provider has what it wrote. */
export function confirmer(command: Command): Actor | undefined {
  const actor = command.kind === "dns-update" ? actorOfUpdate(command as UpdateByDns) : (command.actor as Actor);
  return actor?.scope?.confirm === "provider" ? actor : undefined;
}

export const actionIn = (result: unknown): Action | undefined =>
  isObject(result) ? (result as Partial<ActionResult<unknown>>).action : undefined;

const withAction = <T>(result: T, action: Action): T => ({ ...result, action });

/** Nothing was written, and the caller learns why. */
function isRefused(result: unknown): boolean {
  if (typeof result === "string" || !isObject(result)) return typeof result === "string";
  const { kind } = isObject(result.result) ? result.result : result;
  return typeof kind === "string" && notDone.has(kind);
}

const notDone = new Set(["missing", "denied", "refused", "unmet", "not-ours"]);

/** A zone that a command is about, as it was before, and the names in it; undefined for all of them. */
type Target = { readonly zone: Zone; readonly owners: readonly string[] | undefined };

/** Only existing zones: a new one is not published. */
async function targetsOf(store: RecordStore, rule: Rule): Promise<readonly Target[]> {
  if (rule.kind === "create" || rule.kind === "create-action") return [];
  const targets: Target[] = [];
  for (const { account, at, owners, records = [] } of rule.kind === "write-all" ? rule.requests : [rule.request]) {
    const found = await findAt(store, account, at);
    if (found === undefined) continue;
    const named = typeof owners === "function" ? owners(found.zone) : undefined;
    const others = found.zone.settings.published
      ? await Promise.all(records.map(async (id) => await store.record(account, id)))
      : [];
    const ownersOf = others.flatMap((record) => (record ? [record.owner] : []));
    targets.push({ zone: found.zone, owners: named && [...found.owners, ...named, ...ownersOf] });
  }
  return targets;
}

async function findAt(
  store: RecordStore,
  account: number,
  at: ZoneKey | { readonly zone: string } | { readonly record: string },
): Promise<{ readonly zone: Zone; readonly owners: readonly string[] } | undefined> {
  if ("record" in at) {
    const found = await store.record(account, at.record);
    return found && { zone: found.zone, owners: [found.owner] };
  }
  const zone = await ("zone" in at ? store.zone(account, at.zone) : store.zoneBy(account, at));
  return zone && { zone, owners: [] };
}

/**
 * What the actor has written since then. In a zone where that is nothing, the sets that the command was about: an
 * earlier write of them may still be waiting.
 */
async function writtenSince(
  store: RecordStore,
  actor: Actor,
  targets: readonly Target[],
  before: number,
): Promise<readonly WrittenPlaces[]> {
  const rows = await changesSince(store, actor, before);
  const rowsByZone = Map.groupBy(rows, ({ zone }) => zone);
  const written: WrittenPlaces[] = [];
  for (const { zone, owners } of targets) {
    const ofZone = rowsByZone.get(zone.number) ?? [];
    const places = placesIn(ofZone) ?? { owners };
    const isEnd = "length" in places && (places.length === 0 || places.some(({ type }) => type === "SOA"));
    const isPublished = zone.settings.published !== undefined;
    // The actor may have begun or ended the publication, or deleted the zone.
    if (isPublished && !isEnd) written.push({ zone: zone.number, places });
    else if (!isPublished && (await store.zoneBy(actor.account, { number: zone.number }))?.settings.published)
      written.push({ zone: zone.number, places: { owners: undefined } });
  }
  return written;
}

/** The sets that were written; a new default TTL changes others too. Undefined if nothing was written. */
function placesIn(rows: readonly LoggedRow[]): WrittenPlaces["places"] | undefined {
  if (rows.length === 0) return undefined;
  if (rows.some(({ change }) => change.kind === "settings" && change.before.ttl !== change.after.ttl))
    return { owners: undefined };
  return rows.flatMap(({ change }) => (isAboutSigning(change) ? [] : changedBy(change, [])));
}

async function changesSince(
  store: RecordStore,
  { account, label }: Actor,
  before: number,
): Promise<readonly LoggedRow[]> {
  const rows: LoggedRow[] = [];
  for (let position = before, isEnd = false; !isEnd; ) {
    const some = await store.changesAfter(position, rowsAtOnce, account);
    rows.push(...some.filter(({ actor }) => actor === label));
    position = some.at(-1)?.position ?? position;
    isEnd = some.length < rowsAtOnce;
  }
  return rows;
}
