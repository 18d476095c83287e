import { isObject } from "../../../core/is-object.ts";
import { type CellValue, eachPart, keyNames, storeTables, type Table, type Tables } from "../tables/table.ts";
import { named, parsed, type Step } from "./step.ts";

type Named = Readonly<Record<string, CellValue>>;
type Reference = {
  readonly table: Table;
  readonly column: "account" | "zone";
  readonly where: (row: Named) => string;
  /** Which of these rows are waiting to be deleted, and refer to nothing. */
  readonly except?: string;
};
const isLeftOver = "zone IN (SELECT number FROM leftovers)";

const {
  tokens,
  transferKeys,
  passwords,
  actions,
  grants,
  zones,
  changes,
  sets,
  secondaryState,
  signedNames,
  signingKeys,
  providers,
  publishedZones,
  publishedSets,
} = storeTables;
const references: readonly Reference[] = [
  { table: tokens, column: "account", where: ({ id }) => `token ${id}` },
  { table: transferKeys, column: "account", where: ({ number }) => `transfer key ${number}` },
  { table: passwords, column: "account", where: ({ account }) => `password ${account}` },
  { table: actions, column: "account", where: ({ id }) => `action ${id}` },
  { table: grants, column: "account", where: ({ id }) => `grant ${id}` },
  { table: zones, column: "account", where: ({ name }) => `zone ${name}` },
  { table: changes, column: "account", where: ({ position, zone_name: zone }) => `change ${position}, zone ${zone}` },
  {
    table: sets,
    column: "zone",
    except: isLeftOver,
    where: ({ zone, owner, type }) => `set ${owner} ${type} of zone ${zone}`,
  },
  { table: secondaryState, column: "zone", where: ({ zone }) => `transfer state of secondary zone ${zone}` },
  {
    table: signedNames,
    column: "zone",
    except: `${isLeftOver} OR zone IN (SELECT names_at FROM zones)`,
    where: ({ zone, owner }) => `signed name ${owner} of zone ${zone}`,
  },
  { table: signingKeys, column: "zone", where: ({ id }) => `signing key ${id}` },
  { table: providers, column: "account", where: ({ name }) => `provider ${name}` },
  { table: publishedZones, column: "zone", where: ({ zone }) => `publication of zone ${zone}` },
  {
    table: publishedSets,
    column: "zone",
    where: ({ zone, owner, type }) => `published set ${owner} ${type} of zone ${zone}`,
  },
  { table: grants, column: "zone", where: ({ zone }) => `grant for zone ${zone}` },
];

/** The accounts and zones that rows refer to exist. A reference may be NULL. */
export async function checkReferences(tables: Tables, step: Step): Promise<void> {
  for (const { table, column, where, except = "1 = 0" } of references) {
    const to = column === "account" ? storeTables.accounts : zones;
    // In a store without zones, NULL counts as not in the list.
    const lost = `${column} IS NOT NULL AND ${column} NOT IN (SELECT ${keyNames(to)[0]} FROM ${to.name}) AND NOT coalesce(${except}, 1 = 0)`;
    for await (const row of eachNamed(tables, table, step, lost))
      step.fault(`${column}-missing`, where(row), `it belongs to ${column} ${row[column]}, which does not exist`);
  }
}

/** Zones that are published at a provider have an account there, and a note of how far they are. */
export async function checkPublications(tables: Tables, step: Step): Promise<void> {
  const ids = async (table: Table, column: string): Promise<ReadonlySet<CellValue | undefined>> => {
    const values = new Set<CellValue | undefined>();
    for await (const row of eachNamed(tables, table, step)) values.add(row[column]);
    return values;
  };
  const accounts = await ids(providers, "id");
  const noted = await ids(publishedZones, "zone");
  for await (const { name, number, settings } of eachNamed(tables, zones, step, `settings LIKE '%"published":{%'`)) {
    const read = parsed(settings);
    const published = isObject(read) && isObject(read.published) ? read.published : undefined;
    if (published === undefined) continue;
    const where = `zone ${name}`;
    if (!accounts.has(published.provider as CellValue))
      step.fault("provider-missing", where, "it is published with a provider account that does not exist");
    if (!noted.has(number))
      step.fault("publication-missing", where, "it is published, but nothing is noted about its sets at the provider");
  }
}

/** Checks the JSON columns of tables other than zones and their log. */
export async function checkTexts(tables: Tables, step: Step): Promise<void> {
  for (const [table, what] of [
    [tokens, "token"],
    [transferKeys, "transfer key"],
  ] as const)
    for await (const row of eachNamed(tables, table, step))
      if (!isScope(parsed(row.scope)))
        step.fault(
          "scope-unreadable",
          `${what} ${row[keyNames(table)[0] ?? ""]}`,
          "its scope is not valid",
          "revoke it and create a new one",
        );
  for await (const row of eachNamed(tables, storeTables.onceKeys, step))
    if (!isObject(parsed(row.outcome)))
      step.fault(
        "outcome-unreadable",
        `idempotency key ${row.key} of ${row.actor}`,
        "its stored response is not valid",
      );
}

/** The database keeps a count of the zones per account, with triggers. */
export async function checkZoneCounts(tables: Tables, step: Step): Promise<void> {
  const counted = "SELECT known.zones FROM zone_counts AS known WHERE known.account = accounts.id";
  const wrong = `coalesce((${counted}), 0) <> (SELECT count(*) FROM zones WHERE account = accounts.id)`;
  for await (const { id } of eachNamed(tables, storeTables.accounts, step, wrong))
    step.fault(
      "zones-miscounted",
      `account ${id}`,
      "its stored number of zones is wrong",
      "copy the store, which counts them again: moor store copy FROM TO",
    );
}

/** If a number were assigned twice, its table would refuse it, or one zone would get the history of another. */
export async function checkCounter(tables: Tables, table: Table, step: Step): Promise<void> {
  const last = await tables.lastNumber(table);
  const [beyond] = await tables.read(table, { after: [last], limit: 1 });
  if (beyond === undefined) return;
  step.fault(
    "counter-behind",
    table.name,
    `its counter is at ${last}, but number ${beyond[0]} is already in use`,
    "copy the store, which corrects its counters: moor store copy FROM TO",
  );
}

async function* eachNamed(tables: Tables, table: Table, step: Step, where?: string): AsyncGenerator<Named> {
  for await (const rows of eachPart(tables, table, { where })) {
    for (const row of rows) yield named<Named>(table, row);
    step.read(0);
  }
}

const isScope = (value: unknown): boolean => isObject(value) && (value.access === "read" || value.access === "write");
