import type { DatabaseSync } from "node:sqlite";
import type { Chain, Link } from "../../../../core/dnssec/chain.ts";
import type { NameChange } from "../../../../core/dnssec/plan-signing.ts";
import type { SignedName } from "../../../../core/dnssec/signed-name.ts";
import type { Instant } from "../../../../core/instant.ts";
import type { Steps } from "../../../../core/steps.ts";
import { StoreBusy } from "../../../../lib/limits/store-busy.ts";
import type { Zone } from "../../../model.ts";
import type { SealedKey } from "../../../signing/signer.ts";
import { goneAhead, type LeftOver } from "../../leftovers.ts";
import { type SignedNameRow, signedNameColumns, signedNameFromRow, signedNameToRow } from "../../rows.ts";
import type { NamesMove } from "../../write-effect.ts";

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
  const countUp = database.prepare("UPDATE sqlite_sequence SET seq = seq + 1 WHERE name = 'zones' RETURNING seq");
  const moveNames = database.prepare("UPDATE zones SET names_at = ? WHERE number = ?");
  const reserve = database.prepare("INSERT INTO leftovers (number, kind, since) VALUES (?, 'ahead', ?)");
  const touch = database.prepare("UPDATE leftovers SET since = ? WHERE number = ? AND kind = 'ahead'");
  const adopt = database.prepare("DELETE FROM leftovers WHERE number = ? AND kind = 'ahead'");
  const leave = database.prepare(
    "INSERT INTO leftovers (number, kind, since) VALUES (?, ?, 0) ON CONFLICT DO UPDATE SET kind = excluded.kind",
  );
  const selectKeys = database.prepare("SELECT id, sealed FROM signing_keys WHERE zone = ?");
  const insertKey = database.prepare("INSERT INTO signing_keys (id, zone, sealed) VALUES (?, ?, ?)");
  const deleteKey = database.prepare("DELETE FROM signing_keys WHERE id = ?");

  const nameIn = (row: unknown): SignedName | undefined =>
    row === undefined ? undefined : signedNameFromRow(row as SignedNameRow);
  const keysOf = ({ number }: Zone): readonly SealedKey[] => selectKeys.all(number) as SealedKey[];

  const putName = (number: number, name: SignedName): void => {
    const { owner, link, expires, children, types, made } = signedNameToRow(name);
    put.run(number, owner, link, expires, children, types, made);
  };
  const newNumber = (): number => Number((countUp.get() as { readonly seq: number }).seq);

  return {
    /** A number under which names can be written ahead; if nothing is written for long, they are deleted. */
    reserve: (now: Instant): number => {
      const number = newNumber();
      reserve.run(number, now);
      return number;
    },
    /** False if the number is not reserved any more. */
    touch: (number: number, now: Instant): boolean => touch.run(now, number).changes > 0,
    /** The rows under this number are deleted later. */
    leave: (number: number, kind: LeftOver): void => void leave.run(number, kind),
    /** Returns the zone with the number under which its names are stored now. */
    move: (zone: Zone, { to, leaves }: NamesMove): Zone => {
      if (typeof to === "number" && adopt.run(to).changes === 0) throw new StoreBusy(goneAhead);
      if (leaves !== undefined) leave.run(leaves, "names");
      const namesAt = to === "new" ? newNumber() : to;
      moveNames.run(namesAt ?? null, zone.number);
      return { ...zone, namesAt };
    },
    at: (zone: Zone, owner: string): SignedName | undefined => nameIn(at.get(numberOf(zone), owner)),
    chainOf: (zone: Zone): Chain => {
      const number = numberOf(zone);
      return {
        before: (from) => (lower.get(number, from) ?? last?.get(number)) as Link | undefined,
        after: (from) => (higher.get(number, from) ?? first?.get(number)) as Link | undefined,
      };
    },
    *every(zone: Zone): Generator<SignedName, void> {
      for (const row of every.iterate(numberOf(zone))) yield signedNameFromRow(row as SignedNameRow);
    },
    *writing(number: number, changes: readonly NameChange[]): Steps<void> {
      for (const { before, after } of changes) {
        yield;
        if (after === undefined) {
          remove.run(number, before?.owner ?? "");
          continue;
        }
        // Setting an indexed column writes to its index even if the value is the same.
        if (before?.link === after.link && before.expires === after.expires) {
          const { owner, children, types, made } = signedNameToRow(after);
          update.run(children, types, made, number, owner);
        } else putName(number, after);
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

/** No names are stored under 0. */
const numberOf = ({ namesAt }: Zone): number => namesAt ?? 0;

export type SignedNames = ReturnType<typeof prepareSignedNames>;
