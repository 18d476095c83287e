import type pg from "pg";

const kept = ["zones", "rrsets", "record_ids", "changes", "log_head", "departed_zones"];

/** Keeps what a standby has that gets nothing more. */
export const saveStandby = (client: pg.Client): Promise<unknown> =>
  client.query(kept.map((table) => `CREATE TABLE old_${table} AS TABLE ${table}`).join(";"));

/** The database has only what the standby had: all later changes are lost. */
export const standbyTakesOver = (client: pg.Client): Promise<unknown> =>
  client.query(
    [
      "BEGIN; SET LOCAL session_replication_role = replica",
      ...kept.map((table) => `DELETE FROM ${table}`),
      ...kept.map((table) => `INSERT INTO ${table} ${table === "zones" ? zoneColumns : `TABLE old_${table}`}`),
      "COMMIT",
    ].join(";"),
  );

const columns = "number, id, account, name, settings, serial, record_count, created, modified";
const zoneColumns = `(${columns}) SELECT ${columns} FROM old_zones`;
