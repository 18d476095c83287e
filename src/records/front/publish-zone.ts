import type { Instant } from "../../core/instant.ts";
import { keyOf, type SetKey } from "../../core/records/rrset.ts";
import { backOffDelay } from "../../core/updates/back-off.ts";
import { isOfService, type ServiceFault } from "../../providers/answers/service-fault.ts";
import type { ChangeOutcome } from "../../providers/provider.ts";
import { neverRead, type Publication, type PublishedZone, type Zone } from "../model.ts";
import { readZone } from "../queries/read-zone.ts";
import type { RecordStore } from "../store/port.ts";
import {
  asTheirs,
  changedIn,
  changeOf,
  deletionsFirst,
  doubt,
  isOfSet,
  LateRequests,
  rowAfter,
  type SetWork,
  sameRow,
  saveRows,
} from "./after-write.ts";
import { afterRead, drifted, isReadableContent, planSet, type Theirs } from "./plan-set.ts";
import type { OpenedAccount } from "./provider-accounts.ts";
import { takeByRule, theirsByRule } from "./publish-rule.ts";
import type { PublishingState } from "./publishing-metrics.ts";
import { differingSets, readWorks, type Work } from "./read-works.ts";
import { type DefaultTtls, isProviders, isSameContent, ttlsOf } from "./set-state.ts";
import { ReplacedContent, staleFor, staleRead } from "./stale-reads.ts";
import { allRows, confirmGone, theirsIn, theirsOf, theirsOfSet } from "./theirs.ts";
import { PendingSets, WaitingSerials } from "./waiting-serials.ts";
import { type NoteOptions, ZoneNote } from "./zone-note.ts";

/**
 * Sets that are sent together. A provider without transactions gets few, so that a later change does not wait long;
 * with them, the provider's zone is read once for all.
 */
const mostSent = { oneByOne: 200, together: 10_000 };
/** Milliseconds until the zone is read after an outcome that was not known: the request may still be carried out. */
const lateAfter = 60_000;
/** Milliseconds after somebody else stored something about a set while it was sent or read. */
const afterLoss = 1_000;
/** For faults of the zone at the provider. */
const backOff = { base: 500, cap: 300_000 };

export type ZoneOptions = NoteOptions & { readonly store: RecordStore; readonly state?: PublishingState | undefined };

/** How a round ended: `retry` has the milliseconds after which the rest can be tried. */
export type RoundEnd = { readonly retry: number | undefined };

type Round = {
  readonly zone: Zone;
  readonly published: Publication;
  readonly account: OpenedAccount;
  readonly ttls: DefaultTtls;
  readonly signal: AbortSignal;
};

/** Makes the sets of one zone at its provider equal to those here. Its rounds are run one after the other. */
export class PublishedZoneWork {
  readonly number: number;
  readonly account: number;
  readonly #options: ZoneOptions;
  readonly #pending = new PendingSets();
  readonly #serials = new WaitingSerials();
  readonly #late = new LateRequests();
  readonly #replaced = new ReplacedContent();
  readonly #note: ZoneNote;
  #failures = 0;
  /** When the whole zone is to be read, whatever the interval of the zone is. */
  #readBy = Number.POSITIVE_INFINITY;
  /** Something newer about a set was found in the store: the zone may have another leader, or be unpublished. */
  #hasLost = false;
  /** The provider has answered since the last fault. */
  #isReached = false;
  /** Which token was used last, by the time at which it was stored. */
  #token: Instant | undefined;
  /** The zone was not read since the token was replaced: the new one may be that of another account. */
  #isUnread = false;

