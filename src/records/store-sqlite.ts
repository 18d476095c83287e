import { openSqlite } from "../process/open-sqlite.ts";
import { createChangeFeed } from "./change-feed.ts";
import { prepareDepartedZones } from "./departed-zones.ts";
import { createGroupCommit } from "./group-commit.ts";
import { createOpenZones } from "./open-zones.ts";
import { migrations } from "./schema-sqlite.ts";
import type { Decision, NewZone, RecordStore, WriteRequest, WriteView, Zone } from "./store.ts";
import { createStoreCounters } from "./store-counters.ts";
import { prepareActions } from "./store-sqlite-actions.ts";
import { prepareReads } from "./store-sqlite-read.ts";
import { prepareTokens } from "./store-sqlite-tokens.ts";
import { prepareTransferKeys } from "./store-sqlite-transfer-keys.ts";
import { prepareSetWriter } from "./store-sqlite-write.ts";
import { createTurnCache } from "./turn-cache.ts";
import { openWalSync } from "./wal-sync.ts";

/** `path` may be `:memory:`: the same store for tests, gone when closed. */
export function openSqliteStore(path: string): RecordStore {
  const database = openSqlite(path, migrations);
  const read = prepareReads(database);
  const zones = createOpenZones(database, read);
  const records = createTurnCache(database, read.record);
  const feed = createChangeFeed();
  const writer = prepareSetWriter(database);
  const disk = openWalSync(database, path);
  const counters = createStoreCounters();
  const commit = createGroupCommit(
    database,
    {
      begun: () => {
        zones.begun();
        writer.begun();
      },
      ending: zones.ending,
      committed: () => {
        records.clear();
        return writer.logged();
      },
      durable: feed.announce,
    },
    disk,
    counters,
  );
  const tokens = prepareTokens(database, commit);
  const actions = prepareActions(database);
  const departed = prepareDepartedZones(database);
  const insertZone = database.prepare(
    "INSERT INTO zones (id, account, name, settings, serial, record_count, created, modified) " +
      "VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (name) DO NOTHING",
  );
  const removeZone = database.prepare("DELETE FROM zones WHERE number = ?");

  const viewOf = (request: WriteRequest): WriteView | undefined => {
    const { at } = request;
    const place = "record" in at ? read.place(at.record) : { zone: at.zone, owner: undefined };
    const zone = place && zones.get(request.account, place.zone);
    return zone && viewInto(zone, request, place?.owner);
  };

  const viewInto = (zone: Zone, request: Pick<WriteRequest, "owners" | "records">, owner?: string): WriteView => {
    if (request.owners === "all") return { zone, sets: read.sets(zone, {}) };
    const owners = new Set(request.owners(zone));
    if (owner !== undefined) owners.add(owner);
    for (const record of request.records ?? []) {
      const other = read.place(record);
      if (other?.zone === zone.id) owners.add(other.owner);
    }
    return { zone, sets: [...owners].flatMap((each) => read.sets(zone, { owner: each })) };
  };

  const insertNew = (zone: NewZone, actor: string): Zone | "name-taken" => {
    const { id, account, name, settings, created: at, sets } = zone;
    const serial = departed.serialFor(zone);
    const count = sets.reduce((sum, set) => sum + set.records.length, 0);
    const added = insertZone.run(id, account, name, JSON.stringify(settings), serial, count, at, at);
    if (added.changes === 0) return "name-taken";
    const made = zones.get(account, id);
    if (made === undefined) throw new Error("the zone just written cannot be read");
    writer.createSets(made, sets, { actor, now: at });
    zones.put(made);
    return made;
  };

  const removeWith = (zone: Zone, sets: WriteView["sets"], by: Pick<WriteRequest, "actor" | "now">): void => {
    departed.note(writer.replace(zone, sets, { sets: [] }, by));
    removeZone.run(zone.number);
    zones.remove(zone);
  };

  const apply = (
    request: Pick<WriteRequest, "actor" | "now">,
    { zone, sets }: WriteView,
    { wanted, settings, serial }: Decision,
  ): void => {
    const after = writer.replace(zone, sets, { sets: wanted, settings, serial }, request);
    if (after !== zone) zones.put(after);
  };

  return {
    counters,
    ...tokens.store,
    ...prepareTransferKeys(database, commit),
    zone: async (account, id) => read.zone(account, id),
    zoneBy: async (account, key) => read.zoneBy(account, key),
    zoneHolding: async (name) => read.zoneHolding(name),
    zones: async (account, query) => read.zones(account, query),
    record: async (account, id) => {
      const placed = records.get(id);
      return placed?.zone.account === account ? placed : undefined;
    },
    sets: async (zone, query) => read.sets(zone, query),
    setPage: async (zone, query) => read.setPage(zone, query),
    lastChange: async () => read.lastChange(),
    changesAfter: async (position, limit) => read.changesAfter(position, limit),
    historyOf: async (zone, query) => read.historyOf(zone, query),
    onChange: feed.listen,

    createZone: (zone, actor) => commit(() => insertNew(zone, actor)),

    deleteZone: (account, id, actor, now) =>
      commit(() => {
        const zone = zones.get(account, id);
        if (zone === undefined) return false;
        removeWith(zone, read.sets(zone, {}), { actor, now });
        return true;
      }),

    write: (request, decide) =>
      commit(() => {
        const view = viewOf(request);
        if (view === undefined) return undefined;
        const decision = decide(view);
        apply(request, view, decision);
        return decision.result;
      }),

    writeAll: (requests, decide) =>
      commit(() => {
        const views = requests.map(viewOf);
        const { decisions, result } = decide(views);
        for (const [i, request] of requests.entries()) {
          const [view, decision] = [views[i], decisions[i]];
          if (view !== undefined && decision !== undefined) apply(request, view, decision);
        }
        return result;
      }),

    act: (request, decide) =>
      commit(() => {
        const known = actions.known<ReturnType<typeof decide>["result"]>(request);
        if (known !== undefined) return known;
        const zone = zones.find(request.account, request.at);
        if (zone === undefined) return "no-zone";
        const view = viewInto(zone, request);
        const { command, remove, result, ...decision } = decide(view);
        if (remove) removeWith(view.zone, view.sets, request);
        else apply(request, view, decision);
        return command === undefined
          ? { result, action: undefined }
          : actions.keep(view.zone, command, request, result);
      }),

    actCreateZone: (zone, act) =>
      commit(() => {
        const known = actions.known<Zone>(act);
        if (known !== undefined) return known;
        const made = insertNew(zone, act.actor);
        return made === "name-taken" ? made : actions.keep(made, act.command, act, made);
      }),

    actions: async (account, query) => actions.list(account, query),

    close: () => {
      tokens.flushUses();
      commit.flush();
      disk.close();
      database.close();
    },
  };
}
