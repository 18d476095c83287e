import type { RRset } from "../core/rrset.ts";
import { openSqlite } from "../process/open-sqlite.ts";
import { createChangeFeed } from "./change-feed.ts";
import { createGroupCommit } from "./group-commit.ts";
import { createOpenZones } from "./open-zones.ts";
import { migrations } from "./schema-sqlite.ts";
import type { RecordStore, SetQuery, WriteRequest, Zone } from "./store.ts";
import { prepareReads } from "./store-sqlite-read.ts";
import { prepareTokens } from "./store-sqlite-tokens.ts";
import { prepareSetWriter } from "./store-sqlite-write.ts";

/** `path` may be `:memory:`: the same store for tests, gone when closed. */
export function openSqliteStore(path: string): RecordStore {
  const database = openSqlite(path, migrations);
  const read = prepareReads(database);
  const zones = createOpenZones(database, read.zone);
  const feed = createChangeFeed();
  const commit = createGroupCommit(database, {
    begun: zones.begun,
    ending: () => feed.note(zones.ending()),
    committed: feed.announce,
  });
  const writer = prepareSetWriter(database);
  const insertZone = database.prepare(
    "INSERT INTO zones (id, account, name, settings, serial, record_count, created, modified) " +
      "VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (name) DO NOTHING",
  );
  const removeZone = database.prepare("DELETE FROM zones WHERE number = ?");

  return {
    ...prepareTokens(database, commit),
    zone: async (account, id) => read.zone(account, id),
    zoneBy: async (account, key) => read.zoneBy(account, key),
    zoneHolding: async (name) => read.zoneHolding(name),
    zones: async (account, query) => read.zones(account, query),
    record: async (account, id) => read.record(account, id),
    sets: async (zone, query) => read.sets(zone, query),
    changesAfter: async (position, limit) => read.changesAfter(position, limit),
    historyOf: async (zone, query) => read.historyOf(zone, query),
    onChange: feed.listen,

    createZone: (zone, actor) =>
      commit(() => {
        const { id, account, name, settings, serial, created: at, sets } = zone;
        const count = sets.reduce((sum, set) => sum + set.records.length, 0);
        const added = insertZone.run(id, account, name, JSON.stringify(settings), serial, count, at, at);
        if (added.changes === 0) return "name-taken";
        const made = zones.get(account, id);
        if (made === undefined) throw new Error("the zone just written cannot be read");
        writer.createSets(made, sets, { actor, now: at });
        zones.put(made);
        return made;
      }),

    deleteZone: (account, id, actor, now) =>
      commit(() => {
        const zone = zones.get(account, id);
        if (zone === undefined) return false;
        writer.replace(zone, read.sets(zone, {}), { sets: [] }, { actor, now });
        removeZone.run(zone.number);
        zones.remove(id);
        return true;
      }),

    write: (request, decide) =>
      commit(() => {
        const place =
          "record" in request.at ? read.place(request.at.record) : { zone: request.at.zone, owner: undefined };
        const zone = place && zones.get(request.account, place.zone);
        if (zone === undefined) return undefined;
        const sets = setsOf(request, zone, place?.owner, read.sets);
        const { wanted, settings, result } = decide({ zone, sets });
        const after = writer.replace(zone, sets, { sets: wanted, settings }, request);
        if (after !== zone) zones.put(after);
        return result;
      }),

    close: () => {
      commit.flush();
      database.close();
    },
  };
}

function setsOf(
  { owners }: WriteRequest,
  zone: Zone,
  owner: string | undefined,
  read: (zone: Zone, query: SetQuery) => readonly RRset[],
): readonly RRset[] {
  if (owners === "all") return read(zone, {});
  const asked = new Set(owners(zone));
  if (owner !== undefined) asked.add(owner);
  return [...asked].flatMap((each) => read(zone, { owner: each }));
}
