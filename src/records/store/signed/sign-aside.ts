import type { NamePlan, SigningPlan } from "../../../core/dnssec/plan-signing.ts";
import { planningSigning } from "../../../core/dnssec/plan-signing.ts";
import { apex } from "../../../core/names/name.ts";
import type { RRset, SetKey } from "../../../core/records/rrset.ts";
import { finish } from "../../../core/steps.ts";
import type { FairSchedule } from "../../../lib/limits/fair-schedule.ts";
import { StoreBusy } from "../../../lib/limits/store-busy.ts";
import type { NamesAside, Zone, ZoneSigning } from "../../model.ts";
import { type EncryptedKey, type Signer, signingTime } from "../../signing/signer.ts";
import type { AsideStore } from "../aside-store.ts";
import { asideGone } from "../leftovers.ts";
import { atZoneSerial } from "../rows.ts";
import { type AsideNeeded, type AsidesByZone, isAsideNeeded, type SignedAside } from "../signed-effect.ts";
import { allChanged, inputFor, noNames, planningAllNames, typesOfNames, zoneToSign } from "./plan-step.ts";
import { signNamesNow, signNamesOffThread } from "./sign-names.ts";

export type AsideTools = {
  readonly store: AsideStore;
  readonly signer: Signer;
  readonly schedule: Pick<FairSchedule, "next" | "run">;
  readonly signal: AbortSignal;
};

/** If a zone changes too much during this many attempts, the write is refused. */
const mostAttempts = 10;

/**
 * Runs a write, and again with names that were signed aside as long as it needs some. `first`: what it needed in an
 * earlier attempt.
 */
export async function withAsides<T>(
  sign: (needed: AsideNeeded) => Promise<SignedAside>,
  attempt: (asides: AsidesByZone) => Promise<T | AsideNeeded>,
  first?: AsideNeeded,
): Promise<T> {
  const asides = new Map<number, SignedAside>();
  for (let left = mostAttempts; left > 0; left--) {
    const outcome = left === mostAttempts && first ? first : await attempt(asides);
    if (!isAsideNeeded(outcome)) return outcome;
    asides.set(outcome.zone.number, await sign(outcome));
  }
  throw new StoreBusy(changesTooFast);
}

/** Owners per read of sets. */
const perRead = 64;
/** Owners and types per read. */
const perPage = 2_000;
/** Changes per step while catching up, and how many may be left for the follower. */
const [perStep, fewMissed] = [50, 10];
const changesTooFast = "this zone changes faster than it can be signed; try again later";
/** How often a zone is signed from the beginning, because of changes that concern all its names. */
const tries = 3;

/**
 * Signs all names of a large zone in short steps, so that other writes go on, even to this zone: the names that they
 * change are signed again, until few are left.
 */
export async function signAside(tools: AsideTools, needed: AsideNeeded): Promise<SignedAside> {
  await loadKeys(tools, needed);
  for (let left = tries; left > 0; left--) {
    const aside = await signAll(tools, needed);
    const through = await catchUp(tools, needed, aside);
    if (through !== undefined) return { number: aside.number, through, settings: needed.zone.settings };
    await tools.store.abandon(aside.number);
  }
  throw new StoreBusy(changesTooFast);
}

const signingIn = ({ zone }: AsideNeeded): ZoneSigning => {
  const { dnssec } = zone.settings;
  if (dnssec === undefined) throw new Error("a zone that is not signed was to be signed aside");
  return dnssec;
};

async function loadKeys({ store, signer }: AsideTools, needed: AsideNeeded): Promise<void> {
  const missing = signer.notLoaded(signingIn(needed).keys);
  if (missing.length === 0) return;
  const encrypted: readonly EncryptedKey[] = [...(await store.encryptedKeys(needed.zone)), ...needed.keys];
  signer.load(encrypted.filter(({ id }) => missing.includes(id)));
}

async function signAll(tools: AsideTools, needed: AsideNeeded): Promise<NamesAside> {
  const { store, signer, schedule, signal } = tools;
  const { zone, by } = needed;
  // What changes after this is signed again in the end, so it does not matter when each part of the zone is read.
  const through = await store.lastChange();
  const signedApex = zone.signedNamesNumber === undefined ? undefined : (await store.namesNear(zone, [apex])).at(apex);
  const at = signingTime(signedApex, by.now);
  const { plan, load } = await planAll(tools, needed);
  const number = await store.newNumber();
  const next = () => schedule.next(zone.account);
  try {
    const parts = { at, count: plan.size, groups: partsInGroups(plan, load) };
    for await (const names of signNamesOffThread(signer, zone.name, parts, { next, isUrgent: false })) {
      signal.throwIfAborted();
      if (!(await store.putNames(number, names))) throw new StoreBusy(asideGone);
    }
  } catch (error) {
    // If the database cannot be reached, the number counts as abandoned later.
    if (!signal.aborted) await store.abandon(number).catch(() => undefined);
    throw error;
  }
  return { number, through };
}

async function planAll(tools: AsideTools, needed: AsideNeeded) {
  const { run } = tools.schedule;
  const { zone, by } = needed;
  const { load, setsAt } = createWindow(tools, zone);
  const touched = await run(zone.account, typesOfNames([], await everyPlace(tools, zone)));
  await load([apex]);
  const signingZone = zoneToSign(zone, signingIn(needed), setsAt(apex).sets, by.now);
  const input = { ...signingZone, touched, setsAt, names: noNames, allNames: [] };
  return { plan: await run(zone.account, planningAllNames(input)), load };
}

/** Keeps only the sets that were read last: all sets of a large zone would take much memory. */
function createWindow({ store }: AsideTools, zone: Zone) {
  let sets = new Map<string, RRset[]>();
  return {
    load: async (owners: readonly string[]): Promise<void> => {
      sets = Map.groupBy(await store.setsOf(zone, owners), ({ owner }) => owner);
    },
    setsAt: (owner: string) =>
      allChanged({ sets: (sets.get(owner) ?? []).map((set) => atZoneSerial(set, zone)), changed: new Set() }),
  };
}

async function everyPlace({ store, schedule, signal }: AsideTools, zone: Zone) {
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

/**
 * Signs again what has changed since, and returns the position up to which it is signed. Undefined if a change concerns
 * names that it does not list.
 */
async function catchUp(
  tools: AsideTools,
  needed: AsideNeeded,
  { number, through }: NamesAside,
): Promise<number | undefined> {
  const { store, signer, schedule, signal } = tools;
  const { zone, by } = needed;
  const own = { ...zone, signedNamesNumber: number };
  for (let position = through; ; ) {
    signal.throwIfAborted();
    const missed = await store.changedSince(zone, position, perStep);
    if (missed.isAll && missed.owners.size <= fewMissed) return position;
    const owners = [...new Set([apex, ...missed.owners])];
    const { load, setsAt } = createWindow(tools, zone);
    await load(owners);
    const names = await store.namesNear(own, owners);
    await schedule.next(zone.account);
    const touched = new Map(owners.map((owner) => [owner, setsAt(owner)]));
    const signingZone = zoneToSign(zone, signingIn(needed), touched.get(apex)?.sets ?? [], by.now);
    const plan = finish(planningSigning(inputFor({ ...signingZone, names }, touched)));
    if (plan === "needs-all-names") return undefined;
    const at = signingTime(names.at(apex), by.now);
    if (!(await store.putNames(number, signNamesNow(signer, zone.name, [...plan.namePlans()], at))))
      throw new StoreBusy(asideGone);
    position = missed.position;
  }
}
