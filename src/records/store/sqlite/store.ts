import { DatabaseSync } from "node:sqlite";
import type { NameChange } from "../../../core/dnssec/plan-signing.ts";
import type { SignedName } from "../../../core/dnssec/signed-name.ts";
import { diffingSets } from "../../../core/records/changes.ts";
import type { RRset } from "../../../core/records/rrset.ts";
import { inSteps, type Steps } from "../../../core/steps.ts";
import type { MigrationStep } from "../../../process/database/migration-steps.ts";
import { openSqlite } from "../../../process/sqlite/open.ts";
import { sqliteSql } from "../../../process/sqlite/sql.ts";
import type { NewZone, Zone } from "../../model.ts";
import type { Signer } from "../../signing/signer.ts";
import { createChangeFeed } from "../change-feed.ts";
import { createStoreCounters } from "../counters.ts";
import { concernsSigning, mostListed, planningSignatures } from "../plan-signatures.ts";
import type { Acted, ActRequest, DecideAct, Decision, NotCreated, RecordStore, WriteView } from "../port.ts";
import { signPartsBeside, signPartsNow } from "../sign-parts.ts";
import { createSqlGrants } from "../sql/grants.ts";
import { createSqlReads } from "../sql/read.ts";
import { createSqlSignedZones } from "../sql/signed-zones.ts";
import { createSqlTransferKeys } from "../sql/transfer-keys.ts";
import { expectWholeFile } from "../unfinished-copy.ts";
import { effectWith, type WriteEffect, type Writer } from "../write-effect.ts";
import { createSqliteFeed } from "./feed.ts";
import { watchForeignCommits } from "./foreign-commits.ts";
import { createGroupCommit } from "./group-commit.ts";
import { type Ahead, createLargeWrites, type Plan, type PlannedWrite, type Planning } from "./large-writes.ts";
import { migrations } from "./schema.ts";
import { prepareTokens } from "./tokens.ts";
import { openWalSync } from "./wal-sync.ts";
import { openWriteSide, prepareWriteSide, type WriteSide } from "./write-side.ts";

export type SqliteStore = Omit<RecordStore, "close"> & {
  /** Rejects if the database cannot be read now, or accepts no more writes. */
  readonly look: () => Promise<unknown>;
  /** Call it when a session was ended over another connection. */
  readonly accessChanged: () => void;
  /** Calls the listener with the number of changes, or of signed names that were written ahead. There is one listener. */
  readonly onWrite: (listener: (count: number) => void) => void;
  readonly close: () => void;
};

