import type { Rows, Statement } from "../../../lib/postgres/statement.ts";
import type { Zone } from "../../model.ts";
import type { Need } from "../plan-rule.ts";
import type { ActorKey } from "../port.ts";
import { type ZoneRow, zoneFromRow } from "../rows.ts";
import type { SetKeyInBatch } from "./batch-sets.ts";

type Run = (statement: Statement) => Promise<Rows>;

/**
 * How a transaction takes its locks. `skip`: what another transaction has locked is left out, except `ours`, the locks
 * of our own transactions that are about to commit. `wait`: it waits for all of them.
 */
export type LockWay = {
  /** Milliseconds that it waits for a lock at most. */
  readonly limit: number;
  /** The limit after that. */
  readonly usual: number;
} & ({ readonly kind: "skip"; readonly ours: Locks } | { readonly kind: "wait" });

export type Locks = { readonly zones: ReadonlySet<number>; readonly names: ReadonlySet<string> };

type BusyZone = Pick<Zone, "number" | "id" | "name" | "account">;

/** What others have locked; always empty after waiting. */
export type Busy = { readonly zones: readonly BusyZone[]; readonly names: ReadonlySet<string> };

/** Another transaction has locked what a write needs. */
export type LockBusy = {
  /** Writes with the same key wait for the same lock. */
  readonly key: string;
  readonly because: string;
};

type Wanted = { readonly needs: readonly Need[]; readonly creates?: unknown; readonly idempotencyKey?: ActorKey };

/** What this write has to wait for, before it can be run. */
export function busyFor(wanted: Wanted, busy: Busy, places: ReadonlyMap<string, SetKeyInBatch>): LockBusy | undefined {
  const [name] = namesToLock([wanted]).intersection(busy.names);
  if (name === newZones) return { key: name, because: "zones are being created by others" };
  if (name !== undefined) return { key: name, because: "the first request with this key is still running" };
  if (busy.zones.length === 0) return undefined;
  const isNeeded = ({ number, id, name: own, account }: BusyZone) =>
    wanted.needs.some(({ at, account: asking }) => {
      if (account !== asking) return false;
      if ("record" in at) return places.get(at.record)?.zone === number;
      if ("number" in at) return at.number === number;
      return "zone" in at ? at.zone === id : at.name === own;
    });
  const zone = busy.zones.find(isNeeded);
  return zone && { key: `zone ${zone.number}`, because: `the zone ${zone.name} is locked by another transaction` };
}

/**
 * One lock for all new zones: otherwise, if two nodes simultaneously created one zone above another, neither would
 * see the other. Zones are rarely created, and those that wait together are created in one transaction.
 */
const newZones = "new zones";

/** Locks for rows that do not exist yet. */
export const namesToLock = (writes: readonly Pick<Wanted, "creates" | "idempotencyKey">[]): ReadonlySet<string> =>
  new Set([
    ...(writes.some(({ creates }) => creates !== undefined) ? [newZones] : []),
    ...writes.flatMap(({ idempotencyKey }) =>
      idempotencyKey === undefined ? [] : [`key ${idempotencyKey.actor} ${idempotencyKey.key}`],
    ),
  ]);

/** Returns the names that others have locked. */
export async function lockNames(run: Run, names: ReadonlySet<string>, way: LockWay): Promise<ReadonlySet<string>> {
  const awaited = way.kind === "wait" ? names : names.intersection(way.ours.names);
  const tried = names.difference(awaited);
  const [, answer] = await Promise.all([
    awaited.size > 0 ? run({ name: "lock names", text: waitForNames, values: [[...awaited]] }) : undefined,
    tried.size > 0 ? run({ name: "try to lock names", text: tryNames, values: [[...tried]] }) : undefined,
  ]);
  const rows = (answer?.rows ?? []) as { readonly name: string; readonly locked: boolean }[];
  return new Set(rows.flatMap(({ name, locked }) => (locked ? [] : [name])));
}

const waitForNames =
  "SELECT pg_advisory_xact_lock(h) FROM (SELECT DISTINCT hashtextextended(n, 0) AS h FROM unnest($1::text[]) AS n " +
  "ORDER BY h) AS sorted";
const tryNames =
  "SELECT name, pg_try_advisory_xact_lock(hashtextextended(name, 0)) AS locked FROM unnest($1::text[]) AS n (name)";

