import { enclosing } from "../../../core/names/name.ts";
import {
  type Consent,
  isConsented,
  mostBelow,
  type Neighbour,
  type Neighbourhood,
  type NewZoneName,
  namesBetween,
  refusalOfName,
  reversedBelow,
  reversedName,
} from "../../../core/names/zone-neighbours.ts";
import type { Rows, Statement } from "../../../lib/postgres/statement.ts";
import type { NotCreated } from "../port.ts";
import { type ConsentRow, consentFromRow } from "../rows.ts";

type Run = (statement: Statement) => Promise<Rows>;

/**
 * The neighbours of each of these names, using indexes only. Read them under the lock for new zones. Nearly always
 * one round trip; more only if zones of other accounts are below.
 */
export async function readNeighbours(run: Run, writes: readonly NewZoneName[]): Promise<readonly Neighbourhood[]> {
  const above = writes.map(({ name }) => enclosing(name).slice(1));
  const [zones, foreign, grants] = await Promise.all([
    run(zonesNamed([...new Set(above.flat())])),
    run(firstForeign(writes.map((newZone) => ({ ...newZone, ...reversedBelow(newZone.name) })))),
    run(grantsOf(writes)),
  ]);
  const named = new Map((zones.rows as Neighbour[]).map((zone) => [zone.name, zone]));
  const consents = (grants.rows as ConsentRow[]).map(consentFromRow);
  const first = new Map((foreign.rows as NeighbourRow[]).map(({ nth, name }) => [nth, name]));
  const neighbourhoods: Neighbourhood[] = [];
  for (const [i, newZone] of writes.entries()) {
    const closest = above[i]?.find((name) => named.has(name));
    const below = await foreignBelow(run, newZone, { first: first.get(i + 1), consents });
    neighbourhoods.push({ above: closest === undefined ? undefined : named.get(closest), below, consents });
  }
  return neighbourhoods;
}

export const newZoneKey = ({ account, name }: NewZoneName): string => `${account} ${name}`;

/** Why a zone cannot be created at the moment. */
export async function readObstacle(run: Run, newZone: NewZoneName): Promise<NotCreated | undefined> {
  const [there, [neighbourhood]] = await Promise.all([run(zonesNamed([newZone.name])), readNeighbours(run, [newZone])]);
  return there.rows.length > 0 || neighbourhood === undefined ? "name-taken" : refusalOfName(newZone, neighbourhood);
}

type NeighbourRow = { readonly nth: number; readonly name: string };

/** `first`: a zone of another account below the name. */
async function foreignBelow(
  run: Run,
  newZone: NewZoneName,
  { first, consents }: { readonly first: string | undefined; readonly consents: readonly Consent[] },
): Promise<readonly Neighbour[]> {
  const neighbours: Neighbour[] = [];
  const { before } = reversedBelow(newZone.name);
  for (let next = first; next !== undefined && neighbours.length <= mostBelow; ) {
    const between = (await run(zonesNamed(namesBetween(next, newZone.name)))).rows as Neighbour[];
    const top = between.toSorted((a, b) => a.name.length - b.name.length)[0];
    const isForeign = top !== undefined && top.account !== newZone.account;
    if (isForeign) neighbours.push(top);
    if (isForeign && !isConsented(newZone, top, consents)) break;
    // Zones below that one are its owner's concern. If it is missing, it was deleted meanwhile, and others may follow.
    const after = top === undefined ? reversedName(next) : reversedBelow(top.name).before;
    const [more] = (await run(firstForeign([{ account: newZone.account, after, before }]))).rows as NeighbourRow[];
    next = more?.name;
  }
  return neighbours;
}

const zonesNamed = (names: readonly string[]): Statement => ({
  name: "zones named",
  text:
    "SELECT found.* FROM unnest($1::text[]) AS n (key) " +
    "CROSS JOIN LATERAL (SELECT number, name, account FROM zones WHERE name = n.key LIMIT 1) AS found",
  values: [names],
});

type Range = { readonly account: number; readonly after: string; readonly before: string };

const firstForeign = (ranges: readonly Range[]): Statement => ({
  name: "first foreign zones",
  text:
    "SELECT n.nth, found.name FROM unnest($1::text[], $2::text[], $3::bigint[]) " +
    "WITH ORDINALITY AS n (after, before, account, nth) CROSS JOIN LATERAL (SELECT name FROM zones " +
    "WHERE reversed > n.after AND reversed < n.before AND account <> n.account ORDER BY reversed LIMIT 1) AS found",
  values: [ranges.map(({ after }) => after), ranges.map(({ before }) => before), ranges.map(({ account }) => account)],
});

function grantsOf(writes: readonly NewZoneName[]): Statement {
  const keys = writes.flatMap(({ account, name }) => enclosing(name).map((each) => ({ account, name: each })));
  return {
    name: "grants of names",
    text:
      "SELECT found.* FROM (SELECT DISTINCT * FROM unnest($1::bigint[], $2::text[])) AS n (account, name) CROSS JOIN LATERAL " +
      "(SELECT zone, account, name FROM zone_grants WHERE account = n.account AND name = n.name OFFSET 0) AS found",
    values: [keys.map(({ account }) => account), keys.map(({ name }) => name)],
  };
}
