import { readdirSync, statSync } from "node:fs";
import { rm } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { nearest } from "../../core/names/nearest.ts";
import { asDiskTrouble } from "../../lib/sqlite/faults.ts";
import { openDataFolder, replaceFile } from "../../process/data-folder.ts";
import type { Account } from "../../records/model.ts";
import { exportAccount } from "../../records/tools/account/export.ts";
import { readTables } from "../../records/tools/tables/open.ts";
import { eachPart, storeTables } from "../../records/tools/tables/table.ts";
import { type CommandIo, refuse } from "../io/command-io.ts";
import type { DatabaseOptions } from "../io/database-options.ts";
import { findStore, withStore } from "../store/with-store.ts";
import { counted } from "../store/words.ts";

export type ExportCommand = DatabaseOptions & { readonly account: string };

export async function exportTo(folder: string, options: ExportCommand, io: CommandIo): Promise<number> {
  const path = resolve(io.cwd, folder);
  const there = statSync(path, { throwIfNoEntry: false });
  if (there?.isDirectory() === false) return refuse(1, `${folder} is a file; give a new folder.`, io);
  if (there !== undefined && readdirSync(path).length > 0)
    return refuse(1, `${folder} is not empty; give a new folder.`, io);
  const account = await accountNamed(options, io);
  if (account === undefined) return 1;
  await openDataFolder(path);
  const made = new Set<string>();
  const write = async (file: string, text: string) => {
    const whole = join(path, file);
    if (!made.has(dirname(whole))) await openDataFolder(dirname(whole));
    made.add(dirname(whole));
    await replaceFile(whole, text);
  };
  const done = await withStore(options, io, (store) =>
    exportAccount(store, account, { write, now: Date.now(), signal: io.signal }),
  ).catch(async (error: unknown) => {
    // The folder was empty before. A partial export is useless, and would block the next one.
    for (const each of there === undefined ? [path] : readdirSync(path).map((name) => join(path, name)))
      await rm(each, { recursive: true, force: true });
    throw asDiskTrouble(error, path);
  });
  io.out(
    `${folder}: ${counted(done.zones, "zone")} with ${counted(done.records, "record")}, and the scopes of ${counted(done.tokens, "token")}.\n`,
  );
  io.out("It contains no secrets: tokens and keys of primary servers must be created again.\n");
  return 0;
}

/** Undefined after listing the existing accounts, if there is none of that name. */
async function accountNamed(options: ExportCommand, io: CommandIo): Promise<Account | undefined> {
  const tables = await readTables(await findStore(options, io), "look", io.signal);
  const names: string[] = [];
  try {
    for await (const rows of eachPart(tables, storeTables.accounts)) {
      for (const [id, name] of rows) {
        if (name === options.account) return { id: Number(id), name };
        names.push(String(name));
      }
    }
  } finally {
    await tables.close();
  }
  const meant = nearest(options.account, names);
  const hint =
    meant === undefined ? `the accounts are: ${names.slice(0, 20).join(", ") || "none"}` : `did you mean ${meant}?`;
  io.err(`There is no account ${options.account}; ${hint}\n`);
  return undefined;
}
