import { parentOf } from "../../../core/names/name.ts";
import { dname } from "../../../core/records/dname.ts";
import type { Rows, Statement } from "../../../lib/postgres/statement.ts";
import { isLarge, type NewZone, type Zone } from "../../model.ts";
import type { Signer } from "../../signing/signer.ts";
import { accessKinds } from "../access-ended.ts";
import type { Need } from "../plan-rule.ts";
import type { ActorKey, Command } from "../port.ts";
import type { NamesSwitch } from "../signed/plan-step.ts";
import { type Loaded, mostOwners } from "./batch.ts";
import { type KeptKey, ownersOf, type SetKeyInBatch, type StoredSet } from "./batch-sets.ts";
import {
  type Busy,
  busyZones,
  type LockWay,
  limitLocks,
  lockNames,
  lockZones,
  namesToLock,
  oneByOne,
} from "./locks.ts";
import { newZoneKey, readNeighbours } from "./neighbours.ts";
import { lockAsides } from "./signed/aside-store.ts";
import { readSignedApexes } from "./signed/names.ts";
import { readSignedThrough } from "./signed/signed-through.ts";

/** What a write needs to see. */
export type WriteNeeds = {
  readonly needs: readonly Need[];
  readonly creates?: NewZone;
  readonly idempotencyKey?: ActorKey;
  /** It may be recorded as an action. */
  readonly addsAction: boolean;
  /** Who sent the command. */
  readonly by?: Command["actor"];
  /** It contains much: deciding it takes long, and it is done alone. */
  readonly isLarge?: boolean;
  /** Its zones are read completely, because its rule turned out to need that. */
  readonly whole?: boolean;
  /** It stores signatures that follow earlier writes to this zone. */
  readonly signs?: { readonly zone: number; readonly namesSwitch: NamesSwitch | undefined };
};

type Run = (statement: Statement) => Promise<Rows>;

type LoadOptions = {
  readonly lock: LockWay;
  readonly signer: Signer | undefined;
  readonly alone: boolean;
  /** How many zones an account may have. */
  readonly mostZones: number | undefined;
};

/**
 * Reads what a batch must see, after locking its zones. To avoid deadlocks, locks are always taken in the same order:
 * first advisory locks for rows that do not exist yet, then zones by number. This takes two round trips, unless a
 * zone is created above those of others, or one is locked by others.
 */
export async function loadBatch(
  run: Run,
  writes: readonly WriteNeeds[],
  { lock, signer, alone, mostZones }: LoadOptions,
): Promise<Loaded & { readonly busy: Busy }> {
  const needs = writes.flatMap(({ needs, whole }) =>
    whole ? needs.map((need) => ({ ...need, owners: "all" as const })) : needs,
  );
  const newZones = writes.flatMap((write) => write.creates ?? []);
  const created = newZones.map(({ name }) => name);
  const idempotencyKey = writes.flatMap((write) => write.idempotencyKey ?? []);
  const actions = writes.filter((write) => write.addsAction).length;
  // A zone that is signed for the first time needs a number for its names.
  const newNumbers = created.length + writes.filter(({ signs }) => signs?.namesSwitch?.to === "new").length;
  const records = [...new Set(needs.flatMap(recordsIn))];
  const actors = writes.flatMap(({ by }) => by ?? []);
  const waits = lock.kind === "wait" || lock.ours.zones.size + lock.ours.names.size > 0;
  const [, busyNames, zones, , placeRows, keys, names, fresh, zoneCounts, nearby] = await Promise.all([
    waits ? run(limitLocks(lock.limit)) : undefined,
    lockNames(run, namesToLock(writes), lock),
    lockZones(run, needs, lock),
    waits ? run(limitLocks(lock.usual)) : undefined,
    records.length > 0 ? run(placesOf(records)) : undefined,
    idempotencyKey.length > 0 ? run(keptKeys(idempotencyKey)) : undefined,
    created.length > 0 ? run(usedNames(created)) : undefined,
    actions + newNumbers > 0 ? run(freshNumbers(actions, newNumbers)) : undefined,
    countZones(run, newZones, mostZones),
    created.length > 0 ? readNeighbours(run, newZones) : [],
  ]);
  const places = placesIn(placeRows?.rows ?? []);
  const owners = ownersToRead(needs, { zones, places }, alone);
  const [busy, sets, signed, ended] = await Promise.all([
    lock.kind === "wait" ? [] : busyZones(run, needs, zones, places),
    readSets(run, owners, largeToRemove(needs, zones)),
    readSigned(run, writes, zones, signer),
    readEnded(run, actors),
  ]);
  return {
    zones,
    places,
    owners,
    sets,
    ended,
    ...signed,
    busy: { zones: busy, names: busyNames },
    keys: (keys?.rows ?? []) as KeptKey[],
    neighbours: new Map(newZones.flatMap((write, i) => (nearby[i] ? [[newZoneKey(write), nearby[i]]] : []))),
    zoneCounts,
    ...namesIn(names?.rows ?? []),
    ...freshNumbersIn(fresh?.rows ?? []),
  };
}

