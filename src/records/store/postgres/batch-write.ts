import { mapInSteps, type Steps } from "../../../core/steps.ts";
import type { Statement } from "../../../lib/postgres/statement.ts";
import type { BatchOutcome } from "./batch.ts";

/** The channel that notifies every node of new positions in the change log. */
export const changesChannel = "moor_changes";

/** One kind of rows, passed as one array per column. */
type InsertPart = {
  readonly tag: string;
  /** Name and type of each column. */
  readonly columns: Readonly<Record<string, "bigint" | "text">>;
  readonly rows: readonly Readonly<Record<string, unknown>>[];
  /** What takes long to make of a row. */
  readonly column?: { readonly name: string; readonly of: (row: Readonly<Record<string, unknown>>) => unknown };
  /** `first`: the array of the first column. */
  readonly text: (rows: string, first: string) => string;
};

/** Rows per statement: few enough to stay far below the statement timeout. */
const mostRows = 5_000;

/** Whether a log of this length is staged first, if this database permits it. */
export const isStaged = ({ log }: Pick<BatchOutcome, "log">): boolean => log.length > mostRows;

/**
 * Everything that a batch writes: nearly always one statement, several for a large zone, none if there is nothing to
 * write. The last one returns the end of the log and the link before it. A statement contains only the parts that have
 * rows, and is named after them. `staged`: the rows of the log are sent to a temporary table first, and take their
 * positions from there: all writers wait from the first position until the commit.
 */
export function* writeStatements(outcome: BatchOutcome, link: number, staged = false): Steps<readonly Statement[]> {
  const moves = staged ? moveStatements(outcome.log.length, link) : [];
  const all = packed([...partsOf(outcome), ...logParts(outcome, staged)]);
  const inserts = yield* mapInSteps(all, (parts, i) => statementOf(parts, !staged && i === all.length - 1, link));
  return staged ? [createStage, ...inserts, ...moves] : inserts;
}

function packed(parts: readonly InsertPart[]): readonly (readonly InsertPart[])[] {
  const groups: InsertPart[][] = [];
  let room = 0;
  for (const part of parts) {
    for (let from = 0; from < part.rows.length; ) {
      if (room === 0) {
        groups.push([]);
        room = mostRows;
      }
      const rows = part.rows.slice(from, from + room);
      groups.at(-1)?.push({ ...part, rows });
      from += rows.length;
      room -= rows.length;
    }
  }
  return groups;
}

function statementOf(parts: readonly InsertPart[], isLast: boolean, link: number): Statement {
  const values: unknown[] = [];
  const texts = parts.map(({ tag, columns, rows, column, text }) => {
    const names = Object.keys(columns);
    const arrays = names.map((name) => {
      values.push(rows.map(column?.name === name ? column.of : (row) => row[name]));
      return `$${values.length}::${columns[name]}[]`;
    });
    const ordinal = tag === "log" ? " WITH ORDINALITY" : "";
    const heads = tag === "log" ? [...names, "nth"] : names;
    return `${tag} AS (${text(`unnest(${arrays.join(", ")})${ordinal} AS n (${heads.join(", ")})`, arrays[0] ?? "")})`;
  });
  // PostgreSQL truncates names to 63 characters.
  const name = `${isLast ? "batch" : "part"} ${parts.map(({ tag }) => tag.replace(/([a-z])[a-z]*_?/g, "$1")).join(" ")}`;
  const logged = parts.find(({ tag }) => tag === "log")?.rows.length;
  if (logged === undefined) return { name, text: `WITH ${texts.join(", ")} SELECT NULL AS "end"`, values };
  values.push(logged, link);
  return { name, text: withHead(texts, `$${values.length - 1}::bigint`, `$${values.length}::bigint`, isLast), values };
}

/** The rows take the next positions of the log. From here until the commit, all other writers wait. */
function withHead(texts: readonly string[], by: string, link: string, isLast: boolean): string {
  const head =
    `head AS (UPDATE log_head SET position = position + ${by}, link = ${link}, before = link ` +
    `RETURNING position AS "end", position - ${by} AS start, link, before)`;
  const notify = isLast ? `, pg_notify('${changesChannel}', concat("end", ' ', link))` : "";
  return `WITH ${head}, ${texts.join(", ")} SELECT "end", before${notify} FROM head`;
}

/**
 * The parts touch different rows, so their order within a statement does not matter. Between statements it does:
 * zones are inserted before their sets and deleted after them, and ids are deleted before they are inserted.
 */
