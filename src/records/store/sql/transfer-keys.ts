import { sql } from "kysely";
import { apex } from "../../../core/names/name.ts";
import { soaIn } from "../../../core/records/soa-timers.ts";
import type { Zone } from "../../model.ts";
import { type KeyRow, keyFromRow, type SetRow, setFromRow } from "../rows.ts";
import type { SecondaryNote, SecondaryState, TransferStore } from "../transfer-keys.ts";
import type { Sql } from "./tables.ts";

type SqlTransferKeys = Pick<
  TransferStore,
  "addTransferKey" | "transferKeys" | "revokeTransferKey" | "secondaryStates" | "noteSecondary"
>;

/** What is rarely asked or written for standard nameservers. */
export function createSqlTransferKeys({ text: { db }, run }: Sql): SqlTransferKeys {
  return {
    addTransferKey: async ({ name, algorithm, secret, account, scope, created }) => {
      const row = { name, algorithm, secret, account: account ?? null, scope: JSON.stringify(scope), created };
      const added = db.insertInto("transfer_keys").values(row);
      const made = added.onConflict((conflict) => conflict.doNothing()).returningAll();
      const named = made.returning((its) => {
        const theirs = its.selectFrom("accounts").where("accounts.id", "=", its.ref("transfer_keys.account"));
        return theirs.select("accounts.name").as("account_name");
      });
      const [key] = await run<KeyRow>(named.compile());
      return key === undefined ? "name-taken" : keyFromRow(key);
    },
    transferKeys: async () => {
      const keys = db
        .selectFrom("transfer_keys")
        .leftJoin("accounts", "accounts.id", "transfer_keys.account")
        .selectAll("transfer_keys")
        .select("accounts.name as account_name");
      return (await run<KeyRow>(keys.orderBy("transfer_keys.number").compile())).map(keyFromRow);
    },
    revokeTransferKey: async (name, now) => {
      // What is revoked is worth nothing, so that its secret need not lie about.
      const good = db.updateTable("transfer_keys").set({ revoked: now, secret: "" }).where("name", "=", name);
      return (await run(good.where("revoked", "is", null).returning("number").compile())).length === 1;
    },

    secondaryStates: async (zones) => {
      const numbers = zones.filter(({ settings }) => settings.mode === "secondary").map((zone) => zone.number);
      if (numbers.length === 0) return new Map();
      const states = db
        .selectFrom("secondary_state")
        .innerJoin("rrsets", "rrsets.zone", "secondary_state.zone")
        .select(["rrsets.zone", "checked", "serial", "owner", "type", "ttl", "records", "marks"])
        .where("secondary_state.zone", "in", numbers)
        .where("owner", "=", apex)
        .where("type", "=", "SOA");
      const rows = new Map((await run(states.compile())).map((row) => [row.zone, row]));
      return new Map(zones.flatMap((zone) => stateOf(zone, rows.get(zone.number))));
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

function stateOf(
  zone: Zone,
  row: (SetRow & SecondaryNote) | undefined,
): readonly (readonly [number, SecondaryState])[] {
  if (row === undefined) return [];
  const { checked, serial } = row;
  return [[zone.number, { checked, serial, soa: soaIn([setFromRow(row, zone)]) }]];
}

/** A number of which the database could not tell its type otherwise. */
const whole = (value: number) => sql<number>`cast(${value} as bigint)`;
