import { isDeepStrictEqual } from "node:util";
import { asChange } from "../core/dnssec/generated-changes.ts";
import { apex } from "../core/names/name.ts";
import type { Change } from "../core/records/changes.ts";
import type { RRset } from "../core/records/rrset.ts";
import { compareSerials, serialOf } from "../core/records/serial.ts";
import { timersIn } from "../core/records/soa-timers.ts";
import type { ServedChange, ServedSet, ZoneContent } from "../core/records/zone-view.ts";
import { FairSchedule } from "../lib/limits/fair-schedule.ts";
import {
  type BeginZone,
  type ExpectedZone,
  NoContent,
  type ZoneEvent,
  type ZoneSource,
} from "../nameserver/answer/zone-source.ts";
import type { ChangesBetween } from "../nameserver/transfer/out.ts";
import type { Logger } from "../process/log.ts";
import { type LoggedRow, type LogPlace, largeZone, type Zone, type ZoneSettings } from "../records/model.ts";
import { readServedZone, servedSet } from "../records/queries/read-zone.ts";
import type { RecordStore } from "../records/store/port.ts";
import { AskedZones } from "./asked-zones.ts";
import { openCatalog, warnOfHidden, zonesIn } from "./catalog.ts";
import { LogFollower } from "./follow-log.ts";
import { noticeLate } from "./late-reads.ts";
import { SerialRaiser } from "./raise-serials.ts";
import { answerableUntil } from "./secondaries.ts";
import { SentSerials } from "./sent-serials.ts";
import { type ServedVersion, ServedVersions } from "./served-versions.ts";
import { SignerWaits, signedSoon } from "./signer-waits.ts";
import { watchExpiry } from "./zone-expiry.ts";

export type StoreZonesOptions = {
  readonly nameservers: readonly string[];
  /** The name of the catalog zone, if there is one. */
  readonly catalog?: string | undefined;
  /** Where this node remembers what it was asked for, and what it has sent; without it, it forgets when it stops. */
  readonly dataFolder?: string | undefined;
  /** The database may lose changes, so that what was sent has to be remembered. */
  readonly mayLose?: boolean | undefined;
  readonly log: Logger;
};

/** What a database that has lost changes means for the zones. */
export type LostChanges = {
  /** How often it has happened. */
  readonly count: () => number;
  /** How many zones still need a new serial. */
  readonly pending: () => number;
};

export async function zonesFromStore(store: RecordStore, options: StoreZonesOptions): Promise<StoreZones> {
  const { dataFolder: folder, mayLose, log } = options;
  const sent = folder === undefined || !mayLose ? undefined : await SentSerials.open({ folder, log });
  const lost = sent?.left && (await store.lostSince(sent.left));
  const asked = folder === undefined ? undefined : await AskedZones.open(folder, log);
  await signedSoon(store);
  return new StoreZones(store, options, { start: await store.logEnd(), sent, lost, asked });
}

type Beginning = {
  readonly start: LogPlace;
  readonly sent: SentSerials | undefined;
  readonly asked: AskedZones | undefined;
  /** What the database has lost since this node was stopped. */
  readonly lost: Awaited<ReturnType<RecordStore["lostSince"]>>;
};

/** Connects the record service to the nameserver: zones come from the store, changes from its log. */
export class StoreZones implements ZoneSource {
  readonly #store: RecordStore;
  readonly #nameservers: readonly string[];
  readonly #catalog: ReturnType<typeof openCatalog> | undefined;
  readonly #warnIfHidden: ReturnType<typeof warnOfHidden>;
  readonly #listeners = new Set<(event: ZoneEvent) => void>();
  readonly #expiry: ReturnType<typeof watchExpiry>;
  readonly #schedule = new FairSchedule();
  readonly #reads: LateReads;
  readonly #serials: SerialRaiser;
  readonly #sent: SentSerials | undefined;
  readonly #asked: AskedZones | undefined;
  readonly #follower: LogFollower;
  readonly #versions = new ServedVersions();
  readonly #signerWaits = new SignerWaits((event) => this.#emit(event));
  #followed: number;

