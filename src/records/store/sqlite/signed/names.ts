import type { DatabaseSync } from "node:sqlite";
import type { Chain, ChainMember } from "../../../../core/dnssec/chain.ts";
import type { NameChange } from "../../../../core/dnssec/plan-signing.ts";
import type { SignedName } from "../../../../core/dnssec/signed-name.ts";
import type { Instant } from "../../../../core/instant.ts";
import type { Steps } from "../../../../core/steps.ts";
import { StoreBusy } from "../../../../lib/limits/store-busy.ts";
import type { Zone } from "../../../model.ts";
import type { EncryptedKey } from "../../../signing/signer.ts";
import { asideGone, type LeftOver } from "../../leftovers.ts";
import { type SignedNameRow, signedNameColumns, signedNameFromRow, signedNameToRow } from "../../rows.ts";
import type { NamesSwitch } from "../../signed/plan-step.ts";

const prepare = (database: DatabaseSync) => {
  const select = (columns: string, rest: string) =>
    database.prepare(`SELECT ${columns} FROM signed_names WHERE zone = ? ${rest}`);
  const selectMember = (rest: string) => select("owner, link AS chainKey", `AND link ${rest} LIMIT 1`);
  return {
    at: select(signedNameColumns, "AND owner = ?"),
    every: select(signedNameColumns, ""),
    lower: selectMember("< ? ORDER BY link DESC"),
    higher: selectMember("> ? ORDER BY link"),
    first: selectMember("IS NOT NULL ORDER BY link"),
    last: selectMember("IS NOT NULL ORDER BY link DESC"),
    put: database.prepare(
      "INSERT INTO signed_names (zone, owner, link, expires, children, types, made) VALUES (?, ?, ?, ?, ?, ?, ?) " +
        "ON CONFLICT DO UPDATE SET link = excluded.link, expires = excluded.expires, children = excluded.children, " +
        "types = excluded.types, made = excluded.made",
    ),
    update: database.prepare("UPDATE signed_names SET children = ?, types = ?, made = ? WHERE zone = ? AND owner = ?"),
    remove: database.prepare("DELETE FROM signed_names WHERE zone = ? AND owner = ?"),
    countUp: database.prepare("UPDATE sqlite_sequence SET seq = seq + 1 WHERE name = 'zones' RETURNING seq"),
    moveNames: database.prepare("UPDATE zones SET names_at = ? WHERE number = ?"),
    reserve: database.prepare("INSERT INTO leftovers (number, kind, since) VALUES (?, 'ahead', ?)"),
    isReserved: database.prepare("SELECT 1 FROM leftovers WHERE number = ? AND kind = 'ahead'"),
    touch: database.prepare("UPDATE leftovers SET since = ? WHERE number = ? AND kind = 'ahead'"),
    adopt: database.prepare("DELETE FROM leftovers WHERE number = ? AND kind = 'ahead'"),
    leave: database.prepare(
      "INSERT INTO leftovers (number, kind, since) VALUES (?, ?, 0) ON CONFLICT DO UPDATE SET kind = excluded.kind",
    ),
    keys: database.prepare("SELECT id, sealed AS encrypted FROM signing_keys WHERE zone = ?"),
    insertKey: database.prepare("INSERT INTO signing_keys (id, zone, sealed) VALUES (?, ?, ?)"),
    deleteKey: database.prepare("DELETE FROM signing_keys WHERE id = ?"),
  };
};

/** The signed names of zones and the keys that sign them. Synchronous, because transactions use it. */
export class SignedNames {
  readonly #sql: ReturnType<typeof prepare>;

  constructor(database: DatabaseSync) {
    this.#sql = prepare(database);
  }

  /** A number for names signed aside; if nothing is written for long, they are deleted. */
  reserve(now: Instant): number {
    const number = this.#newNumber();
    this.#sql.reserve.run(number, now);
    return number;
  }

  isReserved(number: number): boolean {
    return this.#sql.isReserved.get(number) !== undefined;
  }

  /** False if the number is not reserved any more. */
  touch(number: number, now: Instant): boolean {
    return this.#sql.touch.run(now, number).changes > 0;
  }

  /** The rows under this number are deleted later. */
  deleteLater(number: number, kind: LeftOver): void {
    this.#sql.leave.run(number, kind);
  }

  /** Returns the zone with the number under which its names are stored now. */
  move(zone: Zone, { to, leaves }: NamesSwitch): Zone {
    if (typeof to === "number" && this.#sql.adopt.run(to).changes === 0) throw new StoreBusy(asideGone);
    if (leaves !== undefined) this.deleteLater(leaves, "names");
    const signedNamesNumber = to === "new" ? this.#newNumber() : to;
    this.#sql.moveNames.run(signedNamesNumber ?? null, zone.number);
    return { ...zone, signedNamesNumber };
  }

  at(zone: Zone, owner: string): SignedName | undefined {
    const row = this.#sql.at.get(numberOf(zone), owner);
    return row && signedNameFromRow(row as SignedNameRow);
  }

  chainOf(zone: Zone): Chain {
    const number = numberOf(zone);
    const { lower, higher, first, last } = this.#sql;
    return {
      before: (from) => (lower.get(number, from) ?? last.get(number)) as ChainMember | undefined,
      after: (from) => (higher.get(number, from) ?? first.get(number)) as ChainMember | undefined,
    };
  }

  *every(zone: Zone): Generator<SignedName, void> {
    for (const row of this.#sql.every.iterate(numberOf(zone))) yield signedNameFromRow(row as SignedNameRow);
  }

  *writing(number: number, changes: readonly NameChange[]): Steps<void> {
    const { remove, update } = this.#sql;
    for (const { before, after } of changes) {
      yield;
      if (after === undefined) {
        remove.run(number, before?.owner ?? "");
        continue;
      }
      // Setting an indexed column writes to its index even if the value is the same.
      if (before?.chainKey === after.chainKey && before.expires === after.expires) {
        const { owner, children, types, made } = signedNameToRow(after);
        update.run(children, types, made, number, owner);
      } else this.#put(number, after);
    }
  }

  keysOf({ number }: Zone): readonly EncryptedKey[] {
    return this.#sql.keys.all(number) as EncryptedKey[];
  }

  writeKeys(zone: Zone, added: readonly EncryptedKey[]): void {
    for (const { id, encrypted } of added) this.#sql.insertKey.run(id, zone.number, encrypted);
    const named = new Set(zone.settings.dnssec?.keys.map(({ id }) => id));
    for (const { id } of this.keysOf(zone)) if (!named.has(id)) this.#sql.deleteKey.run(id);
  }

  #put(number: number, name: SignedName): void {
    const { owner, link, expires, children, types, made } = signedNameToRow(name);
    this.#sql.put.run(number, owner, link, expires, children, types, made);
  }

  #newNumber(): number {
    return Number((this.#sql.countUp.get() as { readonly seq: number }).seq);
  }
}

/** No names are stored under 0. */
const numberOf = ({ signedNamesNumber }: Zone): number => signedNamesNumber ?? 0;