async function readSigned(
  run: Run,
  writes: readonly WriteNeeds[],
  zones: readonly Zone[],
  signer: Signer | undefined,
): Promise<Pick<Loaded, "signedApexes" | "encryptedKeys" | "signedThrough" | "asides">> {
  const signing = writes.flatMap(({ signs }) => signs ?? []);
  const used = signing.flatMap(({ namesSwitch }) => (typeof namesSwitch?.to === "number" ? namesSwitch.to : []));
  const [{ apexes, keys }, signedThrough, asides] = await Promise.all([
    readSignedApexes(run, zones, signer),
    readSignedThrough(
      run,
      signing.map(({ zone }) => zone),
    ),
    lockAsides(run, used),
  ]);
  return { signedApexes: apexes, encryptedKeys: keys, signedThrough, asides };
}

function placesIn(rows: Rows["rows"]): Loaded["places"] {
  const keyRows = rows as (SetKeyInBatch & { readonly id: string })[];
  return new Map(keyRows.map(({ id, zone, owner }) => [id, { zone, owner }]));
}

function namesIn(rows: Rows["rows"]): Pick<Loaded, "taken" | "departed"> {
  const nameRows = rows as { name: string; serial: number | null }[];
  return {
    taken: new Set(nameRows.flatMap(({ name, serial }) => (serial === null ? [name] : []))),
    departed: new Map(nameRows.flatMap(({ name, serial }) => (serial === null ? [] : [[name, serial] as const]))),
  };
}

function freshNumbersIn(rows: Rows["rows"]): Pick<Loaded, "freshActions" | "freshZones"> {
  const [numbers] = rows as { actions: string[]; zones: string[] }[];
  return {
    freshActions: (numbers?.actions ?? []).map(Number),
    freshZones: (numbers?.zones ?? []).map(Number),
  };
}

/**
 * Which of these tokens, sessions and transfer keys have ended, by `accessKeys`. Under the locks: until then, the
 * command waited.
 */
async function readEnded(run: Run, actors: readonly NonNullable<WriteNeeds["by"]>[]): Promise<ReadonlySet<string>> {
  const kinds = accessKinds.flatMap((kind) => {
    const ids = new Set(actors.flatMap((actor) => actor[kind] ?? []));
    return ids.size === 0 ? [] : [{ kind, ids: [...ids] }];
  });
  if (kinds.length === 0) return new Set();
  const { rows } = await run({
    name: `ended access by ${kinds.map(({ kind }) => kind).join(" ")}`,
    text: kinds.map(({ kind }, i) => endedOf(kind, `$${i + 1}`)).join(" UNION ALL "),
    values: kinds.map(({ ids }) => ids),
  });
  return new Set((rows as { readonly ended: string }[]).map(({ ended }) => ended));
}

const inForce = {
  token: "tokens WHERE id = asked AND revoked IS NULL",
  session: "console_sessions WHERE id = asked",
  key: "transfer_keys WHERE number = asked AND revoked IS NULL",
};

const endedOf = (kind: keyof typeof inForce, ids: string): string =>
  `SELECT '${kind} ' || asked AS ended FROM unnest(${ids}::bigint[]) AS asked ` +
  `WHERE NOT EXISTS (SELECT FROM ${inForce[kind]})`;

const recordsIn = ({ at, records = [] }: Need): readonly string[] =>
  "record" in at ? [at.record, ...records] : records;

type Owners = Loaded["owners"];

/** If a write is not alone in its batch, it is repeated alone if it needs many: they are not read for this batch. */
function ownersToRead(
  needs: readonly Need[],
  { zones, places }: Pick<Loaded, "zones" | "places">,
  alone: boolean,
): Owners {
  const zoneOf = createZoneOf(zones, places);
  const owners = new Map<number, "all" | Set<string>>();
  for (const need of needs) {
    const zone = zoneOf(need.at);
    if (zone === undefined || zone.account !== need.account) continue;
    const ownersSoFar = owners.get(zone.number) ?? new Set();
    const isWhole = need.owners === "all" || (need.owners === "to-remove" && !isLarge(zone));
    const its = isWhole ? "all" : ownersOf(need, zone, places);
    if (!alone && (its === "all" ? isLarge(zone) : its.size > mostOwners)) continue;
    owners.set(zone.number, its === "all" || ownersSoFar === "all" ? "all" : ownersSoFar.union(its));
  }
  return owners;
}

/** The numbers of large zones that are to be removed. */
const largeToRemove = (needs: readonly Need[], zones: readonly Zone[]): readonly number[] => {
  if (!needs.some(({ owners }) => owners === "to-remove")) return [];
  return zones.filter(isLarge).map(({ number }) => number);
};

function createZoneOf(zones: readonly Zone[], places: Loaded["places"]): (at: Need["at"]) => Zone | undefined {
  const byId = new Map(zones.map((zone) => [zone.id, zone]));
  const byNumber = new Map(zones.map((zone) => [zone.number, zone]));
  const byName = new Map(zones.map((zone) => [zone.name, zone]));
  return (at) => {
    if ("zone" in at) return byId.get(at.zone);
    if ("name" in at) return byName.get(at.name);
    return byNumber.get("number" in at ? at.number : (places.get(at.record)?.zone ?? 0));
  };
}