  constructor(
    store: RecordStore,
    { nameservers, catalog, log }: StoreZonesOptions,
    { start, sent, asked, lost }: Beginning,
  ) {
    this.#store = store;
    this.#nameservers = nameservers;
    this.#catalog = catalog === undefined ? undefined : openCatalog(store, catalog, start.position);
    this.#warnIfHidden = warnOfHidden(this.#catalog?.name, log);
    this.#expiry = watchExpiry({
      until: (zone) => answerableUntil(store, zone),
      expired: (zone) => this.#emit({ kind: "withdrawn", zone }),
    });
    const { zoneHolding, sets, setsAfter, lastChange, logOf, signedNames } = store;
    const reads = { zoneHolding, sets, setsAfter, lastChange, logOf, signedNames };
    this.#reads = noticeLate(reads, () => this.#emit({ kind: "late" }));
    this.#sent = sent;
    this.#asked = asked;
    this.#serials = new SerialRaiser({ store, log, now: Date.now, sent });
    this.#followed = start.position;
    this.#follower = this.#followLog(start, log);
    if (sent && lost) {
      log.error(lostWhileDown);
      this.#serials.rolledBack({ details: undefined, position: sent.position(), checked: 0, history: lost });
      this.#catalog?.startAfter(sent.position());
    }
    sent?.notePosition(this.#followed);
    sent?.follow(() => this.#follower.place(), store.timeline);
  }

  readonly names = (): AsyncIterable<readonly string[]> => this.#names();

  readonly closest = async (names: readonly string[]): Promise<string | undefined> => {
    const [name] = names;
    const catalog = this.#catalog?.name;
    const zoneName = name === undefined ? undefined : (await this.#reads.zoneHolding(name))?.name;
    const listed = catalog !== undefined && names.includes(catalog) ? catalog : undefined;
    return (listed?.length ?? 0) > (zoneName?.length ?? 0) ? listed : zoneName;
  };

  readonly load: ZoneSource["load"] = async (name, begin) => {
    if (name === this.#catalog?.name) {
      await this.#serials.allReady();
      return await this.#catalog.load(() => this.#schedule.next(0), begin);
    }
    await this.#serials.ready(name);
    const zone = await this.#reads.zoneHolding(name);
    if (zone?.name !== name) return undefined;
    if (zone.settings.mode === "secondary") await this.#watchExpiry(zone);
    const reading = createReading();
    const served = await readServedZone(
      this.#reads,
      zone,
      () => this.#schedule.next(zone.account),
      ({ settings: { ttl } }) => reading.restart(begin?.({ name, ttl })),
    );
    const content = contentOf(served, reading, this.#nameservers);
    this.#serials.noteSent(name, content.serial);
    return content;
  };

  /** The zones that were asked for lately, and then the large ones. */
  readonly expected = async (): Promise<readonly ExpectedZone[]> => {
    const order = new Map(this.#asked?.latest().map((name, i) => [name, i]));
    const rankOf = ({ name }: ExpectedZone) => order.get(name) ?? order.size;
    const zones: ExpectedZone[] = [];
    let count = 0;
    for await (const part of zonesIn(this.#store)) {
      count += part.length;
      for (const { name, recordCount: records } of part)
        if (order.has(name) || records > largeZone) zones.push({ name, records, wasAsked: order.has(name) });
    }
    const catalog = this.#catalog?.name;
    if (catalog !== undefined) zones.push({ name: catalog, records: count, wasAsked: order.has(catalog) });
    return zones.toSorted((a, b) => rankOf(a) - rankOf(b));
  };

  readonly noteUse = (zone: string): void => this.#asked?.note(zone);

  readonly follow = (listener: (event: ZoneEvent) => void): (() => void) => {
    this.#listeners.add(listener);
    for (const event of this.#signerWaits.pending()) listener(event);
    return () => this.#listeners.delete(listener);
  };

  readonly changesBetween: ChangesBetween = async (name, from, to) =>
    name === this.#catalog?.name
      ? this.#catalog.changesBetween(from, to)
      : await changesBetween(this.#store, name, from, to);

  /** The position of the last change that was reported. */
  readonly followed = (): number => this.#followed;

  /** Since when a write is missing from answers, because the log could not be read in time (`performance.now`). */
  readonly lateSince = (): number | undefined => this.#follower.lateSince();

  /** The same, because it could not be signed in time. */
  readonly unsignedSince = (): number | undefined => this.#signerWaits.lateSince();

  readonly lostChanges: LostChanges = {
    count: () => this.#serials.losses(),
    pending: () => this.#serials.pending(),
  };

  readonly close = async (): Promise<void> => {
    this.#follower.close();
    this.#signerWaits.forget();
    this.#expiry.close();
    await this.#serials.close();
    await this.#sent?.close();
    await this.#asked?.close();
  };

  async *#names(): AsyncGenerator<readonly string[]> {
    if (this.#catalog) yield [this.#catalog.name];
    for await (const zones of zonesIn(this.#store)) {
      const names = zones.map(({ name }) => name);
      this.#warnIfHidden(names);
      yield names;
    }
  }

  /** Throws if the zone cannot be answered from. */
  async #watchExpiry(zone: Zone): Promise<void> {
    const until = await answerableUntil(this.#store, zone);
    if (until === undefined) throw new NoContent(`the zone ${zone.name} has not been transferred yet`);
    if (until < Date.now()) throw new NoContent(`the zone ${zone.name} has expired`);
    this.#expiry.watch(zone, until);
  }

  #followLog(start: LogPlace, log: Logger): LogFollower {
    return new LogFollower(this.#store, start, log, {
      rows: (rows) => this.#noteRows(rows),
      rolledBack: (loss) => {
        this.#followed = loss.end;
        this.#serials.rolledBack(loss);
        this.#catalog?.startAfter(loss.position);
        this.#sent?.notePosition(loss.position);
        this.#lose();
      },
      lost: () => this.#lose(),
      written: (announcement) => this.#emit({ kind: "written", announcement }),
      reported: (announcement) => this.#emit({ kind: "reported", announcement }),
    });
  }

  #noteRows(rows: readonly LoggedRow[]): void {
    const catalog = this.#catalog;
    this.#followed = rows.at(-1)?.position ?? this.#followed;
    this.#sent?.notePosition(this.#followed);
    this.#serials.noteRows(rows);
    this.#warnIfHidden(rows.map((row) => row.zoneName));
    const servedRows = catalog === undefined ? rows : rows.filter((row) => row.zoneName !== catalog.name);
    for (const version of this.#versions.take(servedRows)) this.#emit(eventOf(version));
    for (const event of catalog?.eventsOf(servedRows) ?? []) this.#emit(event);
    this.#signerWaits.note(servedRows);
  }

  /** All zones are read again. */
  #lose(): void {
    this.#versions.forget();
    this.#signerWaits.forget();
    this.#emit({ kind: "lost" });
  }

  #emit(event: ZoneEvent): void {
    for (const listener of this.#listeners) listener(event);
  }
}

type LateReads = Pick<RecordStore, "zoneHolding" | "sets" | "setsAfter" | "lastChange" | "logOf" | "signedNames">;

const lostWhileDown =
  "the database has lost changes that this node published before it was last stopped, or may have: a standby took over, or a backup was restored; serials are raised";

/** Notes what `contentOf` needs of the sets. Passes them on, or keeps them if there is no `pass`. */
function createReading() {
  let [soa, ns]: (ServedSet | undefined)[] = [];
  let kept: ServedSet[] = [];
  return {
    restart: (pass: ReturnType<BeginZone> | undefined) => {
      [soa, ns, kept] = [undefined, undefined, []];
      return (sets: readonly ServedSet[]) => {
        soa = sets.findLast((set) => set.type === "SOA") ?? soa;
        ns = sets.findLast(isApexNs) ?? ns;
        if (pass) pass(sets);
        else kept.push(...sets);
      };
    },
    read: () => ({ soa: soa?.records[0], isNamed: ns !== undefined && ns.records.length > 0, kept }),
  };
}

/** A zone needs NS records: if its owner has set none, it gets the nameservers of the service. */
function contentOf(
  zone: Zone,
  { read }: ReturnType<typeof createReading>,
  nameservers: readonly string[],
): ZoneContent<ServedSet> {
  const { soa, isNamed, kept } = read();
  // A signed zone always has its own NS set: one that was added here would not be signed.
  const named = zone.settings.dnssec !== undefined || isNamed;
  return {
    name: zone.name,
    ttl: zone.settings.ttl,
    // A large zone is read in parts and is current as of the last one; `zone` was read before.
    serial: soa === undefined ? zone.serial : serialOf(soa.rdata),
    sets: named ? kept : [...kept, nsSet(zone, nameservers)],
  };
}

const isApexNs = ({ owner, type }: { readonly owner: string; readonly type: string }): boolean =>
  owner === apex && type === "NS";

function nsSet({ created }: Zone, nameservers: readonly string[]): RRset {
  const records = nameservers.map((name) => {
    const rdata = `${name}.`;
    return { id: "", name: apex, value: rdata, rdata, comment: "", created, modified: created };
  });
  return { owner: apex, type: "NS", ttl: null, records };
}

/** Sending and applying more changes would delay answers for other zones; reloading the zone is done in parts. */
const mostChanges = 1_000;

/** What a new version of a zone is for the nameserver. */
function eventOf({ rows, isWhole }: ServedVersion): ZoneEvent {
  const { zoneName: zone, serial } = rows.at(-1) as LoggedRow;
  if (rows.some(({ change }) => change.kind === "settings" && change.before.mode !== change.after.mode))
    return { kind: "withdrawn", zone };
  const changes = isWhole && rows.length <= mostChanges ? setChanges(rows) : undefined;
  return changes === undefined || changes.some((change) => goesBack(change, serial) || expiresOtherwise(change))
    ? { kind: "replaced", zone }
    : { kind: "changed", zone, serial, changes: changes.map(servedChange) };
}

const servedChange = ({ kind, owner, type, after }: Change): ServedChange => ({
  kind,
  owner,
  type,
  after: after && servedSet(after),
});

/**
 * The changed sets. Undefined when they do not show everything that changed, such as the zone's TTL, mode, primaries or
 * nameservers.
 */
function setChanges(rows: readonly LoggedRow[]): readonly Change[] | undefined {
  const changes: Change[] = [];
  for (const { change } of rows) {
    if (change.kind === "settings") {
      if (!sameInDns(change.before, change.after)) return undefined;
    } else if (change.kind === "signatures") {
      if (change.sets === null) return undefined;
      for (const set of change.sets) changes.push(asChange(set));
    } else if (change.kind === "signing") continue;
    else if (isApexNs(change)) return undefined;
    else changes.push(change);
  }
  return changes;
}

const sameInDns = (a: ZoneSettings, b: ZoneSettings): boolean =>
  a.ttl === b.ttl && a.mode === b.mode && isDeepStrictEqual(a.primaries, b.primaries);

/** A transfer from a primary server may replace the zone by one whose serial is not newer. */
function goesBack({ type, before }: Change, serial: number): boolean {
  const old = type === "SOA" ? before?.records[0] : undefined;
  return old !== undefined && compareSerials(serial, serialOf(old.rdata)) !== 1;
}

/** The expiry time is calculated when the zone is loaded, so it has to be loaded again. */
function expiresOtherwise({ type, before, after }: Change): boolean {
  const [old, now] = [before?.records[0], after?.records[0]];
  return type === "SOA" && old && now ? timersIn(old.rdata).expire !== timersIn(now.rdata).expire : false;
}

/**
 * Rows of a zone's history to read, page by page, until the client's serial is found. A client that is further behind
 * gets the whole zone.
 */
const pages = [64, 1_000, 10_000];

async function changesBetween(
  store: RecordStore,
  name: string,
  from: number,
  to: number,
): Promise<readonly Change[] | undefined> {
  const zone = await store.zoneNamed(name);
  if (zone === undefined) return undefined;
  const { historySince } = zone.settings;
  // The serial may be one that was given out twice, for different content.
  if (historySince !== undefined && compareSerials(from, historySince) === -1) return undefined;
  let rows: readonly LoggedRow[] = [];
  for (const limit of pages) {
    rows = [...(await store.logOf(zone, { limit, before: rows[0]?.position })).toReversed(), ...rows];
    const versions = new ServedVersions().take(rows);
    const [begin, end] = [from, to].map((serial) => versions.findLastIndex((version) => serialIn(version) === serial));
    if (begin === undefined || end === undefined || begin < 0) continue;
    const between = versions.slice(begin + 1, end + 1);
    // The first versions may have begun before these rows.
    if (!between.every(({ isWhole }) => isWhole)) continue;
    return end < begin ? undefined : setChanges(between.flatMap((version) => version.rows));
  }
  return undefined;
}

const serialIn = ({ rows }: ServedVersion): number | undefined => rows.at(-1)?.serial;
