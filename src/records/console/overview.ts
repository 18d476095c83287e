import type { Attention, DynamicName, Overview } from "../../contract/overview.ts";
import type { ParentFault } from "../../core/dnssec/parent-view.ts";
import type { Instant } from "../../core/instant.ts";
import type { LoggedChange, Token } from "../model.ts";
import { secondaryTroubles } from "../queries/status.ts";
import type { RecordStore } from "../store/port.ts";
import { describeName, dynamicNames, type NameChanges, nameKey } from "./dynamic-names.ts";
import { type KnownUpdater, keptNames } from "./kept-names.ts";
import { iso, latestWrites } from "./latest-writes.ts";

export type { KnownUpdater };

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
    const found = dynamicNames(changes, tokens);
    const described = await describeNames(store, account, found.slice(0, most.names), { tokens, now: now() });
    const kept = ownUpdater ? await keptNames({ store, account, described }, ownUpdater, most.names) : noneKept;
    const listed = new Set(kept.names.map(({ name }) => name));
    const since = changes.at(-1);
    return {
      zones,
      names: [...kept.names, ...described.filter(({ name }) => !listed.has(name))],
      moreNames: Math.max(0, found.length - most.names) + kept.more,
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

const noneKept = { names: [], attention: [], more: 0 } as const;

/** In the order of the names, without those that no longer have an address and have no token. */
async function describeNames(
  store: RecordStore,
  account: number,
  names: readonly NameChanges[],
  context: { readonly tokens: readonly Token[]; readonly now: Instant },
): Promise<readonly DynamicName[]> {
  const byZone = [...Map.groupBy(names, ({ zone }) => zone)];
  const described = await Promise.all(
    byZone.map(async ([name, its]): Promise<readonly (readonly [string, DynamicName])[]> => {
      const zone = await store.zoneBy(account, { name });
      if (zone === undefined) return [];
      const sets = Map.groupBy(await store.sets(zone, { owners: its.map(({ owner }) => owner) }), ({ owner }) => owner);
      return its.map((each) => [nameKey(name, each.owner), describeName(each, sets.get(each.owner) ?? [], context)]);
    }),
  );
  const byKey = new Map(described.flat());
  return names.flatMap(({ zone, owner, isAwaited }) => {
    const name = byKey.get(nameKey(zone, owner));
    return name && (isAwaited || name.families.length > 0) ? [name] : [];
  });
}

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
