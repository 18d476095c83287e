import type { Instant } from "../../core/instant.ts";
import { keyOf, type SetKey } from "../../core/records/rrset.ts";
import { RetryDelay } from "../../core/updates/back-off.ts";
import { isOfService, isOfZone, type ServiceFault } from "../../providers/answers/service-fault.ts";
import type { ChangeOutcome } from "../../providers/provider.ts";
import { neverRead, type Publication, type PublishedSet, type PublishedZone, type Zone } from "../model.ts";
import { readZone } from "../queries/read-zone.ts";
import type { RecordStore } from "../store/port.ts";
import { afterOutcome, type EndedRequest, nextRow, openFor, staleFor } from "./next-row.ts";
import { type OpenedAccount, troubleDelays } from "./provider-accounts.ts";
import type { PublishingState } from "./publishing-metrics.ts";
import {
  changeOf,
  deletionsFirst,
  isDrifted,
  isRead,
  learntAbout,
  readWorks,
  type SetWork,
  sameRow,
  saveRows,
  unsettledSets,
  type Work,
} from "./read-works.ts";
import {
  type DefaultTtls,
  drifted,
  isProviders,
  isReadableContent,
  readWhen,
  stateOf,
  type Theirs,
  ttlsOf,
} from "./set-state.ts";
import { allRows, confirmGone, ReplacedContent, staleRead, theirsIn, theirsOf, theirsOfSet } from "./theirs.ts";
import { changedIn, PendingSets, WaitingSerials } from "./waiting-serials.ts";
import { type NoteOptions, ZoneNote } from "./zone-note.ts";
import { firstState, nextZone, type RemoteZone, type RemoteZoneEvent } from "./zone-state.ts";

/**
 * Sets that are sent together. A provider without transactions gets few, so that a later change does not wait long;
 * with them, the provider's zone is read once for all.
 */
const mostSent = { oneByOne: 200, together: 10_000 };
/** Milliseconds after somebody else stored something about a set while it was sent or read. */
const afterLoss = 1_000;

export type ZoneOptions = NoteOptions & { readonly store: RecordStore; readonly state?: PublishingState | undefined };

/** How a round ended: `retry` has the milliseconds after which the rest can be tried. */
export type RoundEnd = { readonly retry: number | undefined };

