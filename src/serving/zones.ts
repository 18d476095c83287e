import { isDeepStrictEqual } from "node:util";
import { asChange } from "../core/dnssec/generated-changes.ts";
import { apex } from "../core/names/name.ts";
import type { Change } from "../core/records/changes.ts";
import type { RRset } from "../core/records/rrset.ts";
import { compareSerials, serialOf } from "../core/records/serial.ts";
import { timersIn } from "../core/records/soa-timers.ts";
import type { ServedChange, ServedSet, ZoneContent } from "../core/records/zone-view.ts";
import { FairSchedule } from "../lib/limits/fair-schedule.ts";
import type { BeginZone, ZoneEvent, ZoneSource } from "../nameserver/answer/zone-source.ts";
import type { ChangesBetween } from "../nameserver/transfer/out.ts";
import type { Logger } from "../process/log.ts";
import type { LoggedRow, LogPlace, Zone, ZoneSettings } from "../records/model.ts";
import { readServedZone, servedSet } from "../records/queries/read-zone.ts";
import type { RecordStore } from "../records/store/port.ts";
import { openCatalog, warnOfHidden } from "./catalog.ts";
import { LogFollower } from "./follow-log.ts";
import { noticeLate } from "./late-reads.ts";
import { SerialRaiser } from "./raise-serials.ts";
import { answerableUntil } from "./secondaries.ts";
import { SentSerials } from "./sent-serials.ts";
import { watchExpiry } from "./zone-expiry.ts";

export type StoreZonesOptions = {
  readonly nameservers: readonly string[];
  /** The name of the catalog zone, if there is one. */
  readonly catalog?: string | undefined;
  /** Where this node remembers what it has sent; without it, it forgets that when it stops. */
  readonly dataFolder?: string | undefined;
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
  const { dataFolder, log } = options;
  const sent = dataFolder === undefined ? undefined : await SentSerials.open({ folder: dataFolder, log });
  const lost = sent?.left && (await store.lostSince(sent.left));
  return new StoreZones(store, options, { start: await store.logEnd(), sent, lost });
}

type Beginning = {
  readonly start: LogPlace;
  readonly sent: SentSerials | undefined;
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
  readonly #follower: LogFollower;
  #followed: number;

  constructor(store: RecordStore, { nameservers, catalog, log }: StoreZonesOptions, { start, sent, lost }: Beginning) {
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
      return await this.#catalog.load();
    }
    await this.#serials.ready(name);
    const zone = await this.#reads.zoneHolding(name);
    if (zone?.name !== name) return undefined;
    const { ttl, mode } = zone.settings;
    const reading = createReading();
    await readServedZone(
      this.#reads,
      zone,
      () => this.#schedule.next(zone.account),
      () => reading.restart(begin?.({ name, ttl })),
    );
    if (mode === "secondary") await this.#watchExpiry(zone);
    const content = contentOf(zone, reading, this.#nameservers);
    this.#serials.noteSent(name, content.serial);
    return content;
  };

  readonly follow = (listener: (event: ZoneEvent) => void): (() => void) => {
    this.#listeners.add(listener);
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

  readonly lostChanges: LostChanges = {
    count: () => this.#serials.losses(),
    pending: () => this.#serials.pending(),
  };

  readonly close = async (): Promise<void> => {
    this.#follower.close();
    this.#expiry.close();
    await this.#serials.close();
    await this.#sent?.close();
  };

  async *#names(): AsyncGenerator<readonly string[]> {
    if (this.#catalog) yield [this.#catalog.name];
    for await (const names of namesIn(this.#store)) {
      this.#warnIfHidden(names);
      yield names;
    }
  }

  /** Throws if the zone cannot be answered from. */
  async #watchExpiry(zone: Zone): Promise<void> {
    const until = await answerableUntil(this.#store, zone);
    if (until === undefined) throw new Error(`the zone ${zone.name} has not been transferred yet`);
    if (until < Date.now()) throw new Error(`the zone ${zone.name} has expired`);
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
        this.#emit({ kind: "lost" });
      },
      lost: () => this.#emit({ kind: "lost" }),
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
    for (const event of [...eventsOf(servedRows), ...(catalog?.eventsOf(servedRows) ?? [])]) this.#emit(event);
  }

  #emit(event: ZoneEvent): void {
    for (const listener of this.#listeners) listener(event);
  }
}

type LateReads = Pick<RecordStore, "zoneHolding" | "sets" | "setsAfter" | "lastChange" | "logOf" | "signedNames">;

const lostWhileDown =
  "the database has lost changes that this node published before it was last stopped, or may have: a standby took over, or a backup was restored; serials are raised";

async function* namesIn(store: RecordStore): AsyncGenerator<readonly string[]> {
  for (let after = 0; ; ) {
    const zones = await store.everyZone(after, mostAtOnce);
    yield zones.map((zone) => zone.name);
    const last = zones.at(-1);
    if (last === undefined || zones.length < mostAtOnce) return;
    after = last.number;
  }
}

const mostAtOnce = 10_000;

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

/**
 * All rows of one write have the same zone and serial. Writes that were signed together become one event, because none
 * of them can be validated without the signatures, which are in the last row.
 */
function eventsOf(rows: readonly LoggedRow[]): readonly ZoneEvent[] {
  const signedAt = new Map<number, number>();
  const keys = rows.toReversed().map(({ zone, serial, change }) => {
    if (change.kind === "signatures") signedAt.set(zone, serial);
    return `${zone} ${signedAt.get(zone) ?? serial}`;
  });
  const writes = Map.groupBy(rows, (_, i) => keys.at(-1 - i));
  return [...writes.values()].flatMap((write) => {
    const last = write.at(-1);
    return last === undefined ? [] : [eventOf(last, write)];
  });
}

function eventOf({ zoneName: zone, serial }: LoggedRow, write: readonly LoggedRow[]): ZoneEvent {
  if (write.length > mostChanges) return { kind: "replaced", zone };
  if (write.some(({ change }) => change.kind === "settings" && change.before.mode !== change.after.mode))
    return { kind: "withdrawn", zone };
  const changes = setChanges(write);
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
    } else if (isApexNs(change)) return undefined;
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
  const rows: LoggedRow[] = [];
  for (const limit of pages) {
    const before = rows.at(-1)?.position;
    rows.push(...(await store.logOf(zone, { limit, before })));
    const end = rows.findIndex((row) => row.serial === from);
    if (end < 0) continue;
    const begin = rows.findIndex((row) => row.serial === to);
    return begin < 0 || begin > end ? undefined : setChanges(rows.slice(begin, end).reverse());
  }
  return undefined;
}