/** `path` may be `:memory:`, for tests. `steps` other than the default are for tests of upgrades. Without a signer, zones cannot be signed. */
export function openSqliteStore(
  path: string,
  steps: readonly MigrationStep[] = migrations,
  signer?: Signer,
): SqliteStore {
  expectWholeFile(path);
  const database = openSqlite(path, steps);
  const foreign = watchForeignCommits(database);
  const main = prepareWriteSide(database);
  const { read, known, writer } = main;
  foreign.onCommit(known.forget);
  const disk = openWalSync(database, path);
  const counters = createStoreCounters();
  let wrote: (count: number) => void = () => undefined;
  const feed = createSqliteFeed({ foreign, lastChange: read.lastChange, isWriting: () => counters.waiting > 0 });
  const commit = createGroupCommit(
    database,
    {
      begun: () => {
        foreign.checkLocked();
        writer.begun();
      },
      ending: writer.ending,
      rolledBack: known.forget,
      committed: writer.logged,
      durable: (rows) => {
        feed.announce(rows);
        wrote(rows.length);
      },
    },
    disk,
    counters,
  );
  const large = createLargeWrites({
    ...{ commit, main },
    open: path === ":memory:" ? undefined : () => openWriteSide(path),
  });
  const sql = sqliteSql(database, commit);
  const beside = path === ":memory:" ? undefined : openBeside(path);
  const transferKeys = createSqlTransferKeys(sql);
  const access = createChangeFeed();
  const accessChanged = () => access.announce();
  // This is called in the middle of a read, and listeners read too, so they are called later.
  foreign.onCommit(() => setImmediate(accessChanged));
  const tokens = prepareTokens({ database, commit, foreign, accessChanged });
  const zoneBy: RecordStore["zoneBy"] = async (account, key) => {
    foreign.check();
    return of(account, known.zoneBy(key));
  };

  /** The effect of a write with what it signs; `signed` is known once the signatures are made. */
  function* planningEffect(
    on: WriteSide,
    by: Writer,
    zone: Zone,
    effect: WriteEffect,
    renew: readonly string[] | undefined,
  ): Steps<Pick<PlannedWrite, "signing"> & { readonly signed: () => WriteEffect }> {
    if (!concernsSigning(zone, effect.zone)) return { signed: () => effect };
    const planned = yield* planningSignatures(zone, effect, on.signedReads(zone), by, renew);
    if (signer === undefined)
      throw new Error("this store was opened without a key file, so signed zones cannot be changed");
    const used = effect.zone.settings.dnssec?.keys ?? [];
    if (signer.missing(used).length > 0) signer.open([...on.signedNames().keysOf(zone), ...(effect.keys ?? [])]);
    let signed: WriteEffect | undefined;
    return {
      signed: () => {
        if (signed === undefined) throw new Error("a write is used before it is signed");
        return signed;
      },
      signing: {
        count: planned.count,
        now: () => {
          signed = planned.signed(signPartsNow(signer, zone.name, planned));
        },
        beside: async ({ write, ...way }) => {
          const names: NameChange[] = [];
          let count = 0;
          for await (const some of signPartsBeside(signer, zone.name, planned, way)) {
            count += some.length;
            if (write === undefined || count <= mostListed) names.push(...some);
            if (write !== undefined && !(await write(some))) return false;
          }
          signed = planned.signed(names, count);
          return true;
        },
        ...(planned.isNewlySigned && { ahead: namesAhead(zone, (count) => wrote(count)) }),
      },
    };
  }

  /** The signed part of a zone that is removed is deleted with its row. */
  function* planningWrite(
    on: WriteSide,
    by: Writer,
    { zone, sets }: WriteView,
    { wanted, settings, serial, renew, keys = [] }: Decision,
    isRemoved = false,
  ): Steps<readonly (PlannedWrite & { readonly after: Zone })[]> {
    const found = wanted === undefined ? [] : yield* diffingSets(sets, wanted);
    const effect = effectWith(zone, found, { settings, serial, renew }, by);
    if (effect === undefined) return [];
    const { signed, ...signing } = isRemoved
      ? { signed: () => effect }
      : yield* planningEffect(on, by, zone, { ...effect, keys }, renew);
    return [
      {
        ...{ after: effect.zone, changes: effect.changes },
        get log() {
          return signed().log;
        },
        isCurrent: (side) => {
          const now = side.known.zone(zone.id);
          return now?.serial === zone.serial && now.modified === zone.modified;
        },
        ...signing,
        apply: ({ writer: its }) => its.apply(signed(), sets),
        applying: ({ writer: its }, rows, isAhead) => its.applying(signed(), rows, isAhead),
      },
    ];
  }

  /** `keep` stores the action, if there is one, and returns the result. */
  const creating = <T>(
    zone: NewZone,
    by: Writer,
    { known, keep }: { known?: (on: WriteSide) => T | undefined; keep: (on: WriteSide, made: Zone) => T },
  ): Planning<T | NotCreated> =>
    function* (on) {
      const before = known?.(on) ?? on.obstacleTo(zone);
      if (before !== undefined) return { writes: [], finish: () => before };
      const changes = yield* diffingSets([], zone.sets);
      const write: PlannedWrite = {
        changes,
        log: changes.map((change) => ({ change })),
        isCurrent: (side) => known?.(side) === undefined && side.obstacleTo(zone) === undefined,
        apply: (side) => {
          side.createZone(zone);
          side.writer.createSets(side.createdZone(zone.id), changes, by);
        },
        *applying(side, rows) {
          side.createZone(zone);
          yield* side.writer.creatingSets(side.createdZone(zone.id), changes, by, rows);
        },
      };
      return { writes: [write], finish: (side) => keep(side, side.createdZone(zone.id)) };
    };

  const lists = createSqlReads(sql, zoneBy);
  return {
    counters,
    ...lists,
    ...transferKeys,
    ...createSqlGrants(sql),
    ...createSqlSignedZones(beside ? sqliteSql(beside) : sql),
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
      const trouble = commit.trouble();
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

    createZone: (zone, actor) =>
      large.commit(zone.account, creating(zone, { actor, now: zone.created }, { keep: (_, made) => made })),
    obstacleTo: async (wish) => main.obstacleTo(wish),

    write: (request, decide) =>
      large.commit(request.account, function* (on) {
        const view = yield* inSteps(on.view(request));
        if (view === undefined) return { writes: [], finish: () => undefined };
        const decision = decide(view);
        return { writes: yield* planningWrite(on, request, view, decision), finish: () => decision.result };
      }),

    writeAll: (requests, decide) =>
      large.commit(requests[0]?.account ?? 0, function* (on) {
        const views = [];
        for (const request of requests) views.push(yield* inSteps(on.view(request)));
        const { decisions, result } = yield* inSteps(decide(views));
        const writes = [];
        for (const [i, request] of requests.entries()) {
          const [view, decision] = [views[i], decisions[i]];
          if (view !== undefined && decision !== undefined)
            writes.push(...(yield* planningWrite(on, request, view, decision)));
        }
        return { writes, finish: () => result };
      }),

    act: <T>(request: ActRequest, decide: DecideAct<T>) =>
      large.commit(request.account, function* (on): Steps<Plan<Acted<T> | "no-zone" | "key-taken">> {
        const before = on.actions.known<T>(request);
        const zone = of(request.account, on.known.zoneBy(request.at));
        if (before !== undefined || zone === undefined) return { writes: [], finish: () => before ?? "no-zone" };
        const view = yield* inSteps(on.viewInto(zone, request));
        const { command, remember, remove, result, ...decision } = yield* inSteps(decide(view));
        const writes = yield* planningWrite(on, request, view, remove ? { wanted: [] } : decision, remove);
        const after = writes[0]?.after ?? zone;
        return {
          writes,
          isCurrent: (side) => side.actions.known(request) === undefined,
          finish: (side) => {
            if (remove) side.removeZone(after);
            return command === undefined && !remember
              ? { result, action: undefined, serial: after.serial }
              : side.actions.keep(after, command, request, result);
          },
        };
      }),

    actCreateZone: (zone, act) =>
      large.commit(
        zone.account,
        creating<Acted<Zone> | "key-taken">(
          zone,
          { actor: act.actor, now: zone.created },
          {
            known: (on) => on.actions.known<Zone>(act),
            keep: (on, made) => on.actions.keep(made, act.command, act, made),
          },
        ),
      ),

    close: () => {
      feed.close();
      tokens.flushUses();
      large.close();
      commit.flush();
      disk.close();
      beside?.close();
      database.close();
    },
  };
}

/**
 * For the rows of signed names, which are large: the nameserver reads those of a whole zone once, and in the cache of the main connection
 * they would take the place of everything else.
 */
function openBeside(path: string): DatabaseSync {
  const database = new DatabaseSync(path, { readOnly: true });
  database.exec("PRAGMA busy_timeout = 5000; PRAGMA cache_size = -512");
  return database;
}

/** Writes the names of a zone that was not signed before. */
function namesAhead(zone: Zone, wrote: (count: number) => void): Ahead {
  let first: SignedName | undefined;
  return {
    *writing(on, changes) {
      const names = changes.flatMap(({ after }) => after ?? []);
      const isFirst = first === undefined;
      first ??= names[0];
      yield* on.signedNames().writingAhead(zone, names, isFirst);
      wrote(names.length);
    },
    isThere: (on) => first === undefined || on.signedNames().isAt(zone, first),
  };
}

const of = (account: number, zone: Zone | undefined): Zone | undefined =>
  zone?.account === account ? zone : undefined;

const ofType = (type: RRset["type"] | undefined, sets: readonly RRset[]): readonly RRset[] =>
  type === undefined ? sets : sets.filter((set) => set.type === type);
