import type { Instant } from "../../core/instant.ts";
import { may, type Operation, ownersSeen, type Refusal, type Scope, typesSeen } from "../../core/may.ts";
import { type MaybeLater, whenKnown } from "../../core/maybe-later.ts";
import type { RRset, ZoneRecord } from "../../core/records/rrset.ts";
import type { Fault } from "../../core/result.ts";
import type { FairSchedule } from "../../lib/limits/fair-schedule.ts";
import { isLarge, type RecordInZone, type Zone, type ZoneKey } from "../model.ts";
import type { RecordStore, SetQuery } from "../store/port.ts";
import { flatMapInParts } from "./flat-map-in-parts.ts";
import { eachSetOfTypes } from "./page-of-sets.ts";
import { readZone } from "./read-zone.ts";

/** Who calls, from where, and what they may do. Plain data, because commands contain it. */
export type Actor = {
  readonly account: number;
  /** The number of the token; absent for actors without one. */
  readonly token?: number;
  /** The number of the console session, if there is one instead of a token. */
  readonly session?: number;
  /** The name of the actor in the change log. */
  readonly label: string;
  readonly scope: Scope;
  readonly from?: string;
  /** Of a request that waits for the provider: it ends when the client hangs up. */
  readonly connection?: { readonly isClosed: boolean };
};

/** A zone by its id in the v1 API, or by its key in the record-set API. */
export type AnyZoneKey = ZoneKey | { readonly zone: string };

/** Why a write was not done. `missing` also covers what the actor may not see. */
export type NotDone =
  | { readonly kind: "missing"; readonly what: Missing }
  | { readonly kind: "denied"; readonly because: Refusal }
  | { readonly kind: "refused"; readonly faults: readonly Fault[] };

type Missing = "zone" | "record" | "primary server" | "grant" | "provider";

export const missing = (what: Missing): NotDone => ({ kind: "missing", what });
export const denied = (because: Refusal): NotDone => ({ kind: "denied", because });
export const refused = (faults: readonly Fault[]): NotDone => ({ kind: "refused", faults });

export type Permissions = ReturnType<typeof permissionsAt>;

/** What actors may do. */
export function permissionsAt(now: () => Instant) {
  const refusal = (actor: Pick<Actor, "scope" | "from">, operation: Untimed<Operation>): Refusal | undefined => {
    const verdict = may(actor.scope, { ...operation, from: actor.from, now: now() });
    return verdict.kind === "no" ? verdict.because : undefined;
  };
  return {
    refusal,
    allows: (actor: Pick<Actor, "scope" | "from">, operation: Untimed<Operation>) =>
      refusal(actor, operation) === undefined,
  };
}

/** The store as an actor sees it: what they may not see does not exist. */
export function createPermittedView(store: RecordStore, now: () => Instant, schedule: Pick<FairSchedule, "next">) {
  const { refusal, allows } = permissionsAt(now);

  const { sets, eachRecord } = visibleRecords(store, schedule, allows);
  /**
   * Record count and modification time cover only the records that the actor sees. TSIG keys are shown only to actors
   * who may set them.
   */
  const asSeen = async (actor: Actor, zone: Zone): Promise<Zone> => {
    const open = zone.settings.primaries.length === 0 || allows(actor, { kind: "write-zone", zone: zone.name });
    const shown = open ? zone : withoutSecrets(zone);
    if (actor.scope.sets === undefined) return shown;
    let [recordCount, modified] = [0, zone.created];
    await eachRecord(actor, zone, (record) => {
      recordCount += 1;
      modified = Math.max(modified, record.modified);
    });
    return { ...shown, recordCount, modified };
  };
  const find = (account: number, key: AnyZoneKey): MaybeLater<Zone | undefined> =>
    "zone" in key ? store.zone(account, key.zone) : store.zoneBy(account, key);
  /** For looking something up in the zone: does not count records, so do not show this zone to the actor. */
  const openZone = (actor: Actor, key: AnyZoneKey): MaybeLater<Zone | undefined> =>
    whenKnown(find(actor.account, key), (zone) =>
      zone && allows(actor, { kind: "read-zone", zone: zone.name }) ? zone : undefined,
    );

  return {
    refusal,
    allows,
    sets,
    asSeen,
    openZone,
    zone: async (actor: Actor, key: AnyZoneKey): Promise<Zone | undefined> => {
      const zone = await openZone(actor, key);
      return zone && (await asSeen(actor, zone));
    },
    /** Undefined if no zone has this id. A number or name is not checked here; the write does that. */
    keyForWriting: async (actor: Actor, key: AnyZoneKey): Promise<ZoneKey | undefined> =>
      "zone" in key ? numberOf(await openZone(actor, key)) : key,
    record: (actor: Actor, id: string): MaybeLater<RecordInZone | undefined> =>
      whenKnown(store.record(actor.account, id), (recordInZone) =>
        recordInZone && allows(actor, { kind: "read-set", ...placeOf(recordInZone) }) ? recordInZone : undefined,
      ),
  };
}

