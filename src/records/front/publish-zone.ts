import { setImmediate as nextTurn } from "node:timers/promises";
import type { Instant } from "../../core/instant.ts";
import { wholeAccount } from "../../core/may.ts";
import { backOffDelay } from "../../core/updates/back-off.ts";
import type { Logger } from "../../process/log.ts";
import { isOfService, type ServiceFault } from "../../providers/answers/service-fault.ts";
import type { HeldContent, Publication, PublishedSet, PublishedZone, Zone } from "../model.ts";
import { readZone } from "../queries/read-zone.ts";
import type { RecordStore, SetPlace } from "../store/port.ts";
import { changedBy, deletionsFirst, doubted, isOfSet, rowAfter, sameRow, saveSeen } from "./after-write.ts";
import { afterRead, drifted, isReadableContent, planSet } from "./plan-set.ts";
import type { OpenedAccount } from "./provider-accounts.ts";
import { publishZoneRule, type TakenSet } from "./publish-rule.ts";
import { contentOf, type DefaultTtls, isProviders, ttlsOf } from "./set-state.ts";
import { allRows, confirmGone, contentIn, keyOf, theirsIn, theirsOf } from "./theirs.ts";
import { WaitingSerials } from "./waiting-serials.ts";

/**
 * Sets that are sent together. A provider without transactions gets few, so that a later change does not wait long;
 * with them, the provider's zone is read once for all.
 */
const mostSent = { oneByOne: 200, together: 10_000 };
/** Sets that are read from the store at a time. */
const perRead = 500;
/** Milliseconds until the zone is read after an outcome that was not known: the request may still be carried out. */
const lateAfter = 60_000;
/** For faults of the zone at the provider. */
const backOff = { base: 500, cap: 300_000 };

export type ZoneOptions = {
  readonly store: RecordStore;
  readonly now: () => Instant;
  readonly log: Logger;
  /** The end of the log that was passed on. */
  readonly position: () => number;
  /** Something about the sets of the zone was stored. */
  readonly changed: (zone: number) => void;
};

/** How a round ended: `retry` has the milliseconds after which the rest can be tried. */
export type RoundEnd = { readonly retry: number | undefined };

