import type { Postgres } from "../../../lib/postgres/open.ts";
import type { Zone } from "../../model.ts";
import type { RecordStore } from "../port.ts";
import {
  type RowOfRecord,
  recordColumns,
  recordFromRow,
  type SetRow,
  setFromRow,
  type ZoneRow,
  zoneFromRow,
} from "../rows.ts";
import { setsOfOwners } from "./batch-read.ts";
import type { StoredSet } from "./batch-sets.ts";
import { joinReads } from "./joined-reads.ts";

type HotReads = Pick<RecordStore, "zone" | "zoneBy" | "record" | "sets" | "lastChange">;

/** The most frequent reads; simultaneous ones are joined. */
export const createHotReads = ({ read }: Pick<Postgres, "read">): HotReads => new JoinedHotReads(read);

type Read = Postgres["read"];
type At = { readonly zone: number; readonly owner: string };

class JoinedHotReads implements HotReads {
  readonly #read: Read;
  readonly #zonesById: (id: string) => Promise<ZoneRow | undefined>;
  readonly #zonesByName: (name: string) => Promise<ZoneRow | undefined>;
  readonly #zonesByNumber: (number: number) => Promise<ZoneRow | undefined>;
  readonly #records: (id: string) => Promise<RowOfRecord | undefined>;
  readonly #ownerSets: (at: At) => Promise<readonly StoredSet[]>;

  constructor(read: Read) {
    this.#read = read;
    this.#zonesById = zoneReader<string>(read, "id");
    this.#zonesByName = zoneReader<string>(read, "name");
    this.#zonesByNumber = zoneReader<number>(read, "number");
    this.#records = recordReader(read);
    this.#ownerSets = joinReads<At, readonly StoredSet[]>({ load: (wanted, since) => setsAt(read, wanted, since) });
  }

  readonly zone: HotReads["zone"] = async (account, id) => ofAccount(account, await this.#zonesById(id));

  readonly zoneBy: HotReads["zoneBy"] = async (account, key) =>
    ofAccount(account, await ("name" in key ? this.#zonesByName(key.name) : this.#zonesByNumber(key.number)));

  readonly record: HotReads["record"] = async (account, id) => {
    const row = await this.#records(id);
    const recordInZone = row && recordFromRow(row, id);
    return recordInZone?.zone.account === account ? recordInZone : undefined;
  };

  readonly sets: HotReads["sets"] = async (zone, { owner, owners, type }) => {
    const rows = await this.#rowsOf(zone.number, owner, owners);
    const wanted = type === undefined ? rows : rows.filter((row) => row.type === type);
    return wanted.map((row) => setFromRow(row, zone));
  };

  readonly lastChange: HotReads["lastChange"] = async () => {
    const { rows } = await this.#read({ name: "last change", text: "SELECT max(position) AS position FROM changes" });
    const [last] = rows as readonly { readonly position: number | null }[];
    return last?.position ?? 0;
  };

  async #rowsOf(
    zone: number,
    owner: string | undefined,
    owners: readonly string[] | undefined,
  ): Promise<readonly SetRow[]> {
    if (owner !== undefined) return await this.#ownerSets({ zone, owner });
    if (owners !== undefined)
      return (
        await setsAt(
          this.#read,
          owners.map((each) => ({ zone, owner: each })),
        )
      ).flat();
    const text = "SELECT owner, type, ttl, records, marks FROM rrsets WHERE zone = $1 ORDER BY owner, type";
    return (await this.#read({ name: "sets of a zone", text, values: [zone] })).rows as SetRow[];
  }
}

const zoneReader = <Key extends string | number>(read: Read, column: "id" | "name" | "number") =>
  joinReads<Key, ZoneRow | undefined>({
    load: async (keys, since) => {
      const text = `SELECT * FROM zones WHERE ${column} = ANY($1)`;
      const { rows } = await read({ name: `zones by ${column}`, text, values: [[...new Set(keys)]] }, since);
      const rowByKey = new Map((rows as ZoneRow[]).map((row) => [row[column], row]));
      return keys.map((key) => rowByKey.get(key));
    },
  });

const recordReader = (read: Read) =>
  joinReads<string, RowOfRecord | undefined>({
    load: async (ids, since) => {
      // Forces one lookup per key: without statistics, the planner would scan all sets of the zone.
      const text =
        `SELECT ${recordColumns}, n.id AS record FROM unnest($1::text[]) AS n (id) ` +
        "CROSS JOIN LATERAL (SELECT zone AS z, owner AS o, type AS t FROM record_ids WHERE id = n.id LIMIT 1) AS place " +
        "CROSS JOIN LATERAL (SELECT * FROM rrsets WHERE (zone, owner, type) = (z, o, t) LIMIT 1) AS rrsets " +
        "CROSS JOIN LATERAL (SELECT * FROM zones WHERE number = z LIMIT 1) AS zones";
      const { rows } = await read({ name: "records", text, values: [[...new Set(ids)]] }, since);
      const rowByRecord = new Map(
        (rows as (RowOfRecord & { readonly record: string })[]).map((row) => [row.record, row]),
      );
      return ids.map((id) => rowByRecord.get(id));
    },
  });

/** The sets of each of these owners, by type. */
async function setsAt(read: Read, wanted: readonly At[], since?: number): Promise<readonly (readonly StoredSet[])[]> {
  const distinct = new Map(wanted.map((each) => [`${each.zone} ${each.owner}`, each]));
  const { rows } = await read(setsOfOwners([...distinct.values()]), since);
  const setsByOwner = Map.groupBy(rows as StoredSet[], ({ zone, owner }) => `${zone} ${owner}`);
  for (const sets of setsByOwner.values()) sets.sort((a, b) => (a.type < b.type ? -1 : 1));
  return wanted.map(({ zone, owner }) => setsByOwner.get(`${zone} ${owner}`) ?? []);
}

const ofAccount = (account: number, row: ZoneRow | undefined): Zone | undefined =>
  row?.account === account ? zoneFromRow(row) : undefined;
