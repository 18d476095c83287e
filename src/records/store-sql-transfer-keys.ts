import { expressionBuilder, sql } from "kysely";
import { type KeyRow, keyFromRow, zoneFromRow } from "./store-rows.ts";
import type { Sql, Tables } from "./store-sql.ts";
import type { TransferStore } from "./transfer-keys.ts";

/** What standard nameservers need. What writes is to be run inside a transaction. */
export function createSqlTransferKeys({ text: { db, member }, run }: Sql): TransferStore {
  const keys = db
    .selectFrom("transfer_keys")
    .leftJoin("accounts", "accounts.id", "transfer_keys.account")
    .selectAll("transfer_keys")
    .select("accounts.name as account_name");
  const goodKey = (name: string) =>
    keys.where("transfer_keys.name", "=", name).where("transfer_keys.revoked", "is", null).compile();

  return {
    addTransferKey: async ({ name, algorithm, secret, account, scope, created }) => {
      const row = { name, algorithm, secret, account: account ?? null, scope: JSON.stringify(scope), created };
      const added = db.insertInto("transfer_keys").values(row);
      const made = await run(
        added
          .onConflict((conflict) => conflict.doNothing())
          .returning("number")
          .compile(),
      );
      if (made.length === 0) return "name-taken";
      const [key] = await run<KeyRow>(goodKey(name));
      if (key === undefined) throw new Error("the key just written cannot be read");
      return keyFromRow(key);
    },
    transferKey: async (name) => {
      const [row] = await run<KeyRow>(goodKey(name));
      return row && keyFromRow(row);
    },
    transferKeys: async () => (await run<KeyRow>(keys.orderBy("transfer_keys.number").compile())).map(keyFromRow),
    revokeTransferKey: async (name, now) => {
      // What is revoked is worth nothing, so that its secret need not lie about.
      const good = db.updateTable("transfer_keys").set({ revoked: now, secret: "" }).where("name", "=", name);
      return (await run(good.where("revoked", "is", null).returning("number").compile())).length === 1;
    },

    everyZone: async (after, limit) => {
      const behind = db.selectFrom("zones").select(["number", "name"]).where("number", ">", after);
      const rows = await run(behind.orderBy("number").limit(limit).compile());
      return rows.map(({ number, name }) => ({ number, name }));
    },
    secondaryZones: async () => {
      const mode = member(expressionBuilder<Tables, "zones">().ref("settings"), "mode");
      // Written out: the index of them is used only for a question that says the same as its condition.
      const secondary = db.selectFrom("zones").selectAll().where(mode, "=", sql.lit("secondary"));
      return (await run(secondary.compile())).map(zoneFromRow);
    },
    secondaryState: async (zone) => {
      const state = db.selectFrom("secondary_state").select(["checked", "serial"]);
      const [row] = await run(state.where("zone", "=", zone.number).compile());
      return row && { checked: row.checked, serial: row.serial };
    },
    noteSecondary: async (zone, { checked, serial }) => {
      const there = db
        .selectFrom("zones")
        .select(["number", whole(checked).as("checked"), whole(serial).as("serial")])
        .where("number", "=", zone.number);
      const noted = db.insertInto("secondary_state").columns(["zone", "checked", "serial"]).expression(there);
      await run(noted.onConflict((conflict) => conflict.column("zone").doUpdateSet({ checked, serial })).compile());
    },
  };
}

/** A number of which the database could not tell its type otherwise. */
const whole = (value: number) => sql<number>`cast(${value} as bigint)`;
