import { DatabaseSync } from "node:sqlite";
import type { Instant } from "../../../core/instant.ts";
import { apex } from "../../../core/names/name.ts";
import { type NewZoneName, refusalOfName } from "../../../core/names/zone-neighbours.ts";
import type { StoredNames } from "../../../core/records/dname.ts";
import type { RRset } from "../../../core/records/rrset.ts";
import type { Steps } from "../../../core/steps.ts";
import { isLarge, type NewZone, type Zone } from "../../model.ts";
import { type Signer, signingTime } from "../../signing/signer.ts";
import { accessKinds } from "../access-ended.ts";
import type { Need, StoreSnapshot, StoreTransaction } from "../plan-rule.ts";
import { AccessEnded, type Command, type NotCreated, type WriteView } from "../port.ts";
import type { SignedReads } from "../signed/plan-step.ts";
import { serialAfter, type WriteEffect } from "../write-effect.ts";
import { prepareActions } from "./actions.ts";
import { prepareNeighbours } from "./neighbours.ts";
import type { OtherCommits } from "./other-commits.ts";
import { Reads } from "./read.ts";
import { RowCache } from "./row-cache.ts";
import { SignedNames } from "./signed/names.ts";
import { SetWriter } from "./write.ts";
import type { TransactionHooks } from "./write-queue.ts";

/** Up to this many owners are read in one step; if there are more, each takes one step. */
const fewOwners = 10;

const prepare = (database: DatabaseSync) => ({
  insertZone: database.prepare(
    "INSERT INTO zones (id, account, name, settings, serial, record_count, created, modified) " +
      "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
  ),
  deleteZone: database.prepare("DELETE FROM zones WHERE number = ?"),
  insertDeparted: database.prepare(
    "INSERT INTO departed_zones (name, serial) VALUES (?, ?) ON CONFLICT DO UPDATE SET serial = excluded.serial",
  ),
  selectDeparted: database.prepare("SELECT serial FROM departed_zones WHERE name = ?"),
  token: database.prepare(unless("SELECT 1 FROM tokens WHERE id = ? AND revoked IS NULL")),
  session: database.prepare(unless("SELECT 1 FROM console_sessions WHERE id = ?")),
  key: database.prepare(unless("SELECT 1 FROM transfer_keys WHERE number = ? AND revoked IS NULL")),
});

/** Every write asks whether access has ended, and a statement without a row costs less than one with a row. */
const unless = (select: string): string => `SELECT 1 WHERE NOT EXISTS (${select})`;

/** Everything that a write reads and writes, on one connection. */
export class WriteConnection implements StoreTransaction {
  readonly database: DatabaseSync;
  readonly read: Reads;
  readonly rowCache: RowCache;
  readonly writer: SetWriter;
  readonly earlierAnswer: StoreTransaction["earlierAnswer"];
  readonly keep: StoreTransaction["keep"];
  readonly #mostValues: number | undefined;
  readonly #sql: ReturnType<typeof prepare>;
  readonly #neighboursOf: ReturnType<typeof prepareNeighbours>;
  readonly signer: Signer | undefined;
  #signedNames: SignedNames | undefined;

  /** `mostValues`: as in `WriteView`. */
  constructor(database: DatabaseSync, mostValues?: number, signer?: Signer) {
    this.database = database;
    this.#mostValues = mostValues;
    this.signer = signer;
    this.#sql = prepare(database);
    this.#neighboursOf = prepareNeighbours(database);
    this.read = new Reads(database);
    this.rowCache = new RowCache(this.read, (zone, owner) => this.signedNames().at(zone, owner));
    this.writer = new SetWriter(database, this.rowCache, this.signedNames);
    const { earlierAnswer, keep } = prepareActions(database);
    [this.earlierAnswer, this.keep] = [earlierAnswer, keep];
  }

  /** Prepared on first use: most stores have no signed zone. */
  readonly signedNames = (): SignedNames => {
    this.#signedNames ??= new SignedNames(this.database);
    return this.#signedNames;
  };

  /**
   * A signed zone cannot be changed while it cannot be signed: its private keys cannot be read, or the clock is far
   * behind.
   */
  readonly expectSignable = (
    { zone, keys = [] }: Pick<WriteEffect, "zone" | "keys">,
    signer: Signer | undefined,
    now: Instant,
  ): void => {
    if (signer === undefined)
      throw new Error("this store was opened without a key file, so signed zones cannot be changed");
    if (zone.settings.dnssec === undefined) return;
    signingTime(this.rowCache.signedName(zone, apex), now);
    if (signer.notLoaded(zone.settings.dnssec?.keys ?? []).length > 0)
      signer.load([...this.signedNames().keysOf(zone), ...keys]);
  };

  signedReads(zone: Zone): SignedReads {
    return {
      names: { ...this.signedNames().chainOf(zone), at: (owner) => this.rowCache.signedName(zone, owner) },
      everyName: () => this.signedNames().every(zone),
      setsAt: (owner) => this.rowCache.setsAt(zone, owner),
      everySetKey: () => this.read.eachType(zone),
    };
  }