function partsOf(outcome: BatchOutcome): readonly InsertPart[] {
  return [
    ...zoneParts(outcome),
    ...setParts(outcome),
    {
      tag: "zones_gone",
      columns: { number: "bigint" },
      rows: outcome.goneZones.map((number) => ({ number })),
      text: (rows) => `DELETE FROM zones USING ${rows} WHERE zones.number = n.number`,
    },
    ...idParts(outcome),
    {
      tag: "departed",
      columns: { name: "text", serial: "bigint" },
      rows: outcome.departed.map(([name, serial]) => ({ name, serial })),
      text: (rows) =>
        `INSERT INTO departed_zones (name, serial) SELECT * FROM ${rows} ` +
        "ON CONFLICT (name) DO UPDATE SET serial = excluded.serial",
    },
    ...preparedParts(outcome),
    ...signedParts(outcome),
    ...recordParts(outcome),
  ];
}

const place = { zone: "bigint", owner: "text", type: "text" } as const;

const zoneParts = (outcome: BatchOutcome): readonly InsertPart[] => [
  {
    tag: "zones_changed",
    columns: {
      number: "bigint",
      settings: "text",
      serial: "bigint",
      modified: "bigint",
      record_count: "bigint",
      names_at: "bigint",
    },
    rows: outcome.zones.map(zoneRow),
    text: (rows, numbers) =>
      "UPDATE zones SET settings = n.settings, serial = n.serial, modified = n.modified, " +
      "record_count = n.record_count, names_at = n.names_at " +
      `FROM ${rows} WHERE zones.number = n.number AND zones.number = ANY(${numbers})`,
  },
  {
    tag: "zones_new",
    columns: {
      number: "bigint",
      id: "text",
      account: "bigint",
      name: "text",
      settings: "text",
      serial: "bigint",
      record_count: "bigint",
      created: "bigint",
      modified: "bigint",
    },
    rows: outcome.newZones.map(zoneRow),
    text: (rows) =>
      "INSERT INTO zones (number, id, account, name, settings, serial, record_count, created, modified) " +
      `SELECT * FROM ${rows}`,
  },
];

const setParts = (outcome: BatchOutcome): readonly InsertPart[] => [
  {
    tag: "sets",
    columns: { ...place, ttl: "bigint", records: "text", marks: "text" },
    rows: outcome.sets,
    text: (rows) =>
      `INSERT INTO rrsets (zone, owner, type, ttl, records, marks) SELECT * FROM ${rows} ON CONFLICT (zone, owner, type) ` +
      "DO UPDATE SET ttl = excluded.ttl, records = excluded.records, marks = excluded.marks",
  },
  {
    tag: "sets_gone",
    columns: place,
    rows: outcome.goneSets,
    text: (rows) => `DELETE FROM rrsets AS r USING ${rows} WHERE (r.zone, r.owner, r.type) = (n.zone, n.owner, n.type)`,
  },
];

const idParts = (outcome: BatchOutcome): readonly InsertPart[] => [
  {
    tag: "ids_gone",
    columns: { id: "text" },
    rows: outcome.goneIds.map((id) => ({ id })),
    text: (rows) => `DELETE FROM record_ids USING ${rows} WHERE record_ids.id = n.id`,
  },
  {
    tag: "ids_moved",
    columns: { id: "text", ...place },
    rows: outcome.movedIds,
    text: (rows) =>
      `UPDATE record_ids SET zone = n.zone, owner = n.owner, type = n.type FROM ${rows} WHERE record_ids.id = n.id`,
  },
  {
    tag: "ids_new",
    columns: { id: "text", ...place },
    rows: outcome.newIds,
    text: (rows) => `INSERT INTO record_ids (id, zone, owner, type) SELECT * FROM ${rows}`,
  },
];

/** What was prepared before a large write, and is used or left over now. */
const preparedParts = ({ adopted, leftovers }: BatchOutcome): readonly InsertPart[] => [
  {
    tag: "ahead_used",
    columns: { number: "bigint" },
    rows: adopted.map((number) => ({ number })),
    text: (rows) => `DELETE FROM leftovers USING ${rows} WHERE leftovers.number = n.number`,
  },
  {
    tag: "left_over",
    columns: { number: "bigint", kind: "text" },
    rows: leftovers,
    text: (rows) =>
      `INSERT INTO leftovers (number, kind, since) SELECT n.number, n.kind, 0 FROM ${rows} ` +
      "ON CONFLICT (number) DO UPDATE SET kind = excluded.kind",
  },
];

