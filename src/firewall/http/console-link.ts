import { createSessions, signInLink } from "../../access/session.ts";
import { type AccessStore, openAccess } from "../access/store.ts";

/** The user who owns the machine. */
export const administrator = "root";

/** Adds a user with all privileges, unless there is one of that name. */
export function ensureUser(access: AccessStore, name: string, now: Date): void {
  if (!access.users.add({ name, privileges: ["all"], now })) return;
  access.audit.note({ name: "sign-in link", source: "this machine" }, "user added", `${name}, privileges: all`, now);
}

/** A secret that signs in once, within 15 minutes. A user who does not exist is created, with all privileges. */
export async function makeSignInSecret(
  access: AccessStore,
  user: string | undefined,
  now: () => Date,
): Promise<string> {
  const name = user ?? administrator;
  ensureUser(access, name, now());
  return await createSessions(access.sessions, () => now().getTime()).makeLink(name);
}

/** Works on the data folder directly: the service need not run, and is not notified. */
export async function makeSignInLink(database: string, user: string | undefined, url: string): Promise<MadeLink> {
  const access = openAccess(database);
  try {
    const name = user ?? administrator;
    const isNew = access.users.find(name) === undefined;
    return { name, isNew, link: signInLink(url, await makeSignInSecret(access, name, () => new Date())) };
  } finally {
    access.close();
  }
}

/** `isNew`: the user was created for this link. */
type MadeLink = { readonly link: string; readonly name: string; readonly isNew: boolean };
