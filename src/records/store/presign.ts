import type { NameChange, NamePlan, SigningPlan, StoredSignedNames } from "../../core/dnssec/plan-signing.ts";
import { planningSigning } from "../../core/dnssec/plan-signing.ts";
import { apex } from "../../core/names/name.ts";
import type { RRset, SetKey } from "../../core/records/rrset.ts";
import { finish } from "../../core/steps.ts";
import type { FairSchedule } from "../../lib/limits/fair-schedule.ts";
import { StoreBusy } from "../../lib/limits/store-busy.ts";
import type { Zone, ZoneSigning } from "../model.ts";
import { type EncryptedKey, type Signer, type SigningTime, signingTime } from "../signing/signer.ts";
import { presignedGone } from "./leftovers.ts";
import {
  allChanged,
  inputFor,
  isSignedWith,
  noNames,
  type PresignedByZone,
  type PresignedNames,
  PresignNeeded,
  planningAllNames,
  touchedAfter,
  typesAfter,
  zoneToSign,
} from "./plan-signatures.ts";
import type { RecordStore } from "./port.ts";
import { signNamesNow, signNamesOffThread } from "./sign-names.ts";

/**
 * What presigning needs from a store. Every call is one short read or transaction. `number` is the one under which
 * the names are stored; until a zone uses it, nobody reads them.
 */
export type PresignStore = Pick<RecordStore, "lastChange" | "setKeysAfter" | "encryptedKeys"> & {
  readonly setsOf: (zone: Zone, owners: readonly string[]) => Promise<readonly RRset[]>;
  /**
   * The owners in the first `limit` changes of a zone after a position, and the position of the last of these changes.
   */
  readonly changedSince: (zone: Zone, position: number, limit: number) => Promise<Missed>;
  /** The names at these owners and above them, and their neighbours in the chain. */
  readonly namesNear: (zone: Zone, owners: readonly string[]) => Promise<StoredSignedNames>;
  readonly newNumber: () => Promise<number>;
  /** False if the number is not reserved any more, because nothing was written for long. */
  readonly putNames: (number: number, names: readonly NameChange[]) => Promise<boolean>;
  /** What is stored under the number is deleted later. */
  readonly abandon: (number: number) => Promise<unknown>;
};

export type Missed = { readonly owners: ReadonlySet<string>; readonly position: number; readonly isAll: boolean };

export type PresignTools = {
  readonly store: PresignStore;
  readonly signer: Signer;
  readonly schedule: Pick<FairSchedule, "next" | "run">;
  readonly signal: AbortSignal;
};

/** Owners per read of sets. */
const perRead = 64;
/** Owners and types per read. */
const perPage = 2_000;
/** Changes per step while catching up, and how many may be left for the write itself. */
const [perStep, fewMissed] = [50, 10];
const changesTooFast = "this zone changes faster than it can be signed; try again later";

/** How often a zone is signed from the beginning, because of changes that concern all its names. */
const tries = 3;

/**
 * Signs all names of a large zone in short steps, so that other writes go on, even to this zone: the names that they
 * change are signed again, until few are left. `before`: the result for an earlier attempt of the same write.
 */
export async function presign(
  tools: PresignTools,
  need: PresignNeeded,
  before?: PresignedNames,
): Promise<PresignedNames> {
  const { store } = tools;
  await loadKeys(tools, need);
  let presigned = before && isSignedWith(before, need.effect.zone) ? before : undefined;
  if (before !== presigned && before) await store.abandon(before.number);
  for (let left = tries; left > 0; left--) {
    presigned ??= await signAll(tools, need);
    const current = await catchUp(tools, need, presigned);
    if (current !== undefined) return current;
    await store.abandon(presigned.number);
    presigned = undefined;
  }
  throw new StoreBusy(changesTooFast);
}

/** If a zone changes too much during this many attempts, the write is refused. */
const mostAttempts = 10;

/** Runs a write; if names of large zones have to be presigned, signs them and runs it again with them. */
export async function runPresigned<T>(
  sign: ((need: PresignNeeded, before: PresignedNames | undefined) => Promise<PresignedNames>) | undefined,
  run: (presigned: PresignedByZone) => Promise<T>,
): Promise<T> {
  const presigned = new Map<number, PresignedNames>();
  for (let left = mostAttempts; ; left--) {
    try {
      return await run(presigned);
    } catch (error) {
      if (!(error instanceof PresignNeeded) || sign === undefined) throw error;
      if (left === 0) throw new StoreBusy(changesTooFast);
      const { number } = error.zone;
      presigned.set(number, await sign(error, presigned.get(number)));
    }
  }
}

const signingIn = ({ effect }: PresignNeeded): ZoneSigning => {
  const { dnssec } = effect.zone.settings;
  if (dnssec === undefined) throw new Error("a zone that is not signed was to be presigned");
  return dnssec;
};

