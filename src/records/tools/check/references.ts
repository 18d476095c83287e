import { isObject } from "../../../core/is-object.ts";
import { eachPart, keyNames, storeTables, type Table, type Tables, type Value } from "../tables/table.ts";
import { named, parsed, type Step } from "./step.ts";

type Named = Readonly<Record<string, Value>>;
type Reference = {
  readonly table: Table;
  readonly column: "account" | "zone";
  readonly where: (row: Named) => string;
};

const { tokens, transferKeys, passwords, actions, grants, zones, changes, sets, secondaryState } = storeTables;
const references: readonly Reference[] = [
  { table: tokens, column: "account", where: ({ id }) => `token ${id}` },
  { table: transferKeys, column: "account", where: ({ number }) => `transfer key ${number}` },
  { table: passwords, column: "account", where: ({ account }) => `password ${account}` },
  { table: actions, column: "account", where: ({ id }) => `action ${id}` },
  { table: grants, column: "account", where: ({ id }) => `grant ${id}` },
  { table: zones, column: "account", where: ({ name }) => `zone ${name}` },
  { table: changes, column: "account", where: ({ position, zone_name: zone }) => `change ${position}, zone ${zone}` },
  { table: sets, column: "zone", where: ({ zone, owner, type }) => `set ${owner} ${type} of zone ${zone}` },
  { table: secondaryState, column: "zone", where: ({ zone }) => `state of the secondary zone ${zone}` },
  { table: grants, column: "zone", where: ({ zone }) => `grant of the zone ${zone}` },
];

/** The accounts and zones that rows name are there; a row may name none. */
export async function checkReferences(tables: Tables, step: Step): Promise<void> {
  for (const { table, column, where } of references) {
    const to = column === "account" ? storeTables.accounts : zones;
    const lost = `${column} NOT IN (SELECT ${keyNames(to)[0]} FROM ${to.name})`;
    for await (const row of eachNamed(tables, table, step, lost))
      step.fault(`${column}-missing`, where(row), `it belongs to the ${column} ${row[column]}, which is not there`);
  }
}

/** What is kept as JSON beside zones and their log. */
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
          "what it opens cannot be read",
          "revoke it and make another",
        );
  for await (const row of eachNamed(tables, storeTables.onceKeys, step))
    if (!isObject(parsed(row.outcome)))
      step.fault(
        "outcome-unreadable",
        `idempotency key ${row.key} of ${row.actor}`,
        "what was answered under it cannot be read",
      );
}

/** The database counts the zones of each account itself. */
export async function checkZoneCounts(tables: Tables, step: Step): Promise<void> {
  const counted = "SELECT known.zones FROM zone_counts AS known WHERE known.account = accounts.id";
  const wrong = `coalesce((${counted}), 0) <> (SELECT count(*) FROM zones WHERE account = accounts.id)`;
  for await (const { id } of eachNamed(tables, storeTables.accounts, step, wrong))
    step.fault(
      "zones-miscounted",
      `account ${id}`,
      "it is said to have another number of zones than it has",
      "copy the store, which counts them anew: moor store copy FROM TO",
    );
}

/** A number that is given out twice would be refused by its table, or give one zone the history of another. */
export async function checkCounter(tables: Tables, table: Table, step: Step): Promise<void> {
  const last = await tables.lastNumber(table);
  const [beyond] = await tables.read(table, { after: [last], limit: 1 });
  if (beyond === undefined) return;
  step.fault(
    "counter-behind",
    table.name,
    `its counter stands at ${last}, but the number ${beyond[0]} is already there`,
    "copy the store, which sets its counters: moor store copy FROM TO",
  );
}

async function* eachNamed(tables: Tables, table: Table, step: Step, where?: string): AsyncGenerator<Named> {
  for await (const rows of eachPart(tables, table, { where })) {
    for (const row of rows) yield named<Named>(table, row);
    step.read(0);
  }
}

const isScope = (value: unknown): boolean => isObject(value) && (value.access === "read" || value.access === "write");
