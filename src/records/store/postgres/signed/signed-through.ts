import type { Rows, Statement } from "../../../../lib/postgres/statement.ts";

type Run = (statement: Statement) => Promise<Rows>;

/** Up to which position each of these zones is signed. */
export async function readSignedThrough(run: Run, zones: readonly number[]): Promise<ReadonlyMap<number, number>> {
  if (zones.length === 0) return new Map();
  const text = `SELECT n.zone, ${signedThrough("n.zone")} AS through FROM unnest($1::bigint[]) AS n (zone)`;
  const { rows } = await run({ name: "signed through", text, values: [zones] });
  return new Map((rows as { zone: number; through: number | null }[]).map(({ zone, through }) => [zone, through ?? 0]));
}

/** As text, `change` begins with its kind; further on, a label may be called so. */
const isOfSigner = `starts_with(change, '{"kind":"signatures"')`;
/** A condition on rows of the log: signatures must follow them. A text within `change` has other quotes. */
export const isUnsigned = `strpos(change, '"unsigned":true') > 0`;

/** The `through` of the zone's last row of signatures. One of an older version has signed everything before it. */
export const signedThrough = (zone: string) =>
  `(SELECT coalesce(substring(change FROM '"through":([0-9]+)')::bigint, position) FROM changes ` +
  `WHERE zone = ${zone} AND ${isOfSigner} ORDER BY position DESC LIMIT 1)`;
