import { DatabaseSync } from "node:sqlite";
import type { RRset } from "../../../core/records/rrset.ts";
import type { MigrationStep } from "../../../lib/sqlite/migration-steps.ts";
import { openSqlite } from "../../../lib/sqlite/open.ts";
import { sqliteSql } from "../../../lib/sqlite/run-sql.ts";
import type { Sql } from "../../../lib/sqlite/sql.ts";
import { type Logger, noLog } from "../../../process/log.ts";
import type { Zone } from "../../model.ts";
import type { Signer } from "../../signing/signer.ts";
import { createChangeFeed } from "../change-feed.ts";
import { createStoreCounters } from "../counters.ts";
import type { PlanOptions } from "../plan-rule.ts";
import { type Command, type RecordStore, type ResultOf, type Rule, type RunningAction } from "../port.ts";
import { type RecordLimits, RecordQuota } from "../record-limits.ts";
import { type AsideTools, signAside } from "../signed/sign-aside.ts";
import { SigningFollower } from "../signed/signing-follower.ts";
import type { AsideNeeded } from "../signed-effect.ts";
import { createSqlFront } from "../sql/front.ts";
import { createSqlGrants } from "../sql/grants.ts";
import { createSqlLeftovers } from "../sql/leftovers.ts";
import { createSqlReads } from "../sql/read.ts";
import { createSqlSignedZones } from "../sql/signed-zones.ts";
import { createSqlTransferKeys } from "../sql/transfer-keys.ts";
import { LargeWrites } from "./large-writes.ts";
import { createSqliteFeed, type OtherCommits, watchOtherCommits } from "./other-commits.ts";
import { type PlannableWrite, type SmallWriteLimits, smallWriteLimits, writeIfSmall } from "./planned-write.ts";
import { migrations } from "./schema.ts";
import { createAsideStore } from "./signed/aside-store.ts";
import { SqliteFollowedStore } from "./signed/followed-store.ts";
import { prepareTokens } from "./tokens.ts";
import { openWriteConnection, transactionHooks, WriteConnection } from "./write-connection.ts";
import { openWalSync, runBatch, WriteQueue } from "./write-queue.ts";

export type SqliteStore = Omit<RecordStore, "close"> & {
  /** Rejects if the database cannot be read now, or accepts no more writes. */
  readonly checkHealth: () => Promise<unknown>;
  /** Call it when a session was ended over another connection. */
  readonly accessChanged: () => void;
  /**
   * Calls the listener with the number of changes, or of names signed aside, when there were about a
   * hundred. There is one listener.
   */
  readonly onWrite: (listener: (count: number) => void) => void;
  /** Finishes large writes and what waits; call it before `close`. */
  readonly drain: () => Promise<void>;
  readonly close: () => void;
};

/**
 * `path` may be `:memory:`, for tests. `steps` other than the default are for tests of upgrades. Without a signer,
 * zones cannot be signed; without `limits`, they may have any number of records.
 */
export function openSqliteStore(
  path: string,
  steps: readonly MigrationStep[] = migrations,
  signer?: Signer,
  limits?: RecordLimits,
  log = noLog,
): SqliteStore {
  const file = new StoreFile({ path, steps, signer, limits, log });
  const { main, otherCommits, sql, commit, signedZones, accessChanged } = file;
  const reads = new CachedReads(main, otherCommits);
  const lists = createSqlReads(sql, reads.zoneBy);
  const transferKeys = createSqlTransferKeys(sql);
  const quotas = limits?.quotas;
  const tokens = prepareTokens({ database: main.database, commit, otherCommits, accessChanged, quotas });
  return {
    counters: file.counters,
    ...lists,
    ...transferKeys,
    ...createSqlGrants(sql),
    ...createSqlFront(sql),
    ...signedZones,
    ...createSqlLeftovers(sql),
    ...tokens.store,
    zone: reads.zone,
    zoneBy: reads.zoneBy,
    record: reads.record,
    sets: reads.sets,
    lastChange: async () => main.read.lastChange(),
    // A restore is refused while a process uses the file, so there is only one history.
    logEnd: async () => ({ position: main.read.lastChange(), link: "" }),
    logFrom: async ({ position }, limit) =>
      (await lists.logAfter(position, limit)).map((row) => ({ ...row, link: "" })),
    timeline: async () => "",
    lostSince: async () => undefined,
    checkHealth: file.checkHealth,
    onChange: file.onChange,
    onAccessChange: file.onAccessChange,
    accessChanged,
    onWrite: file.onWrite,
    revokeTransferKey: async (name, now) => {
      const revoked = await transferKeys.revokeTransferKey(name, now);
      accessChanged();
      return revoked;
    },
    obstacleTo: async (newZone) => main.obstacleTo(newZone),
    run: file.run,
    signed: (zone) => file.signed(zone),
    drain: async () => {
      tokens.flushUses();
      await file.drain();
    },
    close: () => {
      tokens.flushUses();
      file.close();
    },
  };
}

