import { type NewZoneName, refusalOfName } from "../../../core/names/zone-neighbours.ts";
import type { RRset } from "../../../core/records/rrset.ts";
import type { MigrationStep } from "../../../process/database/migration-steps.ts";
import { openSqlite } from "../../../process/sqlite/open.ts";
import { sqliteSql } from "../../../process/sqlite/sql.ts";
import type { NewZone, Zone } from "../../model.ts";
import { createChangeFeed } from "../change-feed.ts";
import { createStoreCounters } from "../counters.ts";
import type { Decision, NotCreated, RecordStore, WriteRequest, WriteView } from "../port.ts";
import { createSqlGrants } from "../sql/grants.ts";
import { createSqlReads } from "../sql/read.ts";
import { createSqlTransferKeys } from "../sql/transfer-keys.ts";
import { expectWholeFile } from "../unfinished-copy.ts";
import { effectOf, serialAfter } from "../write-effect.ts";
import { prepareActions } from "./actions.ts";
import { createSqliteFeed } from "./feed.ts";
import { watchForeignCommits } from "./foreign-commits.ts";
import { createGroupCommit } from "./group-commit.ts";
import { createKnownRows } from "./known-rows.ts";
import { createLargeWrites, type FirstSets, type PlannedWrite } from "./large-writes.ts";
import { prepareNeighbours } from "./neighbours.ts";
import { prepareReads } from "./read.ts";
import { migrations } from "./schema.ts";
import { prepareStaging } from "./staged-writes.ts";
import { prepareTokens } from "./tokens.ts";
import { openWalSync } from "./wal-sync.ts";
import { prepareSetWriter } from "./write.ts";

export type SqliteStore = Omit<RecordStore, "close"> & {
  /** Rejects if the database cannot be read now, or accepts no more writes. */
  readonly look: () => Promise<unknown>;
  /** A session was ended over another connection. */
  readonly accessChanged: () => void;
  readonly close: () => void;
};

