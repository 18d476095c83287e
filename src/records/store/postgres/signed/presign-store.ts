import { StoreBusy } from "../../../../lib/limits/store-busy.ts";
import type { Postgres } from "../../../../lib/postgres/open.ts";
import type { Rows, Statement } from "../../../../lib/postgres/statement.ts";
import type { Zone } from "../../../model.ts";
import { presignedGone } from "../../leftovers.ts";
import { type CurrentPresignedNames, mostMissed, type PresignedByZone } from "../../plan-signatures.ts";
import type { RecordStore } from "../../port.ts";
import type { PresignStore } from "../../presign.ts";
import { type ChangeRow, ownersIn, signedNameToRow } from "../../rows.ts";
import { createSqlPresignReads } from "../../sql/presign-reads.ts";
import { nothingMore, postgresSql } from "../sql.ts";
import { createBatchNames, readSignedNames } from "./names.ts";

type Run = (statement: Statement) => Promise<Rows>;

/** The presigned names for the writes of a batch, with what has changed since. Under the locks of their zones. */
export async function readPresigned(
  run: Run,
  presigned: PresignedByZone,
): Promise<ReadonlyMap<number, CurrentPresignedNames>> {
  const current = new Map<number, CurrentPresignedNames>();
  for (const [zone, names] of presigned) {
    const [reserved, missed] = await Promise.all([
      run(lockNumber(names.number)),
      run({
        name: "missed changes",
        text: "SELECT change FROM changes WHERE zone = $1 AND position > $2 ORDER BY position LIMIT $3",
        values: [zone, names.position, 10 * mostMissed],
      }),
    ]);
    if (reserved.rows.length === 0) throw new StoreBusy(presignedGone);
    const changes = (missed.rows as Pick<ChangeRow, "change">[]).map(({ change }) => change);
    current.set(zone, { ...names, changedSince: ownersIn(changes) });
  }
  return current;
}

/** The zone with its presigned names. */
export function withPresignedNames(zone: Zone, presigned: ReadonlyMap<number, CurrentPresignedNames>): Zone {
  const names = presigned.get(zone.number);
  if (names === undefined) return zone;
  const { number: signedNamesNumber, settings } = names;
  return {
    ...zone,
    signedNamesNumber,
    settings: { ...zone.settings, ...(settings.dnssec && { dnssec: settings.dnssec }) },
  };
}

/** While it is locked, nobody takes it for abandoned. */
const lockNumber = (number: number): Statement => ({
  name: "lock presigned names",
  text: "SELECT number FROM leftovers WHERE number = $1 AND kind = 'ahead' FOR UPDATE",
  values: [number],
});

type AheadOptions = {
  readonly postgres: Postgres;
  readonly reads: Pick<RecordStore, "lastChange" | "setKeysAfter" | "encryptedKeys">;
};

export function createPresignStore({ postgres, reads }: AheadOptions): PresignStore {
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
    ...createSqlPresignReads(postgresSql(postgres)),
    namesNear: async (zone, owners) => {
      const near = new Map([[zone.number, new Set(owners)]]);
      const { names } = await readSignedNames(postgres.read, [zone], near, undefined);
      return createBatchNames(names.get(zone.number) ?? []).view;
    },
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
        name: "presigned names",
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
