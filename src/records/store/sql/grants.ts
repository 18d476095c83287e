import { sql } from "kysely";
import { type GrantRow, grantFromRow } from "../rows.ts";
import type { GrantStore, NewGrant } from "../zone-grants.ts";
import type { Sql } from "./tables.ts";

export function createSqlGrants({ text: { db }, run }: Sql): GrantStore {
  const found = db
    .selectFrom("zone_grants")
    .innerJoin("accounts", "accounts.id", "zone_grants.account")
    .leftJoin("zones", "zones.number", "zone_grants.zone")
    .selectAll("zone_grants")
    .select(["accounts.name as account_name", "zones.name as zone_name"])
    .orderBy("zone_grants.id");
  const theSame = ({ zone, account, name }: NewGrant) => {
    const named = found.where("zone_grants.account", "=", account).where("zone_grants.name", "=", name);
    return named.where("zone_grants.zone", zone === undefined ? "is" : "=", zone ?? null);
  };
  /** From the rows of zones, so that none is granted for a zone that was just deleted. */
  const rowOf = ({ zone, account, name, actor, created }: NewGrant) => {
    const row = [
      whole(account).as("account"),
      sql<string>`cast(${name} as text)`.as("name"),
      sql<string>`cast(${actor} as text)`.as("actor"),
      whole(created).as("created"),
    ] as const;
    return zone === undefined
      ? db.selectNoFrom([sql<null>`cast(null as bigint)`.as("zone"), ...row])
      : db
          .selectFrom("zones")
          .select(["zones.number as zone", ...row])
          .where("zones.number", "=", zone);
  };

  return {
    addGrant: async (grant) => {
      const added = db
        .insertInto("zone_grants")
        .columns(["zone", "account", "name", "actor", "created"])
        .expression(rowOf(grant) as never)
        .onConflict((conflict) => conflict.doNothing());
      await run(added.compile());
      const [row] = await run<GrantRow>(theSame(grant).compile());
      return row === undefined ? "no-zone" : grantFromRow(row);
    },
    grants: async ({ zone }) => {
      const wanted = zone === undefined ? found : found.where("zone_grants.zone", "=", zone);
      return (await run<GrantRow>(wanted.compile())).map(grantFromRow);
    },
    revokeGrant: async (id, zone) => {
      const gone = db.deleteFrom("zone_grants").where("id", "=", id).returning("id");
      return (await run((zone === undefined ? gone : gone.where("zone", "=", zone)).compile())).length === 1;
    },
  };
}

/** A number of which the database could not tell its type otherwise. */
const whole = (value: number) => sql<number>`cast(${value} as bigint)`;
