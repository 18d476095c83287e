import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import type { NameChange, NamePlan } from "../../../core/dnssec/plan-signing.ts";
import type { Instant } from "../../../core/instant.ts";
import type { MaybeLater } from "../../../core/maybe-later.ts";
import { apex } from "../../../core/names/name.ts";
import type { Change } from "../../../core/records/changes.ts";
import { setKey } from "../../../core/records/rrset.ts";
import { finish } from "../../../core/steps.ts";
import { type Logger, noLog } from "../../../process/log.ts";
import { isAboutSigning, type LoggedRow, type SignatureChange, type SigningRequest, type Zone } from "../../model.ts";
import type { Signer, SigningTime } from "../../signing/signer.ts";
import { isSignedOtherwise, PresignNeeded, planningSignatures, type SignedReads } from "../plan-signatures.ts";
import type { Decision, WriteRule } from "../port.ts";
import { logRow, type WriteEffect, type WrittenBy } from "../write-effect.ts";

/** The changes of a zone that are not signed yet, in the order of the log, and the zone after them. */
export type UnsignedChanges = {
  readonly zone: Zone;
  /** The position up to which the zone is signed. */
  readonly after: number;
  readonly rows: readonly LoggedRow[];
};

/** What signs these changes. */
export type SigningStep = Pick<UnsignedChanges, "zone" | "after"> & {
  readonly at: SigningTime;
  readonly namePlans: readonly NamePlan[];
  readonly count: number;
  /** The row of the log. */
  readonly row: (names: readonly NameChange[]) => SignedRow;
};

export type SignedRow = Omit<LoggedRow, "position" | "change"> & { readonly change: SignatureChange };

export type PlannedStep = SigningStep | "whole" | undefined;

/**
 * What the follower needs from a store. It reads a zone and its unsigned changes at one moment, and writes only if
 * nobody else has signed them since.
 */
export type FollowedStore = {
  /** The zones with unsigned changes, by their numbers, as far as this process does not know them. */
  readonly behind: () => Promise<readonly number[]>;
  /** Undefined if there is nothing to sign, `"whole"` if the whole of a large zone must be signed. */
  readonly plan: (zone: number) => MaybeLater<PlannedStep>;
  readonly commit: (step: SigningStep, names: readonly NameChange[]) => Promise<unknown>;
  /** Signs all names of the zone, also those that were changed meanwhile. */
  readonly signWhole: (zone: number) => Promise<unknown>;
};

/** Up to this many signatures are made at once; others are made in other threads. */
const few = 4;
/**
 * Milliseconds between two versions of a zone, so that a burst of writes is signed together. A write that comes alone
 * is signed immediately.
 */
const leastBetween = 10;
/** Zones that are worked on at the same time. */
const mostZones = 16;
/** Milliseconds until a zone that could not be signed is tried again. */
const pause = 1_000;
const cannotSign =
  "the latest changes of a zone cannot be signed: its last signed version is served; trying again every second";