const numberOf = (zone: Zone | undefined): ZoneKey | undefined => zone && { number: zone.number };

const ofType = (type: RRset["type"] | undefined, sets: readonly RRset[]): readonly RRset[] =>
  type === undefined ? sets : sets.filter((set) => set.type === type);

export type PermittedView = ReturnType<typeof createPermittedView>;

/** The records of a zone that an actor may see. */
function visibleRecords(store: RecordStore, schedule: Pick<FairSchedule, "next">, allows: Permissions["allows"]) {
  /**
   * The sets that the actor may see. If only certain owners are visible, no others are read: a zone can be very large.
   */
  const sets = async (actor: Actor, zone: Zone, query: SetQuery = {}): Promise<readonly RRset[]> => {
    const owners = query.owner === undefined ? ownersSeen(actor.scope) : undefined;
    const storedSets =
      owners === undefined && query.owner === undefined
        ? await readZone(store, zone, () => schedule.next(actor.account))
        : await store.sets(zone, owners === undefined ? query : { ...query, owners });
    const isSeen = (set: RRset) => allows(actor, { kind: "read-set", ...placeOf({ ...set, zone }) });
    return await flatMapInParts(
      ofType(query.type, storedSets),
      (set) => (isSeen(set) ? [set] : []),
      () => schedule.next(actor.account),
    );
  };
  /**
   * Calls `take` for each record that the actor may see. If only certain types are visible, no others are looked at.
   */
  const eachRecord = async (actor: Actor, zone: Zone, take: (record: ZoneRecord) => void): Promise<void> => {
    const types = typesSeen(actor.scope);
    const takeSeen = (set: RRset) => {
      if (allows(actor, { kind: "read-set", ...placeOf({ ...set, zone }) })) set.records.forEach(take);
    };
    if (types === undefined || ownersSeen(actor.scope) !== undefined) {
      for (const set of await sets(actor, zone)) set.records.forEach(take);
    } else if (isLarge(zone)) {
      await eachSetOfTypes(store, zone, types, takeSeen, () => schedule.next(actor.account));
    } else {
      const { items } = await store.setPage(zone, { types, page: 1, perPage: Number.MAX_SAFE_INTEGER });
      items.forEach(takeSeen);
    }
  };
  return { sets, eachRecord };
}

function withoutSecrets({ settings, ...zone }: Zone): Zone {
  const primaries = settings.primaries.map(({ id, address, port, created, modified }) => {
    return { id, address, port, created, modified };
  });
  return { ...zone, settings: { ...settings, primaries } };
}

export const placeOf = ({ zone, owner, type }: Omit<RecordInZone, "ttl" | "record">) => ({
  zone: zone.name,
  owner,
  type,
});

type Untimed<T> = T extends unknown ? Omit<T, "now" | "from"> : never;
