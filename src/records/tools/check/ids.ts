import type { RRset } from "../../../core/records/rrset.ts";
import { eachPart, storeTables, type Tables } from "../tables/table.ts";
import { named, type Step } from "./step.ts";

type SetKey = { readonly zone: number; readonly owner: string; readonly type: string };
type IdRow = SetKey & { readonly id: string };

/** Every record is in the index exactly once, under its set, and every index entry has its record. */
export function createIndexCheck(tables: Tables, step: Step) {
  let records = 0;
  let waiting: IdRow[] = [];

  const compare = async (): Promise<void> => {
    const keys = waiting.map(({ id }) => [id]);
    const rows = await tables.find(storeTables.ids, keys);
    const index = new Map(rows.map((row) => [row[0], named<IdRow>(storeTables.ids, row)]));
    for (const place of waiting) {
      const indexRow = index.get(place.id);
      // A second record with this id is then reported as missing from the index.
      index.delete(place.id);
      if (indexRow !== undefined && placeText(indexRow) === placeText(place)) continue;
      step.fault(
        "index-wrong",
        placeText(place),
        `its record ${place.id} ${indexRow === undefined ? "is missing from the index, or another record has the same id" : `is in the index under ${placeText(indexRow)}`}`,
        "write the set again through an API, or restore a backup",
      );
    }
    waiting = [];
  };

  return {
    add: async (zone: number, { owner, type, records: recordsOfSet }: RRset): Promise<void> => {
      records += recordsOfSet.length;
      for (const { id } of recordsOfSet) {
        waiting.push({ id, zone, owner, type });
        if (waiting.length >= batchSize) await compare();
      }
    },
    /** Returns the number of records. */
    end: async (): Promise<number> => {
      await compare();
      // Every record was looked up, so the counts differ only if some index entries have no record.
      if ((await tables.count(storeTables.ids)) !== records) await checkUnusedIds(tables, step);
      return records;
    },
  };
}

const batchSize = 1_000;

const unheld =
  "NOT EXISTS (SELECT 1 FROM rrsets AS held WHERE held.zone = record_ids.zone AND held.owner = record_ids.owner " +
  `AND held.type = record_ids.type AND replace(held.records, '"' || record_ids.id || '"', '') <> held.records)`;

async function checkUnusedIds(tables: Tables, step: Step): Promise<void> {
  for await (const rows of eachPart(tables, storeTables.ids, { where: unheld }))
    for (const place of rows.map((row) => named<IdRow>(storeTables.ids, row)))
      step.fault(
        "index-wrong",
        placeText(place),
        `the index lists record ${place.id} here, but the set does not contain it`,
      );
}

const placeText = ({ zone, owner, type }: SetKey): string => `zone ${zone}, ${owner} ${type}`;
