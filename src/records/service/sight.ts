import type { Instant } from "../../core/instant.ts";
import { may, type Operation, ownersSeen, type Refusal, type Scope, typesSeen } from "../../core/may.ts";
import type { RRset } from "../../core/records/rrset.ts";
import type { Fault } from "../../core/result.ts";
import type { Turns } from "../../process/turns.ts";
import type { PlacedRecord, Zone, ZoneKey } from "../model.ts";
import type { RecordStore, SetQuery } from "../store/port.ts";
import { readZone } from "./zones/read-zone.ts";

/** Who asks, from where, and what that one may do. */
export type Actor = {
  readonly account: number;
  /** The number of the token that was shown; absent for whoever needs none. */
  readonly token?: number;
  /** The number of the console session, where one was shown instead. */
  readonly session?: number;
  /** How the change log names this one. */
  readonly label: string;
  readonly scope: Scope;
  readonly from?: string;
};

/** A zone by its id in the v1 API, or as the record-set API knows it. */
export type AnyZoneKey = ZoneKey | { readonly zone: string };

/** Why a write was not done. `missing` is also the answer about what the actor may not see. */
export type NotDone =
  | { readonly kind: "missing"; readonly what: Missing }
  | { readonly kind: "denied"; readonly because: Refusal }
  | { readonly kind: "refused"; readonly faults: readonly Fault[] };

type Missing = "zone" | "record" | "primary server" | "grant";

export const missing = (what: Missing): NotDone => ({ kind: "missing", what });
export const denied = (because: Refusal): NotDone => ({ kind: "denied", because });
export const refused = (faults: readonly Fault[]): NotDone => ({ kind: "refused", faults });

/** The store as one actor sees it: what the actor may not see is not there. */
export function createSight(store: RecordStore, now: () => Instant, turns: Pick<Turns, "next">) {
  const refusal = (actor: Actor, operation: Untimed<Operation>): Refusal | undefined => {
    const verdict = may(actor.scope, { ...operation, from: actor.from, now: now() });
    return verdict.kind === "no" ? verdict.because : undefined;
  };
  const allows = (actor: Actor, operation: Untimed<Operation>) => refusal(actor, operation) === undefined;

  /** The sets that the actor may see. Where that are certain owners' alone, no others are read: a zone can be very large. */
  const sets = async (actor: Actor, zone: Zone, query: SetQuery = {}): Promise<readonly RRset[]> => {
    const owners = query.owner === undefined ? ownersSeen(actor.scope) : undefined;
    const found =
      owners === undefined && query.owner === undefined
        ? await readZone(store, zone, () => turns.next(actor.account))
        : await store.sets(zone, owners === undefined ? query : { ...query, owners });
    return ofType(query.type, found).filter((set) => allows(actor, { kind: "read-set", ...placeOf({ ...set, zone }) }));
  };
  /** As `sets`, in no order. For some types of any name no others are read; a few names are found by their keys. */
  const setsToCount = async (actor: Actor, zone: Zone): Promise<readonly RRset[]> => {
    const types = typesSeen(actor.scope);
    if (types === undefined || ownersSeen(actor.scope) !== undefined) return await sets(actor, zone);
    const { items } = await store.setPage(zone, { types, page: 1, perPage: Number.MAX_SAFE_INTEGER });
    return items.filter((set) => allows(actor, { kind: "read-set", ...placeOf({ ...set, zone }) }));
  };
  /**
   * Only the records that the actor sees are counted, and only they say when the zone was modified; secrets are for those who
   * could have set them.
   */
  const asSeen = async (actor: Actor, zone: Zone): Promise<Zone> => {
    const open = zone.settings.primaries.length === 0 || allows(actor, { kind: "write-zone", zone: zone.name });
    const shown = open ? zone : withoutSecrets(zone);
    if (actor.scope.sets === undefined) return shown;
    const records = (await setsToCount(actor, zone)).flatMap((set) => set.records);
    const modified = records.reduce((latest, record) => Math.max(latest, record.modified), zone.created);
    return { ...shown, recordCount: records.length, modified };
  };
  const find = (account: number, key: AnyZoneKey): Promise<Zone | undefined> =>
    "zone" in key ? store.zone(account, key.zone) : store.zoneBy(account, key);
  /** For those who look for something in the zone: nothing is counted, and the zone is not to be shown. */
  const openZone = async (actor: Actor, key: AnyZoneKey): Promise<Zone | undefined> => {
    const zone = await find(actor.account, key);
    return zone && allows(actor, { kind: "read-zone", zone: zone.name }) ? zone : undefined;
  };

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
    /** Undefined when there is no such zone; whether there is one by this number or name, the write itself finds out. */
    keyForWriting: async (actor: Actor, key: AnyZoneKey): Promise<ZoneKey | undefined> =>
      "zone" in key ? numberOf(await openZone(actor, key)) : key,
    record: async (actor: Actor, id: string): Promise<PlacedRecord | undefined> => {
      const placed = await store.record(actor.account, id);
      return placed && allows(actor, { kind: "read-set", ...placeOf(placed) }) ? placed : undefined;
    },
  };
}

const numberOf = (zone: Zone | undefined): ZoneKey | undefined => zone && { number: zone.number };

const ofType = (type: RRset["type"] | undefined, sets: readonly RRset[]): readonly RRset[] =>
  type === undefined ? sets : sets.filter((set) => set.type === type);

export type Sight = ReturnType<typeof createSight>;

function withoutSecrets({ settings, ...zone }: Zone): Zone {
  const primaries = settings.primaries.map(({ id, address, port, created, modified }) => {
    return { id, address, port, created, modified };
  });
  return { ...zone, settings: { ...settings, primaries } };
}

export const placeOf = ({ zone, owner, type }: Omit<PlacedRecord, "ttl" | "record">) => ({
  zone: zone.name,
  owner,
  type,
});

type Untimed<T> = T extends unknown ? Omit<T, "now" | "from"> : never;
