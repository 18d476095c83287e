import { accessSync, chmodSync, constants, existsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setImmediate } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { todoBesideFile } from "../../../lib/sqlite/faults.ts";
import { DatabaseTrouble, openSqlite } from "../../../lib/sqlite/open.ts";
import { migrations } from "../../store/sqlite/schema.ts";
import { type SqlConnection, tablesOver } from "./sql.ts";
import { type CellValue, keyNames, type Row, type Table, type WritableTables } from "./table.ts";

/** Reads one consistent state of a file that may be in use; later writes are not visible. */
export function readSqliteTables(path: string): WritableTables {
  expectFile(path);
  const database = openQuietly(path);
  try {
    database.exec("BEGIN");
    // The snapshot begins with the first read, not with BEGIN.
    database.prepare("SELECT count(*) FROM accounts").get();
  } catch (error) {
    database.close();
    throw error;
  }
  return tablesIn(database, path);
}

/** Opens a file that nobody else uses yet, and creates it if it does not exist. The caller syncs the finished file. */
export function writeSqliteTables(path: string): WritableTables {
  const database = openSqlite(path, migrations, { mayBeEmpty: true });
  database.exec("PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = OFF");
  chmodSync(path, 0o600);
  return tablesIn(database, path);
}

/** Opens a file that is in use, to delete a few rows at a time. Rows that a power cut brings back are deleted again. */
export function trimSqliteTables(path: string): WritableTables {
  expectFile(path);
  const database = new DatabaseSync(path);
  database.exec("PRAGMA busy_timeout = 5000; PRAGMA synchronous = NORMAL");
  return tablesIn(database, path);
}

/**
 * For reading only, but not opened as read-only: such a connection cannot remove the `-wal` and `-shm` files when it
 * closes, and if another user leaves them there, the service cannot open the database.
 */
export function openQuietly(path: string): DatabaseSync {
  const database = new DatabaseSync(isFrozen(path) ? new URL("?immutable=1", pathToFileURL(path)) : path);
  database.exec("PRAGMA busy_timeout = 5000; PRAGMA query_only = ON");
  return database;
}

/**
 * On a read-only disk SQLite cannot create its shared files; `immutable` says that no other process uses the database.
 */
function isFrozen(path: string): boolean {
  try {
    accessSync(dirname(path), constants.W_OK);
    return false;
  } catch (error) {
    const log = statSync(`${path}-wal`, { throwIfNoEntry: false });
    return (error as NodeJS.ErrnoException).code === "EROFS" && (log?.size ?? 0) === 0;
  }
}

type FileState =
  | { readonly kind: "good" }
  | { readonly kind: "missing" | "folder" | "closed" | "no-database" | "not-ours" }
  | { readonly kind: "newer"; readonly steps: number }
  | { readonly kind: "damaged"; readonly why: string; readonly todo?: string | undefined };

/** SQLITE_NOTADB */
const notADatabase = 26;

/**
 * Tells what a file is, without changing it. Only SQLite may open it: if a process has it open as a database, closing
 * another descriptor of it releases the locks of that process (https://sqlite.org/howtocorrupt.html, section 2.2).
 */
export function fileState(path: string): FileState {
  if (isRefused(path)) return { kind: "closed" };
  if (!existsSync(path)) return { kind: "missing" };
  if (statSync(path).isDirectory()) return { kind: "folder" };
  let database: DatabaseSync | undefined;
  try {
    database = openQuietly(path);
    const tables = database
      .prepare("SELECT name FROM sqlite_master WHERE name IN ('accounts', 'zones', 'changes')")
      .all();
    const steps = Number(database.prepare("PRAGMA user_version").get()?.user_version);
    if (tables.length < 3 || steps < migrations.length) return { kind: "not-ours" };
    return steps === migrations.length ? { kind: "good" } : { kind: "newer", steps };
  } catch (error) {
    const { errcode, message } = error as Error & { readonly errcode?: number };
    return errcode === notADatabase
      ? { kind: "no-database" }
      : { kind: "damaged", why: message, todo: todoBesideFile(error) };
  } finally {
    database?.close();
  }
}

/** Throws an error that says what to do, unless the file is good. */
export function expectFile(path: string): void {
  const state = fileState(path);
  if (state.kind !== "good") throw new DatabaseTrouble(fileTrouble(path, state));
}

/** Whether this user is denied access. Unlike opening the file, asking does not affect its locks. */
export function isRefused(path: string, mode = constants.R_OK, why: "EACCES" | "EROFS" = "EACCES"): boolean {
  try {
    accessSync(path, mode);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === why;
  }
}

function fileTrouble(path: string, state: Exclude<FileState, { readonly kind: "good" }>): string {
  switch (state.kind) {
    case "missing":
      return `the file ${path} does not exist; correct the path.`;
    case "folder":
      return `${path} is a folder; give the path of a database file in it, such as ${path}/records.sqlite.`;
    case "closed":
      return `this user cannot read ${path}; run this as root, or as the owner of the file or folder.`;
    case "no-database":
      return `${path} is not a database; give the path of one that moor wrote.`;
    case "not-ours":
      return `${path} is a database, but not of moor's record service; give the path of one that moor wrote.`;
    case "newer":
      return (
        `${path} was written by a newer moor (schema ${state.steps}, this version supports ${migrations.length}); ` +
        "use the newer version."
      );
    case "damaged":
      return `${path} cannot be read: ${state.why}${state.todo ? `\n${state.todo}` : "; take another backup of it."}`;
    default:
      return state satisfies never;
  }
}

const tablesIn = (database: DatabaseSync, path: string): WritableTables => tablesOver(connectionTo(database, path));

function connectionTo(database: DatabaseSync, name: string): SqlConnection {
  const all: SqlConnection["all"] = async (text, values) => {
    // A statement blocks the thread; yield before each one so that signals are handled.
    await setImmediate();
    const statement = database.prepare(text);
    statement.setReturnArrays(true);
    return statement.all(...values) as unknown as readonly Row[];
  };
  const run: SqlConnection["run"] = async (text, values) => void database.prepare(text).run(...values);
  const number = async (text: string, values: readonly CellValue[]) => Number((await all(text, values))[0]?.[0] ?? 0);
  return {
    name,
    all,
    run,
    mark: () => "?",
    byBytes: "",
    lastNumber: async (table) => {
      const highest = await number(`SELECT max(${keyNames(table)[0]}) FROM ${table.name}`, []);
      return Math.max(highest, await number("SELECT seq FROM sqlite_sequence WHERE name = ?", [table.name]));
    },
    setLastNumber: async (table, last) => {
      if (!isCounting(database, table)) return;
      await run("DELETE FROM sqlite_sequence WHERE name = ?", [table.name]);
      if (last > 0) await run("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", [table.name, last]);
    },
    damage: async () => {
      const pages = await all("PRAGMA integrity_check(20)", []).then(
        (rows) => rows.map(([text]) => String(text)),
        (error: unknown) => [(error as Error).message],
      );
      if (pages.length !== 1 || pages[0] !== "ok") return pages;
      const lost = await all('SELECT DISTINCT "table", parent FROM pragma_foreign_key_check', []);
      return lost.map(([table, parent]) => `rows of ${table} belong to rows of ${parent} that do not exist`);
    },
    close: async () => database.close(),
  };
}

/** Some tables reuse the number of a deleted row; SQLite keeps no counter for them. */
const isCounting = (database: DatabaseSync, table: Table): boolean =>
  String(database.prepare("SELECT sql FROM sqlite_master WHERE name = ?").get(table.name)?.sql).includes(
    "AUTOINCREMENT",
  );