/** Reads through the cache of rows, which is checked first. */
class CachedReads {
  readonly #read: WriteConnection["read"];
  readonly #rowCache: WriteConnection["rowCache"];
  readonly #otherCommits: OtherCommits;

  constructor({ read, rowCache }: WriteConnection, otherCommits: OtherCommits) {
    this.#read = read;
    this.#rowCache = rowCache;
    this.#otherCommits = otherCommits;
  }

  readonly zone: RecordStore["zone"] = (account, id) => {
    this.#otherCommits.check();
    return ifOwnedBy(account, this.#rowCache.zone(id));
  };

  readonly zoneBy: RecordStore["zoneBy"] = (account, key) => {
    this.#otherCommits.check();
    return ifOwnedBy(account, this.#rowCache.zoneBy(key));
  };

  readonly record: RecordStore["record"] = (account, id) => {
    this.#otherCommits.check();
    const recordInZone = this.#rowCache.record(id);
    return recordInZone?.zone.account === account ? recordInZone : undefined;
  };

  readonly sets: RecordStore["sets"] = async (zone, query) => {
    const { owner, owners, type } = query;
    this.#otherCommits.check();
    const at = (each: string) => this.#rowCache.setsAt(zone, each);
    const cachedSets = owners?.flatMap(at) ?? (owner === undefined ? undefined : at(owner));
    return cachedSets ? ofType(type, cachedSets) : this.#read.sets(zone, query);
  };
}

type StoreFileOptions = {
  readonly path: string;
  readonly steps: readonly MigrationStep[];
  readonly signer: Signer | undefined;
  readonly limits: RecordLimits | undefined;
  readonly log: Logger;
};

/** The open file, its queue of writes, and who is told about them. */
class StoreFile {
  readonly counters = createStoreCounters();
  readonly main: WriteConnection;
  readonly otherCommits: OtherCommits;
  readonly sql: Sql;
  readonly signedZones: ReturnType<typeof createSqlSignedZones>;
  readonly #disk: ReturnType<typeof openWalSync>;
  readonly #feed: ReturnType<typeof createSqliteFeed>;
  readonly #access = createChangeFeed();
  readonly #queue: WriteQueue;
  readonly #secondConnection: DatabaseSync | undefined;
  readonly #large: LargeWrites;
  /** Undefined in memory: there is no other connection for what is larger. */
  readonly #limits: SmallWriteLimits | undefined;
  readonly #recordQuota: RecordQuota | undefined;
  readonly #planOptions: PlanOptions;
  #followed: SqliteFollowedStore | undefined;
  #follower: SigningFollower | undefined;
  #wrote: (count: number) => void = () => undefined;
  /** Changes since `#wrote` was called. */
  #changes = 0;

  constructor({ path, steps, signer, limits, log }: StoreFileOptions) {
    const database = openSqlite(path, steps);
    this.otherCommits = watchOtherCommits(database);
    this.main = new WriteConnection(database, limits?.set, signer);
    this.otherCommits.onCommit(this.main.rowCache.forget);
    this.#disk = openWalSync(database, path);
    this.#feed = createSqliteFeed({
      otherCommits: this.otherCommits,
      lastChange: this.main.read.lastChange,
      isWriting: () => this.counters.waiting > 0,
    });
    this.#queue = this.#openQueue();
    this.sql = sqliteSql(database, this.commit);
    this.#secondConnection = path === ":memory:" ? undefined : openSecondConnection(path);
    this.signedZones = createSqlSignedZones(this.#secondConnection ? sqliteSql(this.#secondConnection) : this.sql);
    const open = path === ":memory:" ? undefined : () => openWriteConnection(path, limits?.set);
    this.#limits = open && smallWriteLimits;
    this.#large = new LargeWrites({ queue: this.#queue, main: this.main, open, sign: this.#signAside });
    this.#recordQuota = limits && new RecordQuota(limits, this.sql);
    this.#planOptions = { signer, recordQuota: this.#recordQuota, inOnePiece: open === undefined };
    // This is called in the middle of a read, and listeners read too, so they are called later.
    this.otherCommits.onCommit(() => setImmediate(this.accessChanged));
    if (signer) this.#follow(signer, open, log);
  }

  get commit(): WriteQueue["commit"] {
    return this.#queue.commit;
  }

  /** A write that is small is written in one piece, together with others. */
  readonly run = async <C extends Command, R extends Rule>(
    command: C,
    ruleOf: (command: C) => R,
    running?: RunningAction,
  ): Promise<ResultOf<R>> => {
    const rule = ruleOf(command);
    const { isTrial } = command;
    const options = isTrial ? { ...this.#planOptions, isTrial } : this.#planOptions;
    const write: PlannableWrite = { command, rule, options, running };
    const account = accountOf(rule);
    const done = await this.#queue.commit(() => writeIfSmall(this.main, write, this.#limits), account);
    return (done ? done.result : await this.#large.commit(account, write)) as ResultOf<R>;
  };

  readonly checkHealth = async (): Promise<unknown> => {
    const { trouble } = this.#queue;
    if (trouble !== undefined) throw trouble;
    return this.main.read.lastChange();
  };

  readonly onChange: RecordStore["onChange"] = (listener) => this.#feed.listen(listener);

  readonly onAccessChange: RecordStore["onAccessChange"] = (listener) => this.#access.listen(listener);

  readonly accessChanged = (): void => this.#access.announce();

  readonly onWrite = (listener: (count: number) => void): void => {
    this.#wrote = listener;
  };

  async signed(zone?: number): Promise<void> {
    await this.#follower?.idle(zone);
  }

  async drain(): Promise<void> {
    this.#follower?.close();
    this.#large.close();
    await this.#queue.drain();
  }

  close(): void {
    this.#feed.close();
    this.#large.close();
    if (this.#follower) this.#followed?.signLast(this.#follower.close());
    this.#queue.flush();
    this.#disk.close();
    this.#secondConnection?.close();
    this.main.database.close();
  }

  #openQueue(): WriteQueue {
    const hooks = transactionHooks(this.main, this.otherCommits);
    return new WriteQueue({
      disk: this.#disk,
      counters: this.counters,
      run: (works) => {
        const batch = runBatch(this.main.database, hooks, works);
        this.#followed?.note(batch.rows);
        return batch;
      },
      onDurable: (rows) => {
        this.#feed.announce(rows);
        this.#count(rows.length);
      },
    });
  }

  #follow(signer: Signer, open: (() => WriteConnection) | undefined, log: Logger): void {
    const { main, otherCommits, commit, signedZones } = this;
    const tools = this.#large.tools();
    this.#followed = new SqliteFollowedStore({
      main,
      signer,
      otherCommits,
      commit,
      signedZones,
      open,
      schedule: tools.schedule,
      signAside: async (needed) => {
        // Each account signs one large zone at a time.
        const release = await tools.schedule.hold(needed.zone.account, tools.signal);
        return await this.#signAside(needed, tools).finally(release);
      },
    });
    const follower = new SigningFollower(this.#followed, signer, { log });
    this.#follower = follower;
    follower.lookForMore();
    this.#feed.listen((rows) => (rows === undefined ? follower.lookForMore() : follower.note(rows)));
  }

  readonly #signAside = (needed: AsideNeeded, tools: Pick<AsideTools, "schedule" | "signal">) => {
    const [main, secondConnection, { commit, signedZones }] = [this.main, this.#secondConnection, this];
    if (main.signer === undefined || secondConnection === undefined)
      throw new Error("this store has no key file or no second connection");
    const wrote = (count: number) => this.#count(count);
    const store = createAsideStore({ main, secondConnection, commit, wrote, signedZones });
    return signAside({ store, signer: main.signer, ...tools }, needed);
  };

  #count(changes: number): void {
    this.#changes += changes;
    if (this.#changes < manyChanges) return;
    this.#wrote(this.#changes);
    this.#changes = 0;
  }
}

/** Whose zones the rule writes to. */
function accountOf(rule: Rule): number {
  if ("zone" in rule) return rule.zone.account;
  return "request" in rule ? rule.request.account : (rule.requests[0]?.account ?? 0);
}

/** Whoever counts changes has to act only after many. */
const manyChanges = 100;

/**
 * For the rows of signed names, which are large: the nameserver reads those of a whole zone once, and in the cache of
 * the main connection they would take the place of everything else.
 */
function openSecondConnection(path: string): DatabaseSync {
  const database = new DatabaseSync(path, { readOnly: true });
  database.exec("PRAGMA busy_timeout = 5000; PRAGMA cache_size = -512");
  return database;
}

const ifOwnedBy = (account: number, zone: Zone | undefined): Zone | undefined =>
  zone?.account === account ? zone : undefined;

const ofType = (type: RRset["type"] | undefined, sets: readonly RRset[]): readonly RRset[] =>
  type === undefined ? sets : sets.filter((set) => set.type === type);
