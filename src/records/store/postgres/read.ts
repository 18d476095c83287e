import type { Postgres } from "../../../lib/postgres/open.ts";
import type { Zone } from "../../model.ts";
import type { RecordStore } from "../port.ts";
import {
  type PlacedRow,
  placedColumns,
  placedFromRow,
  type SetRow,
  setFromRow,
  type ZoneRow,
  zoneFromRow,
} from "../rows.ts";
import { setsOfOwners } from "./batch-read.ts";
import type { PlacedSet } from "./batch-sets.ts";
import { joinReads } from "./joined-reads.ts";

type HotReads = Pick<RecordStore, "zone" | "zoneBy" | "record" | "sets" | "lastChange">;

/** The most frequent reads; simultaneous ones are joined. */
export function createHotReads({ read }: Pick<Postgres, "read">): HotReads {
  const zoneReader = <Key extends string | number>(column: "id" | "name" | "number") =>
    joinReads<Key, ZoneRow | undefined>({
      load: async (keys) => {
        const text = `SELECT * FROM zones WHERE ${column} = ANY($1)`;
        const { rows } = await read({ name: `zones by ${column}`, text, values: [[...new Set(keys)]] });
        const found = new Map((rows as ZoneRow[]).map((row) => [row[column], row]));
        return keys.map((key) => found.get(key));
      },
    });
  const zonesById = zoneReader<string>("id");
  const zonesByName = zoneReader<string>("name");
  const zonesByNumber = zoneReader<number>("number");

  const records = joinReads<string, PlacedRow | undefined>({
    load: async (ids) => {
      // Forces one lookup per key: without statistics, the planner would scan all sets of the zone.
      const text =
        `SELECT ${placedColumns}, n.id AS record FROM unnest($1::text[]) AS n (id) ` +
        "CROSS JOIN LATERAL (SELECT zone AS z, owner AS o, type AS t FROM record_ids WHERE id = n.id LIMIT 1) AS place " +
        "CROSS JOIN LATERAL (SELECT * FROM rrsets WHERE (zone, owner, type) = (z, o, t) LIMIT 1) AS rrsets " +
        "CROSS JOIN LATERAL (SELECT * FROM zones WHERE number = z LIMIT 1) AS zones";
      const { rows } = await read({ name: "records", text, values: [[...new Set(ids)]] });
      const found = new Map((rows as (PlacedRow & { readonly record: string })[]).map((row) => [row.record, row]));
      return ids.map((id) => found.get(id));
    },
  });

  type At = { readonly zone: number; readonly owner: string };
  /** The sets of each of these owners, by type. */
  const setsAt = async (wanted: readonly At[]): Promise<readonly (readonly PlacedSet[])[]> => {
    const distinct = new Map(wanted.map((each) => [`${each.zone} ${each.owner}`, each]));
    const { rows } = await read(setsOfOwners([...distinct.values()]));
    const found = Map.groupBy(rows as PlacedSet[], ({ zone, owner }) => `${zone} ${owner}`);
    for (const sets of found.values()) sets.sort((a, b) => (a.type < b.type ? -1 : 1));
    return wanted.map(({ zone, owner }) => found.get(`${zone} ${owner}`) ?? []);
  };
  const ownerSets = joinReads<At, readonly PlacedSet[]>({ load: setsAt });
  const zoneSets = async (zone: number): Promise<readonly SetRow[]> => {
    const text = "SELECT owner, type, ttl, records, marks FROM rrsets WHERE zone = $1 ORDER BY owner, type";
    return (await read({ name: "sets of a zone", text, values: [zone] })).rows as SetRow[];
  };

  const rowsOf = async (
    zone: number,
    owner: string | undefined,
    owners: readonly string[] | undefined,
  ): Promise<readonly SetRow[]> => {
    if (owner !== undefined) return await ownerSets({ zone, owner });
    if (owners === undefined) return await zoneSets(zone);
    return (await setsAt(owners.map((each) => ({ zone, owner: each })))).flat();
  };

  const theirs = (account: number, row: ZoneRow | undefined): Zone | undefined =>
    row?.account === account ? zoneFromRow(row) : undefined;

  return {
    zone: async (account, id) => theirs(account, await zonesById(id)),
    zoneBy: async (account, key) =>
      theirs(account, await ("name" in key ? zonesByName(key.name) : zonesByNumber(key.number))),
    record: async (account, id) => {
      const row = await records(id);
      const placed = row && placedFromRow(row, id);
      return placed?.zone.account === account ? placed : undefined;
    },
    sets: async (zone, { owner, owners, type }) => {
      const rows = await rowsOf(zone.number, owner, owners);
      const wanted = type === undefined ? rows : rows.filter((row) => row.type === type);
      return wanted.map((row) => setFromRow(row, zone));
    },

    lastChange: async () => {
      const { rows } = await read({ name: "last change", text: "SELECT max(position) AS position FROM changes" });
      const [last] = rows as readonly { readonly position: number | null }[];
      return last?.position ?? 0;
    },
  };
}
