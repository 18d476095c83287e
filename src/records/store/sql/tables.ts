import type { Generated } from "kysely";
import type { SessionTables } from "../../../access/session-store-sql.ts";
import type { RunSql, SqlText } from "../../../process/database/sql-text.ts";
import type { ChangeRow, GrantRow, KeyRow, SetRow, TokenRow, ZoneRow } from "../rows.ts";

/** The tables of `sqlite/schema.ts` and `postgres/schema.ts`, to write queries for. */
export type Tables = SessionTables & {
  readonly zone_counts: { readonly account: number; readonly zones: number };
  readonly accounts: { readonly id: Generated<number>; readonly name: string; readonly created: number };
  readonly tokens: Omit<TokenRow, "id" | "account_name" | "revoked" | "last_used" | "uses"> & {
    readonly id: Generated<number>;
    readonly revoked: Generated<number | null>;
    readonly last_used: Generated<number | null>;
    readonly uses: Generated<number>;
  };
  readonly zones: ZoneRow;
  readonly rrsets: SetRow & { readonly zone: number };
  readonly changes: ChangeRow;
  readonly actions: ActionRow;
  readonly transfer_keys: Omit<KeyRow, "account_name" | "revoked"> & {
    readonly number: Generated<number>;
    readonly revoked: Generated<number | null>;
  };
  readonly secrets: { readonly name: string; readonly value: string };
  readonly secondary_state: { readonly zone: number; readonly checked: number; readonly serial: number };
  readonly zone_grants: Omit<GrantRow, "account_name" | "zone_name" | "id"> & { readonly id: Generated<number> };
  readonly console_passwords: { readonly account: number; readonly hash: string; readonly changed: number };
};

/** One database: how its SQL is written and run. */
export type Sql = { readonly text: SqlText<Tables>; readonly run: RunSql };

export type ActionRow = {
  readonly id: number;
  readonly account: number;
  readonly zone: number;
  readonly zone_name: string;
  readonly command: string;
  readonly at: number;
  /** Null: from a program that did not note it. */
  readonly actor: string | null;
};
