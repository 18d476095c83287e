import type { Attention, Example, MovingName, Overview } from "../../contract/overview.ts";
import type { UpdaterState } from "../../contract/updater-page.ts";
import type { ParentFault } from "../../core/dnssec/parent-view.ts";
import type { Instant } from "../../core/instant.ts";
import { isMadeFor } from "../../core/may.ts";
import { ownerOf } from "../../core/names/name.ts";
import type { LoggedChange, Token } from "../model.ts";
import { secondaryTroubles } from "../queries/status.ts";
import type { RecordStore } from "../store/port.ts";
import { iso, latestWrites, movingNames, valuesOf } from "./moving-names.ts";

/** The state of an updater in the same process. `writesHere`: the record of the name is at this service. */
export type KnownUpdater = Pick<UpdaterState, "sources" | "lastRound"> & {
  readonly names: readonly (UpdaterState["names"][number] & { readonly writesHere: boolean })[];
  /** Commands to try with it. */
  readonly examples?: readonly Example[];
};

export type OverviewTools = {
  readonly store: RecordStore;
  readonly now: () => Instant;
  /** Undefined if there is no updater, or its state is not known yet. */
  readonly updater: () => KnownUpdater | undefined;
  /** What the last round over the signed zones of all accounts found. */
  readonly signing?: SigningTroubles | undefined;
};

/**
 * By the name of the zone. `expiring`: when the first of the signatures that should have been renewed expires.
 * `changedInFuture`: zones whose last change is in the future.
 */
export type SigningTroubles = {
  readonly parentFaults: ReadonlyMap<string, ParentFault>;
  readonly expiring: ReadonlyMap<string, Instant>;
  readonly changedInFuture: ReadonlySet<string>;
};

/**
 * How much is read for one overview, however large the account is. Changes are read in parts, because a single one may
 * contain a thousand records.
 */
const most = {
  changes: 1_000,
  part: 100,
  records: 20_000,
  names: 100,
  secondaries: 200,
  signed: 200,
  published: 200,
  tokens: 1_000,
} as const;

const day = 86_400_000;
/**
 * In milliseconds. A token needs attention if it expires within `soon`, or has not been used within `unused` of its
 * creation.
 */
const [soon, unused] = [14 * day, 7 * day];
/** How long sets may wait for their provider before that needs attention, in milliseconds. */
const waitsFor = 60_000;

export const createOverview =
  ({ store, now, updater, signing }: OverviewTools) =>
  /** `isOwner`: whether the account is that of the owner of the updater. */
  async (account: number, isOwner: boolean): Promise<Overview> => {
    const [{ total: zones }, secondaries, tokens, { changes, isWhole }] = await Promise.all([
      store.zones(account, { page: 1, perPage: 1 }),
      store.zones(account, { mode: "secondary", page: 1, perPage: most.secondaries }),
      store.tokens({ account, latest: most.tokens }),
      readLatest(store, account),
    ]);
    const ownUpdater = isOwner ? updater() : undefined;
    const isDynamic = (zone: string, owner: string) => tokens.some(({ scope }) => isMadeFor(scope, zone, owner));
    const moving = movingNames(changes, isDynamic).slice(0, most.names);
    const kept = ownUpdater ? await keptNames(store, account, ownUpdater, moving) : { names: [], attention: [] };
    const listed = new Set(kept.names.map(({ name, type }) => `${name} ${type}`));
    const since = changes.at(-1);
    return {
      zones,
      names: [...kept.names, ...moving.filter(({ name, type }) => !listed.has(`${name} ${type}`))],
      updater: ownUpdater !== undefined,
      writes: latestWrites(changes),
      since: isWhole || since === undefined ? null : iso(since.at),
      attention: [
        ...kept.attention,
        ...(signing ? await signingTroubles(store, account, signing) : []),
        ...(await unpublished(store, account, now())),
        ...(await secondaryTroubles(store, secondaries.items, now())).map(ofZone),
        ...tokens.flatMap((token) => ofToken(token, now())),
      ],
      examples: ownUpdater?.examples ?? [],
    };
  };

async function signingTroubles(
  store: RecordStore,
  account: number,
  { parentFaults, expiring, changedInFuture }: SigningTroubles,
): Promise<readonly Attention[]> {
  const within = [...new Set([...parentFaults.keys(), ...expiring.keys(), ...changedInFuture])];
  if (within.length === 0) return [];
  const { items } = await store.zones(account, { within, page: 1, perPage: most.signed });
  return items.flatMap(({ name: zone }): readonly Attention[] => {
    const [at, fault] = [expiring.get(zone), parentFaults.get(zone)];
    // Servers that differ while the parent is being changed are normal.
    const isOdd = fault !== undefined && fault.kind !== "differs";
    return [
      ...(isOdd ? [{ kind: attentionTo(fault), zone, text: fault.text } as const] : []),
      ...(changedInFuture.has(zone) ? [{ kind: "clock-behind", zone } as const] : []),
      ...(at === undefined ? [] : [{ kind: "signatures-expire", zone, at: iso(at) } as const]),
    ];
  });
}