async function loadKeys({ store, signer }: PresignTools, need: PresignNeeded): Promise<void> {
  const missing = signer.notLoaded(signingIn(need).keys);
  if (missing.length === 0) return;
  const encrypted: readonly EncryptedKey[] = [...(await store.encryptedKeys(need.zone)), ...(need.effect.keys ?? [])];
  signer.load(encrypted.filter(({ id }) => missing.includes(id)));
}

async function timeOf({ store }: PresignTools, { zone, by }: PresignNeeded): Promise<SigningTime> {
  const signedApex = zone.signedNamesNumber === undefined ? undefined : (await store.namesNear(zone, [apex])).at(apex);
  return signingTime(signedApex, by.now);
}

async function signAll(tools: PresignTools, need: PresignNeeded): Promise<PresignedNames> {
  const { store, signer, schedule, signal } = tools;
  const { zone, effect } = need;
  // What changes after this is signed again in the end, so it does not matter when each part of the zone is read.
  const position = await store.lastChange();
  const at = await timeOf(tools, need);
  const { plan, load } = await planAll(tools, need);
  const number = await store.newNumber();
  const next = () => schedule.next(zone.account);
  try {
    const parts = { at, count: plan.size, groups: partsInGroups(plan, load) };
    for await (const names of signNamesOffThread(signer, zone.name, parts, { next, isUrgent: false })) {
      signal.throwIfAborted();
      if (!(await store.putNames(number, names))) throw new StoreBusy(presignedGone);
    }
  } catch (error) {
    // If the database cannot be reached, the number counts as abandoned later.
    if (!signal.aborted) await store.abandon(number).catch(() => undefined);
    throw error;
  }
  const { ttl, dnssec } = effect.zone.settings;
  return { number, position, settings: { ttl, dnssec }, changes: effect.changes };
}

async function planAll(tools: PresignTools, need: PresignNeeded) {
  const { run } = tools.schedule;
  const { zone, effect, by } = need;
  const { load, setsAt } = createWindow(tools, need);
  const touched = await run(zone.account, typesAfter(effect, await everyPlace(tools, zone)));
  const touchedAt = touchedAfter(effect, setsAt);
  await load([apex]);
  const signingZone = zoneToSign(effect.zone, signingIn(need), touchedAt(apex).sets, by);
  const input = { ...signingZone, touched, setsAt: touchedAt, names: noNames, allNames: [] };
  return { plan: await run(zone.account, planningAllNames(input)), load };
}

/** Keeps only the sets that were read last: all sets of a large zone would take much memory. */
function createWindow({ store }: PresignTools, { zone }: PresignNeeded) {
  let sets = new Map<string, RRset[]>();
  return {
    load: async (owners: readonly string[]): Promise<void> => {
      sets = Map.groupBy(await store.setsOf(zone, owners), ({ owner }) => owner);
    },
    setsAt: (owner: string): readonly RRset[] => sets.get(owner) ?? [],
  };
}

async function everyPlace({ store, schedule, signal }: PresignTools, zone: Zone) {
  const places: SetKey[] = [];
  for (;;) {
    await schedule.next(zone.account);
    signal.throwIfAborted();
    const page = await store.setKeysAfter(zone, places.at(-1), perPage);
    for (const place of page) places.push(place);
    if (page.length < perPage) return places;
  }
}

async function* partsInGroups(
  { owners, planAt }: SigningPlan,
  load: (owners: readonly string[]) => Promise<void>,
): AsyncGenerator<readonly NamePlan[], void> {
  let some: string[] = [];
  for (const owner of owners()) {
    some.push(owner);
    if (some.length < perRead) continue;
    await load(some);
    yield some.map(planAt);
    some = [];
  }
  await load(some);
  yield some.map(planAt);
}

/** Signs again what has changed since. Undefined if a change concerns names that it does not list. */
async function catchUp(
  tools: PresignTools,
  need: PresignNeeded,
  presigned: PresignedNames,
): Promise<PresignedNames | undefined> {
  const { store, signer, schedule, signal } = tools;
  const { zone, effect, by } = need;
  const own = { ...effect.zone, signedNamesNumber: presigned.number };
  for (let { position } = presigned; ; ) {
    signal.throwIfAborted();
    const missed = await store.changedSince(zone, position, perStep);
    if (missed.isAll && missed.owners.size <= fewMissed) return { ...presigned, position };
    const owners = [...new Set([apex, ...missed.owners])];
    const { load, setsAt } = createWindow(tools, need);
    await load(owners);
    const names = await store.namesNear(own, owners);
    await schedule.next(zone.account);
    const touchedAt = touchedAfter(effect, setsAt);
    const touched = new Map(owners.map((owner) => [owner, allChanged(touchedAt(owner))]));
    const signingZone = zoneToSign(effect.zone, signingIn(need), touched.get(apex)?.sets ?? [], by);
    const plan = finish(planningSigning(inputFor({ ...signingZone, names }, touched)));
    if (plan === "needs-all-names") return undefined;
    const at = signingTime(names.at(apex), by.now);
    if (!(await store.putNames(presigned.number, signNamesNow(signer, zone.name, { namePlans: plan.namePlans, at }))))
      throw new StoreBusy(presignedGone);
    position = missed.position;
  }
}