/** The signed names of zones, and the keys that sign them. */
function signedParts({ names, goneNames, signingKeys, usedKeys }: BatchOutcome): readonly InsertPart[] {
  return [
    {
      tag: "names_signed",
      columns: {
        zone: "bigint",
        owner: "text",
        link: "text",
        expires: "bigint",
        children: "bigint",
        types: "text",
        made: "text",
      },
      rows: names,
      text: (rows) =>
        `INSERT INTO signed_names (zone, owner, link, expires, children, types, made) SELECT * FROM ${rows} ` +
        "ON CONFLICT (zone, owner) DO UPDATE SET link = excluded.link, expires = excluded.expires, " +
        "children = excluded.children, types = excluded.types, made = excluded.made",
    },
    {
      tag: "names_unsigned",
      columns: { zone: "bigint", owner: "text" },
      rows: goneNames,
      text: (rows) => `DELETE FROM signed_names AS s USING ${rows} WHERE (s.zone, s.owner) = (n.zone, n.owner)`,
    },
    {
      tag: "keys_signing",
      columns: { id: "text", zone: "bigint", encrypted: "text" },
      rows: signingKeys,
      text: (rows) => `INSERT INTO signing_keys (id, zone, sealed) SELECT * FROM ${rows}`,
    },
    {
      tag: "keys_unused",
      columns: { zone: "bigint", ids: "text" },
      rows: usedKeys,
      text: (rows) =>
        `DELETE FROM signing_keys AS k USING ${rows} WHERE k.zone = n.zone AND NOT k.id = ANY(string_to_array(n.ids, ' '))`,
    },
  ];
}

/** Actions and idempotency keys. */
function recordParts({ actions, keys }: BatchOutcome): readonly InsertPart[] {
  return [
    {
      tag: "actions_new",
      columns: {
        id: "bigint",
        account: "bigint",
        zone: "bigint",
        zone_name: "text",
        command: "text",
        at: "bigint",
        actor: "text",
        running_until: "bigint",
        publishes: "bigint",
      },
      rows: actions.map(({ zoneName, ...action }) => ({ ...action, zone_name: zoneName })),
      text: (rows) =>
        "INSERT INTO actions (id, account, zone, zone_name, command, at, actor, running_until, publishes) " +
        `SELECT * FROM ${rows} ON CONFLICT (id) DO UPDATE ` +
        "SET running_until = excluded.running_until, publishes = excluded.publishes, finished = " +
        "CASE WHEN excluded.running_until IS NULL THEN extract(epoch FROM clock_timestamp()) * 1000 END",
    },
    {
      tag: "keys_new",
      columns: { actor: "text", key: "text", fingerprint: "text", at: "bigint", outcome: "text" },
      rows: keys,
      text: (rows) =>
        `INSERT INTO once_keys (actor, key, fingerprint, at, outcome) SELECT * FROM ${rows} ON CONFLICT (actor, key) ` +
        "DO UPDATE SET fingerprint = excluded.fingerprint, at = excluded.at, outcome = excluded.outcome",
    },
  ];
}

const logColumns = {
  account: "bigint",
  zone: "bigint",
  zone_name: "text",
  serial: "bigint",
  at: "bigint",
  actor: "text",
  change: "text",
} as const;

/** `rows`: what has these columns and `nth`, as `n`. */
const logInsert = (rows: string, position: string) =>
  `INSERT INTO changes (position, ${Object.keys(logColumns).join(", ")}, link) SELECT ${position}, ` +
  `${Object.keys(logColumns)
    .map((name) => `n.${name}`)
    .join(", ")}, head.link FROM head, ${rows}`;

function logParts({ log }: BatchOutcome, staged: boolean): readonly InsertPart[] {
  const rows = log.map(({ zoneName, ...row }, i) => ({ ...row, zone_name: zoneName, nth: i + 1 }));
  const column = { name: "change", of: ({ change }: Readonly<Record<string, unknown>>) => JSON.stringify(change) };
  const stage = (from: string) => `INSERT INTO staged_changes SELECT * FROM ${from}`;
  return staged
    ? [{ tag: "log_staged", columns: { ...logColumns, nth: "bigint" }, rows, column, text: stage }]
    : [{ tag: "log", columns: logColumns, rows, column, text: (from) => logInsert(from, "head.start + n.nth") }];
}

const createStage: Statement = {
  // The rows are moved in parts: without an index, each part would read all of them.
  text: `CREATE TEMPORARY TABLE staged_changes (${Object.entries({ ...logColumns, nth: "bigint PRIMARY KEY" })
    .map((column) => column.join(" "))
    .join(", ")}) ON COMMIT DROP`,
};

/** Rows per statement that the server moves within itself. */
const mostMoved = 25_000;

function moveStatements(count: number, link: number): readonly Statement[] {
  const starts = Array.from({ length: Math.ceil(count / mostMoved) }, (_, i) => i * mostMoved);
  return starts.map((from) => {
    const by = Math.min(mostMoved, count - from);
    const rows = "staged_changes AS n WHERE n.nth > $3::bigint AND n.nth <= $3::bigint + $1::bigint";
    const insert = `log AS (${logInsert(rows, "head.start + n.nth - $3::bigint")})`;
    return { text: withHead([insert], "$1::bigint", "$2::bigint", from + by === count), values: [by, link, from] };
  });
}

const zoneRow = ({ recordCount, settings, signedNamesNumber, ...zone }: BatchOutcome["zones"][number]) => ({
  ...zone,
  names_at: signedNamesNumber ?? null,
  settings: JSON.stringify(settings),
  record_count: recordCount,
});
