import { setTimeout as sleep } from "node:timers/promises";
import type { NameChange } from "../../../core/dnssec/plan-signing.ts";
import type { MaybeLater } from "../../../core/maybe-later.ts";
import { type Logger, noLog } from "../../../process/log.ts";
import type { LoggedRow } from "../../model.ts";
import type { Signer } from "../../signing/signer.ts";
import type { SignedAside } from "../signed-effect.ts";
import type { PlannedStep, SigningStep } from "./plan-step.ts";
import { inGroups, signNamesNow, signNamesOffThread } from "./sign-names.ts";

/**
 * What the follower needs from a store. It reads a zone and its unsigned changes at one moment, and writes only if
 * nobody else has signed them since.
 */
export type FollowedStore = {
  /** The zones with unsigned changes, by their numbers, as far as this process does not know them. */
  readonly behind: () => Promise<readonly number[]>;
  readonly plan: (zone: number, aside?: SignedAside) => MaybeLater<PlannedStep>;
  readonly commit: (step: SigningStep, names: readonly NameChange[]) => Promise<unknown>;
  /** Signs all names of a zone with its present settings, under a number of their own. */
  readonly signAside: (zone: number) => Promise<SignedAside | undefined>;
};

/** Up to this many signatures are made at once; others are made in other threads. */
const few = 4;
/**
 * Milliseconds between two versions of a zone, so that a burst of writes is signed together. A write that comes alone
 * is signed immediately.
 */
const leastBetween = 10;
/** Zones that are worked on at the same time, besides those of which all names are signed aside. */
const mostZones = 16;
/**
 * Milliseconds until a zone that could not be signed is tried again, and until another process signs what the one that
 * should sign did not.
 */
const pause = 1_000;
/** One may be under way; the next one may find that another process was faster. */
const laterRounds = 3;
const cannotSign =
  "the latest changes of a zone cannot be signed: its last signed version is served; trying again every second";
const signedAgain = "the changes of the zone are signed again";

/** `isFirst`: whether this process signs immediately; otherwise it signs what others left unsigned for a second. */
type FollowerOptions = { readonly isFirst?: () => boolean; readonly log?: Logger };

/**
 * Signs what was written to signed zones. A write is answered when it is stored; then its zone is signed as it is at
 * that time, and the signatures are stored with one row of the log. So a burst of writes is signed once.
 *
 *     written ──► waiting ──► planned (one moment of the zone) ──► signed ──► stored
 *                    ▲                                                          │
 *                    └────────── more was written, or it failed ────────────────┘
 */
export class SigningFollower {
  readonly #store: FollowedStore;
  readonly #signer: Signer;
  readonly #log: Logger;
  readonly #isFirst: () => boolean;
  /** What others should sign: the last position of each zone, and since when it waits. */
  readonly #left = new Map<number, { readonly last: number; readonly since: number }>();
  readonly #waiting = new Set<number>();
  readonly #working = new Map<number, Promise<void>>();
  /** Zones of which all names are signed aside, which may take minutes. */
  readonly #aside = new Set<number>();
  /** Each is called when a zone was worked on. */
  readonly #waiters = new Set<(zone: number) => unknown>();
  /** Zones that were signed a moment ago. */
  readonly #resting = new Set<number>();
  /** The names of zones that were written to by this process. */
  readonly #names = new Map<number, string>();
  /** Zones that could not be signed. */
  readonly #trouble = new Set<number>();
  #retry: NodeJS.Timeout | undefined;
  #isScheduled = false;
  #isLooking = false;
  #mustLook = false;
  #isClosed = false;