type Work = SetPlace & {
  readonly key: string;
  readonly row: PublishedSet;
  readonly ours: HeldContent | null;
  readonly serials: readonly number[];
};

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
  /** What may have to be sent, in the order of the changes. */
  readonly #pending = new Map<string, SetPlace>();
  readonly #serials = new WaitingSerials();
  #note: PublishedZone;
  #failures = 0;
  /** When the whole zone is to be read, whatever the interval of the zone is. */
  #readBy = Number.POSITIVE_INFINITY;

  constructor({ number, account }: Zone, note: PublishedZone, options: ZoneOptions) {
    [this.number, this.account, this.#note, this.#options] = [number, account, note, options];
  }

  get isIdle(): boolean {
    return this.#pending.size === 0;
  }

  /** When the whole zone is to be read; infinite if never. */
  readDue({ readEvery }: Publication): Instant {
    return Math.min(this.#readBy, readEvery === 0 ? this.#readBy : this.#note.readAt + readEvery * 1_000);
  }

  /** A write changed these sets. */
  add(serial: number, places: readonly SetPlace[]): void {
    const own = places.filter((place) => !isProviders(place));
    for (const place of own) this.#pending.set(keyOf(place), place);
    this.#serials.add(serial, own.map(keyOf));
  }

  /** Finds everything that differs from what the provider is known to hold, and the actions that wait for it. */
  async compare(zone: Zone, serials: readonly number[]): Promise<void> {
    const { store } = this.#options;
    const note = await store.publishedZone(this.number);
    // A read that is due stays due.
    if (note) this.#note = { ...note, readAt: Math.min(note.readAt, this.#note.readAt) };
    const ttls = ttlsOf(zone, this.#note.ttl);
    const rows = await allRows(store, this.number);
    const sets = await readZone(store, zone, nextTurn);
    const here = new Map(sets.map((set) => [keyOf(set), set]));
    // Sets that are gone here come first, as in every batch.
    for (const place of [...[...rows.values()].filter((row) => !here.has(keyOf(row))), ...here.values()]) {
      const key = keyOf(place);
      if (isProviders(place) || this.#pending.has(key)) continue;
      const { kind } = planSet(contentOf(here.get(key), ttls), rows.get(key), ttls);
      if (kind === "send" || kind === "read") this.#pending.set(key, { owner: place.owner, type: place.type });
    }
    const withDefault = sets.filter(({ ttl }) => ttl === null);
    for (const serial of serials) {
      const changes = await store.historyOf(zone, { serial, limit: 100_000 });
      const places = changes.flatMap(({ change }) => changedBy(change, withDefault));
      this.add(serial, places);
    }
  }

  /** Publishes what is pending, as far as the provider lets us. */
  async publish(zone: Zone, published: Publication, account: OpenedAccount, signal: AbortSignal): Promise<RoundEnd> {
    const round = { zone, published, account, ttls: ttlsOf(zone, this.#note.ttl), signal };
    while (this.#pending.size > 0 && !signal.aborted) {
      const wait = account.wait(zone.name);
      const end = wait > 0 ? { retry: wait } : await this.#publishSome(round);
      if (end.retry !== undefined) {
        await this.#saveNote();
        return end;
      }
    }
    await this.#endActions();
    await this.#saveNote();
    return { retry: undefined };
  }

  async #publishSome(round: Round): Promise<RoundEnd> {
    const { mostSets } = round.account.provider.rules;
    const places = [...this.#pending.values()].slice(0, mostSets > 1 ? mostSent.together : mostSent.oneByOne);
    // Before the sets are read: a change that arrives from now on is another one.
    for (const place of places) this.#pending.delete(keyOf(place));
    try {
      return await this.#publishWorks(round, await this.#worksAt(round, places));
    } catch (error) {
      // The store cannot be used now.
      this.#putBack(places);
      throw error;
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

  async #worksAt(round: Round, places: readonly SetPlace[]): Promise<readonly Work[]> {
    const works: Work[] = [];
    for (let from = 0; from < places.length; from += perRead) {
      if (from > 0) await nextTurn();
      works.push(...(await this.#someWorksAt(round, places.slice(from, from + perRead))));
    }
    return works;
  }

  async #someWorksAt({ zone, ttls }: Round, places: readonly SetPlace[]): Promise<readonly Work[]> {
    const { store, now } = this.#options;
    const owners = [...new Set(places.map(({ owner }) => owner))];
    // What waits is noted before the sets are read: a later change is not in what is sent.
    const serials = places.map((place) => this.#serials.of(keyOf(place)));
    const sets = new Map((await store.sets(zone, { owners })).map((set) => [keyOf(set), set]));
    const rows = new Map((await store.publishedSetsAt(zone.number, owners)).map((row) => [keyOf(row), row]));
    return places.map(({ owner, type }, at) => {
      const key = keyOf({ owner, type });
      const row = rows.get(key) ?? { owner, type, held: null, at: now() };
      return { owner, type, key, row, ours: contentOf(sets.get(key), ttls), serials: serials[at] ?? [] };
    });
  }

  /** What the provider holds is unknown after an outcome that was lost: it is read, and not assumed. */
  async #readAgain(round: Round, works: readonly Work[]): Promise<RoundEnd> {
    const { account, zone, signal, ttls } = round;
    const found = await theirsOf(account.provider, zone.name, works, signal);
    if ("fault" in found) return await this.#failed(round, works, found.fault);
    account.worked();
    const drifts: Work[] = [];
    const rows: PublishedSet[] = [];
    for (const [at, work] of works.entries()) {
      const theirs = found.theirs[at] ?? null;
      const after = afterRead(work.row, theirs, work.ours, { before: ttls, now: ttls });
      rows.push({ ...after.row, at: this.#options.now() });
      if (after.kind === "drifted") drifts.push({ ...work, row: after.row });
      // Now it can be compared and sent.
      else this.#again(work);
    }
    await this.#save(rows);
    await this.#drifted(round, drifts);
    return { retry: undefined };
  }

  async #send(round: Round, works: readonly Work[]): Promise<RoundEnd> {
    const { account, zone, signal } = round;
    const { now } = this.#options;
    // Before the request: if its answer is lost, what the provider holds is unknown.
    await this.#save(works.map(({ row, ours }) => ({ ...row, refused: undefined, sent: ours, at: now() })));
    const changes = works.map(({ owner, type, ours, row: { held } }) => ({
      owner,
      type,
      content: ours ?? undefined,
      expected: held ?? ("missing" as const),
    }));
    const outcomes = await account.provider.write(zone.name, changes, signal);
    const rows: PublishedSet[] = [];
    const drifts: Work[] = [];
    const unsent: Work[] = [];
    let fault: ServiceFault | undefined;
    let retry: number | undefined;
    for (const [at, work] of works.entries()) {
      const outcome = outcomes[at];
      if (outcome === undefined) continue;
      const row = { ...rowAfter(work, outcome), at: now() };
      rows.push(row);
      if (outcome.kind === "done") this.#serials.settle(work.key, work.serials);
      else if (outcome.kind === "drifted") drifts.push({ ...work, row });
      // What it holds after a refusal is read, and not assumed: it may have stored all of it, or a part.
      else if (isOfSet(outcome)) this.#again(work);
      else {
        unsent.push(work);
        if (outcome.kind === "unknown") this.#readBy = now() + lateAfter;
        fault ??= outcome.fault;
        if (outcome.kind === "waiting") retry = Math.max(retry ?? 0, outcome.retryAfter);
      }
    }
    await this.#save(rows);
    await this.#drifted(round, drifts);
    if (fault === undefined) {
      this.#failures = 0;
      account.worked();
      await this.#trouble(undefined);
      return { retry: undefined };
    }
    return await this.#failed(round, unsent, fault, retry);
  }

  /** The provider, its token or the zone there has a fault: these sets are tried again later. */
  async #failed({ account, zone }: Round, works: readonly Work[], fault: ServiceFault, retry = 0): Promise<RoundEnd> {
    this.#putBack(works);
    this.#failures += 1;
    // Other zones of the same token may work.
    if (isOfService(fault) || fault.kind === "unauthorised") account.failed();
    if (fault.kind === "missing") await this.#doubtAll();
    await this.#trouble(fault.because);
    return { retry: Math.max(retry, account.wait(zone.name), backOffDelay(this.#failures, 1, backOff)) };
  }

  /** Before everything that changed later. */
  #putBack(places: readonly SetPlace[]): void {
    const later = [...this.#pending];
    this.#pending.clear();
    for (const { owner, type } of places) this.#pending.set(keyOf({ owner, type }), { owner, type });
    for (const [key, place] of later) this.#pending.set(key, place);
  }

  /** The provider has no such zone: what it holds is unknown until the zone is read. */
  async #doubtAll(): Promise<void> {
    const rows = [...(await allRows(this.#options.store, this.number)).values()];
    await this.#save(doubted(rows));
    this.#readBy = this.#options.now();
  }

  /** To be looked at again, unless a newer change waits already. Its actions go on waiting. */
  #again({ key, owner, type }: Work): void {
    if (!this.#pending.has(key)) this.#pending.set(key, { owner, type });
  }

  /** Somebody else changed these sets at the provider; `row.theirs` says how. */
  async #drifted({ zone, published, account, ttls }: Round, works: readonly Work[]): Promise<void> {
    if (works.length === 0) return;
    const { log, now } = this.#options;
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
    const taken = drift === "ours" || (await this.#take(zone, account.name, readable, ttls));
    if (!taken) {
      for (const { key, serials } of readable) this.#serials.settle(key, serials, drifted);
      return;
    }
    await this.#save(
      readable.map(({ row }) => ({
        ...row,
        held: contentIn(row.theirs),
        theirs: undefined,
        refused: undefined,
        at: now(),
      })),
    );
    for (const work of readable) this.#again(work);
  }

  /** Writes theirs here. Their sets may be impossible here: then somebody has to decide. */
  async #take(zone: Zone, provider: string, works: readonly Work[], { here, there }: DefaultTtls): Promise<boolean> {
    const { store, now, log } = this.#options;
    const take = works.map(({ owner, type, row }): TakenSet => {
      const content = contentIn(row.theirs);
      return { owner, type, content: content && { ...content, ttl: content.ttl ?? there ?? here } };
    });
    const actor = { account: zone.account, label: `provider ${provider}`, scope: wholeAccount };
    const taking = { kind: "publish-zone", action: "take_theirs", takesAll: false } as const;
    const command = { ...taking, actor, at: { number: zone.number }, take, parts: take.length, now: now() };
    const acted = await store.run(command, publishZoneRule);
    if (typeof acted !== "string" && acted.result.kind === "done") return true;
    log.warn({ zone: zone.name, provider }, "what the provider holds cannot be stored here; somebody has to decide");
    return false;
  }

  /** Reads the whole zone at the provider, to find what somebody else changed there. Nothing may be pending. */
  async readAll(zone: Zone, published: Publication, account: OpenedAccount, signal: AbortSignal): Promise<RoundEnd> {
    const { store, now } = this.#options;
    const before = ttlsOf(zone, this.#note.ttl);
    const round = { zone, published, account, ttls: before, signal };
    const wait = account.wait(zone.name);
    if (wait > 0) return { retry: wait };
    const there = await account.defaultTtl(zone.name, signal);
    if (there.kind !== "found") return await this.#failed(round, [], there);
    const content = await account.provider.sets(zone.name, signal);
    if (content.kind !== "found") return await this.#failed(round, [], content);
    account.worked();
    const ttls = { before, now: ttlsOf(zone, there.value) };
    const theirs = theirsIn(content.value);
    const rows = await allRows(store, this.number);
    const places = [...rows.values(), ...theirs.places].filter((place) => !isProviders(place));
    const unseen = new Map(places.map((place) => [keyOf(place), place]));
    const works = await this.#worksAt(round, [...unseen.values()]);
    const gone = works.filter(({ key, row }) => !theirs.by.has(key) && row.held !== null);
    const fault = await confirmGone(account.provider, zone.name, gone, theirs.by, signal);
    if (fault) return await this.#failed(round, [], fault);
    const seen: [PublishedSet, PublishedSet][] = [];
    const drifts: Work[] = [];
    for (const work of works) {
      // It is being changed here: the next write finds out.
      if (this.#pending.has(work.key)) continue;
      const after = afterRead(work.row, theirs.by.get(work.key) ?? null, work.ours, ttls);
      if (sameRow(after.row, work.row)) continue;
      seen.push([work.row, { ...after.row, at: now() }]);
      if (after.kind === "drifted") drifts.push({ ...work, row: after.row });
      else this.#again(work);
    }
    const decided = await saveSeen(store, this.number, seen);
    if (seen.length > 0) this.#options.changed(this.number);
    this.#readBy = Number.POSITIVE_INFINITY;
    this.#note = { ...this.#note, ttl: there.value, readAt: now(), trouble: undefined };
    await store.notePublishedZone(this.number, { ttl: there.value, readAt: now(), trouble: undefined });
    const undecided = drifts.filter(({ key }) => !decided.has(key));
    await this.#drifted({ ...round, ttls: ttls.now }, undecided);
    await this.#endActions();
    return { retry: undefined };
  }

  async #save(rows: readonly PublishedSet[]): Promise<void> {
    if (rows.length === 0) return;
    await this.#options.store.putPublishedSets(this.number, rows);
    this.#options.changed(this.number);
  }

  async #endActions(): Promise<void> {
    const { store, now } = this.#options;
    for (const [error, serials] of this.#serials.takeEnded())
      await store.endPublishing(this.number, serials, now(), error);
  }

  async #trouble(text: string | undefined): Promise<void> {
    const { trouble } = this.#note;
    if (trouble?.text === text) return;
    const { store, now, log } = this.#options;
    const next = text === undefined ? undefined : { text, since: trouble?.since ?? now() };
    this.#note = { ...this.#note, trouble: next };
    await store.notePublishedZone(this.number, { trouble: next });
    if (text !== undefined) log.warn({ zone: this.number, because: text }, "changes wait for the provider");
    else log.info({ zone: this.number }, "the provider accepts changes again");
  }

  async #saveNote(): Promise<void> {
    const note = { waiting: this.#pending.size, through: this.#options.position() };
    if (note.waiting === this.#note.waiting && note.through === this.#note.through) return;
    this.#note = { ...this.#note, ...note };
    await this.#options.store.notePublishedZone(this.number, note);
    this.#options.changed(this.number);
  }
}