function attentionTo({ kind }: ParentFault): "ds-mismatch" | "ds-missing" | "parent-fault" {
  if (kind === "wrong-ds") return "ds-mismatch";
  return kind === "no-ds" ? "ds-missing" : "parent-fault";
}

/** The zones that their provider does not hold as they are stored here. */
async function unpublished(store: RecordStore, account: number, now: Instant): Promise<readonly Attention[]> {
  const writtenBefore = now - waitsFor;
  const zones = await store.unsettledZones(account, writtenBefore, most.published);
  if (zones.length === 0) return [];
  const counts = new Map((await store.troubledSets(zones.map(([{ number }]) => number))).map((row) => [row.zone, row]));
  return zones.flatMap(([{ name: zone, number, modified, settings }, { trouble, waiting }]): readonly Attention[] => {
    if (settings.published === undefined) return [];
    const { refused = 0, drifted = 0 } = counts.get(number) ?? {};
    return [
      {
        kind: "not-published",
        zone,
        service: settings.published.service,
        refused,
        drifted,
        waiting: modified < writtenBefore ? waiting : 0,
        trouble: trouble === undefined ? null : { text: trouble.text, since: iso(trouble.since) },
      },
    ];
  });
}

async function readLatest(store: RecordStore, account: number) {
  const changes: LoggedChange[] = [];
  let before: number | undefined;
  for (let rows = 0, records = 0; rows < most.changes && records < most.records; rows += most.part) {
    const part = await store.latestChanges(account, { before, limit: most.part });
    changes.push(...part.changes);
    before = part.next;
    if (before === undefined) return { changes, isWhole: true };
    for (const { change } of part.changes) if (change.kind !== "settings") records += change.after?.records.length ?? 0;
  }
  return { changes, isWhole: false };
}

/** The names of the updater with what it says about them, and what their records hold. */
async function keptNames(
  store: RecordStore,
  account: number,
  { names, sources, lastRound }: KnownUpdater,
  moving: readonly MovingName[],
): Promise<{ readonly names: readonly MovingName[]; readonly attention: readonly Attention[] }> {
  const checked = lastRound === null ? 0 : Date.parse(lastRound);
  const nameParts = await Promise.all(
    names.slice(0, most.names).map(async (each) => {
      const [name, type] = each.name.split(" ") as [string, "A" | "AAAA"];
      const zone = each.writesHere ? await store.zoneHolding(name) : undefined;
      const at = zone?.account === account ? { zone: zone.name, owner: ownerOf(name, zone.name) ?? "" } : null;
      const [set] = zone && at ? await store.sets(zone, { owner: at.owner, type }) : [];
      const stored = each.stored === null ? [] : [each.stored];
      const values = set === undefined ? (at === null ? stored : []) : valuesOf(set);
      const logged = moving.find((other) => other.name === name && other.type === type);
      const changed = each.storedAt === null ? null : { at: each.storedAt, by: "the updater" };
      const { ok, what, because, todo = null } = each;
      const entry: MovingName = {
        name,
        type,
        at,
        values,
        changed: logged?.changed ?? changed,
        moves: logged?.moves ?? 0,
        state: { ok, ...(each.paused && { paused: true }), what, because },
      };
      // A write that waits for its turn needs no attention.
      const isFailing = !ok && (todo !== null || each.wanted === null);
      // What the updater has just written may not be in its state yet.
      const isOld = (set?.records ?? []).every(({ modified }) => modified < checked);
      const differs = at !== null && each.stored !== null && isOld && values.join() !== each.stored;
      const attention: Attention[] = [
        ...(isFailing ? [{ kind: "name-failing" as const, name: each.name, what, because, todo }] : []),
        ...(differs
          ? [{ kind: "record-differs" as const, name, type, ...at, written: each.stored, holds: values }]
          : []),
      ];
      return { entry, attention };
    }),
  );
  const down = sources.filter(({ up }) => !up);
  return {
    names: nameParts.map(({ entry }) => entry),
    attention: [
      ...down.map(({ source, called, because = "" }) => ({ kind: "source-down" as const, source, called, because })),
      ...nameParts.flatMap(({ attention }) => attention),
    ],
  };
}

function ofZone({ zone: { name: zone }, trouble }: Awaited<ReturnType<typeof secondaryTroubles>>[number]): Attention {
  switch (trouble.kind) {
    case "not-transferred":
      return { kind: "zone-not-transferred", zone };
    case "expired":
      return { kind: "zone-expired", zone, since: iso(trouble.since) };
    case "stale":
      return { kind: "zone-stale", zone, checked: iso(trouble.checked), expires: iso(trouble.expires) };
    default:
      return trouble satisfies never;
  }
}

function ofToken(
  { name: token, scope: { expires }, revoked, created, uses }: Token,
  now: Instant,
): readonly Attention[] {
  if (revoked !== undefined) return [];
  // A token that expired long ago needs no attention.
  if (expires !== undefined && expires <= now)
    return now < expires + soon ? [{ kind: "token-expired", token, at: iso(expires) }] : [];
  if (expires !== undefined && expires < now + soon) return [{ kind: "token-expires", token, at: iso(expires) }];
  return uses === 0 && created + unused < now ? [{ kind: "token-unused", token, created: iso(created) }] : [];
}
