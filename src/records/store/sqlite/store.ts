import { DatabaseSync } from "node:sqlite";
import type { Worker } from "node:worker_threads";
import type { RRset } from "../../../core/records/rrset.ts";
import type { MigrationStep } from "../../../lib/sqlite/migration-steps.ts";
import { openSqlite } from "../../../lib/sqlite/open.ts";
import { sqliteSql } from "../../../lib/sqlite/run-sql.ts";
import type { Zone } from "../../model.ts";
import type { Signer } from "../../signing/signer.ts";
import { createChangeFeed } from "../change-feed.ts";
import { createStoreCounters } from "../counters.ts";
import { type Command, type RecordStore, type ResultOf, type Rule, type RunningAction } from "../port.ts";
import { type RecordLimits, RoomForRecords } from "../record-limits.ts";
import { signAhead } from "../sign-ahead.ts";
import { createSqlGrants } from "../sql/grants.ts";
import { createSqlLeftovers } from "../sql/leftovers.ts";
import { createSqlReads } from "../sql/read.ts";
import { createSqlSignedZones } from "../sql/signed-zones.ts";
import { createSqlTransferKeys } from "../sql/transfer-keys.ts";
import { directRule } from "./direct-write.ts";
import { createSqliteFeed } from "./feed.ts";
import { watchForeignCommits } from "./foreign-commits.ts";
import { createLargeWrites } from "./large-writes.ts";
import { createPlanner } from "./plan-writes.ts";
import { migrations } from "./schema.ts";
import { createAheadStore } from "./signed/ahead.ts";
import { prepareTokens } from "./tokens.ts";
import { openWalSync, runBatch, WriteQueue } from "./write-queue.ts";
import { edgesOf, openWriteSide, prepareWriteSide } from "./write-side.ts";
import { WriterThread } from "./writer-thread.ts";

export type SqliteStore = Omit<RecordStore, "close"> & {
  /** Rejects if the database cannot be read now, or accepts no more writes. */
  readonly look: () => Promise<unknown>;
  /** Call it when a session was ended over another connection. */
  readonly accessChanged: () => void;
  /** Calls the listener with the number of changes, or of signed names that were written ahead. There is one listener. */
  readonly onWrite: (listener: (count: number) => void) => void;
  /** Call it before `close` if there is a thread that writes. */
  readonly drain: () => Promise<void>;
  readonly close: () => void;
};

/**
 * `path` may be `:memory:`, for tests. `steps` other than the default are for tests of upgrades. Without a signer, zones cannot be signed; without `limits`, they may have any number of records. `writerThread` starts the
 * thread that writes when `together` commands wait (default: 2); without it, this thread does.
 */