/** `removed`: large zones of which protected sets are read too. */
async function readSets(run: Run, owners: Owners, removed: readonly number[]): Promise<readonly StoredSet[]> {
  const wanted = [...owners].flatMap(([zone, set]) =>
    set === "all" ? [] : [...set].map((owner) => ({ zone, owner })),
  );
  const whole = [...owners].flatMap(([zone, set]) => (set === "all" ? [zone] : []));
  const [byOwner, byZone, locked, redirecting] = await Promise.all([
    wanted.length > 0 ? run(setsOfOwners(wanted)) : undefined,
    whole.length > 0 ? run(setsOfZones(whole)) : undefined,
    removed.length > 0 ? run(lockedSets(removed)) : undefined,
    wanted.length > 0 ? run(dnamesAt(namesAbove(wanted))) : undefined,
  ]);
  const setRows = [byOwner, byZone, locked, redirecting].flatMap((each) => each?.rows ?? []);
  return setRows as StoredSet[];
}

const keptKeys = (idempotencyKey: readonly ActorKey[]): Statement => ({
  name: "kept keys",
  text:
    "SELECT o.actor, o.key, o.fingerprint, o.at, o.outcome FROM once_keys AS o " +
    "JOIN unnest($1::text[], $2::text[]) AS n (actor, key) ON (o.actor, o.key) = (n.actor, n.key)",
  values: [idempotencyKey.map(({ actor }) => actor), idempotencyKey.map(({ key }) => key)],
});

const usedNames = (names: readonly string[]): Statement => ({
  name: "known names",
  text:
    "SELECT name, NULL::bigint AS serial FROM zones WHERE name = ANY($1) " +
    "UNION ALL SELECT name, serial FROM departed_zones WHERE name = ANY($1)",
  values: [names],
});

type ZoneCount = { readonly account: number; readonly count: number };

/** How many zones the accounts of these have; none is counted further than `most`. */
async function countZones(
  run: Run,
  zones: readonly NewZone[],
  most: number | undefined,
): Promise<ReadonlyMap<number, number>> {
  if (zones.length === 0 || most === undefined) return new Map();
  const { rows } = await run({
    name: "zones of accounts",
    text:
      "SELECT account, (SELECT count(*) FROM (SELECT FROM zones WHERE account = asked.account LIMIT $2) AS counted) " +
      "AS count FROM unnest($1::bigint[]) AS asked (account)",
    values: [[...new Set(zones.map(({ account }) => account))], most],
  });
  return new Map((rows as ZoneCount[]).map(({ account, count }) => [account, count]));
}

const freshNumbers = (actions: number, zones: number): Statement => ({
  name: "fresh numbers",
  text:
    "SELECT ARRAY(SELECT nextval('actions_id_seq') FROM generate_series(1, $1::int)) AS actions, " +
    "ARRAY(SELECT nextval('zones_number_seq') FROM generate_series(1, $2::int)) AS zones",
  values: [actions, zones],
});

const placesOf = (records: readonly string[]): Statement => ({
  name: "places",
  text: oneByOne("SELECT id, zone, owner FROM record_ids WHERE id = n.key")("$1"),
  values: [records],
});

export const setsOfOwners = (wanted: readonly { readonly zone: number; readonly owner: string }[]): Statement => ({
  name: "sets of owners",
  text:
    "SELECT r.zone, r.owner, r.type, r.ttl, r.records, r.marks FROM unnest($1::bigint[], $2::text[]) AS n (zone, owner) " +
    "JOIN rrsets AS r ON r.zone = n.zone AND r.owner = n.owner",
  values: [wanted.map(({ zone }) => zone), wanted.map(({ owner }) => owner)],
});

type OwnerIn = { readonly zone: number; readonly owner: string };

/** A name cannot be added below a DNAME record. */
function namesAbove(owners: readonly OwnerIn[]): readonly OwnerIn[] {
  const above = new Map<string, OwnerIn>();
  for (const { zone, owner } of owners)
    for (let at = parentOf(owner); at !== undefined; at = parentOf(at)) above.set(`${zone} ${at}`, { zone, owner: at });
  return [...above.values()];
}

const dnamesAt = (wanted: readonly OwnerIn[]): Statement => {
  const statement = setsOfOwners(wanted);
  return { ...statement, name: "DNAME sets of owners", text: `${statement.text} AND r.type = '${dname}'` };
};

export const setsOfZones = (zones: readonly number[]): Statement => ({
  name: "sets of zones",
  text: "SELECT zone, owner, type, ttl, records, marks FROM rrsets WHERE zone = ANY($1)",
  values: [zones],
});

const lockedSets = (zones: readonly number[]): Statement => ({
  name: "locked sets",
  text:
    "SELECT zone, owner, type, ttl, records, marks FROM rrsets " +
    `WHERE zone = ANY($1) AND strpos(marks, '"locked":true') > 0`,
  values: [zones],
});