/** `isReached`: the provider has answered without a fault. */
type Progress = RoundEnd & { readonly isReached?: boolean | undefined };

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
  readonly #replaced = new ReplacedContent();
  readonly #note: ZoneNote;
  /** Of the zone at the provider; that of its account is shared by all of its zones. */
  readonly #trouble = new RetryDelay(troubleDelays);
  #state: RemoteZone = firstState;

  constructor({ number, account }: Zone, note: PublishedZone, options: ZoneOptions) {
    [this.number, this.account, this.#options] = [number, account, options];
    this.#note = new ZoneNote(number, note, options);
  }

  get isIdle(): boolean {
    return this.#pending.size === 0;
  }

  /** When the whole zone is to be read; infinite if never. */
  readDue({ readEvery }: Publication): Instant {
    const { readBy } = this.#state;
    return Math.min(readBy, readEvery === 0 ? readBy : this.#note.readAt + readEvery * 1_000);
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
    if (note?.readAt === neverRead) this.#learn({ kind: "never-read" });
    const ttls = ttlsOf(zone, this.#note.ttl);
    const rows = await allRows(store, this.number);
    const sets = await readZone(store, zone);
    for (const place of unsettledSets(sets, rows, ttls)) this.#pending.add(place);
    const withDefault = sets.filter(({ ttl }) => ttl === null);
    const changed = await changedIn(store, zone, serials, withDefault);
    // A write that the history does not have waits for everything: what it changed is unknown.
    for (const serial of serials) this.add(serial, changed.get(serial) ?? this.#pending.places);
  }

  #learn(event: RemoteZoneEvent): void {
    this.#state = nextZone(this.#state, event);
  }

  /** Publishes what is pending, as far as the provider lets us. */
  async publish(zone: Zone, published: Publication, account: OpenedAccount, signal: AbortSignal): Promise<RoundEnd> {
    const round = { zone, published, account, ttls: ttlsOf(zone, this.#note.ttl), signal };
    this.#noteWaiting();
    if (this.#state.token !== undefined && this.#state.token !== account.replaced) this.#trouble.worked();
    this.#learn({ kind: "opened", token: account.replaced });
    if (this.#state.kind === "unread") {
      const read = await this.readAll(zone, published, account, signal);
      if (read.retry !== undefined) return read;
    }
    let isReached = false;
    while (this.#pending.size > 0 && !signal.aborted) {
      const end = await this.#publishSome(round);
      isReached ||= end.isReached === true;
      if (end.retry !== undefined) {
        await this.#note.saveWaiting(this.#pending.size);
        return end;
      }
    }
    await this.#endActions();
    await this.#note.saveWaiting(this.#pending.size);
    this.#trouble.worked();
    if (isReached) await this.#note.trouble(undefined);
    this.#noteWaiting();
    return { retry: undefined };
  }

  async #publishSome(round: Round): Promise<Progress> {
    const { zone, account } = round;
    const wait = this.#wait(zone, account);
    if (wait > 0) {
      // Writes whose sets need no request end nevertheless: a change may have been undone before it was sent.
      const fresh = await readWorks(this.#options, round, this.#pending.takeFresh(), this.#serials);
      const unsent = new Set(this.#settle(round, fresh).map(({ key }) => key));
      for (const work of fresh) if (!unsent.has(work.key)) this.#pending.drop(work);
      await this.#endActions();
      return { retry: wait };
    }
    const { mostSets } = account.provider.rules;
    // Before the sets are read: a change that arrives from now on is another one.
    const places = this.#pending.take(mostSets > 1 ? mostSent.together : mostSent.oneByOne);
    try {
      await this.#note.saveWaiting(this.#pending.left);
      return await this.#publishWorks(round, await readWorks(this.#options, round, places, this.#serials));
    } catch (error) {
      // The store cannot be used now.
      this.#pending.putBack(places);
      throw error;
    } finally {
      this.#pending.settle();
    }
  }

  /** Returns those that the provider has to be asked about; the others end now, or when their doubt is over. */
  #settle({ ttls }: Round, works: readonly Work[]): readonly (Work & { readonly kind: "to-send" | "to-read" })[] {
    return works.flatMap((work) => {
      const state = stateOf(work.ours, work.row, ttls);
      if (state.kind === "to-send" || state.kind === "to-read") return [{ ...work, kind: state.kind }];
      this.#learn({ kind: "doubted", until: readWhen(state, work.row) });
      if (state.kind !== "in-doubt")
        this.#serials.settle(work.key, work.serials, state.kind === "published" ? undefined : state.because);
      return [];
    });
  }

  async #publishWorks(round: Round, works: readonly Work[]): Promise<Progress> {
    const unsettled = this.#settle(round, works);
    const [toRead, toSend] = (["to-read", "to-send"] as const).map((of) => unsettled.filter(({ kind }) => kind === of));
    const read = toRead?.length ? await this.#readAgain(round, toRead) : undefined;
    const sent = toSend?.length ? await this.#send(round, deletionsFirst(toSend)) : undefined;
    await this.#endActions();
    return { retry: sent?.retry ?? read?.retry, isReached: sent?.isReached ?? read?.isReached };
  }

  /** What the provider holds is unknown after an outcome that was lost: it is read, and not assumed. */
  async #readAgain(round: Round, works: readonly Work[]): Promise<Progress> {
    const { account, zone, signal } = round;
    const began = this.#options.now();
    const found = await theirsOf(account.provider, zone.name, works, signal);
    if ("fault" in found) return await this.#failed(round, works, found.fault);
    account.worked();
    const read = works.map((work, at) => this.#afterRead(round, work, found.theirs[at] ?? null, began));
    await this.#learnt(round, read.filter(isRead));
    const stale = read.filter((work) => !isRead(work));
    return stale.length > 0
      ? await this.#failed(round, stale, staleRead(account))
      : { retry: undefined, isReached: true };
  }

  /** The row is undefined if the read was stale. */
  #afterRead<T extends Work>({ account, ttls: before }: Round, work: T, theirs: Theirs, began: Instant, ttls = before) {
    const now = this.#options.now();
    if (this.#replaced.isShown(work, theirs, ttls, now)) return { ...work, after: undefined };
    const inSteps = account.provider.rules.writesInSteps;
    const event = { kind: "read", theirs, ours: work.ours, before, ttls, began, now, inSteps } as const;
    return { ...work, after: nextRow(work.row, event) };
  }

  /** Stores what a read has shown. */
  async #learnt(round: Round, read: readonly (Work & { readonly after: PublishedSet })[]): Promise<void> {
    const saved = await this.#save(read.map((work) => ({ ...work, row: work.after })));
    // Now they can be compared and sent.
    for (const work of saved) if (!isDrifted(work)) this.#pending.add(work);
    await this.#drifted(round, saved.filter(isDrifted));
  }

  async #send(round: Round, all: readonly Work[]): Promise<Progress> {
    const { account, zone, signal } = round;
    const works = await this.#save(
      all.map((work) => ({ ...work, row: nextRow(work.row, { kind: "sent", content: work.ours }) })),
    );
    if (works.length === 0) return { retry: undefined };
    const { provider } = account;
    const [resent, began] = [provider.resent(), this.#options.now()];
    const outcomes = await provider.write(zone.name, works.map(changeOf), signal);
    const isTwice = provider.resent() > resent;
    const ended = works.flatMap((work, at) => {
      const outcome = outcomes[at];
      return outcome ? [this.#afterWrite(round, work, outcome, { began, isTwice })] : [];
    });
    const saved = await this.#save(ended);
    const keys = new Set(saved.map(({ key }) => key));
    const lost = ended.filter(({ key }) => !keys.has(key));
    await this.#doubt(lost);
    const own = saved.filter((work) => !isDrifted(work));
    const over = own.filter(({ fault }) => fault === undefined);
    for (const work of this.#settle(round, over)) this.#pending.add(work);
    await this.#drifted(round, saved.filter(isDrifted));
    const failed = own.filter(({ fault }) => fault !== undefined);
    const fault = failed[0]?.fault;
    if (fault) return await this.#failed(round, failed, fault, Math.max(...failed.map(({ retryAfter }) => retryAfter)));
    account.worked();
    if (lost.length === 0) this.#trouble.worked();
    await this.#note.trouble(undefined);
    return { retry: undefined, isReached: true };
  }

  #afterWrite(
    round: Round,
    work: Work,
    outcome: ChangeOutcome,
    { began, isTwice }: Omit<EndedRequest, "now" | "stale">,
  ) {
    const now = this.#options.now();
    const isStale = this.#replaced.isShownBy(outcome, work, round.ttls, now);
    const stale = isStale ? staleRead(round.account) : undefined;
    const ended = { ...work, ...afterOutcome(work, outcome, { began, now, isTwice, stale }) };
    if (outcome.kind !== "drifted" || isStale) return ended;
    const { after = ended.row } = this.#afterRead(round, ended, theirsOfSet(outcome.set), began);
    return { ...ended, row: after };
  }

  /** The provider, its token or the zone there has a fault: these sets are tried again later. */
  async #failed({ account, zone }: Round, works: readonly Work[], fault: ServiceFault, retry = 0): Promise<RoundEnd> {
    this.#pending.putBack(works);
    this.#options.state?.failed(fault);
    // Other zones of the same token may work.
    if (isOfService(fault) || fault.kind === "unauthorised") account.failed();
    else this.#trouble.failed(this.#options.now(), 0);
    if (isOfZone(fault)) await this.#doubtAll();
    await this.#note.trouble(fault.because);
    return { retry: Math.max(1, retry, this.#wait(zone, account)) };
  }

  /** Milliseconds until a request may be sent. */
  #wait({ name }: Zone, account: OpenedAccount): number {
    return Math.max(account.wait(name), this.#trouble.wait(this.#options.now()));
  }

  /** Another leader has stored something while a request was on its way, which may be carried out after its own. */
  async #doubt(sent: readonly Work[]): Promise<void> {
    if (sent.length === 0) return;
    const rows = await this.#options.store.publishedSetsAt(this.number, [...new Set(sent.map(({ owner }) => owner))]);
    const contents = new Map(sent.map(({ key, ours }) => [key, ours]));
    const until = this.#options.now() + openFor;
    const lost = (row: PublishedSet) => {
      const content = contents.get(keyOf(row));
      return content === undefined ? [] : [learntAbout(row, { kind: "lost", content, until })];
    };
    await this.#save(rows.flatMap(lost));
  }

  /** The provider has no such zone: what it holds is unknown until the zone is read. */
  async #doubtAll(): Promise<void> {
    const now = this.#options.now();
    const rows = [...(await allRows(this.#options.store, this.number)).values()];
    const works = rows.map((row) => learntAbout(row, { kind: "unsure", now }));
    await this.#save(works.filter(({ row, stored }) => row !== stored));
    this.#learn({ kind: "doubted", until: now });
  }

  /** Somebody else changed these sets at the provider; `row.theirs` says how. */
  async #drifted({ zone, published, account }: Round, works: readonly Work[]): Promise<void> {
    if (works.length === 0) return;
    const [{ log }, { drift }] = [this.#options, published];
    const names = works.slice(0, 5).map(({ key }) => key);
    log.warn(
      { zone: zone.name, provider: account.name, sets: works.length, names, drift },
      "sets were changed at the provider",
    );
    const readable = works.filter(({ row: { theirs = null } }) => drift === "ours" && isReadableContent(theirs));
    const decided = new Set(readable);
    for (const { key, serials } of works.filter((work) => !decided.has(work)))
      this.#serials.settle(key, serials, drifted);
    const saved = await this.#save(readable.map((work) => ({ ...work, row: nextRow(work.row, { kind: "decided" }) })));
    for (const work of saved) this.#pending.add(work);
  }

  /** Reads the whole zone at the provider, to find what somebody else changed there. */
  async readAll(zone: Zone, published: Publication, account: OpenedAccount, signal: AbortSignal): Promise<RoundEnd> {
    const { store, now } = this.#options;
    const [began, token, wait] = [now(), account.replaced, account.wait(zone.name)];
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
    const read = works.map((work) => this.#afterRead(round, work, theirs.by.get(work.key) ?? null, began, ttls));
    const isStale = works.length < all.length || !read.every(isRead);
    await this.#note.save({ ttl: there.value, readAt: now() });
    // What was read with a token that was replaced meanwhile may be the zone of another account.
    const isTokenInUse = (await store.providers(zone.account)).some(
      ({ id, replaced }) => id === account.id && replaced === token,
    );
    this.#learn({ kind: "read", began, isStale, isTokenInUse });
    const due = read.flatMap(({ ours, row, after = row }) => readWhen(stateOf(ours, after, ttls), after) ?? []);
    if (due.length > 0) this.#learn({ kind: "doubted", until: Math.max(...due) });
    if (isStale) this.#learn({ kind: "doubted", until: now() + openFor });
    const isUnread = this.#state.kind === "unread";
    if (isUnread) await this.#note.save({ readAt: neverRead });
    if (this.isIdle) await this.#note.trouble(undefined);
    const changed = read.filter(isRead).filter(({ after, stored }) => !sameRow(after, stored));
    await this.#learnt({ ...round, ttls }, changed);
    await this.#endActions();
    return { retry: isUnread ? (isTokenInUse ? staleFor : afterLoss) : undefined };
  }

  /** Returns the sets about which nobody has stored something newer; the others are looked at again. */
  async #save<T extends SetWork>(works: readonly T[]): Promise<readonly T[]> {
    if (works.length === 0) return [];
    const now = this.#options.now();
    const { saved, lost } = await saveRows(this.#options.store, this.number, works, now);
    this.#options.changed(this.number);
    const before = new Map(works.map(({ key, stored }) => [key, stored]));
    for (const { key, row } of saved) this.#replaced.note(key, before.get(key), row, now);
    for (const work of lost) this.#pending.add(work);
    if (lost.length > 0) {
      // Another leader works on the zone: a moment later, it may have stopped.
      this.#trouble.failed(now, 0);
      this.#learn({ kind: "doubted", until: now + openFor });
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
