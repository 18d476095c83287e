import type { Postgres } from "../../../../lib/postgres/open.ts";
import type { Rows, Statement } from "../../../../lib/postgres/statement.ts";
import type { AsideStore } from "../../aside-store.ts";
import type { RecordStore } from "../../port.ts";
import { signedNameToRow } from "../../rows.ts";
import { createSqlAsideReads } from "../../sql/aside-reads.ts";
import { nothingMore, postgresSql } from "../sql.ts";
import { readSignedNames, viewOfNames } from "./names.ts";

type Run = (statement: Statement) => Promise<Rows>;

/** While it is locked, nobody takes it for abandoned. Returns those that are still reserved. */
export async function lockAsides(run: Run, numbers: readonly number[]): Promise<ReadonlySet<number>> {
  if (numbers.length === 0) return new Set();
  const { rows } = await run({
    name: "lock names signed aside",
    text: "SELECT number FROM leftovers WHERE number = ANY($1) AND kind = 'ahead' ORDER BY number FOR UPDATE",
    values: [numbers],
  });
  return new Set((rows as { readonly number: number }[]).map(({ number }) => Number(number)));
}

type AsideStoreOptions = {
  readonly postgres: Postgres;
  readonly reads: Pick<RecordStore, "lastChange" | "setKeysAfter" | "encryptedKeys">;
};

export function createAsideStore({ postgres, reads }: AsideStoreOptions): AsideStore {
  const { lastChange, setKeysAfter, encryptedKeys } = reads;
  // Not as the last statement: its rows are unknown if the connection is lost during the commit.
  const write = async (statement: Statement) => {
    const { result } = await postgres.transact(async (run) => ({ result: await run(statement), last: nothingMore }));
    return result.rows;
  };
  return {
    lastChange,
    setKeysAfter,
    encryptedKeys,
    ...createSqlAsideReads(postgresSql(postgres)),
    namesNear: async (zone, owners) => viewOfNames(await readSignedNames(postgres.read, zone, new Set(owners))),
    newNumber: async () => {
      const [row] = await write({
        text: "INSERT INTO leftovers (number, kind, since) VALUES (nextval('zones_number_seq'), 'ahead', $1) RETURNING number",
        values: [Date.now()],
      });
      return Number((row as { readonly number: number }).number);
    },
    putNames: async (number, changes) => {
      const names = changes.flatMap(({ after }) => (after ? [signedNameToRow(after)] : []));
      const gone = changes.flatMap(({ before, after }) => (after === undefined && before ? [before.owner] : []));
      const columns = (["owner", "link", "expires", "children", "types", "made"] as const).map((column) =>
        names.map((row) => row[column]),
      );
      const rows = await write({
        name: "names signed aside",
        text: putText,
        values: [number, Date.now(), gone, ...columns],
      });
      return rows.length > 0;
    },
    abandon: (number) => write({ text: "UPDATE leftovers SET kind = 'names' WHERE number = $1", values: [number] }),
  };
}

const putText =
  "WITH reserved AS (UPDATE leftovers SET since = $2 WHERE number = $1 AND kind = 'ahead' RETURNING number), " +
  "gone AS (DELETE FROM signed_names USING reserved WHERE zone = reserved.number AND owner = ANY($3::text[])), " +
  "put AS (INSERT INTO signed_names (zone, owner, link, expires, children, types, made) SELECT reserved.number, n.* FROM reserved, " +
  "unnest($4::text[], $5::text[], $6::bigint[], $7::bigint[], $8::text[], $9::text[]) AS n " +
  "ON CONFLICT (zone, owner) DO UPDATE SET link = excluded.link, expires = excluded.expires, " +
  "children = excluded.children, types = excluded.types, made = excluded.made) " +
  "SELECT number FROM reserved";