/** `path` may be `:memory:`, for tests. Other `migrations` are for tests of upgrades. */
export function openSqliteStore(path: string, steps: readonly MigrationStep[] = migrations): SqliteStore {
  expectWholeFile(path);
  const database = openSqlite(path, steps);
  const read = prepareReads(database);
  const foreign = watchForeignCommits(database);
  const known = createKnownRows(read);
  foreign.onCommit(known.forget);
  const writer = prepareSetWriter(database, known);
  const disk = openWalSync(database, path);
  const counters = createStoreCounters();
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
      durable: feed.announce,
    },
    disk,
    counters,
  );
  let stage: ReturnType<typeof prepareStaging> | undefined;
  const large = createLargeWrites({
    ...{ commit, known, writer },
    stage: (parts) => {
      // Preparing takes a third of the time of opening a store, and few programs write that much.
      stage ??= prepareStaging(database);
      return stage(parts);
    },
  });
  const sql = sqliteSql(database, commit);
  const transferKeys = createSqlTransferKeys(sql);
  const access = createChangeFeed();
  const accessChanged = () => access.announce();
  // This is called in the middle of a read, and listeners read too, so they are called later.
  foreign.onCommit(() => setImmediate(accessChanged));
  const tokens = prepareTokens({ database, commit, foreign, accessChanged });
  const actions = prepareActions(database);
  const neighboursOf = prepareNeighbours(database);
  const insertZone = database.prepare(
    "INSERT INTO zones (id, account, name, settings, serial, record_count, created, modified) " +
      "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
  );
  const removeZone = database.prepare("DELETE FROM zones WHERE number = ?");
  const insertDeparted = database.prepare(
    "INSERT INTO departed_zones (name, serial) VALUES (?, ?) ON CONFLICT DO UPDATE SET serial = excluded.serial",
  );
  const selectDeparted = database.prepare("SELECT serial FROM departed_zones WHERE name = ?");

  const zoneBy: RecordStore["zoneBy"] = async (account, key) => {
    foreign.check();
    return of(account, known.zoneBy(key));
  };

  const viewOf = (request: WriteRequest): WriteView | undefined => {
    const { at } = request;
    const place = "record" in at ? known.place(at.record) : { zone: at.zone, owner: undefined };
    const zone = place && known.zone(place.zone);
    return zone?.account === request.account ? viewInto(zone, request, place?.owner) : undefined;
  };

  const viewInto = (zone: Zone, request: Pick<WriteRequest, "owners" | "records">, owner?: string): WriteView => {
    if (request.owners === "all") return { zone, sets: read.sets(zone, {}) };
    const owners = new Set(request.owners(zone));
    if (owner !== undefined) owners.add(owner);
    for (const record of request.records ?? []) {
      const other = known.place(record);
      if (other?.zone === zone.id) owners.add(other.owner);
    }
    return { zone, sets: [...owners].flatMap((each) => known.setsAt(zone, each)) };
  };

  /** Reads from the database, because the cache may be older than what another process committed. */
  const obstacleTo = (wish: NewZoneName): NotCreated | undefined =>
    read.zoneBy({ name: wish.name }) === undefined ? refusalOfName(wish, neighboursOf(wish)) : "name-taken";

  const insertNew = (zone: NewZone, actor: string, first: FirstSets): Zone | NotCreated => {
    const obstacle = obstacleTo(zone);
    if (obstacle !== undefined) return obstacle;
    const { id, account, name, settings, created: at, sets } = zone;
    const last = selectDeparted.get(name) as { readonly serial: number } | undefined;
    const serial = serialAfter(last?.serial, zone);
    const count = sets.reduce((sum, set) => sum + set.records.length, 0);
    insertZone.run(id, account, name, JSON.stringify(settings), serial, count, at, at);
    const made = known.zone(id);
    if (made === undefined) throw new Error("a zone that was just written cannot be read");
    writer.createSets(made, first.created, { actor, now: at }, first.staged);
    return made;
  };

  const removeRow = (zone: Zone): void => {
    insertDeparted.run(zone.name, zone.serial);
    removeZone.run(zone.number);
    writer.removed(zone);
  };

  return {
    counters,
    ...createSqlReads(sql, zoneBy),
    ...transferKeys,
    ...createSqlGrants(sql),
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
    look: async () => {
      const trouble = commit.trouble();
      if (trouble !== undefined) throw trouble;
      return read.lastChange();
    },
    onChange: feed.listen,
    onAccessChange: access.listen,
    accessChanged,
    revokeTransferKey: async (name, now) => {
      const revoked = await transferKeys.revokeTransferKey(name, now);
      accessChanged();
      return revoked;
    },

    createZone: (zone, actor) => large.commitNew(zone, (first) => insertNew(zone, actor, first)),
    obstacleTo: async (wish) => obstacleTo(wish),

    write: (request, decide) =>
      large.commit(() => {
        const view = viewOf(request);
        if (view === undefined) return { writes: [], finish: () => undefined };
        const decision = decide(view);
        return { writes: writesOf(request, view, decision), finish: () => decision.result };
      }),

    writeAll: (requests, decide) =>
      large.commit(() => {
        const views = requests.map(viewOf);
        const { decisions, result } = decide(views);
        const writes = requests.flatMap((request, i) => {
          const [view, decision] = [views[i], decisions[i]];
          return view === undefined || decision === undefined ? [] : writesOf(request, view, decision);
        });
        return { writes, finish: () => result };
      }),

    act: (request, decide) =>
      large.commit(() => {
        const before = actions.known<ReturnType<typeof decide>["result"]>(request);
        const zone = of(request.account, known.zoneBy(request.at));
        if (before !== undefined || zone === undefined) return { writes: [], finish: () => before ?? "no-zone" };
        const view = viewInto(zone, request);
        const { command, remember, remove, result, ...decision } = decide(view);
        const writes = writesOf(request, view, remove ? { wanted: [] } : decision);
        const after = writes[0]?.effect.zone ?? zone;
        const finish = () => {
          if (remove) removeRow(after);
          return command === undefined && !remember
            ? { result, action: undefined, serial: after.serial }
            : actions.keep(after, command, request, result);
        };
        return { writes, finish };
      }),

    actCreateZone: (zone, act) =>
      large.commitNew(zone, (first) => {
        const before = actions.known<Zone>(act);
        if (before !== undefined) return before;
        const made = insertNew(zone, act.actor, first);
        return typeof made === "string" ? made : actions.keep(made, act.command, act, made);
      }),

    close: () => {
      feed.close();
      tokens.flushUses();
      commit.flush();
      disk.close();
      database.close();
    },
  };
}

function writesOf(
  by: Pick<WriteRequest, "actor" | "now">,
  { zone, sets }: WriteView,
  { wanted, settings, serial }: Decision,
): readonly PlannedWrite[] {
  const effect = effectOf(zone, sets, { sets: wanted, settings, serial }, by);
  return effect === undefined ? [] : [{ zone, existing: sets, effect }];
}

const of = (account: number, zone: Zone | undefined): Zone | undefined =>
  zone?.account === account ? zone : undefined;

const ofType = (type: RRset["type"] | undefined, sets: readonly RRset[]): readonly RRset[] =>
  type === undefined ? sets : sets.filter((set) => set.type === type);