/**
 * To avoid deadlocks, zones are waited for in the order of their numbers, before any is locked without waiting. After
 * waiting for a lock, PostgreSQL reads the row again, so it is current.
 */
export async function lockZones(run: Run, needs: readonly Need[], way: LockWay): Promise<readonly Zone[]> {
  if (needs.length === 0) return [];
  const lockedZones = zonesOf(needs);
  const text = `${lockedZones.text("*")} ORDER BY number FOR UPDATE`;
  if (way.kind === "wait")
    return zonesIn(await run({ ...lockedZones, name: `lock zones by ${lockedZones.ways}`, text }));
  const [, rows] = await Promise.all([
    way.ours.zones.size > 0 ? run(lockOurs(lockedZones, way.ours.zones)) : undefined,
    run({ ...lockedZones, name: `try to lock zones by ${lockedZones.ways}`, text: `${text} SKIP LOCKED` }),
  ]);
  return zonesIn(rows);
}

const zonesIn = ({ rows }: Rows): readonly Zone[] => (rows as ZoneRow[]).map(zoneFromRow);

const lockOurs = ({ ways, text, values }: ReturnType<typeof zonesOf>, ours: ReadonlySet<number>): Statement => ({
  name: `lock our zones by ${ways}`,
  text: `${text("1")} AND number = ANY($${values.length + 1}) ORDER BY number FOR UPDATE`,
  values: [...values, [...ours]],
});

/** Which of the zones that were not locked exist: only those are locked by others. */
export async function busyZones(
  run: Run,
  needs: readonly Need[],
  zones: readonly Zone[],
  places: ReadonlyMap<string, SetKeyInBatch>,
): Promise<readonly BusyZone[]> {
  const locked = new Set(zones.flatMap(({ number, id, name }) => [`number ${number}`, `zone ${id}`, `name ${name}`]));
  const missing = needs.flatMap(({ at, ...need }): readonly Need[] => {
    const place = "record" in at ? places.get(at.record) : undefined;
    if ("record" in at && place === undefined) return [];
    const key = place ? { number: place.zone } : at;
    return locked.has(Object.entries(key)[0]?.join(" ") ?? "") ? [] : [{ ...need, at: key }];
  });
  if (missing.length === 0) return [];
  const { ways, text, values } = zonesOf(missing);
  return (await run({ name: `busy zones by ${ways}`, text: text("number, id, name, account"), values }))
    .rows as BusyZone[];
}

/** In this transaction, no lock is waited for longer than this. */
export const limitLocks = (milliseconds: number): Statement => ({
  name: "limit locks",
  text: "SELECT set_config('lock_timeout', $1, true)",
  values: [String(Math.ceil(milliseconds))],
});

function zonesOf(needs: readonly Need[]) {
  const named = needs.map(({ at }) => at as Readonly<Record<string, string | number>>);
  const selects = Object.entries(numbersBy).flatMap(([way, text]) => {
    const keys = new Set(named.flatMap((at) => at[way] ?? []));
    return keys.size === 0 ? [] : [{ way, text, keys: [...keys] }];
  });
  const numbers = selects.map(({ text }, i) => text(`$${i + 1}`)).join(" UNION ALL ");
  return {
    ways: selects.map(({ way }) => way).join(" "),
    text: (columns: string) => `SELECT ${columns} FROM zones WHERE number = ANY(ARRAY(${numbers}))`,
    values: selects.map(({ keys }): readonly unknown[] => keys),
  };
}

/** Forces index lookups: for a handful of keys among a few thousand rows, the planner would prefer a scan. */
export const oneByOne = (select: string) => (keys: string) =>
  `SELECT found.* FROM unnest(${keys}::text[]) AS n (key) CROSS JOIN LATERAL (${select} LIMIT 1) AS found`;

/** The numbers of zones, for each way in which a write can refer to one. */
const numbersBy = {
  number: (keys: string) => `SELECT unnest(${keys}::bigint[])`,
  zone: oneByOne("SELECT number FROM zones WHERE id = n.key"),
  name: oneByOne("SELECT number FROM zones WHERE name = n.key"),
  record: oneByOne("SELECT zone FROM record_ids WHERE id = n.key"),
};