  constructor({ number, account }: Zone, note: PublishedZone, options: ZoneOptions) {
    [this.number, this.account, this.#options] = [number, account, options];
    this.#note = new ZoneNote(number, note, options);
  }

  get isIdle(): boolean {
    return this.#pending.size === 0;
  }

  /** When the whole zone is to be read; infinite if never. */
  readDue({ readEvery }: Publication): Instant {
    return Math.min(this.#readBy, readEvery === 0 ? this.#readBy : this.#note.readAt + readEvery * 1_000);
  }

  /** A write changed these sets. */
  add(serial: number, places: readonly SetKey[]): void {
    const own = places.filter((place) => !isProviders(place));
    for (const place of own) this.#pending.add(place);
    this.#serials.add(serial, own.map(keyOf));
    this.#noteWaiting();
  }

  #noteWaiting(): void {
    this.#options.state?.waits(this.number, this.#pending.size, this.#options.now());
  }

  /** Finds everything that differs from what the provider is known to hold, and the actions that wait for it. */
  async compare(zone: Zone, serials: readonly number[]): Promise<void> {
    const { store } = this.#options;
    const note = await store.publishedZone(this.number);
    if (note) this.#note.renew(note);
    if (note?.readAt === neverRead) this.#isUnread = true;
    const ttls = ttlsOf(zone, this.#note.ttl);
    const rows = await allRows(store, this.number);
    const sets = await readZone(store, zone);
    for (const place of differingSets(sets, rows, ttls)) this.#pending.add(place);
    // A request of the last run may still be carried out, as after every outcome that is not known.
    if ([...rows.values()].some(({ sent }) => sent !== undefined)) this.#readLate();
    const withDefault = sets.filter(({ ttl }) => ttl === null);
    const { changed, replaced } = await changedIn(store, zone, serials, withDefault);
    for (const [key, by] of replaced) this.#serials.replace(key, by, theirsByRule);
    // A write that the history does not have waits for everything: what it changed is unknown.
    for (const serial of serials) this.add(serial, changed.get(serial) ?? this.#pending.places);
  }

  /** A copy of what was sent may still be carried out. */
  #mayComeLate(works: readonly Work[]): void {
    for (const { key, ours } of works) this.#late.add(key, ours, this.#options.now());
    this.#readLate();
  }

  #readLate(): void {
    this.#readBy = this.#options.now() + lateAfter;
  }

  /** Publishes what is pending, as far as the provider lets us. */
  async publish(zone: Zone, published: Publication, account: OpenedAccount, signal: AbortSignal): Promise<RoundEnd> {
    const round = { zone, published, account, ttls: ttlsOf(zone, this.#note.ttl), signal };
    this.#noteWaiting();
    if (this.#token !== undefined && this.#token !== account.replaced) this.#isUnread = true;
    this.#token = account.replaced;
    const read = this.#isUnread ? await this.readAll(zone, published, account, signal) : undefined;
    if (read?.retry !== undefined) return read;
    while (this.#pending.size > 0 && !signal.aborted) {
      const wait = account.wait(zone.name);
      const end = wait > 0 ? { retry: wait } : await this.#publishSome(round);
      if (end.retry !== undefined) {
        await this.#note.saveWaiting(this.#pending.size);
        return end;
      }
    }
    await this.#endActions();
    await this.#note.saveWaiting(this.#pending.size);
    if (this.#isReached) await this.#note.trouble(undefined);
    this.#noteWaiting();
    return { retry: undefined };
  }

  async #publishSome(round: Round): Promise<RoundEnd> {
    const { mostSets } = round.account.provider.rules;
    // Before the sets are read: a change that arrives from now on is another one.
    const places = this.#pending.take(mostSets > 1 ? mostSent.together : mostSent.oneByOne);
    this.#hasLost = false;
    try {
      await this.#note.saveWaiting(this.#pending.left);
      const { retry } = await this.#publishWorks(round, await readWorks(this.#options, round, places, this.#serials));
      return { retry: retry ?? (this.#hasLost ? afterLoss : undefined) };
    } catch (error) {
      // The store cannot be used now.
      this.#pending.putBack(places);
      throw error;
    } finally {
      this.#pending.settle();
    }
  }

  async #publishWorks(round: Round, works: readonly Work[]): Promise<RoundEnd> {
    const plans = works.map((work) => ({ work, plan: planSet(work.ours, work.row, round.ttls) }));
    for (const { work, plan } of plans) {
      if (plan.kind === "nothing") this.#serials.settle(work.key, work.serials);
      if (plan.kind === "failed") this.#serials.settle(work.key, work.serials, plan.because);
    }
    const toRead = plans.filter(({ plan }) => plan.kind === "read").map(({ work }) => work);
    const read = toRead.length === 0 ? undefined : await this.#readAgain(round, toRead);
    const toSend = plans.filter(({ plan }) => plan.kind === "send").map(({ work }) => work);
    const sent = toSend.length === 0 ? undefined : await this.#send(round, deletionsFirst(toSend));
    await this.#endActions();
    return { retry: sent?.retry ?? read?.retry };
  }

  /** What the provider holds is unknown after an outcome that was lost: it is read, and not assumed. */
  async #readAgain(round: Round, works: readonly Work[]): Promise<RoundEnd> {
    const { account, zone, signal } = round;
    const found = await theirsOf(account.provider, zone.name, works, signal);
    if ("fault" in found) return await this.#failed(round, works, found.fault);
    this.#isReached = true;
    account.worked();
    const read = works.map((work, at) => this.#afterRead(round, work, found.theirs[at] ?? null));
    await this.#learnt(round, read);
    const stale = read.filter(({ kind }) => kind === "stale");
    return stale.length > 0 ? await this.#failed(round, stale, staleRead(account)) : { retry: undefined };
  }

  #afterRead<T extends Work>({ account, ttls }: Round, work: T, theirs: Theirs, now = ttls) {
    const { key, row } = work;
    // The request may still be carried out.
    if (row.sent !== undefined && !isSameContent(row.sent, row.held, ttls))
      this.#late.add(key, row.sent, this.#options.now());
    const late = this.#late.of(key, this.#options.now());
    const after = afterRead(row, theirs, work.ours, { before: ttls, now, rules: account.provider.rules, late });
    return this.#replaced.isShown(work, theirs, now, this.#options.now())
      ? { ...work, kind: "stale" as const }
      : { ...work, ...after };
  }

  /** Stores what a read has shown. */
  async #learnt(round: Round, read: readonly (Work & { kind: "known" | "drifted" | "stale" })[]): Promise<void> {
    const saved = await this.#save(read.filter(({ kind }) => kind !== "stale"));
    // Now it can be compared and sent.
    for (const work of saved) if (work.kind === "known") this.#pending.add(work);
    await this.#drifted(
      round,
      saved.filter(({ kind }) => kind === "drifted"),
    );
  }

  async #send(round: Round, all: readonly Work[]): Promise<RoundEnd> {
    const { account, zone, signal } = round;
    // Before the request: if its answer is lost, what the provider holds is unknown.
    const works = await this.#save(
      all.map((work) => ({ ...work, row: { ...work.row, refused: undefined, sent: work.ours } })),
    );
    if (works.length === 0) return { retry: undefined };
    const { provider } = account;
    const resent = provider.resent();
    const outcomes = await provider.write(zone.name, works.map(changeOf), signal);
    if (provider.resent() > resent) this.#mayComeLate(works);
    const ended = works.flatMap((work, at) => {
      const outcome = outcomes[at];
      return outcome ? [this.#afterOutcome(round, work, outcome)] : [];
    });
    const drifts: Work[] = [];
    const unsent: Work[] = [];
    let fault: ServiceFault | undefined;
    let retry: number | undefined;
    const saved = await this.#save(ended);
    const keys = new Set(saved.map(({ key }) => key));
    if (saved.length < ended.length) await this.#doubt(ended.filter(({ key }) => !keys.has(key)));
    for (const work of saved) {
      const { outcome } = work;
      if (outcome.kind === "unknown") this.#readLate();
      if (outcome.kind === "done") this.#serials.settle(work.key, work.serials);
      else if (work.isDrift) drifts.push(work);
      // What it holds after a refusal is read, and not assumed: it may have stored all of it, or a part.
      else if (outcome.kind === "drifted" || isOfSet(outcome)) this.#pending.add(work);
      else {
        unsent.push(work);
        fault ??= outcome.fault;
        if (outcome.kind === "waiting") retry = Math.max(retry ?? 0, outcome.retryAfter);
      }
    }
    await this.#drifted(round, drifts);
    if (fault === undefined) {
      this.#failures = 0;
      account.worked();
      await this.#note.trouble(undefined);
      return { retry: undefined };
    }
    return await this.#failed(round, unsent, fault, retry);
  }

  #afterOutcome(round: Round, work: Work, answer: ChangeOutcome) {
    const wasThere = answer.kind === "done" && answer.wasThere ? work.ours : undefined;
    const shown = answer.kind === "drifted" ? theirsOfSet(answer.set) : wasThere;
    const isStale = shown !== undefined && this.#replaced.isShown(work, shown, round.ttls, this.#options.now());
    const outcome: ChangeOutcome = isStale ? { kind: "unknown", fault: staleRead(round.account) } : answer;
    if (outcome.kind !== "drifted") return { ...work, row: rowAfter(work, outcome), outcome, isDrift: false };
    const row = { ...work.row, sent: undefined, refused: undefined };
    const { kind, ...after } = this.#afterRead(round, { ...work, row }, theirsOfSet(outcome.set));
    return { ...after, outcome, isDrift: kind === "drifted" };
  }