  readonly view: StoreSnapshot["view"] = (need) => {
    const { at } = need;
    const place = "record" in at ? this.rowCache.place(at.record) : undefined;
    const zone = "zone" in at ? this.rowCache.zone(at.zone) : this.#zoneAt(at, place?.zone);
    return zone?.account === need.account ? this.#viewInto(zone, need, place?.owner) : undefined;
  };

  readonly zoneCount: StoreSnapshot["zoneCount"] = (account) => this.read.zoneCount(account);

  #zoneAt(at: Exclude<Need["at"], { readonly zone: string }>, placed: string | undefined): Zone | undefined {
    if ("record" in at) return placed === undefined ? undefined : this.rowCache.zone(placed);
    return this.rowCache.zoneBy(at);
  }

  #viewInto(zone: Zone, request: Need, owner?: string): WriteView | Steps<WriteView> {
    if (request.owners === "to-remove" && isLarge(zone)) return this.#viewOf(zone, this.read.setsToRemove(zone));
    if (request.owners === "all" || request.owners === "to-remove") return this.#viewingAll(zone);
    const owners = new Set(request.owners(zone));
    if (owner !== undefined) owners.add(owner);
    for (const record of request.records ?? []) {
      const other = this.rowCache.place(record);
      if (other?.zone === zone.id) owners.add(other.owner);
    }
    if (owners.size > fewOwners) return this.#viewingOwners(zone, [...owners]);
    const sets = [...owners].flatMap((each) => this.rowCache.setsAt(zone, each));
    return this.#viewOf(zone, sets);
  }

  /** Throws if the token, session or transfer key of the command has ended. */
  expectAccess({ actor }: Command): void {
    for (const kind of accessKinds) {
      const id = actor?.[kind];
      if (id !== undefined && this.#sql[kind].get(id) !== undefined) throw new AccessEnded();
    }
  }

  /** Reads from the database, because the cache may be older than what another process committed. */
  readonly obstacleTo = (newZone: NewZoneName): NotCreated | undefined => {
    if (this.read.zoneBy({ name: newZone.name }) !== undefined) return "name-taken";
    return refusalOfName(newZone, this.#neighboursOf(newZone));
  };

  /** Without its sets. */
  createZone(zone: NewZone): Zone {
    const { id, account, name, settings, created: at, sets } = zone;
    const last = this.#sql.selectDeparted.get(name) as { readonly serial: number } | undefined;
    const serial = serialAfter(last?.serial, zone);
    const count = sets.reduce((sum, set) => sum + set.records.length, 0);
    this.#sql.insertZone.run(id, account, name, JSON.stringify(settings), serial, count, at, at);
    const made = this.rowCache.zone(id);
    if (made === undefined) throw new Error("a zone that was just written cannot be read");
    return made;
  }

  /** `before`: the zone before this write, which has deleted its sets, unless it is large. */
  removeZone(zone: Zone, before: Zone): void {
    this.#sql.insertDeparted.run(zone.name, zone.serial);
    this.#sql.deleteZone.run(zone.number);
    if (zone.signedNamesNumber !== undefined) this.signedNames().deleteLater(zone.signedNamesNumber, "names");
    if (isLarge(before)) this.signedNames().deleteLater(zone.number, "zone");
    this.writer.removed(zone);
  }

  #viewOf(zone: Zone, sets: readonly RRset[]): WriteView {
    const { read } = this;
    const storedNames: StoredNames = {
      hasDname: (owner) => read.hasDname(zone, owner),
      endingWith: (owner) => read.endingWith(zone, owner),
    };
    return { zone, sets, storedNames, mostValues: this.#mostValues };
  }

  *#viewingAll(zone: Zone): Steps<WriteView> {
    const sets: RRset[] = [];
    for (const set of this.read.eachSet(zone)) {
      sets.push(set);
      yield;
    }
    return this.#viewOf(zone, sets);
  }

  *#viewingOwners(zone: Zone, owners: readonly string[]): Steps<WriteView> {
    const sets: RRset[] = [];
    for (const owner of owners) {
      sets.push(...this.rowCache.setsAt(zone, owner));
      yield;
    }
    return this.#viewOf(zone, sets);
  }
}

/** What a transaction of this connection does to its rows in memory and its log. */
export const transactionHooks = (
  connection: WriteConnection,
  otherCommits: Pick<OtherCommits, "checkNow">,
): TransactionHooks => ({
  afterBegin: () => {
    otherCommits.checkNow();
    connection.writer.begin();
  },
  beforeCommit: () => connection.writer.writeZones(),
  afterRollback: () => connection.rowCache.forget(),
  afterCommit: connection.writer.logged,
});

/**
 * Another connection to the file of a store. It never checkpoints, which would take long, and writes pages to the log
 * as it goes, so that the commit itself is short.
 */
export function openWriteConnection(path: string, mostValues?: number): WriteConnection {
  const database = new DatabaseSync(path);
  try {
    database.exec(settings);
    return new WriteConnection(database, mostValues);
  } catch (error) {
    database.close();
    throw error;
  }
}

const settings = `
  PRAGMA busy_timeout = 5000;
  PRAGMA synchronous = NORMAL;
  PRAGMA foreign_keys = ON;
  PRAGMA wal_autocheckpoint = 0;
  PRAGMA cache_size = -4096;
`;
