import type { DatabaseSync } from "node:sqlite";
import type { Chain, Link } from "../../../core/dnssec/chain.ts";
import type { NameChange } from "../../../core/dnssec/plan-signing.ts";
import type { SignedName } from "../../../core/dnssec/signed-name.ts";
import type { Steps } from "../../../core/steps.ts";
import type { Zone } from "../../model.ts";
import type { SealedKey } from "../../signing/signer.ts";
import { type SignedNameRow, signedNameColumns, signedNameFromRow, signedNameToRow } from "../rows.ts";

/** The signed names of zones and the keys that sign them. Synchronous, because transactions use it. */
export function prepareSignedNames(database: DatabaseSync) {
  const select = (columns: string, rest: string) =>
    database.prepare(`SELECT ${columns} FROM signed_names WHERE zone = ? ${rest}`);
  const [at, every] = [select(signedNameColumns, "AND owner = ?"), select(signedNameColumns, "")];
  const link = "owner, link";
  const [lower, higher] = [
    select(link, "AND link < ? ORDER BY link DESC LIMIT 1"),
    select(link, "AND link > ? ORDER BY link LIMIT 1"),
  ];
  const [first, last] = ["", "DESC"].map((way) => select(link, `AND link IS NOT NULL ORDER BY link ${way} LIMIT 1`));
  const put = database.prepare(
    "INSERT INTO signed_names (zone, owner, link, expires, children, types, made) VALUES (?, ?, ?, ?, ?, ?, ?) " +
      "ON CONFLICT DO UPDATE SET link = excluded.link, expires = excluded.expires, children = excluded.children, " +
      "types = excluded.types, made = excluded.made",
  );
  const update = database.prepare(
    "UPDATE signed_names SET children = ?, types = ?, made = ? WHERE zone = ? AND owner = ?",
  );
  const remove = database.prepare("DELETE FROM signed_names WHERE zone = ? AND owner = ?");
  // Not in one statement: it would take long for a large zone.
  const removeSome = database.prepare(
    "DELETE FROM signed_names WHERE zone = ?1 AND owner IN " +
      "(SELECT owner FROM signed_names WHERE zone = ?1 AND owner <> ?2 LIMIT 100)",
  );
  const selectKeys = database.prepare("SELECT id, sealed FROM signing_keys WHERE zone = ?");
  const insertKey = database.prepare("INSERT INTO signing_keys (id, zone, sealed) VALUES (?, ?, ?)");
  const deleteKey = database.prepare("DELETE FROM signing_keys WHERE id = ?");

  const nameIn = (row: unknown): SignedName | undefined =>
    row === undefined ? undefined : signedNameFromRow(row as SignedNameRow);
  const keysOf = ({ number }: Zone): readonly SealedKey[] => selectKeys.all(number) as SealedKey[];

  /** Whether exactly this is stored for the name. */
  const isAt = (zone: Zone, { owner, made }: SignedName): boolean =>
    (at.get(zone.number, owner) as SignedNameRow | undefined)?.made === JSON.stringify(made);
  const putName = (zone: Zone, name: SignedName): void => {
    const { owner, link, expires, children, types, made } = signedNameToRow(name);
    put.run(zone.number, owner, link, expires, children, types, made);
  };
  /** Deletes all names but this one. */
  function* clearing({ number }: Zone, except = ""): Steps<void> {
    while (removeSome.run(number, except).changes > 0) yield;
  }

  return {
    clearing,
    /**
     * Writes some names ahead of the transaction that makes the zone a signed one; nobody reads them before that. `isFirst`: these are
     * the first names, and replace what other attempts have written. Those attempts notice it, because their own first name is no longer stored.
     */
    *writingAhead(zone: Zone, [first, ...others]: readonly SignedName[], isFirst: boolean): Steps<void> {
      if (first === undefined) return;
      putName(zone, first);
      if (isFirst) yield* clearing(zone, first.owner);
      for (const name of others) {
        yield;
        putName(zone, name);
      }
    },
    isAt,
    at: ({ number }: Zone, owner: string): SignedName | undefined => nameIn(at.get(number, owner)),
    chainOf: ({ number }: Zone): Chain => ({
      before: (from) => (lower.get(number, from) ?? last?.get(number)) as Link | undefined,
      after: (from) => (higher.get(number, from) ?? first?.get(number)) as Link | undefined,
    }),
    *every({ number }: Zone): Generator<SignedName, void> {
      for (const row of every.iterate(number)) yield signedNameFromRow(row as SignedNameRow);
    },
    *writing(zone: Zone, changes: readonly NameChange[]): Steps<void> {
      for (const { before, after } of changes) {
        yield;
        if (after === undefined) {
          remove.run(zone.number, before?.owner ?? "");
          continue;
        }
        // Setting an indexed column writes to its index even if the value is the same.
        if (before?.link === after.link && before.expires === after.expires) {
          const { owner, children, types, made } = signedNameToRow(after);
          update.run(children, types, made, zone.number, owner);
        } else putName(zone, after);
      }
    },
    keysOf,
    writeKeys: (zone: Zone, added: readonly SealedKey[]): void => {
      for (const { id, sealed } of added) insertKey.run(id, zone.number, sealed);
      const named = new Set(zone.settings.dnssec?.keys.map(({ id }) => id));
      for (const { id } of keysOf(zone)) if (!named.has(id)) deleteKey.run(id);
    },
  };
}

export type SignedNames = ReturnType<typeof prepareSignedNames>;
