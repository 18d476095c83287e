import type { RRset } from "../../../core/records/rrset.ts";
import { eachPart, keyOf, type Row, storeTables, type Tables } from "../tables/table.ts";
import { named, restoreIt, type Step } from "./step.ts";

type Place = { readonly zone: number; readonly owner: string; readonly type: string };
type IdRow = Place & { readonly id: string };

/** Each record stands in the index once, and there at its set. */
export async function checkIndexed(
  tables: Tables,
  sets: readonly (readonly [Place, RRset | undefined])[],
  step: Step,
): Promise<void> {
  const wanted = sets.flatMap(([place, set]) => set?.records.map(({ id }) => ({ id, place })) ?? []);
  for (let start = 0; start < wanted.length; start += atOnce) {
    const some = wanted.slice(start, start + atOnce);
    const rows = await tables.find(
      storeTables.ids,
      some.map(({ id }) => [id]),
    );
    const index = new Map(rows.map((row) => [row[0], named<IdRow>(storeTables.ids, row)]));
    for (const { id, place } of some) {
      const found = index.get(id);
      // A second record of this id is then not found any more.
      index.delete(id);
      if (found !== undefined && placeText(found) === placeText(place)) continue;
      step.fault({
        code: "index-wrong",
        where: placeText(place),
        message: `its record ${id} is ${found === undefined ? "not in the index, or there twice" : `in the index at ${placeText(found)}`}`,
        todo: "write the set again through an API, or restore a backup",
      });
    }
  }
}

/** Every record was found at its own place: so there are more ids than records only when some have no record. */
export async function checkUnheld(tables: Tables, records: number, step: Step): Promise<void> {
  const ids = await tables.count(storeTables.ids);
  step.read(ids);
  if (ids === records) return;
  for await (const rows of eachPart(tables, storeTables.ids)) {
    const places = rows.map((row) => named<IdRow>(storeTables.ids, row));
    const sets = await tables.find(
      storeTables.sets,
      places.map(({ zone, owner, type }) => [zone, owner, type]),
    );
    const held = new Map(sets.map((row) => [JSON.stringify(keyOf(storeTables.sets, row)), String(row[4])]));
    for (const place of places) {
      const text = held.get(JSON.stringify([place.zone, place.owner, place.type] satisfies Row)) ?? "";
      if (text.includes(JSON.stringify(place.id))) continue;
      step.fault({
        code: "index-wrong",
        where: placeText(place),
        message: `the index has a record ${place.id} there, which the set does not hold`,
        todo: restoreIt,
      });
    }
    step.read(0);
  }
}

const atOnce = 1_000;
const placeText = ({ zone, owner, type }: Place): string => `zone ${zone}, ${owner} ${type}`;
