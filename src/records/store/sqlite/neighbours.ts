import type { DatabaseSync } from "node:sqlite";
import { enclosing } from "../../../core/names/name.ts";
import {
  type Consent,
  isConsented,
  mostBelow,
  type Neighbour,
  type Neighbourhood,
  type NewZoneName,
  namesBetween,
  reversedBelow,
} from "../../../core/names/zone-neighbours.ts";
import { type ConsentRow, consentFromRow } from "../rows.ts";

/** Finds the neighbours of a name, using indexes only. Call it inside the transaction that creates the zone. */
export function prepareNeighbours(database: DatabaseSync): (newZone: NewZoneName) => Neighbourhood {
  const selectNamed = database.prepare(
    "SELECT number, name, account FROM zones WHERE name IN (SELECT value FROM json_each(?)) ORDER BY length(name)",
  );
  const selectForeign = database.prepare(
    "SELECT name FROM zones WHERE reversed > ? AND reversed < ? AND account <> ? ORDER BY reversed LIMIT 1",
  );
  const selectGrants = database.prepare(
    "SELECT zone, account, name FROM zone_grants WHERE account = ? AND name IN (SELECT value FROM json_each(?))",
  );
  /** The highest first. */
  const named = (names: readonly string[]) => selectNamed.all(JSON.stringify(names)) as Neighbour[];

  const foreignBelow = (newZone: NewZoneName, consents: readonly Consent[]): readonly Neighbour[] => {
    const { name, account } = newZone;
    const neighbours: Neighbour[] = [];
    const { before } = reversedBelow(name);
    for (let { after } = reversedBelow(name); neighbours.length <= mostBelow; ) {
      const next = selectForeign.get(after, before, account) as Pick<Neighbour, "name"> | undefined;
      const [top] = next ? named(namesBetween(next.name, name)) : [];
      if (top === undefined) break;
      if (top.account !== account) neighbours.push(top);
      if (top.account !== account && !isConsented(newZone, top, consents)) break;
      // Zones below that one are its owner's concern.
      after = reversedBelow(top.name).before;
    }
    return neighbours;
  };

  return (newZone) => {
    const names = enclosing(newZone.name);
    const rows = selectGrants.all(newZone.account, JSON.stringify(names)) as ConsentRow[];
    const consents = rows.map(consentFromRow);
    return { above: named(names.slice(1)).at(-1), below: foreignBelow(newZone, consents), consents };
  };
}