  /** The provider, its token or the zone there has a fault: these sets are tried again later. */
  async #failed({ account, zone }: Round, works: readonly Work[], fault: ServiceFault, retry = 0): Promise<RoundEnd> {
    this.#pending.putBack(works);
    this.#failures += 1;
    this.#isReached = false;
    this.#options.state?.failed(fault);
    // Other zones of the same token may work.
    if (isOfService(fault) || fault.kind === "unauthorised") account.failed();
    if (fault.kind === "missing") await this.#doubtAll();
    await this.#note.trouble(fault.because);
    return { retry: Math.max(retry, account.wait(zone.name), backOffDelay(this.#failures, 1, backOff)) };
  }

  /** Another leader has stored something while a request was on its way, which may have been carried out later. */
  async #doubt(sent: readonly SetWork[]): Promise<void> {
    const keys = new Set(sent.map(({ key }) => key));
    const rows = await this.#options.store.publishedSetsAt(this.number, [...new Set(sent.map(({ owner }) => owner))]);
    await this.#save(doubt(rows.filter((row) => keys.has(keyOf(row)))));
  }

  /** The provider has no such zone: what it holds is unknown until the zone is read. */
  async #doubtAll(): Promise<void> {
    const rows = [...(await allRows(this.#options.store, this.number)).values()];
    await this.#save(doubt(rows));
    this.#readBy = this.#options.now();
  }

  /** Somebody else changed these sets at the provider; `row.theirs` says how. */
  async #drifted({ zone, published, account, ttls }: Round, works: readonly Work[]): Promise<void> {
    if (works.length === 0) return;
    const { store, now, log } = this.#options;
    const { drift } = published;
    const names = works.slice(0, 5).map(({ key }) => key);
    log.warn(
      { zone: zone.name, provider: account.name, sets: works.length, names, drift },
      "sets were changed at the provider",
    );
    const readable = works.filter(({ row: { theirs = null } }) => drift !== "ask" && isReadableContent(theirs));
    const decided = new Set(readable);
    for (const { key, serials } of works.filter((work) => !decided.has(work)))
      this.#serials.settle(key, serials, drifted);
    if (readable.length === 0) return;
    if (drift === "theirs") {
      const rows = readable.map(({ row }) => row);
      const taken = await takeByRule(store, { zone, provider: account.name, rows, ttls, now: now(), log });
      // What was written here was replaced, and is not there; also what was written since the sets were read.
      for (const { key, serials } of readable)
        if (taken === undefined) this.#serials.settle(key, serials, drifted);
        else this.#serials.replace(key, taken, theirsByRule);
      if (taken === undefined) return;
    }
    const saved = await this.#save(readable.map((work) => ({ ...work, row: asTheirs(work.row) })));
    for (const work of saved) this.#pending.add(work);
  }

  /** Reads the whole zone at the provider, to find what somebody else changed there. */
  async readAll(zone: Zone, published: Publication, account: OpenedAccount, signal: AbortSignal): Promise<RoundEnd> {
    const { store, now } = this.#options;
    const [begun, token, wait] = [now(), account.replaced, account.wait(zone.name)];
    const round = { zone, published, account, ttls: ttlsOf(zone, this.#note.ttl), signal };
    if (wait > 0) return { retry: wait };
    // Before the provider is asked: what somebody stores meanwhile is newer than its answer.
    const rows = await allRows(store, this.number);
    const there = await account.defaultTtl(zone.name, signal);
    if (there.kind !== "found") return await this.#failed(round, [], there);
    const content = await account.provider.sets(zone.name, signal);
    if (content.kind !== "found") return await this.#failed(round, [], content);
    account.worked();
    const ttls = ttlsOf(zone, there.value);
    const theirs = theirsIn(content.value);
    const places = [...rows.values(), ...theirs.places].filter((place) => !isProviders(place));
    const unseen = new Map(places.map((place) => [keyOf(place), place]));
    const all = await readWorks(this.#options, round, [...unseen.values()], this.#serials);
    const works = all.filter(({ key, stored }) => stored?.at === rows.get(key)?.at);
    const gone = works.filter(({ key, row }) => !theirs.by.has(key) && row.held !== null);
    const fault = await confirmGone(account.provider, zone.name, gone, theirs.by, signal);
    if (fault) return await this.#failed(round, [], fault);
    const read = works
      .map((work) => this.#afterRead(round, work, theirs.by.get(work.key) ?? null, ttls))
      .filter(({ kind, row, stored }) => kind === "stale" || stored === undefined || !sameRow(row, stored));
    // A read that is due later, because a request may still be carried out, stays due.
    if (this.#readBy <= begun) this.#readBy = Number.POSITIVE_INFINITY;
    const isStale = works.length < all.length || read.some(({ kind }) => kind === "stale");
    if (isStale) this.#readLate();
    await this.#note.save({ ttl: there.value, readAt: now() });
    // What was read with a token that was replaced meanwhile may be the zone of another account.
    const isCurrent = (await store.providers(zone.account)).some(
      ({ id, replaced }) => id === account.id && replaced === token,
    );
    this.#isUnread = !isCurrent || (this.#isUnread && isStale);
    if (this.#isUnread) await this.#note.save({ readAt: neverRead });
    if (this.isIdle) await this.#note.trouble(undefined);
    await this.#learnt({ ...round, ttls }, read);
    await this.#endActions();
    return { retry: this.#isUnread ? (isCurrent ? staleFor : afterLoss) : undefined };
  }

  /** Returns the sets about which nobody has stored something newer; the others are looked at again. */
  async #save<T extends SetWork>(works: readonly T[]): Promise<readonly T[]> {
    if (works.length === 0) return [];
    const { saved, lost } = await saveRows(this.#options.store, this.number, works, this.#options.now());
    this.#options.changed(this.number);
    this.#replaced.note(works, saved, this.#options.now());
    for (const work of lost) this.#pending.add(work);
    if (lost.length > 0) {
      this.#hasLost = true;
      this.#readLate();
    }
    return saved;
  }

  async #endActions(): Promise<void> {
    const { store, now } = this.#options;
    for (const [error, serials] of this.#serials.ended) {
      await store.endPublishing(this.number, serials, now(), error);
      this.#serials.noteStored(serials);
    }
  }
}
