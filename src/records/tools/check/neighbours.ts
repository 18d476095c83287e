import { enclosing } from "../../../core/names/name.ts";
import { type Consent, type NameRefusal, type Neighbour, refusalOfName } from "../../../core/names/zone-neighbours.ts";
import type { Fault } from "../../../core/result.ts";
import { reservedName, zoneNotCreated } from "../../commands/zones/zone-names.ts";
import { type ConsentRow, consentFromRow, type ZoneRow } from "../../store/rows.ts";
import { eachPart, type Row, storeTables, type Table, type Tables } from "../tables/table.ts";
import { named, type Step } from "./step.ts";

type Placed = { readonly zone: Neighbour; readonly above: Neighbour | undefined; readonly reserved: Reserved };
type Reserved = Awaited<ReturnType<typeof reservedName>>;

/**
 * Finds zones that could not be created today without a grant: they are older than that rule, or their grant was
 * revoked.
 */
export async function checkNeighbours(tables: Tables, step: Step): Promise<void> {
  for await (const rows of eachPart(tables, storeTables.zones)) {
    const zones = rows.map((row) => named<ZoneRow>(storeTables.zones, row));
    const placed = await doubtful(tables, zones);
    const consents = await consentsFor(tables, placed);
    for (const each of placed) {
      const refusal = refusalOf(each, consents);
      if (refusal !== undefined) step.warning(await ungranted(tables, each, refusal));
    }
    step.read(0);
  }
}

/** Zones inside a zone of another account, and zones with a reserved name and no zone above. */
async function doubtful(tables: Tables, zones: readonly ZoneRow[]): Promise<readonly Placed[]> {
  const names = new Set(zones.flatMap(({ name }) => enclosing(name).slice(1)));
  const known = await findAll<ZoneRow>(
    tables,
    storeTables.zones,
    ["name"],
    [...names].map((name) => [name]),
  );
  const byName = new Map(known.map((zone) => [zone.name, zone]));
  const placed: Placed[] = [];
  for (const zone of zones) {
    const above = enclosing(zone.name)
      .slice(1)
      .map((name) => byName.get(name))
      .find((each) => each !== undefined);
    const reserved = above === undefined ? await reservedName(zone.name) : undefined;
    if (reserved !== undefined || (above && above.account !== zone.account)) placed.push({ zone, above, reserved });
  }
  return placed;
}

async function consentsFor(tables: Tables, placed: readonly Placed[]): Promise<readonly Consent[]> {
  const keys = placed.flatMap(({ zone, above }) => [
    ...enclosing(zone.name).map((name) => [zone.account, name]),
    ...(above ? [[above.account, above.name]] : []),
  ]);
  const rows = await findAll<ConsentRow>(tables, storeTables.grants, ["account", "name"], keys);
  return rows.map(consentFromRow);
}

/** It does not matter which of the two zones came first: one consent is enough. */
function refusalOf({ zone, above, reserved }: Placed, consents: readonly Consent[]): NameRefusal | undefined {
  const refusal = refusalOfName({ ...zone, reserved }, { above, below: [], consents });
  if (refusal === undefined || above === undefined) return refusal;
  return refusalOfName(above, { above: undefined, below: [zone], consents }) && refusal;
}

async function ungranted(tables: Tables, { zone, above }: Placed, refusal: NameRefusal): Promise<Fault> {
  const [account] = await tables.find(storeTables.accounts, [[zone.account]]);
  const owner = String(account?.[1] ?? zone.account);
  const inside =
    above && `it belongs to ${owner} but is inside ${above.name}, a zone of another account, and there is no grant`;
  return {
    code: "zone-not-granted",
    where: `zone ${zone.name}`,
    message: inside ?? `it belongs to ${owner}, but ${zoneNotCreated(zone.name, refusal).message}`,
    todo: `if this is intended, run moor grant add ${zone.name} --account ${owner}; if not, delete the zone`,
  };
}

const mostKeys = 1_000;

async function findAll<T>(tables: Tables, table: Table, by: readonly string[], keys: readonly Row[]) {
  const found: T[] = [];
  for (let i = 0; i < keys.length; i += mostKeys)
    for (const row of await tables.find(table, keys.slice(i, i + mostKeys), by)) found.push(named<T>(table, row));
  return found;
}
