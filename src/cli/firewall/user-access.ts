import { existsSync } from "node:fs";
import { userInfo } from "node:os";
import { resolve } from "node:path";
import type { Actor } from "../../firewall/access/audit.ts";
import { isPrivilege, type Privilege, privileges } from "../../firewall/access/privileges.ts";
import { isInForce } from "../../firewall/access/rights.ts";
import { type AccessStore, keysFile, openAccess } from "../../firewall/access/store.ts";
import type { User } from "../../firewall/access/users.ts";
import { findDatabase, openDataFolder } from "../../process/data-folder.ts";
import { type CommandIo, refuse } from "../io/command-io.ts";
import { dataFlag } from "../io/try-lines.ts";
import { newStore } from "../store/new-store.ts";

export type InData = { readonly data: string };

/** The users, groups and keys of the data folder; a running service sees every change at once. */
export async function withAccess<T>(
  { data }: InData,
  io: CommandIo,
  work: (access: AccessStore) => T | Promise<T>,
): Promise<T> {
  const file = keysFile(resolve(io.cwd, data));
  await findDatabase(file);
  return await workOn(file, work);
}

/**
 * The same for what it may begin with: folder and database are made when there are none. Where the folder is a slip, all goes
 * well and the service knows nothing of it.
 */
export async function withNewAccess<T>(
  { data }: InData,
  io: CommandIo,
  work: (access: AccessStore) => T | Promise<T>,
): Promise<T> {
  const folder = resolve(io.cwd, data);
  const isNew = !existsSync(keysFile(folder));
  await openDataFolder(folder);
  const outcome = await workOn(keysFile(folder), work);
  if (isNew) io.err(newStore(data));
  return outcome;
}

async function workOn<T>(file: string, work: (access: AccessStore) => T | Promise<T>): Promise<T> {
  const access = openAccess(file);
  try {
    return await work(access);
  } finally {
    access.close();
  }
}

/** For the audit log: whoever may write the data folder is asked for no name. */
export function personHere(): Actor {
  const source = "command line";
  try {
    return { name: userInfo().username, source };
  } catch {
    return { name: `user ${process.getuid?.() ?? "unknown"}`, source };
  }
}

export const noSuch = (what: "user" | "group" | "key", name: string, options: InData, io: CommandIo): number =>
  refuse(1, `There is no ${what} ${name}; ${io.program} ${what} list ${dataFlag(options)} shows those there are.`, io);

/** Undefined after saying which of them there is not. */
export function readPrivileges(texts: readonly string[], io: CommandIo): readonly Privilege[] | undefined {
  const unknown = texts.filter((text) => !isPrivilege(text));
  if (unknown.length === 0) return texts.filter(isPrivilege);
  io.err(`There is no privilege ${unknown.join(", ")}; there are ${privileges.join(", ")}.\n`);
  return undefined;
}

/** Whether a user, and so every key of his, is good now. */
export const userState = (user: User): "good" | "disabled" | "expired" =>
  user.disabled ? "disabled" : isInForce(user, new Date()) ? "good" : "expired";

export const listed = (texts: readonly string[]): string => (texts.length === 0 ? "nothing" : texts.join(", "));