  constructor(store: FollowedStore, signer: Signer, { isFirst = () => true, log = noLog }: FollowerOptions = {}) {
    [this.#store, this.#signer, this.#log, this.#isFirst] = [store, signer, log, isFirst];
  }

  /** Rows that were added to the log. */
  note(rows: readonly LoggedRow[]): void {
    const isFirst = this.#isFirst();
    for (const { zone, zoneName, change, position } of rows) {
      if (change.kind === "signatures" && (change.through ?? position) >= (this.#left.get(zone)?.last ?? 0))
        this.#left.delete(zone);
      if (!("unsigned" in change)) continue;
      if (isFirst) this.#waiting.add(zone);
      else this.#left.set(zone, { last: position, since: this.#left.get(zone)?.since ?? performance.now() });
      this.#names.set(zone, zoneName);
    }
    if (this.#left.size > 0) this.#tryLater();
    this.#schedule();
  }

  /** Others may have written. */
  lookForMore(): void {
    this.#mustLook = true;
    if (this.#isLooking || this.#isClosed) return;
    this.#isLooking = true;
    this.#lookOn().catch(() => this.#tryLater());
  }

  /** What is written while it looks may be missed. */
  async #lookOn(): Promise<void> {
    try {
      while (this.#mustLook) {
        this.#mustLook = false;
        await this.#look();
      }
    } finally {
      this.#isLooking = false;
    }
  }

  async #look(): Promise<void> {
    for (const zone of await this.#store.behind()) this.#waiting.add(zone);
    this.#schedule();
  }

  /** Resolves when everything that was written before, in one zone or in all, is signed, or cannot be signed. */
  async idle(zone?: number): Promise<void> {
    if (!this.#isClosed && zone === undefined) await this.#look();
    const zones = zone === undefined ? [...this.#waiting, ...this.#working.keys()] : [zone];
    // More may be written all the time: a round that begins later has signed what was written before.
    const rounds = new Map(zones.map((each) => [each, 0]));
    const noteEnd = (ended: number) => rounds.set(ended, (rounds.get(ended) ?? 0) + 1);
    const isBusy = (each: number) =>
      (this.#waiting.has(each) || this.#working.has(each)) &&
      !this.#trouble.has(each) &&
      (rounds.get(each) ?? 0) < laterRounds;
    this.#waiters.add(noteEnd);
    while (!this.#isClosed && zones.some(isBusy)) await Promise.race([...this.#working.values(), sleep(1)]);
    this.#waiters.delete(noteEnd);
  }

  /** Returns the zones that are not signed. */
  close(): ReadonlySet<number> {
    this.#isClosed = true;
    clearTimeout(this.#retry);
    return this.#waiting.union(this.#working);
  }

  /** Resolves when no zone is worked on any more. Call it after `close`. */
  async ended(): Promise<void> {
    await Promise.all(this.#working.values());
  }

  #schedule(): void {
    if (this.#isScheduled || this.#isClosed || this.#waiting.size === 0) return;
    this.#isScheduled = true;
    // The writers are answered first.
    setImmediate(() => {
      this.#isScheduled = false;
      if (!this.#isClosed) this.#begin();
    });
  }

  #begin(): void {
    for (const zone of this.#waiting) {
      if (this.#working.size - this.#aside.size >= mostZones) return;
      if (this.#working.has(zone) || this.#resting.has(zone)) continue;
      this.#waiting.delete(zone);
      this.#rest(zone);
      const working = this.#sign(zone)
        .then(() => {
          if (this.#trouble.delete(zone)) this.#log.info({ zone: this.#names.get(zone) ?? zone }, signedAgain);
          if (!this.#waiting.has(zone)) this.#names.delete(zone);
        })
        .catch((error: unknown) => this.#fail(zone, error))
        .finally(() => {
          this.#working.delete(zone);
          for (const noteEnd of this.#waiters) noteEnd(zone);
          this.#schedule();
        });
      this.#working.set(zone, working);
    }
  }

  #rest(zone: number): void {
    this.#resting.add(zone);
    setTimeout(() => {
      this.#resting.delete(zone);
      this.#schedule();
    }, leastBetween).unref();
  }

  async #sign(zone: number): Promise<void> {
    const step = await this.#planned(zone);
    if (step === undefined || this.#isClosed) return;
    const names = await signStep(this.#signer, step);
    if (this.#isClosed) return;
    await this.#store.commit(step, names);
    // More may have been written meanwhile.
    if (!this.#isClosed) this.#waiting.add(zone);
  }

  /** The last version is served until all names of a large zone are signed. */
  async #planned(zone: number): Promise<SigningStep | undefined> {
    const step = await this.#store.plan(zone);
    if (step !== "whole" || this.#isClosed) return step === "whole" ? undefined : step;
    const aside = await this.#signAside(zone);
    const built = this.#isClosed ? undefined : await this.#store.plan(zone, aside);
    if (built === "whole") throw new Error("the zone has changed too much while it was signed");
    return built;
  }

  async #signAside(zone: number): Promise<SignedAside | undefined> {
    this.#aside.add(zone);
    this.#schedule();
    try {
      return await this.#store.signAside(zone);
    } finally {
      this.#aside.delete(zone);
    }
  }

  /** What the process that should sign has left for long. */
  #takeOver(): void {
    for (const [zone, { since }] of this.#left)
      if (performance.now() - since >= pause) {
        this.#left.delete(zone);
        this.#waiting.add(zone);
      }
    if (this.#left.size > 0) this.#tryLater();
  }

  #fail(zone: number, err: unknown): void {
    if (!this.#trouble.has(zone) && !this.#isClosed)
      this.#log.error({ err, zone: this.#names.get(zone) ?? zone }, cannotSign);
    this.#trouble.add(zone);
    this.#tryLater();
  }

  #tryLater(): void {
    if (this.#isClosed || this.#retry !== undefined) return;
    this.#retry = setTimeout(() => {
      this.#retry = undefined;
      for (const zone of this.#trouble) this.#waiting.add(zone);
      this.#takeOver();
      if (this.#trouble.size > 0 || this.#isFirst()) this.lookForMore();
      this.#schedule();
    }, pause).unref();
  }
}

const countIn = ({ namePlans }: SigningStep): number => namePlans.reduce((sum, { toSign }) => sum + toSign.length, 0);

/** Many signatures are made in other threads. */
async function signStep(signer: Signer, step: SigningStep): Promise<readonly NameChange[]> {
  const { zone, namePlans, at } = step;
  const count = countIn(step);
  if (count <= few) return signNamesNow(signer, zone.name, namePlans, at);
  const names: NameChange[] = [];
  const parts = { at, count, groups: inGroups(namePlans) };
  const way = { next: () => Promise.resolve(), isUrgent: true };
  for await (const some of signNamesOffThread(signer, zone.name, parts, way)) names.push(...some);
  return names;
}

/** Blocks. Undefined if it is too much for that. */
export const signFew = (signer: Signer, step: SigningStep, most: number): readonly NameChange[] | undefined =>
  countIn(step) > most ? undefined : signNamesNow(signer, step.zone.name, step.namePlans, step.at);