const signedAgain = "the changes of the zone are signed again";

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
  readonly #waiting = new Set<number>();
  readonly #working = new Map<number, Promise<void>>();
  /** Zones that were signed a moment ago. */
  readonly #resting = new Set<number>();
  /** The names of zones that were written to by this process. */
  readonly #names = new Map<number, string>();
  /** Zones that could not be signed, and why. */
  readonly #trouble = new Map<number, unknown>();
  #retry: NodeJS.Timeout | undefined;
  #isScheduled = false;
  #isLooking = false;
  #mustLook = false;
  #isClosed = false;

  constructor(store: FollowedStore, signer: Signer, log = noLog) {
    [this.#store, this.#signer, this.#log] = [store, signer, log];
  }

  /** Rows that were added to the log. */
  note(rows: readonly LoggedRow[]): void {
    for (const { zone, zoneName, change } of rows) {
      if (!("unsigned" in change)) continue;
      this.#waiting.add(zone);
      this.#names.set(zone, zoneName);
    }
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

  /** Resolves when everything that was written before is signed, or cannot be signed. */
  async idle(): Promise<void> {
    if (!this.#isClosed) await this.#look();
    while (!this.#isClosed && (this.#waiting.size > 0 || this.#working.size > 0) && this.#trouble.size === 0)
      await Promise.race([...this.#working.values(), sleep(1)]);
  }

  trouble(): ReadonlyMap<number, unknown> {
    return this.#trouble;
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
      if (this.#working.size >= mostZones) return;
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
    const step = await this.#store.plan(zone);
    if (step === undefined || this.#isClosed) return;
    if (step === "whole") await this.#store.signWhole(zone);
    else if (step.count <= few) await this.#store.commit(step, signStep(this.#signer, step));
    else await this.#signInPool(step);
    // More may have been written meanwhile.
    if (!this.#isClosed) this.#waiting.add(zone);
  }

  async #signInPool(step: SigningStep): Promise<void> {
    const { zone, namePlans, at } = step;
    const pool = this.#signer.offThread(false);
    const all = namePlans.flatMap(({ toSign }) => toSign);
    const signatures = (await pool.sign(zone.name, all, at)).values();
    const names = namePlans.flatMap(
      ({ toSign, change }) => change(toSign.map(() => signatures.next().value ?? [])) ?? [],
    );
    if (!this.#isClosed) await this.#store.commit(step, names);
  }

  #fail(zone: number, err: unknown): void {
    if (!this.#trouble.has(zone) && !this.#isClosed)
      this.#log.error({ err, zone: this.#names.get(zone) ?? zone }, cannotSign);
    this.#trouble.set(zone, err);
    this.#tryLater();
  }

  #tryLater(): void {
    if (this.#isClosed || this.#retry !== undefined) return;
    this.#retry = setTimeout(() => {
      this.#retry = undefined;
      for (const zone of this.#trouble.keys()) this.#waiting.add(zone);
      this.lookForMore();
    }, pause).unref();
  }
}

/** Blocks. */
export const signStep = (signer: Signer, { zone, namePlans, at }: SigningStep): readonly NameChange[] =>
  namePlans.flatMap(({ toSign, change }) => change(signer.signNow(zone.name, toSign, at)) ?? []);

/** The last change of each set, and the names that are to be renewed. */
function contentOf(rows: readonly LoggedRow[]) {
  const changes = new Map<string, Change>();
  const renew: string[] = [];
  for (const { change } of rows)
    if (change.kind === "signing") renew.push(...change.owners);
    else if (change.kind !== "settings" && !isAboutSigning(change))
      changes.set(setKey(change.owner, change.type), change);
  return { changes, renew };
}

/** The owners that `planStep` looks at, unless it needs the whole zone. */
export function ownersToSign(rows: readonly LoggedRow[]): ReadonlySet<string> {
  const { changes, renew } = contentOf(rows);
  return new Set([apex, ...[...changes.values()].map(({ owner }) => owner), ...renew]);
}

/** Plans the signatures of unsigned changes. Reads the zone as it is after them. */
export function planStep({ zone, after, rows }: UnsignedChanges, reads: SignedReads): PlannedStep {
  const last = rows.at(-1);
  if (last === undefined) return undefined;
  const { changes, renew } = contentOf(rows);
  const by: WrittenBy = { actor: last.actor, now: Math.max(...rows.map(({ at }) => at)) };
  const effect = { zone, changes: [...changes.values()], newSettings: false, log: [] };
  try {
    const planned = finish(planningSignatures(zone, effect, reads, by, { renew }));
    return {
      zone,
      after,
      at: planned.at,
      count: planned.count,
      namePlans: [...planned.namePlans()],
      row: (names) => {
        const { change } = planned.signed(names).log.at(-1) as SignedRow;
        return { ...logRow(zone, zone.serial, by, change), change: { ...change, after, through: last.position } };
      },
    };
  } catch (error) {
    if (error instanceof PresignNeeded) return "whole";
    throw error;
  }
}

/** Signs all names of a zone again. */
export const signAgainRule = ({ id, account }: Zone, now: Instant): WriteRule<undefined> => ({
  kind: "write",
  request: { account, at: { zone: id }, owners: () => [], actor: "moor", now },
  decide: () => ({ wanted: undefined, renew: "all", result: undefined }),
});

/** The rows after the last signatures of a zone, from its rows, newest first; and up to where it is signed. */
export function unsignedIn(rows: Iterable<LoggedRow>): Pick<UnsignedChanges, "after" | "rows"> {
  const unsigned: LoggedRow[] = [];
  let after = 0;
  for (const row of rows) {
    if (row.position <= after) break;
    if (row.change.kind === "signatures" && after === 0) after = row.change.through ?? row.position;
    if ("unsigned" in row.change) unsigned.push(row);
  }
  return { after, rows: unsigned.filter(({ position }) => position > after).reverse() };
}

/** Whether the signer can follow a write to a signed zone: the zone is signed afterwards as it was before. */
export const isFollowed = (before: Zone, after: Zone, renew: Decision["renew"]): boolean =>
  renew !== "all" && !isSignedOtherwise(before, after);

/** The effect of a write whose signatures follow. */
export function unsignedEffect(effect: WriteEffect, renew: readonly string[] = [], by: WrittenBy): WriteEffect {
  const request: SigningRequest = { kind: "signing", owners: renew, unsigned: true };
  const { zone } = effect;
  const requested = renew.length > 0 ? [logRow(zone, zone.serial, by, request)] : [];
  const log = effect.log.map((row) => ({ ...row, change: { ...row.change, unsigned: true } }) as typeof row);
  // No names change, but the keys do.
  return { ...effect, signedNameChanges: [], log: [...log, ...requested] };
}

/** Whether what was signed for one of them is right for the other. */
export const isSignedAlike = (a: Zone, b: Zone): boolean =>
  a.signedNamesNumber === b.signedNamesNumber &&
  a.settings.ttl === b.settings.ttl &&
  isDeepStrictEqual(a.settings.dnssec, b.settings.dnssec);