export function openSqliteStore(
  path: string,
  steps: readonly MigrationStep[] = migrations,
  signer?: Signer,
  writerThread?: { readonly start: () => Worker; readonly together?: number },
  limits?: RecordLimits,
): SqliteStore {
  const database = openSqlite(path, steps);
  const foreign = watchForeignCommits(database);
  const main = prepareWriteSide(database, limits?.set, signer);
  const { read, known } = main;
  foreign.onCommit(known.forget);
  const disk = openWalSync(database, path);
  const counters = createStoreCounters();
  let wrote: (count: number) => void = () => undefined;
  const feed = createSqliteFeed({ foreign, lastChange: read.lastChange, isWriting: () => counters.waiting > 0 });
  const edges = edgesOf(main, foreign);
  const thread = writerThread && new WriterThread(writerThread.start, () => accessChanged());
  const queue = new WriteQueue({
    thread,
    together: writerThread?.together,
    disk,
    counters,
    runHere: (works) => runBatch(database, edges, works),
    durable: (rows) => {
      // What the thread has written is not in the cache; the next read may be in this turn of the event loop.
      if (thread?.isStarted) foreign.checkNow();
      feed.announce(rows);
      wrote(rows.length);
    },
  });
  const { commit } = queue;
  const sql = sqliteSql(database, commit);
  const beside = path === ":memory:" ? undefined : openBeside(path);
  const signedZones = createSqlSignedZones(beside ? sqliteSql(beside) : sql);
  const ahead = beside && createAheadStore({ main, beside, commit, wrote: (count) => wrote(count), signedZones });
  const large = createLargeWrites({
    queue,
    main,
    open: path === ":memory:" ? undefined : () => openWriteSide(path, limits?.set),
    ...(ahead &&
      signer && { signAhead: (need, before, ways) => signAhead({ store: ahead, signer, ...ways }, need, before) }),
  });
  const room = limits && new RoomForRecords(limits, sql);
  const planner = createPlanner({ signer, room });
  const transferKeys = createSqlTransferKeys(sql);
  const access = createChangeFeed();
  const accessChanged = () => access.announce();
  let looking: NodeJS.Timeout | undefined;
  foreign.onCommit(() => {
    // This is called in the middle of a read, and listeners read too, so they are called later.
    if (!thread?.isStarted) setImmediate(accessChanged);
    // Most commits are our own thread's, which knows the others'.
    else looking ??= setTimeout(lookForOthers, lookEvery).unref();
  });
  const lookForOthers = () => {
    looking = undefined;
    // An error has other witnesses: every write that fails.
    commit(() => undefined, { kind: "look" }).catch(() => undefined);
  };
  const tokens = prepareTokens({ database, commit, foreign, accessChanged });
  const zoneBy: RecordStore["zoneBy"] = async (account, key) => {
    foreign.check();
    return of(account, known.zoneBy(key));
  };

  const lists = createSqlReads(sql, zoneBy);
  return {
    counters,
    ...lists,
    ...transferKeys,
    ...createSqlGrants(sql),
    ...signedZones,
    ...createSqlLeftovers(sql),
    ...tokens.store,
    zone: async (account, id) => {
      foreign.check();
      return of(account, known.zone(id));
    },
    zoneBy,
    record: async (account, id) => {
      foreign.check();
      const placed = known.record(id);
      return placed?.zone.account === account ? placed : undefined;
    },
    sets: async (zone, query) => {
      const { owner, owners = owner === undefined ? undefined : [owner], type } = query;
      if (owners === undefined) return read.sets(zone, query);
      foreign.check();
      return ofType(
        type,
        owners.flatMap((each) => known.setsAt(zone, each)),
      );
    },
    lastChange: async () => read.lastChange(),
    // Only one process at a time uses the file, and a restore is refused meanwhile: there is only one history.
    logEnd: async () => ({ position: read.lastChange(), link: "" }),
    logFrom: async ({ position }, limit) =>
      (await lists.logAfter(position, limit)).map((row) => ({ ...row, link: "" })),
    look: async () => {
      const { trouble } = queue;
      if (trouble !== undefined) throw trouble;
      return read.lastChange();
    },
    onChange: feed.listen,
    onAccessChange: access.listen,
    accessChanged,
    onWrite: (listener) => {
      wrote = listener;
    },
    revokeTransferKey: async (name, now) => {
      const revoked = await transferKeys.revokeTransferKey(name, now);
      accessChanged();
      return revoked;
    },

    obstacleTo: async (wish) => main.obstacleTo(wish),
    run: <C extends Command, R extends Rule>(command: C, rule: (command: C) => R, running?: RunningAction) => {
      const meaning = rule(command);
      // What may take long is not an everyday write.
      const direct = running ? undefined : directRule(meaning, room);
      const write = { command, planning: planner.rule(meaning, running), direct };
      return large.commit(accountOf(meaning), write) as Promise<ResultOf<R>>;
    },

    drain: async () => {
      tokens.flushUses();
      large.close();
      await queue.drain();
    },
    close: () => {
      feed.close();
      clearTimeout(looking);
      tokens.flushUses();
      large.close();
      queue.flush();
      disk.close();
      beside?.close();
      database.close();
    },
  };
}

/** Whose zones the rule writes to. */
function accountOf(rule: Rule): number {
  if ("zone" in rule) return rule.zone.account;
  return "request" in rule ? rule.request.account : (rule.requests[0]?.account ?? 0);
}

/** Milliseconds. */
const lookEvery = 250;

/**
 * For the rows of signed names, which are large: the nameserver reads those of a whole zone once, and in the cache of the main connection
 * they would take the place of everything else.
 */
function openBeside(path: string): DatabaseSync {
  const database = new DatabaseSync(path, { readOnly: true });
  database.exec("PRAGMA busy_timeout = 5000; PRAGMA cache_size = -512");
  return database;
}

const of = (account: number, zone: Zone | undefined): Zone | undefined =>
  zone?.account === account ? zone : undefined;

const ofType = (type: RRset["type"] | undefined, sets: readonly RRset[]): readonly RRset[] =>
  type === undefined ? sets : sets.filter((set) => set.type === type);
