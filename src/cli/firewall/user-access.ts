import { userInfo } from "node:os";
import { resolve } from "node:path";
import type { AuditActor } from "../../firewall/access/audit.ts";
import { isInForce, isPrivilege, type Privilege, privileges } from "../../firewall/access/privileges.ts";
import { type AccessStore, keysFile, openAccess } from "../../firewall/access/store.ts";
import type { User } from "../../firewall/access/users.ts";
import { findDatabase, findOrCreate, openDataFolder } from "../../process/data-folder.ts";
import { type CommandIo, refuse } from "../io/command-io.ts";
import type { NewOption } from "../io/options.ts";
import { dataFlag } from "../io/try-lines.ts";

export type InData = { readonly data: string };

/** The users and keys of the data folder; a running service sees every change immediately. */
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
 * Creates a missing database only with `--new`: a running service would know nothing of what is added to a mistyped
 * folder.
 */
export async function withNewAccess<T>(
  options: InData & NewOption,
  io: CommandIo,
  work: (access: AccessStore) => T | Promise<T>,
): Promise<T> {
  const folder = resolve(io.cwd, options.data);
  const file = keysFile(folder);
  await (options.new ? openDataFolder(folder) : findDatabase(file, findOrCreate));
  return await workOn(file, work);
}

async function workOn<T>(file: string, work: (access: AccessStore) => T | Promise<T>): Promise<T> {
  const access = openAccess(file);
  try {
    return await work(access);
  } finally {
    access.close();
  }
}

/** For the audit log: the command line does not ask for a name, so it is the user of the operating system. */
export function personHere(): AuditActor {
  const source = "command line";
  try {
    return { name: userInfo().username, source };
  } catch {
    return { name: `user ${process.getuid?.() ?? "unknown"}`, source };
  }
}

export const noSuch = (what: "user" | "key", name: string, options: InData, io: CommandIo): number =>
  refuse(
    1,
    `There is no ${what} ${name}; ${io.program} ${what} list ${dataFlag(options)} lists the existing ones.`,
    io,
  );

/** Undefined after printing which of them do not exist. */
export function readPrivileges(texts: readonly string[], io: CommandIo): readonly Privilege[] | undefined {
  const unknown = texts.filter((text) => !isPrivilege(text));
  if (unknown.length === 0) return texts.filter(isPrivilege);
  io.err(`There is no privilege ${unknown.join(", ")}; choose from ${privileges.join(", ")}.\n`);
  return undefined;
}

/** Whether a user, and so every key of that user, is valid now. */
export const userState = (user: User): "valid" | "disabled" | "expired" =>
  user.disabled ? "disabled" : isInForce(user, new Date()) ? "valid" : "expired";

export const listed = (texts: readonly string[]): string => (texts.length === 0 ? "none" : texts.join(", "));
